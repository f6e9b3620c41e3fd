//! Messages that wait: who looks knows them, and they are taken back by the one request that says which.

use estelle_proto::claude::{ClaudeControl, ClaudeControlResult};
use estelle_proto::waiting::{MessageCancelled, Waiting, WaitingMessage};
use estelle_proto::{
    ClaudeEvent, ClientMessageId, ControlAction, ConversationId, ErrorCode, PylonToApp, Reply as _,
    WorkspaceId,
};

use crate::scene::{Scene, Told};

fn client_id(name: &str) -> ClientMessageId {
    ClientMessageId::parse(name).unwrap()
}

/// Asks for a message to be taken back.
async fn take_back(
    scene: &mut Scene,
    at: &(WorkspaceId, ConversationId),
    message: Option<ClientMessageId>,
) -> ClaudeControlResult {
    let mut request = ClaudeControl::new(at.0.clone(), at.1.clone(), ControlAction::CancelMessage);
    request.client_message_id = message;
    scene.call.deliver(request).await;
    let PylonToApp::ClaudeControlResult(result) = scene.result("claude_control_result").await
    else {
        panic!("no result");
    };
    result
}

/// Which messages are said to wait.
fn waiting(told: &Told) -> Option<Vec<WaitingMessage>> {
    match &told.message {
        PylonToApp::ClaudeEventMessage(message) => match &message.event {
            ClaudeEvent::Waiting(waiting) => Some(waiting.messages.clone()),
            _ => None,
        },
        _ => None,
    }
}

#[tokio::test]
async fn whoever_looks_later_is_told_which_messages_wait() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.view(&at).await;
    let one = WaitingMessage {
        client_message_id: Some(client_id("m2")),
        ..WaitingMessage::new("m2".to_owned())
    };
    scene.host.pass(&at.1, Waiting::new(vec![one.clone()]));
    let all = vec![one];
    assert_eq!(scene.until(waiting).await, all);
    scene.view(&at).await;
    assert_eq!(scene.until(waiting).await, all, "it was said before");
}

#[tokio::test]
async fn a_message_is_taken_back_by_its_id_and_history_says_so() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let nothing = take_back(&mut scene, &at, None).await;
    let refused = nothing.outcome().unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidMessage);
    let done = take_back(&mut scene, &at, Some(client_id("m1"))).await;
    done.outcome().unwrap();
    let asked = scene.host.world.lock().unwrap().commands.clone();
    let times = asked.iter().filter(|kind| *kind == "cancel_message");
    assert_eq!(times.count(), 1, "what names no message asks nobody");
    let cancelled = MessageCancelled::new(client_id("m1"));
    scene.host.happen(&at.1, cancelled);
    scene.view(&at).await;
    scene.see(&at, 2).await;
    assert_eq!(scene.history(&at).await, ["m1", "system"]);
}
