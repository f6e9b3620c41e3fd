//! The engine against a scripted peer: frames in, lines out, no process and no clock of the machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::peer::Peer;
use super::*;
use crate::framing::Frame;
use crate::line::{Envelope, Line};
use crate::transport::{Exit, Stop, WhenDropped};

fn connect(responder: impl Responder, config: ConnectionConfig) -> (Connection, Peer) {
    let (link, peer) = Peer::link();
    (Connection::open(link, Arc::new(responder), config), peer)
}

/// Answers by the subtype of the request.
struct Scripted;

impl Responder for Scripted {
    fn respond(
        &self,
        line: &Line,
        _: &str,
        cancelled: CancellationToken,
    ) -> Result<Answer, Unreadable> {
        let subtype = Envelope::peek(line)
            .map_err(|_| Unreadable)?
            .subtype
            .expect("a subtype")
            .into_owned();
        let answer = async move {
            match subtype.as_str() {
                "quick" => Payload::of(&json!({"ok": true})),
                "slow" => {
                    cancelled.cancelled().await;
                    std::future::pending().await
                }
                "panics" => panic!("a bug in a callback"),
                other => Err(CallError(format!("unsupported: {other}"))),
            }
        };
        Ok(answer.boxed())
    }
}

async fn ask(connection: &Connection, subtype: &str) -> Result<Line, ControlError> {
    let request = json!({"subtype": subtype});
    connection
        .ask(subtype, &request, Duration::from_mins(1))
        .await
}

fn request(id: &str, subtype: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": subtype}})
}

fn text(item: Option<Item>) -> String {
    match item {
        Some(Item::Line(line)) => line.as_str().to_owned(),
        other => panic!("no line: {other:?}"),
    }
}

