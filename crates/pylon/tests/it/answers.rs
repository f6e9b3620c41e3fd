//! Every request of a client gets its own result, under the name it gave itself.

use estelle_proto::WorkspaceId;
use estelle_proto::claude::{ClaudeControl, ClaudeSetModel, ClaudeSetPermissionMode};
use estelle_proto::conversations::{
    ConversationCreate, ConversationDelete, ConversationRename, ConversationSelect,
};
use estelle_proto::export::{ExportFormat, HistoryExport};
use estelle_proto::folders::{FolderCreate, FolderList, FolderRename};
use estelle_proto::history::HistoryRequest;
use estelle_proto::ipc::RuleEffect;
use estelle_proto::lookup::{HistorySearch, ToolDetail};
use estelle_proto::rules::{RuleChange, RulesRequest, ToolRevoke};
use estelle_proto::usage::{UsageGroup, UsageRequest};
use estelle_proto::workspaces::{WorkspaceDelete, WorkspaceList, WorkspaceRename, WorkspaceSwitch};
use estelle_proto::{
    AppToPylon, ControlAction, ConversationId, ErrorCode, Message as _, Name, PathText,
    PermissionMode, QueryText, RuleText, SkillType, ToolUseId,
};
use serde_json::Value;

use crate::scene::{Scene, message};

/// Sends a request under a name and gives the payload of what answers to it.
async fn ask(scene: &mut Scene, request: impl Into<AppToPylon>, kind: &str) -> Value {
    let request = request.into();
    let name = format!("about {}", request.kind());
    let payload = request.payload().unwrap();
    let mut payload: Value =
        payload.map_or_else(|| "{}".parse().unwrap(), |json| json.decode().unwrap());
    payload["requestId"] = name.clone().into();
    let text = serde_json::value::to_raw_value(&payload).unwrap();
    scene
        .call
        .deliver(AppToPylon::from_parts(request.kind(), Some(&text)).unwrap())
        .await;
    let answer = scene.until(|told| {
        let payload: Value = told.message.payload().unwrap()?.decode().unwrap();
        (payload["requestId"] == name.as_str()).then(|| (told.message.kind().to_owned(), payload))
    });
    let (answered, payload) = answer.await;
    assert_eq!(answered, kind, "{payload}");
    payload
}

