//! Messages while the agent is busy, and messages that come twice.

use estelle_host::ipc::Desk;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{CancelMessage, HostToPylon, Subscribe};
use estelle_proto::waiting::WaitingMessage;
use estelle_proto::{ClientMessageId, ErrorCode, OnBusy, PathText};
use estelle_sim::script::Script;

use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

pub(super) fn gated(text: &str, gate: &str) -> String {
    let script = Script::new().say(text).gated_at(gate, 1);
    script
        .prompt()
        .replacen("\"say\":", "\"chunks\":4,\"say\":", 1)
}

pub(super) async fn a_queued_message_waits_for_the_end_of_the_turn(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    submit(
        &host,
        message(&stage, &id, &gated("one two three four", "half")),
    )
    .await
    .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    let mut queued = message(&stage, &id, &Script::new().say("queued").prompt());
    queued.payload.on_busy = Some(OnBusy::Queue);
    submit(&host, queued).await.unwrap();
    drop(host);
    drop(listener);
    let host = stage.reopen().await;
    stage.open_gate("half");
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["one two three four", "queued"]);
    listener.assert_dense();
}

pub(super) async fn a_queued_message_can_be_taken_back_until_the_agent_has_it(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let named = |name: &str, text: &str| {
        let mut sent = message(&stage, &id, text);
        sent.payload.client_message_id = Some(ClientMessageId::parse(name).unwrap());
        sent.payload.on_busy = Some(OnBusy::Queue);
        sent
    };
    let take_back =
        |name: &str| CancelMessage::new(id.clone(), ClientMessageId::parse(name).unwrap());
    let first = named("m-1", &gated("one two three four", "half"));
    submit(&host, first).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    for name in ["m-2", "m-3"] {
        let queued = named(name, &Script::new().say(name).prompt());
        submit(&host, queued).await.unwrap();
    }
    listener
        .until(|event| waiting(event) == Some(vec!["m-2", "m-3"]))
        .await;
    let late = submit(&host, take_back("m-1")).await.unwrap_err();
    assert_eq!(late.error.code, ErrorCode::Conflict);
    submit(&host, take_back("m-2")).await.unwrap();
    listener
        .until(|event| matches!(event, ClaudeEvent::MessageCancelled(_)))
        .await;
    listener
        .until(|event| waiting(event) == Some(vec!["m-3"]))
        .await;
    drop(host);
    drop(listener);
    let host = stage.reopen().await;
    let standing = status(&host, &id).await.waiting.unwrap();
    assert_eq!(names(&standing), ["m-3"], "a new host knows what waits");
    stage.open_gate("half");
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["one two three four", "m-3"]);
    assert_eq!(status(&host, &id).await.waiting.unwrap(), []);
    listener.assert_dense();
}

fn names(waiting: &[WaitingMessage]) -> Vec<&str> {
    let ids = waiting.iter().flat_map(|one| &one.client_message_id);
    ids.map(ClientMessageId::as_str).collect()
}

/// Which messages an event says to wait.
fn waiting(event: &ClaudeEvent) -> Option<Vec<&str>> {
    let ClaudeEvent::Waiting(waiting) = event else {
        return None;
    };
    Some(names(&waiting.messages))
}

pub(super) async fn an_interrupting_message_ends_the_turn_first(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    submit(
        &host,
        message(&stage, &id, &gated("one two three four", "never")),
    )
    .await
    .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    let mut urgent = message(&stage, &id, &Script::new().say("urgent").prompt());
    urgent.payload.on_busy = Some(OnBusy::Interrupt);
    submit(&host, urgent).await.unwrap();
    listener.result().await;
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some("urgent"));
}

pub(super) async fn a_message_that_is_sent_twice_runs_once(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let mut sent = message(&stage, &id, &Script::new().say("once").prompt());
    sent.payload.client_message_id = Some(ClientMessageId::parse("m-1").unwrap());
    let first = submit(&host, sent.clone()).await.unwrap();
    let again = submit(&host, sent.clone()).await.unwrap();
    assert_eq!(first.seq, again.seq);
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    drop(host);
    let host = stage.reopen().await;
    let late = submit(&host, sent).await.unwrap();
    assert_eq!(first.seq, late.seq);
    let mut listener = Listener::new(&host, &id).await;
    submit(
        &host,
        message(&stage, &id, &Script::new().say("two").prompt()),
    )
    .await
    .unwrap();
    listener.result().await;
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["once", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_be_worked_on_changes_nothing() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let mut gone = message(&stage, &id, "hello");
    gone.payload.working_dir = PathText::parse("/no/such/folder").unwrap();
    let refused = submit(&host, gone).await.unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::BadPath);
    assert!(
        refused.error.message.contains("/no/such/folder"),
        "{}",
        refused.error.message
    );
    assert!(!stage.path("data/conversations/conv-1").exists());
    assert_eq!(host.status(None).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_gets_the_rest_and_a_foreign_one_everything() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    submit(
        &host,
        message(&stage, &id, &Script::new().say("hello").prompt()),
    )
    .await
    .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    let durable: Vec<_> = listener
        .events
        .iter()
        .filter(|event| event.seq.is_some())
        .cloned()
        .collect();
    let third = &durable[2];
    let cursor = |hash: &str| Subscribe {
        epoch: third.epoch,
        seq: third.seq,
        chain_hash: Some(estelle_proto::ChainHash::parse(hash).unwrap()),
        ..Subscribe::new(id.clone())
    };
    let right = cursor(third.chain_hash.clone().unwrap().as_str());
    let from_the_future = Subscribe {
        seq: Some(estelle_proto::Seq(durable.len() as u64 + 1000)),
        ..right.clone()
    };
    let of_another_epoch = Subscribe {
        epoch: third.epoch.map(|epoch| estelle_proto::Epoch(epoch.0 + 1)),
        ..right.clone()
    };
    for (cursor, fresh, first) in [
        (right, false, 4),
        (cursor("0123.0"), true, 1),
        (from_the_future, true, 1),
        (of_another_epoch, true, 1),
    ] {
        let mut late = Listener::from(&host, cursor).await;
        let HostToPylon::Subscribed(began) = late.message().await else {
            panic!("no beginning");
        };
        assert_eq!(began.fresh, fresh);
        while !matches!(late.message().await, HostToPylon::Snapshot(_)) {}
        assert_eq!(
            late.events
                .first()
                .and_then(|event| event.seq)
                .map(|seq| seq.0),
            Some(first)
        );
        assert_eq!(late.events, durable[usize::try_from(first).unwrap() - 1..]);
    }
}

/// The agent's own commands print such tags; 2.1.197 takes the second prompt for one and does not echo it.
pub(super) async fn a_prompt_that_begins_with_a_tag_is_answered(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let mut listener = None;
    for (tag, says) in [
        ("<div>", "one"),
        ("<local-command-x>", "two"),
        ("", "three"),
    ] {
        let prompt = format!("{tag} {}", Script::new().say(says).prompt());
        submit(&host, message(&stage, &id, &prompt)).await.unwrap();
        let listener = match &mut listener {
            Some(listener) => listener,
            none => none.insert(Listener::new(&host, &id).await),
        };
        listener.result().await;
        listener.idle().await;
    }
    let (texts, waiting) = (
        listener
            .map(|listener| listener.texts())
            .unwrap_or_default(),
        status(&host, &id).await.waiting.unwrap_or_default(),
    );
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(waiting.is_empty(), "{waiting:?}");
}
