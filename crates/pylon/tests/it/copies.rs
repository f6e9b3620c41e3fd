//! Copies that the host has made for a pylon which died before it could list them.

use estelle_proto::events::UserMessage;
use estelle_proto::{ConversationId, Name, SkillType, Timestamp, WorkspaceId};
use estelle_pylon::store::NewConversation;

use crate::peers::host::conversation;
use crate::scene::Scene;

fn copy(id: &ConversationId, workspace: &WorkspaceId) -> NewConversation {
    NewConversation {
        id: Some(id.clone()),
        workspace_id: workspace.clone(),
        name: Name::parse("a copy").unwrap(),
        skill_type: SkillType::General,
        model: None,
        permission_mode: None,
        at: Timestamp(1),
    }
}

#[tokio::test]
async fn a_copy_that_is_there_is_listed_and_one_that_is_not_is_given_up() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    let [made, never] = ["copy-1", "copy-2"].map(conversation);
    for id in [&made, &never] {
        let wanted = copy(id, &at.0);
        scene.store().intend_fork(wanted).await.unwrap();
    }
    let said = UserMessage::new("hello".to_owned(), Timestamp(1));
    scene.host.happen(&made, said);
    scene.restart().await;
    while !scene.store().unlisted_forks().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let listed = scene.store().conversation(made.clone()).await.unwrap();
    assert_eq!(listed.workspace_id, at.0);
    assert_eq!(listed.conversation.name.as_str(), "a copy");
    scene.store().conversation(never).await.unwrap_err();
    // It is followed like any other: what the host tells of it comes in.
    let place = (at.0, made);
    while scene.history(&place).await != ["hello"] {}
}

#[tokio::test]
async fn a_copy_without_its_workspace_is_given_up() {
    let mut scene = Scene::open().await;
    let gone = WorkspaceId::parse("gone").unwrap();
    let id = conversation("copy-1");
    let wanted = copy(&id, &gone);
    scene.store().intend_fork(wanted).await.unwrap();
    let said = UserMessage::new("hello".to_owned(), Timestamp(1));
    scene.host.happen(&id, said);
    scene.restart().await;
    while !scene.store().unlisted_forks().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    scene.store().conversation(id).await.unwrap_err();
}
