//! What a device has read, over reconnects: the relay gives each connection another number.

use estelle_proto::conversations::ConversationSelect;
use estelle_proto::workspaces::WorkspaceList;
use estelle_proto::{PylonToApp, RequestId};

use crate::desk::Scene;

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
