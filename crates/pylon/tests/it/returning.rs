//! A Pylon that comes back: whoever stayed connected to the relay meanwhile is told what there is and what waits.

use estelle_proto::events::PermissionAsked;
use estelle_proto::{ClaudeEvent, DeviceId, Json, PylonToApp, To, ToolUseId};

use crate::desk::Scene;

/// The relay may take the new connection before it notices the end of the old one. Then no client is told that the Pylon
/// was away, and none asks.
#[tokio::test]
async fn clients_that_did_not_notice_are_told_what_waits() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.view(&at).await;
    let call = ToolUseId::parse("toolu_1").unwrap();
    let input = Json::parse(r#"{"command":"true"}"#).unwrap();
    let asked = PermissionAsked::new("Bash".to_owned(), input, call);
    scene.host.happen(&at.1, asked);
    scene.see(&at, 2).await;

    drop(scene.call.socket.close(None).await);
    scene.call = scene.relay.let_in().await;
    scene.clients(&[100, 101]).await;

    for app in [100, 101].map(DeviceId).map(To::device) {
        let list = scene.until(|told| {
            let is_list = matches!(told.message, PylonToApp::WorkspaceListResult(_));
            (is_list && told.to.as_ref() == Some(&app)).then_some(())
        });
        list.await;
        let prompt = scene.until(|told| match &told.message {
            PylonToApp::ClaudeEventMessage(message) if told.to.as_ref() == Some(&app) => {
                matches!(message.event, ClaudeEvent::PermissionAsked(_)).then_some(())
            }
            _ => None,
        });
        prompt.await;
    }
}
