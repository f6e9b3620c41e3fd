//! Workspaces and conversations: what is active, what falls to whom, what survives.

use estelle_proto::worktrees::WorktreeState;
use estelle_proto::{ConversationId, PathText, PermissionMode, SkillType, Timestamp, WorkspaceId};
use estelle_pylon::store::{
    ConversationError, Listing, NewConversation, Store, WorkspaceError, WorktreeRow,
};

use super::sample::{Log, NOON};
use super::{Bench, make_workspace, name};

async fn make_conversation(store: &Store, workspace: &WorkspaceId, text: &str) -> ConversationId {
    let new = NewConversation {
        id: None,
        workspace_id: workspace.clone(),
        name: name(text),
        skill_type: SkillType::Planner,
        model: Some("opus".to_owned()),
        permission_mode: Some(PermissionMode::Plan),
        at: Timestamp(NOON + 1),
    };
    store
        .create_conversation(new)
        .await
        .unwrap()
        .conversation_id
}

async fn list(store: &Store) -> Listing {
    store.workspaces(None).await.unwrap()
}

async fn active(store: &Store) -> (Option<WorkspaceId>, Option<ConversationId>) {
    let listing = list(store).await;
    (listing.active_workspace_id, listing.active_conversation_id)
}

#[tokio::test]
async fn a_new_workspace_is_active_with_its_first_conversation() {
    let bench = Bench::new().await;
    let (second, conversation) = make_workspace(&bench.store, "second").await;
    let listing = list(&bench.store).await;
    assert_eq!(listing.active_workspace_id, Some(second.clone()));
    assert_eq!(
        listing.active_conversation_id,
        Some(conversation.conversation_id.clone())
    );
    let shown: Vec<_> = listing
        .workspaces
        .iter()
        .map(|workspace| (workspace.name.as_str(), workspace.is_active))
        .collect();
    assert_eq!(shown, [("home", Some(false)), ("second", Some(true))]);
    assert_eq!(listing.workspaces[1].conversations, [conversation]);
}

