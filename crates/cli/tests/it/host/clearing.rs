//! What is asked of a conversation between the wish to clear or delete it and the end of its process.

use std::time::Duration;

use estelle_host::Host;
use estelle_host::ipc::Desk;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{
    ClearSession, DeleteSession, HostToPylon, PylonToHost, StopSession, Subscribe,
};
use estelle_proto::{ClientMessageId, Epoch, ErrorCode, OnBusy, Seq};
use estelle_sim::script::Script;

use super::lifecycle::opened;
use super::messages::gated;
use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

/// A stage whose agent, once it was told to end, is there until the gate `end` is open.
async fn lingering() -> Stage {
    let mut stage = Stage::new(&Agent::Simulator).await;
    let program = stage.program.display();
    let lingers = format!(
        "case \"$PWD $*\" in *canary*|*--version*) exec {program} \"$@\";; esac\n{program} \"$@\"\n{}\nexit 0",
        stage.wait_for("end")
    );
    stage.program = stage.wrapped("agent", &lingers, &stage.program);
    stage.grace = Duration::from_hours(1);
    stage
}

fn named(stage: &Stage, name: &str, text: &str) -> estelle_proto::ipc::SendMessage {
    let id = conversation("conv-1");
    let mut sent = message(stage, &id, &Script::new().say(text).prompt());
    sent.payload.client_message_id = Some(ClientMessageId::parse(name).unwrap());
    sent
}

/// Asks for several things in this order, and gives the answers when the process may end.
async fn in_this_order<const N: usize>(
    stage: &Stage,
    host: &Host,
    commands: [PylonToHost; N],
) -> Vec<Result<estelle_host::ipc::Done, ErrorCode>> {
    let mut answers = Vec::new();
    for command in commands {
        answers.push(host.submit(command).await);
    }
    // Whoever looks is answered meanwhile, and the last command has been seen when he is.
    status(host, &conversation("conv-1")).await;
    stage.open_gate("end");
    let answers = futures_util::future::join_all(answers).await;
    let answers = answers.into_iter();
    answers
        .map(|answer| answer.map_err(|refusal| refusal.error.code))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_while_a_conversation_is_cleared_is_the_first_of_the_new_log() {
    let stage = lingering().await;
    let (host, _listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let clear = ClearSession::new(id.clone());
    let sent = named(&stage, "m-2", "after");
    let answers = in_this_order(&stage, &host, [clear.into(), sent.into()]).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(answers[1].as_ref().unwrap().seq, Some(Seq(1)));
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["after"]);
    assert_eq!(status(&host, &id).await.epoch, Some(Epoch(2)));
    listener.assert_dense();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_taken_on_while_a_conversation_is_deleted() {
    let stage = lingering().await;
    let (host, _listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let commands: [PylonToHost; 5] = [
        DeleteSession::new(id.clone()).into(),
        named(&stage, "m-2", "after").into(),
        ClearSession::new(id.clone()).into(),
        DeleteSession::new(id.clone()).into(),
        StopSession::new(id.clone()).into(),
    ];
    let mut answers = in_this_order(&stage, &host, commands).await.into_iter();
    assert!(answers.next().unwrap().is_ok());
    for _ in 0..3 {
        assert_eq!(answers.next(), Some(Err(ErrorCode::UnknownConversation)));
    }
    assert!(
        answers.next().unwrap().is_ok(),
        "a stop is obeyed while there is something to stop"
    );
    assert!(!stage.path("data/conversations/conv-1").exists());
    let mut conversations = std::fs::read_dir(stage.path("data/conversations")).unwrap();
    assert!(conversations.next().is_none(), "nothing is written again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_here_when_its_conversation_is_cleared_is_told_of_in_the_new_log() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let first = message(&stage, &id, &gated("one two three four", "never"));
    submit(&host, first).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    let mut queued = named(&stage, "m-2", "queued");
    queued.payload.on_busy = Some(OnBusy::Queue);
    submit(&host, queued).await.unwrap();
    submit(&host, ClearSession::new(id.clone())).await.unwrap();

    let is_told = |event: &ClaudeEvent| matches!(event, ClaudeEvent::MessageCancelled(one) if one.client_message_id.as_str() == "m-2");
    listener.until(is_told).await;
    let told = listener.events.last().unwrap();
    assert_eq!((told.epoch, told.seq), (Some(Epoch(2)), Some(Seq(1))));
    // Whoever was away hears it, too, also of the next host.
    drop((host, listener));
    let host = stage.reopen().await;
    let mut late = Listener::from(&host, Subscribe::new(id.clone())).await;
    let HostToPylon::Subscribed(began) = late.message().await else {
        panic!("no beginning");
    };
    assert_eq!((began.epoch, began.head_seq), (Epoch(2), Seq(1)));
    late.until(is_told).await;
    let cleared = status(&host, &id).await;
    assert_eq!(cleared.waiting, Some(Vec::new()));
}
