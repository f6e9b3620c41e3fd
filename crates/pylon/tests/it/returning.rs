//! A Pylon that comes back: whoever stayed connected to the relay meanwhile is told what there is and what waits.

use estelle_proto::events::PermissionAsked;
use estelle_proto::{ClaudeEvent, DeviceId, Json, PylonToApp, To, ToolUseId};

use crate::scene::Scene;

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

    // Each is told for itself, and not in the order of the others.
    let apps = [100, 101].map(DeviceId).map(To::device);
    let (mut listed, mut asked) = ([false; 2], [false; 2]);
    while asked != [true; 2] {
        let (app, message) = scene
            .until(|told| {
                let to = told.to.as_ref();
                let app = apps.iter().position(|app| Some(app) == to)?;
                Some((app, told.message.clone()))
            })
            .await;
        match message {
            PylonToApp::WorkspaceListResult(_) => listed[app] = true,
            PylonToApp::ClaudeEventMessage(message) => {
                let is_prompt = matches!(message.event, ClaudeEvent::PermissionAsked(_));
                asked[app] |= is_prompt && listed[app];
            }
            _ => {}
        }
    }
}

/// What was touched is in no log: a host that comes back would count what somebody looks at as idle since its last word.
#[tokio::test]
async fn a_host_that_comes_back_is_told_what_people_look_at() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.view(&at).await;
    let touched = async |scene: &Scene, count: usize| {
        let heard = async {
            while scene.host.heard("touch") < count {
                tokio::task::yield_now().await;
            }
        };
        let heard = tokio::time::timeout(std::time::Duration::from_mins(1), heard).await;
        assert!(heard.is_ok(), "the host hears nothing of it");
    };
    touched(&scene, 1).await;
    scene.host.cut();
    touched(&scene, 2).await;
}