#[tokio::test]
async fn answers_reach_their_own_request_in_any_order() {
    let (connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    let first = ask(&connection, "a");
    let second = ask(&connection, "b");
    let script = async {
        let (a, b) = (peer.reads().await, peer.reads().await);
        for asked in [b, a] {
            let response = json!({"subtype": "success", "request_id": asked["request_id"], "response": asked["request"]["subtype"]});
            peer.print(json!({"type": "control_response", "response": response}))
                .await;
        }
    };
    let (first, second, ()) = tokio::join!(first, second, script);
    assert!(
        first
            .expect("an answer")
            .as_str()
            .contains(r#""response":"a""#)
    );
    assert!(
        second
            .expect("an answer")
            .as_str()
            .contains(r#""response":"b""#)
    );
}

#[tokio::test]
async fn an_interrupt_is_acknowledged_while_a_person_still_decides() {
    let (connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    peer.print(request("p1", "slow")).await;
    let (interrupted, ()) =
        tokio::join!(ask(&connection, "interrupt"), peer.answer_next(json!({})));
    interrupted.expect("acknowledged");
}

#[tokio::test]
async fn every_inbound_request_is_answered_even_when_its_handler_panics() {
    let (_connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    for (subtype, expected) in [
        (
            "quick",
            json!({"subtype": "success", "request_id": "r", "response": {"ok": true}}),
        ),
        (
            "panics",
            json!({"subtype": "error", "request_id": "r", "error": "the handler of this request panicked"}),
        ),
        (
            "wibble",
            json!({"subtype": "error", "request_id": "r", "error": "unsupported: wibble"}),
        ),
    ] {
        peer.print(request("r", subtype)).await;
        assert_eq!(
            peer.reads().await,
            json!({"type": "control_response", "response": expected})
        );
    }
}

#[tokio::test]
async fn a_request_that_breaks_off_is_refused_and_shown_to_the_caller() {
    let (connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    let broken = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"quick""#;
    let prints = peer.prints.as_ref().expect("the peer still prints");
    prints
        .send(Frame::Line(broken.into()))
        .await
        .expect("the reader lives");
    assert_eq!(
        peer.reads().await["response"],
        json!({"subtype": "error", "request_id": "r1", "error": "the request cannot be read"})
    );
    assert_eq!(text(connection.take().await), broken);
}

#[tokio::test]
async fn a_cancelled_request_is_not_answered_and_the_next_one_is() {
    let (_connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    peer.print(request("p1", "slow")).await;
    peer.print(json!({"type": "control_cancel_request", "request_id": "p1"}))
        .await;
    peer.print(request("p2", "quick")).await;
    assert_eq!(peer.reads().await["response"]["request_id"], "p2");
}

/// Takes down what it is asked and never answers.
#[derive(Clone, Default)]
struct Silent(Arc<Mutex<Vec<CancellationToken>>>);

impl Responder for Silent {
    fn respond(
        &self,
        _: &Line,
        _: &str,
        cancelled: CancellationToken,
    ) -> Result<Answer, Unreadable> {
        self.0.lock().expect("no panic").push(cancelled);
        Ok(std::future::pending().boxed())
    }
}

#[tokio::test]
async fn what_is_asked_of_us_is_withdrawn_when_the_process_ends() {
    let silent = Silent::default();
    let (connection, mut peer) = connect(silent.clone(), ConnectionConfig::default());
    peer.print(request("p1", "can_use_tool")).await;
    peer.print(json!({"type": "assistant"})).await;
    connection.take().await.expect("the request was read first");
    peer.exit(Exit::Signal(9));
    assert_eq!(connection.take().await, None);
    let asked = silent.0.lock().expect("no panic").clone();
    assert!(asked.iter().all(CancellationToken::is_cancelled));
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn a_request_that_a_dead_process_left_behind_is_not_served() {
    let silent = Silent::default();
    let (connection, mut peer) = connect(silent.clone(), ConnectionConfig::default());
    let prints = peer.prints.clone().expect("the peer still prints");
    peer.exit(Exit::Signal(9));
    connection.ended().await;
    let left = Frame::Line(request("p1", "can_use_tool").to_string().into());
    prints.send(left).await.expect("the reader lives");
    drop(prints);
    assert_eq!(connection.take().await, None);
    assert!(
        silent.0.lock().expect("no panic").is_empty(),
        "a person was asked in vain"
    );
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_request_times_out_and_is_cancelled() {
    let (connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    let error = ask(&connection, "get_usage").await.expect_err("no answer");
    assert_eq!(
        error.to_string(),
        "the CLI did not answer `get_usage` within 60s"
    );
    let asked = peer.reads().await;
    assert_eq!(
        peer.reads().await,
        json!({"type": "control_cancel_request", "request_id": asked["request_id"]})
    );
}

#[tokio::test]
async fn a_late_or_foreign_answer_is_shown_to_the_caller_instead_of_lost() {
    let (connection, peer) = connect(Scripted, ConnectionConfig::default());
    let echo = json!({"type": "control_response", "response": {"subtype": "success", "request_id": "not ours"}});
    peer.print(echo.clone()).await;
    assert_eq!(text(connection.take().await), echo.to_string());
}

#[tokio::test]
async fn an_idle_consumer_does_not_hold_up_an_answer() {
    let config = ConnectionConfig {
        inbox_bytes: 2000,
        ..ConnectionConfig::default()
    };
    let (connection, mut peer) = connect(Scripted, config);
    for n in 0..50 {
        peer.print(json!({"type": "assistant", "n": n})).await;
    }
    let (answer, ()) = tokio::join!(ask(&connection, "interrupt"), peer.answer_next(json!({})));
    answer.expect("an answer from behind fifty unread messages");
    for n in 0..50 {
        assert_eq!(
            text(connection.take().await),
            json!({"type": "assistant", "n": n}).to_string()
        );
    }
}

#[tokio::test]
async fn a_full_inbox_makes_the_cli_wait_and_loses_nothing() {
    let config = ConnectionConfig {
        inbox_bytes: 200,
        ..ConnectionConfig::default()
    };
    let (connection, mut peer) = connect(Scripted, config);
    let prints = peer.prints.clone().expect("the peer still prints");
    let mut sent = 0;
    while prints
        .try_send(Frame::Line(format!("{{\"n\":{sent}}}").into()))
        .is_ok()
    {
        sent += 1;
        assert!(sent < 1000, "nothing makes the CLI wait");
        tokio::task::yield_now().await;
    }
    drop(prints);
    peer.exit(Exit::Code(0));
    for n in 0..sent {
        assert_eq!(text(connection.take().await), format!("{{\"n\":{n}}}"));
    }
    assert_eq!(connection.take().await, None);
}

#[tokio::test]
async fn even_while_an_answer_is_awaited_there_is_a_ceiling() {
    let config = ConnectionConfig {
        inbox_bytes: 1000,
        ..ConnectionConfig::default()
    };
    let (connection, mut peer) = connect(Scripted, config);
    let mut asked = std::pin::pin!(ask(&connection, "interrupt"));
    assert!((&mut asked).now_or_never().is_none(), "nobody answered");
    let prints = peer.prints.clone().expect("the peer still prints");
    let mut sent = 0;
    while prints
        .try_send(Frame::Line(format!("{{\"n\":{sent}}}").into()))
        .is_ok()
    {
        sent += 1;
        assert!(sent < 1000, "nothing makes the CLI wait");
        tokio::task::yield_now().await;
    }
    drop(prints);
    for n in 0..sent {
        assert_eq!(text(connection.take().await), format!("{{\"n\":{n}}}"));
    }
    let ((), answer) = tokio::join!(peer.answer_next(json!({})), asked);
    answer.expect("once the caller reads, the answer comes through");
}

#[tokio::test]
async fn the_end_is_told_to_everybody_with_its_reason() {
    let (connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    peer.print(json!({"type": "result"})).await;
    let ask = ask(&connection, "mcp_status");
    let script = async {
        peer.reads().await;
        peer.exit(Exit::Code(1));
    };
    let (asked, ()) = tokio::join!(ask, script);
    assert_eq!(
        asked.expect_err("it ended").to_string(),
        "the CLI ended before it answered `mcp_status`, with exit code 1: its last words"
    );
    assert_eq!(text(connection.take().await), r#"{"type":"result"}"#);
    assert_eq!(connection.take().await, None);
    let error = connection.send("{}".into()).await.expect_err("it ended");
    assert_eq!(
        error.to_string(),
        "failed to send to the CLI, which has ended with exit code 1: its last words"
    );
}

#[tokio::test(start_paused = true)]
async fn a_process_that_does_not_end_when_asked_is_terminated_then_killed() {
    let (connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    connection.expect_end();
    assert_eq!(peer.stops.recv().await, Some(Stop::Terminate));
    assert_eq!(peer.stops.recv().await, Some(Stop::Kill));
    peer.exit(Exit::Signal(9));
    assert_eq!(connection.ended().await.exit, Exit::Signal(9));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_ends_the_process() {
    let (connection, mut peer) = connect(Scripted, ConnectionConfig::default());
    let other = connection.clone();
    drop(connection);
    assert!(peer.stops.try_recv().is_err(), "a handle is left");
    drop(other);
    assert_eq!(peer.stops.recv().await, Some(Stop::Terminate));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_others_can_attach_to_survives_its_handles_but_not_an_abort() {
    let (link, mut peer) = Peer::link_that(WhenDropped::LetRun);
    drop(Connection::open(
        link,
        Arc::new(Scripted),
        ConnectionConfig::default(),
    ));
    assert!(peer.input_ended().await, "the writer lets go");
    assert_eq!(peer.stops.recv().await, None, "nothing was stopped");

    let (link, mut peer) = Peer::link_that(WhenDropped::LetRun);
    let connection = Connection::open(link, Arc::new(Scripted), ConnectionConfig::default());
    connection.abort();
    assert_eq!(peer.stops.recv().await, Some(Stop::Terminate));
}