#[tokio::test]
async fn deleting_the_active_one_activates_the_first_that_is_left() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (second, _) = make_workspace(store, "second").await;
    let (third, _) = make_workspace(store, "third").await;

    store.delete_workspace(second).await.unwrap();
    assert_eq!(
        active(store).await.0,
        Some(third.clone()),
        "it was not the active one"
    );
    store.delete_workspace(third).await.unwrap();
    let first = (
        Some(bench.workspace.clone()),
        Some(bench.conversation.clone()),
    );
    assert_eq!(active(store).await, first);
    let gone = store
        .delete_workspace(bench.workspace.clone())
        .await
        .unwrap();
    assert_eq!(gone, std::slice::from_ref(&bench.conversation));
    assert_eq!(active(store).await, (None, None));
    let error = store
        .delete_workspace(bench.workspace.clone())
        .await
        .unwrap_err();
    assert!(
        matches!(error, WorkspaceError::UnknownWorkspace { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn deleting_the_active_conversation_activates_the_first_of_its_workspace() {
    let bench = Bench::new().await;
    let (store, home) = (&bench.store, &bench.workspace);
    let second = make_conversation(store, home, "second").await;
    assert_eq!(active(store).await.1, Some(second.clone()));
    store
        .delete_conversation(home.clone(), second)
        .await
        .unwrap();
    assert_eq!(active(store).await.1, Some(bench.conversation.clone()));
    store
        .delete_conversation(home.clone(), bench.conversation.clone())
        .await
        .unwrap();
    assert_eq!(active(store).await, (Some(home.clone()), None));
}

#[tokio::test]
async fn switching_to_an_unknown_conversation_falls_back_to_the_first() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (other, strange) = make_workspace(store, "other").await;
    let at = Timestamp(NOON + 5);
    // A conversation of another workspace is as unknown as one that never was.
    let switched = store
        .switch_workspace(bench.workspace.clone(), Some(strange.conversation_id), at)
        .await
        .unwrap();
    assert_eq!(switched, Some(bench.conversation.clone()));
    assert_eq!(list(store).await.workspaces[0].last_used, Some(at));
    let nowhere = WorkspaceId::parse("nowhere").unwrap();
    store.switch_workspace(nowhere, None, at).await.unwrap_err();
    assert_eq!(active(store).await.0, Some(bench.workspace.clone()));
    store
        .switch_workspace(other.clone(), None, at)
        .await
        .unwrap();
    assert_eq!(active(store).await.0, Some(other));
}

#[tokio::test]
async fn a_conversation_of_another_workspace_cannot_be_touched_through_it() {
    let bench = Bench::new().await;
    let (other, _) = make_workspace(&bench.store, "other").await;
    let id = bench.conversation.clone();
    let deleted = bench
        .store
        .delete_conversation(other.clone(), id.clone())
        .await;
    let renamed = bench.store.rename_conversation(other, id, name("x")).await;
    for error in [deleted.unwrap_err(), renamed.unwrap_err()] {
        assert!(
            matches!(error, ConversationError::UnknownConversation { .. }),
            "{error}"
        );
    }
    assert_eq!(
        list(&bench.store).await.workspaces[0].conversations.len(),
        1
    );
}

#[tokio::test]
async fn modes_and_models_fall_back_to_the_default_and_survive() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let own = make_conversation(store, &bench.workspace, "own").await;
    store
        .set_default_permission_mode(PermissionMode::AcceptEdits)
        .await
        .unwrap();
    store
        .set_default_model(Some("haiku".to_owned()))
        .await
        .unwrap();
    store
        .rename_workspace(bench.workspace.clone(), name("집"))
        .await
        .unwrap();

    let bench = bench.reopened().await;
    let plain = bench
        .store
        .conversation(bench.conversation.clone())
        .await
        .unwrap();
    assert_eq!(plain.permission_mode, PermissionMode::AcceptEdits);
    assert_eq!(plain.model.as_deref(), Some("haiku"));
    assert_eq!(plain.working_dir.as_str(), "/srv/project");
    let own = bench.store.conversation(own).await.unwrap();
    assert_eq!(own.permission_mode, PermissionMode::Plan);
    assert_eq!(own.model.as_deref(), Some("opus"));
    assert_eq!(list(&bench.store).await.workspaces[0].name.as_str(), "집");

    let id = own.conversation.conversation_id;
    bench
        .store
        .set_permission_mode(id.clone(), None)
        .await
        .unwrap();
    let mode = bench.store.conversation(id).await.unwrap().permission_mode;
    assert_eq!(mode, PermissionMode::AcceptEdits);
}

#[tokio::test]
async fn a_session_is_learned_from_the_agent_and_dropped_by_people() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    bench
        .store
        .apply([log.init("session-1", "opus")])
        .await
        .unwrap();
    let session = || async {
        let known = bench.store.conversation(id.clone()).await.unwrap();
        known
            .conversation
            .claude_session_id
            .map(|id| id.as_str().to_owned())
    };
    assert_eq!(session().await.as_deref(), Some("session-1"));
    bench
        .store
        .set_claude_session(id.clone(), None)
        .await
        .unwrap();
    assert_eq!(session().await, None);
}

#[tokio::test]
async fn names_are_found_without_regard_to_case_exact_ones_first() {
    let bench = Bench::new().await;
    let (long, _) = make_workspace(&bench.store, "Homework").await;
    let (exact, _) = make_workspace(&bench.store, "WORK").await;
    let found = bench
        .store
        .find_workspaces("work".to_owned())
        .await
        .unwrap();
    assert_eq!(found, [exact, long]);
}

#[tokio::test]
async fn a_conversation_with_a_worktree_is_listed_with_its_own_folder() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (workspace, plain) = make_workspace(store, "second").await;
    let apart = make_conversation(store, &workspace, "apart").await;
    let path = |text: &str| PathText::parse(text).unwrap();
    let tree = WorktreeRow {
        conversation: apart.clone(),
        workspace,
        repository: path("/repository"),
        path: path("/trees/apart"),
        folder: path("/trees/apart/inner"),
        branch: "estelle/apart".to_owned(),
        base_branch: None,
        base: "c0ffee".to_owned(),
        state: WorktreeState::Ready,
        created_at: Timestamp(NOON),
    };
    assert!(store.add_worktree(tree).await.unwrap());
    let listing = list(store).await;
    let all = || listing.workspaces.iter().flat_map(|one| &one.conversations);
    let found = |id: &ConversationId| all().find(|one| one.conversation_id == *id).unwrap();
    let shown = found(&apart);
    assert_eq!(shown.working_dir, Some(path("/trees/apart/inner")));
    assert_eq!(shown.branch.as_deref(), Some("estelle/apart"));
    assert_eq!(found(&plain.conversation_id).working_dir, None);
}