/// A workspace whose conversation has one message, and the asker looking at it.
async fn scene() -> (Scene, (WorkspaceId, ConversationId)) {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.view(&at).await;
    ask(&mut scene, message(&at, "sing"), "claude_send_result").await;
    scene.see(&at, 1).await;
    (scene, at)
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// Whether the host heard of all these.
fn check_told(scene: &Scene, commands: &[&str]) {
    let told = scene.host.world.lock().unwrap().commands.clone();
    for command in commands {
        let is_told = told.iter().any(|told| told == command);
        assert!(is_told, "the host was not told of {command}");
    }
}

#[tokio::test]
async fn names_modes_and_models_are_changed_and_shown() {
    let (mut scene, (workspace, conversation)) = scene().await;
    let scene = &mut scene;
    let rename = WorkspaceRename::new(workspace.clone(), name("new"));
    ask(scene, rename, "workspace_rename_result").await;
    let switch = WorkspaceSwitch::new(workspace.clone());
    ask(scene, switch, "workspace_switch_result").await;
    let rename = ConversationRename::new(workspace, conversation.clone(), name("song"));
    ask(scene, rename, "conversation_rename_result").await;
    let plan = ClaudeSetPermissionMode {
        conversation_id: Some(conversation.clone()),
        ..ClaudeSetPermissionMode::new(PermissionMode::Plan)
    };
    ask(scene, plan, "claude_set_permission_mode_result").await;
    let opus = ClaudeSetModel {
        model: Some("opus".to_owned()),
        ..ClaudeSetModel::new(conversation)
    };
    ask(scene, opus, "claude_set_model_result").await;
    let list = ask(scene, WorkspaceList::default(), "workspace_list_result").await;
    let shown = &list["workspaces"][0];
    assert_eq!(shown["name"], "new");
    let shown = &shown["conversations"][0];
    assert_eq!(shown["name"], "song");
    assert_eq!(shown["permissionMode"], "plan");
    assert_eq!(shown["model"], "opus");
    check_told(scene, &["set_permission_mode", "set_model"]);
}

#[tokio::test]
async fn folders_are_listed_where_workspaces_may_be_and_nowhere_else() {
    let (mut scene, _) = scene().await;
    let scene = &mut scene;
    let usual = ask(scene, FolderList::default(), "folder_list_result").await;
    let folders = usual["folders"].as_array().unwrap();
    assert!(folders.contains(&"work".into()), "{usual}");
    let elsewhere = FolderList {
        path: Some(PathText::parse("/etc").unwrap()),
        ..FolderList::default()
    };
    let refused = ask(scene, elsewhere, "folder_list_result").await;
    assert_eq!(refused["errorCode"], ErrorCode::BadPath.as_str());
    assert_eq!(refused["path"], "/etc");
    let drives = usual["drives"].as_array().unwrap();
    assert_eq!(drives.len(), 1, "the root is where one begins: {usual}");
    assert_eq!(drives[0]["path"], usual["path"]);
}

#[tokio::test]
async fn folders_are_made_and_renamed_where_workspaces_may_be_unless_one_works_there() {
    let (mut scene, _) = scene().await;
    let scene = &mut scene;
    let usual = ask(scene, FolderList::default(), "folder_list_result").await;
    let root = usual["path"].as_str().unwrap().to_owned();
    let path = |text: &str| PathText::parse(text).unwrap();
    let new_folder = |parent: &str, name: &str| FolderCreate::new(path(parent), name.to_owned());
    let made = ask(scene, new_folder(&root, "garden"), "folder_create_result").await;
    assert_eq!(made["path"], format!("{root}/garden"));
    let code = |answer: &Value| answer["errorCode"].as_str().unwrap_or_default().to_owned();
    for (parent, name, wanted) in [
        (root.as_str(), "garden", ErrorCode::Conflict),
        (root.as_str(), "a/b", ErrorCode::InvalidMessage),
        (root.as_str(), "..", ErrorCode::InvalidMessage),
        ("/etc", "garden", ErrorCode::BadPath),
        ("/no/such/folder", "garden", ErrorCode::BadPath),
    ] {
        let refused = ask(scene, new_folder(parent, name), "folder_create_result").await;
        assert_eq!(
            code(&refused),
            wanted.as_str(),
            "{parent} {name}: {refused}"
        );
    }
    let rename = |from: &str, name: &str| {
        let from = path(&format!("{root}/{from}"));
        FolderRename::new(from, name.to_owned())
    };
    let renamed = ask(scene, rename("garden", "orchard"), "folder_rename_result").await;
    assert_eq!(renamed["path"], format!("{root}/orchard"));
    assert!(std::path::Path::new(&root).join("orchard").is_dir());
    // A workspace is in the folder of this name, and would find nothing any more.
    for (from, name, wanted) in [
        ("work", "elsewhere", ErrorCode::Conflict),
        ("orchard", "work", ErrorCode::Conflict),
        ("garden", "x", ErrorCode::BadPath),
    ] {
        let refused = ask(scene, rename(from, name), "folder_rename_result").await;
        assert_eq!(code(&refused), wanted.as_str(), "{from} {name}: {refused}");
    }
}

#[tokio::test]
async fn rules_are_asked_of_the_host_and_changed_there() {
    let (mut scene, _) = scene().await;
    let scene = &mut scene;
    let push = || RuleText::parse("Bash(git push:*)").unwrap();
    let set = RuleChange {
        effect: Some(RuleEffect::Deny),
        ..RuleChange::new(push())
    };
    for request in [set, RuleChange::new(push())] {
        let result = ask(scene, request, "rules_result").await;
        assert_eq!(result["success"], true, "{result}");
    }
    ask(scene, RulesRequest::default(), "rules_result").await;
    check_told(scene, &["set_rule", "remove_rule", "get_rules"]);
}

#[tokio::test]
async fn a_tool_is_revoked_by_the_host_in_a_conversation_that_there_is() {
    let (mut scene, (_, conversation)) = scene().await;
    let scene = &mut scene;
    let nobodys = ConversationId::parse("nobodys").unwrap();
    let refused = ToolRevoke::new(nobodys, "Write".to_owned());
    let refused = ask(scene, refused, "rules_result").await;
    assert_eq!(
        refused["errorCode"],
        ErrorCode::UnknownConversation.as_str()
    );
    let revoke = ToolRevoke::new(conversation, "Write".to_owned());
    let result = ask(scene, revoke, "rules_result").await;
    assert_eq!(result["success"], true, "{result}");
    check_told(scene, &["revoke_tool", "get_rules"]);
}

#[tokio::test]
async fn history_is_paged_searched_and_looked_into() {
    let (mut scene, (workspace, conversation)) = scene().await;
    let scene = &mut scene;
    let page = HistoryRequest::new(workspace.clone(), conversation.clone());
    let page = ask(scene, page, "history_result").await;
    assert_eq!(page["messages"][0]["content"], "sing");
    let words = QueryText::parse("sing").unwrap();
    let found = ask(scene, HistorySearch::new(words), "history_search_result").await;
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    for (format, cursor, wanted) in [
        ("pdf", None, ErrorCode::InvalidMessage),
        ("json", Some("x"), ErrorCode::InvalidMessage),
        ("json", Some("999999.1.1.1.0"), ErrorCode::StaleCursor),
    ] {
        let export = HistoryExport {
            cursor: cursor.map(str::to_owned),
            ..HistoryExport::new(conversation.clone(), format.into())
        };
        let refused = ask(scene, export, "history_export_result").await;
        assert_eq!(refused["errorCode"], wanted.as_str(), "{format}: {refused}");
    }
    let export = HistoryExport::new(conversation.clone(), ExportFormat::Markdown);
    let export = ask(scene, export, "history_export_result").await;
    assert!(
        export["text"].as_str().unwrap().contains("\nsing\n"),
        "{export}"
    );
    let detail = ToolDetail::new(conversation, ToolUseId::parse("toolu_none").unwrap());
    let detail = ask(scene, detail, "tool_detail_result").await;
    assert_eq!(detail["errorCode"], ErrorCode::UnknownToolUse.as_str());
    ask(scene, UsageRequest::new(UsageGroup::Day), "usage_result").await;
}

#[tokio::test]
async fn conversations_are_steered_made_and_deleted() {
    let (mut scene, (workspace, conversation)) = scene().await;
    let scene = &mut scene;
    let (here, it) = (|| workspace.clone(), || conversation.clone());
    for action in [
        ControlAction::Stop,
        ControlAction::NewSession,
        ControlAction::Clear,
    ] {
        let control = ClaudeControl::new(here(), it(), action);
        let result = ask(scene, control, "claude_control_result").await;
        assert_eq!(result["success"], true, "{result}");
    }
    let create = ConversationCreate::new(here(), name("other"), SkillType::Planner);
    let other = ask(scene, create, "conversation_create_result").await;
    assert_eq!(other["conversation"]["name"], "other");
    let select = ConversationSelect::new(here(), it());
    ask(scene, select, "history_result").await;
    let delete = ConversationDelete::new(here(), it());
    let deleted = ask(scene, delete, "conversation_delete_result").await;
    assert_eq!(deleted["success"], true);
    let page = HistoryRequest::new(here(), it());
    let gone = ask(scene, page, "history_result").await;
    assert_eq!(gone["errorCode"], ErrorCode::UnknownConversation.as_str());
    let delete = WorkspaceDelete::new(here());
    let deleted = ask(scene, delete, "workspace_delete_result").await;
    assert_eq!(deleted["success"], true);
    let all = [
        "stop_session",
        "new_session",
        "clear_session",
        "delete_session",
    ];
    check_told(scene, &all);
}
