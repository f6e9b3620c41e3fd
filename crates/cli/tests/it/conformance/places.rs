//! Workspaces and conversations: make, name, look, switch, delete, and the list that everybody gets after each change.

use serde_json::{Value, json};

use super::house::House;
use super::probe::Probe;
use super::shape::check;
use super::table::Book;
use super::{Cast, SELENE};

/// What a process of a conversation is at, and why.
pub(super) fn process() -> Value {
    json!({
        "status": "id", "paused?": "any", "exitCode?": "number", "cause?": "id", "why?": "id",
    })
}

/// What an agent is at.
pub(super) fn activity() -> Value {
    json!({"type": "thinking|responding|tool", "toolName?": "id"})
}

/// A conversation in a list.
fn conversation() -> Value {
    json!({
        "conversationId": "id", "name": "id", "skillType": "general|planner|worker",
        "status": "idle|working|permission", "claudeSessionId": "id|null",
        "unread?": "bool", "permissionMode?": "string", "model?": "string", "isActive?": "bool",
        "createdAt?": "ms", "updatedAt?": "ms", "workingDir?": "id", "branch?": "id",
        "process?": process(), "activity?": activity(),
    })
}

fn workspace() -> Value {
    json!({
        "workspaceId": "id", "name": "id", "workingDir": "id", "conversations": [conversation()],
        "tasks": [super::tasks::summary()],
        "workerStatus": super::tasks::worker_status(),
        "isActive?": "bool", "createdAt?": "ms", "lastUsed?": "ms",
    })
}

/// Waits for the list of the Pylon, checks all of it, and gives its payload.
pub(super) async fn list(probe: &mut Probe, wanted: impl Fn(&Value) -> bool) -> Value {
    let is_it = |frame: &Value| {
        let payload = &frame["payload"];
        frame["type"] == "workspace_list_result" && payload["deviceId"] == SELENE && wanted(payload)
    };
    let frame = probe.until(is_it).await;
    let result = json!({
        "deviceId": "count", "deviceInfo": {"name": "id", "icon": "id"}, "workspaces": [workspace()],
        "activeWorkspaceId": "id|null", "activeConversationId": "id|null",
        "success?": "bool", "requestId?": "id",
    });
    check(&frame["payload"], &result);
    assert_eq!(frame["to"], json!({"deviceId": probe.id()}), "{frame}");
    assert_eq!(frame["from"]["name"], "Selene", "{frame}");
    frame["payload"].clone()
}

pub(super) async fn chapter(house: &House, cast: &mut Cast, book: &mut Book) {
    all_pylons_answer(cast).await;
    book.shows("places", [14, 15]);
    let made = create(house, cast).await;
    book.shows("places", [16, 17, 18, 19]);
    folders(&mut cast.owner).await;
    book.shows("places", [65, 66]);
    let id = &made["workspace"]["workspaceId"];
    let first = &made["conversation"]["conversationId"];

    let made = cast
        .phone
        .done(
            SELENE,
            "workspace_rename",
            &json!({"workspaceId": id, "newName": "별"}),
        )
        .await;
    check(
        &made,
        &json!({"deviceId": "count", "workspaceId": "id", "success": "bool", "requestId": "id"}),
    );
    for probe in [&mut cast.phone, &mut cast.viewer] {
        // The result came first: the sender waits for the list after it.
        list(probe, |list| list["workspaces"][0]["name"] == "별").await;
    }
    book.shows("places", [21]);
    conversations(cast, id, first).await;
    book.shows("places", [24, 25, 26, 27, 28]);
    switch_and_delete(house, cast, id, first).await;
    book.shows("places", [20, 22, 23]);
}

/// `workspace_list` without a payload, to all Pylons: each answers the asker, and nobody else.
/// Where a workspace could be: at home unless a path is said, and nowhere that is not shown.
async fn folders(owner: &mut Probe) {
    let usual = owner.done(SELENE, "folder_list", &json!({})).await;
    let again = json!({"path": usual["path"]});
    let again = owner.done(SELENE, "folder_list", &again).await;
    for told in [&usual, &again] {
        assert_eq!(told["deviceId"], SELENE, "{told}");
        assert_eq!(told["success"], true, "{told}");
        assert!(told["path"].is_string(), "{told}");
        let names = told["folders"].as_array().unwrap();
        assert!(names.iter().all(Value::is_string), "{told}");
    }
    assert_eq!(usual["folders"], again["folders"]);
    let hidden = json!({"path": "/"});
    let refused = owner.ask(SELENE, "folder_list", &hidden).await;
    let refused = &refused["payload"];
    assert_eq!(refused["errorCode"], "bad_path", "{refused}");
    assert_eq!(refused["success"], false, "{refused}");
}

async fn all_pylons_answer(cast: &mut Cast) {
    cast.viewer.fence().await;
    let (mark, others) = (cast.owner.mark(), cast.viewer.mark());
    cast.owner
        .send(&json!({"type": "workspace_list", "broadcast": "pylons"}))
        .await;
    for _ in [1, 2] {
        cast.owner
            .until(|frame| frame["type"] == "workspace_list_result")
            .await;
    }
    let lists = cast
        .owner
        .since(mark)
        .filter(|frame| frame["type"] == "workspace_list_result");
    for list in lists.clone() {
        assert_eq!(list["payload"]["workspaces"], json!([]));
        assert_eq!(list["payload"]["activeWorkspaceId"], Value::Null);
        assert_eq!(list["payload"]["activeConversationId"], Value::Null);
    }
    let mut pylons: Vec<_> = lists
        .map(|list| list["payload"]["deviceId"].as_u64())
        .collect();
    pylons.sort_unstable();
    assert_eq!(pylons, [Some(1), Some(2)]);
    cast.viewer.fence().await;
    let others = cast.viewer.kinds(others);
    assert!(
        !others.contains(&"workspace_list_result".to_owned()),
        "{others:?}"
    );
    cast.pylon
        .until(|frame| frame["type"] == "workspace_list")
        .await;
}

