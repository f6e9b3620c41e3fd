//! What a device has read, over reconnects: the relay gives each connection another number.

use estelle_proto::conversations::ConversationSelect;
use estelle_proto::decisions::ClaudePermission;
use estelle_proto::events::PermissionAsked;
use estelle_proto::workspaces::WorkspaceList;
use estelle_proto::{
    Author, ClaudeEvent, DeviceKey, HistoryMessage, Json, PermissionDecision, PylonToApp,
    RequestId, ToolUseId,
};

use crate::scene::{Scene, event, message};

/// How many conversations are unread for a paired device on a connection.
async fn unread(scene: &mut Scene, app: u32, key: &str) -> usize {
    let id = RequestId::parse(&format!("list-{app}")).unwrap();
    let request = WorkspaceList {
        request_id: Some(id.clone()),
    };
    scene.call.deliver_paired(app, key, request).await;
    let listed = scene.until(|told| match &told.message {
        PylonToApp::WorkspaceListResult(list) if list.request_id.as_ref() == Some(&id) => {
            Some(list.clone())
        }
        _ => None,
    });
    let listed = listed.await.workspaces.into_iter();
    let all = listed.flat_map(|workspace| workspace.conversations);
    all.filter(|one| one.unread == Some(true)).count()
}

#[tokio::test]
async fn a_paired_device_that_comes_back_finds_what_it_has_not_read() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.view(&at).await;
    assert_eq!(unread(&mut scene, 101, "phone").await, 0, "it is new");
    scene.clients(&[100]).await;
    scene.host.append(&at.1, "hello");
    scene.see(&at, 2).await;
    scene.clients(&[100, 102, 103]).await;
    assert_eq!(unread(&mut scene, 102, "phone").await, 1);
    assert_eq!(unread(&mut scene, 103, "laptop").await, 0, "it is new");

    let look = ConversationSelect::new(at.0.clone(), at.1.clone());
    scene.call.deliver_paired(102, "phone", look).await;
    scene.result("history_result").await;
    assert_eq!(unread(&mut scene, 102, "phone").await, 0);
    scene.host.append(&at.1, "seen at once");
    scene.see(&at, 3).await;
    scene.clients(&[100, 104]).await;
    assert_eq!(unread(&mut scene, 104, "phone").await, 0);
}

#[tokio::test]
async fn a_pylon_that_starts_again_knows_who_has_read_what() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    assert_eq!(unread(&mut scene, 101, "phone").await, 0);
    let look = ConversationSelect::new(at.0.clone(), at.1.clone());
    scene.call.deliver_paired(101, "phone", look).await;
    scene.result("history_result").await;
    scene.restart().await;
    scene.host.append(&at.1, "meanwhile");
    scene.clients(&[100, 101]).await;
    scene.view(&at).await;
    scene.see(&at, 2).await;
    assert_eq!(unread(&mut scene, 101, "phone").await, 1);
}

#[tokio::test]
async fn what_a_device_said_and_answered_is_its_own_on_every_connection() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.view(&at).await;
    scene
        .call
        .deliver_paired(101, "phone", message(&at, "m1"))
        .await;
    scene.see(&at, 1).await;
    let call = ToolUseId::parse("c1").unwrap();
    let asked = PermissionAsked::new("Bash".to_owned(), Json::parse("{}").unwrap(), call.clone());
    scene.host.happen(&at.1, asked);
    scene.see(&at, 2).await;
    let (workspace, conversation) = at.clone();
    let allow = ClaudePermission::new(workspace, conversation, call, PermissionDecision::Allow);
    scene.call.deliver_paired(102, "phone", allow).await;
    let live = scene.until(|told| match event(told)?.0 {
        ClaudeEvent::DecisionAnswered(answer) => Some(answer.author),
        _ => None,
    });
    let phone = |name: &str| {
        let key = DeviceKey::parse("phone").unwrap();
        Some(Author::new(key, name.to_owned()))
    };
    assert_eq!(live.await, phone("Client 102"));
    let page = scene.view(&at).await;
    let authors: Vec<_> = page
        .messages
        .into_iter()
        .filter_map(|entry| match entry {
            HistoryMessage::Text(said) => Some(said.author),
            HistoryMessage::UserResponse(answer) => Some(answer.author),
            _ => None,
        })
        .collect();
    assert_eq!(authors, [phone("Client 101"), phone("Client 102")]);
}
