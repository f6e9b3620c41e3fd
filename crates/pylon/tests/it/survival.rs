//! Everything breaks, where a seed says so: the host's connections, the relay's, and the pylon itself. In the end the
//! history is what the host's logs are, and each message of a client ran once.

use estelle_proto::conversations::ConversationCreate;
use estelle_proto::{
    ClaudeEvent, ConversationId, Name, PylonToApp, Reply as _, SkillType, WorkspaceId,
};

use crate::scene::{Scene, message};

type Place = (WorkspaceId, ConversationId);

/// A client that sends a message until it is told that it was taken.
struct Unanswered {
    at: Place,
    id: String,
}

async fn second_conversation(scene: &mut Scene, workspace: &WorkspaceId) -> ConversationId {
    let name = Name::parse("second").unwrap();
    let create = ConversationCreate::new(workspace.clone(), name, SkillType::General);
    scene.call.deliver(create).await;
    let PylonToApp::ConversationCreateResult(made) =
        scene.result("conversation_create_result").await
    else {
        panic!("not made");
    };
    made.conversation.unwrap().conversation_id
}

/// Sends everything that was not answered, as a client does that is back; takes the answers.
async fn send_again(scene: &mut Scene, unanswered: &mut Vec<Unanswered>) {
    for one in unanswered.iter() {
        scene.call.deliver(message(&one.at, &one.id)).await;
    }
    while !unanswered.is_empty() {
        let PylonToApp::ClaudeSendResult(result) = scene.result("claude_send_result").await else {
            panic!("not a result");
        };
        result.outcome().unwrap();
        let id = result.client_message_id.unwrap();
        unanswered.retain(|one| one.id != id.as_str());
    }
}

/// What the history should say.
fn texts(log: &[ClaudeEvent]) -> Vec<String> {
    let text = |event: &ClaudeEvent| match event {
        ClaudeEvent::UserMessage(message) => message.content.clone(),
        ClaudeEvent::TextComplete(text) => text.text.clone(),
        other => panic!("nobody said {other:?}"),
    };
    log.iter().map(text).collect()
}

async fn live_through(seed: u64) {
    let mut scene = Scene::open().await;
    let first = scene.workspace().await;
    let second = (
        first.0.clone(),
        second_conversation(&mut scene, &first.0).await,
    );
    let places = [first, second];
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut unanswered = Vec::new();
    scene.host.world.lock().unwrap().is_rough = true;
    for round in 0..60 {
        let at = rng.choice(&places).unwrap().clone();
        match rng.u8(0..20) {
            0..7 => scene.host.append(&at.1, &format!("said {round}")),
            7..13 => {
                let id = format!("m{round}");
                scene.call.deliver(message(&at, &id)).await;
                unanswered.push(Unanswered { at, id });
            }
            13..16 => scene.host.cut(),
            16..19 => {
                drop(scene.call.socket.close(None).await);
                scene.call = scene.relay.let_in().await;
            }
            _ => scene.restart().await,
        }
    }
    scene.host.world.lock().unwrap().is_rough = false;
    scene.host.cut();
    send_again(&mut scene, &mut unanswered).await;
    for at in &places {
        scene.host.append(&at.1, "the end");
        let log = texts(&scene.host.log(&at.1));
        scene.view(at).await;
        scene.see(at, log.len() as u64).await;
        let history = scene.history(at).await;
        assert_eq!(history, log, "seed {seed}");
        let mut messages: Vec<_> = log.iter().filter(|text| text.starts_with('m')).collect();
        let count = messages.len();
        messages.sort();
        messages.dedup();
        assert_eq!(messages.len(), count, "a message ran twice, seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_is_the_log_whatever_breaks() {
    for seed in 0..6 {
        live_through(seed).await;
    }
}