async fn create(house: &House, cast: &mut Cast) -> Value {
    let folder = house.work("one");
    let wanted = json!({"name": "Estelle", "workingDir": folder});
    let made = cast.owner.done(SELENE, "workspace_create", &wanted).await;
    let result = json!({
        "deviceId": "count", "success": "bool", "workspace": workspace(), "conversation": conversation(),
        "requestId": "id",
    });
    check(&made, &result);
    assert_eq!(made["workspace"]["name"], "Estelle");
    assert_eq!(made["workspace"]["workingDir"], json!(folder));
    assert_eq!(made["workspace"]["tasks"], json!([]));
    assert_eq!(made["workspace"]["workerStatus"]["running"], false);
    assert_eq!(
        made["workspace"]["conversations"][0]["conversationId"],
        made["conversation"]["conversationId"]
    );
    assert_eq!(made["conversation"]["status"], "idle");
    assert_eq!(made["conversation"]["claudeSessionId"], Value::Null);
    for probe in [&mut cast.owner, &mut cast.phone, &mut cast.viewer] {
        let list = list(probe, |list| list["workspaces"][0].is_object()).await;
        assert_eq!(list["activeWorkspaceId"], made["workspace"]["workspaceId"]);
        assert_eq!(
            list["activeConversationId"],
            made["conversation"]["conversationId"]
        );
    }
    made
}

async fn conversations(cast: &mut Cast, workspace: &Value, first: &Value) {
    let mut made = Vec::new();
    for skill in ["general", "planner", "worker"] {
        let wanted =
            json!({"workspaceId": workspace, "name": format!("A {skill}"), "skillType": skill});
        let result = cast
            .phone
            .done(SELENE, "conversation_create", &wanted)
            .await;
        let conversation = json!({
            "conversationId": "id", "name": "id", "skillType": "general|planner|worker",
            "status?": "idle", "createdAt?": "ms",
        });
        let shape = json!({
            "deviceId": "count", "success": "bool", "workspaceId": "id", "conversation": conversation,
            "requestId": "id",
        });
        check(&result, &shape);
        assert_eq!(result["workspaceId"], *workspace);
        assert_eq!(result["conversation"]["skillType"], skill);
        made.push(result["conversation"]["conversationId"].clone());
    }
    let names = |list: &Value| {
        let all = list["workspaces"][0]["conversations"]
            .as_array()
            .unwrap()
            .iter();
        all.map(|one| one["name"].clone()).collect::<Vec<_>>()
    };
    let listed = list(&mut cast.viewer, |list| names(list).len() == 4).await;
    assert_eq!(names(&listed)[1..], ["A general", "A planner", "A worker"]);

    let target = json!({"workspaceId": workspace, "conversationId": first});
    let page = cast
        .phone
        .done(SELENE, "conversation_select", &target)
        .await;
    assert_eq!(
        (&page["conversationId"], &page["messages"]),
        (first, &json!([]))
    );

    let ids = json!({"deviceId": "count", "workspaceId": "id", "conversationId": "id", "success": "bool", "requestId": "id"});
    let mut rename = json!({"workspaceId": workspace, "conversationId": made[0]});
    let delete = rename.clone();
    rename["newName"] = json!("이름");
    let renamed = cast
        .phone
        .done(SELENE, "conversation_rename", &rename)
        .await;
    check(&renamed, &ids);
    list(&mut cast.viewer, |list| names(list)[1] == "이름").await;
    let deleted = cast
        .owner
        .done(SELENE, "conversation_delete", &delete)
        .await;
    check(&deleted, &ids);
    let listed = list(&mut cast.viewer, |list| names(list).len() == 3).await;
    assert_eq!(names(&listed)[1..], ["A planner", "A worker"]);
    let gone = cast.phone.ask(SELENE, "conversation_select", &delete).await;
    assert_eq!(
        gone["payload"]["errorCode"], "unknown_conversation",
        "{gone}"
    );
}

async fn switch_and_delete(house: &House, cast: &mut Cast, first: &Value, old: &Value) {
    let wanted = json!({"name": "Second", "workingDir": house.work("two")});
    let second = cast.owner.done(SELENE, "workspace_create", &wanted).await;
    let second = second["workspace"]["workspaceId"].clone();
    list(&mut cast.viewer, |list| list["activeWorkspaceId"] == second).await;

    let back = json!({"workspaceId": first, "conversationId": old});
    let switched = cast.viewer.done(SELENE, "workspace_switch", &back).await;
    let shape = json!({
        "deviceId": "count", "workspaceId": "id", "conversationId": "id", "success": "bool", "requestId": "id",
    });
    check(&switched, &shape);
    for probe in [&mut cast.viewer, &mut cast.phone] {
        let list = list(probe, |list| {
            list["activeWorkspaceId"] == *first && list["activeConversationId"] == *old
        })
        .await;
        assert_eq!(list["workspaces"].as_array().unwrap().len(), 2);
    }
    let deleted = cast
        .owner
        .done(SELENE, "workspace_delete", &json!({"workspaceId": second}))
        .await;
    check(
        &deleted,
        &json!({"deviceId": "count", "workspaceId": "id", "success": "bool", "requestId": "id"}),
    );
    let is_gone = |list: &Value| list["workspaces"].as_array().unwrap().len() == 1;
    for probe in [&mut cast.owner, &mut cast.viewer] {
        list(probe, is_gone).await;
    }
}
