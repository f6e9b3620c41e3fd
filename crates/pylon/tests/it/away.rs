//! A host that is away or comes back: reading does not wait for it, and its return does not flood anybody.

use estelle_proto::conversations::{ConversationCreate, ConversationSelect};
use estelle_proto::events::StateChanged;
use estelle_proto::{
    ConversationId, ConversationStatus, Name, PylonToApp, Reply as _, Right, SkillType, WorkspaceId,
};

use crate::scene::{Scene, event, message};

/// More than the desk has under way at once.
const MANY: usize = 300;

async fn unreachable(scene: &mut Scene) {
    scene.host.go_away();
    let is_away = |told: &crate::scene::Told| match &told.message {
        PylonToApp::PylonStatus(status) => (status.host_connected == Some(false)).then_some(()),
        _ => None,
    };
    scene.until(is_away).await;
}

#[tokio::test]
async fn a_message_that_waits_for_the_host_keeps_nobody_from_reading() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.see(&at, 1).await;
    unreachable(&mut scene).await;
    scene.call.deliver(message(&at, "m2")).await;
    for app in [100, 101] {
        let select = ConversationSelect::new(at.0.clone(), at.1.clone());
        scene.call.deliver_from(app, &[Right::View], select).await;
    }
    let mut told = Vec::new();
    while told.len() < 3 {
        told.push(
            scene
                .until(|told| match &told.message {
                    PylonToApp::HistoryResult(page) => Some(page.outcome().map(|()| "page")),
                    PylonToApp::ClaudeSendResult(_) => Some(Ok("not sent")),
                    _ => None,
                })
                .await
                .unwrap(),
        );
    }
    assert_eq!(told, ["page", "page", "not sent"]);
}

#[tokio::test]
async fn without_the_host_everybody_reads_as_often_as_they_like() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    unreachable(&mut scene).await;
    for _ in 0..MANY {
        scene.view(&at).await;
    }
}

async fn another(scene: &mut Scene, workspace: &WorkspaceId) -> ConversationId {
    let name = Name::parse("another").unwrap();
    let wish = ConversationCreate::new(workspace.clone(), name, SkillType::General);
    scene.call.deliver(wish).await;
    let made = scene.result("conversation_create_result").await;
    let PylonToApp::ConversationCreateResult(made) = made else {
        panic!("not made");
    };
    made.conversation.unwrap().conversation_id
}

#[tokio::test]
async fn a_pylon_that_comes_back_tells_nobody_what_is_as_it_was() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    let working = || StateChanged::new(ConversationStatus::Working);
    for _ in 0..5 {
        let one = (at.0.clone(), another(&mut scene, &at.0).await);
        scene.send(&one, one.1.as_str()).await;
        scene.view(&one).await;
        scene.host.happen(&one.1, working());
        scene.see(&one, 2).await;
    }
    scene.restart().await;
    scene.clients(&[100]).await;
    scene.call.deliver(message(&at, "after")).await;
    // The host says how everything is before it says what happens next.
    let mut updates = 0;
    scene
        .until(|told| {
            let is_update = matches!(told.message, PylonToApp::ConversationStatusUpdate(_));
            updates += usize::from(is_update);
            event(told).filter(|(event, _)| event.kind() == "userMessage")
        })
        .await;
    assert_eq!(updates, 0);
}
