//! The link to the relay: it comes back, keeps connections apart, and never waits for a slow one.

use std::time::Duration;

use estelle_proto::auth::{AuthResult, Pong};
use estelle_proto::claude::ClaudeSendResult;
use estelle_proto::workspaces::WorkspaceList;
use estelle_proto::{
    ApiError, AppToPylon, ConversationId, DeviceId, Envelope, ErrorCode, PylonToApp, RelayToDevice,
    Reply as _, RequestId, Retry, To,
};
use estelle_pylon::link::relay::{
    FromRelay, LostRelay, RelayConfig, RelayLink, RelayState, SendError,
};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message as Packet;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::peers::PATIENCE;
use crate::peers::relay::{FakeRelay, number};

struct Linked {
    link: RelayLink,
    inbox: mpsc::Receiver<FromRelay>,
    _stop: DropGuard,
}

fn link(config: RelayConfig) -> Linked {
    let stop = CancellationToken::new();
    let (link, inbox) = RelayLink::spawn(config, &TaskTracker::new(), stop.clone());
    Linked {
        link,
        inbox,
        _stop: stop.drop_guard(),
    }
}

impl Linked {
    async fn next(&mut self) -> FromRelay {
        let next = tokio::time::timeout(PATIENCE, self.inbox.recv()).await;
        next.expect("the link hands something on")
            .expect("the link lives")
    }

    async fn away(&self, mut is_it: impl FnMut(&LostRelay) -> bool) {
        let mut state = self.link.state();
        let is_away = |state: &RelayState| matches!(state, RelayState::Away(lost) if is_it(lost));
        let waited = tokio::time::timeout(PATIENCE, state.wait_for(is_away)).await;
        waited.expect("the connection is given up").unwrap();
    }
}

fn request(number: u64) -> WorkspaceList {
    WorkspaceList {
        request_id: Some(RequestId::parse(&number.to_string()).unwrap()),
    }
}

fn answer(request: Option<&RequestId>) -> Envelope<PylonToApp> {
    let conversation = ConversationId::parse("c").unwrap();
    let result = ClaudeSendResult::new(DeviceId(1), conversation);
    Envelope::to(To::device(DeviceId(100)), result.in_reply_to(request))
}

#[tokio::test]
async fn a_request_comes_in_and_its_answer_goes_out() {
    let (relay, config) = FakeRelay::start().await;
    let mut linked = link(config);
    let mut call = relay.let_in().await;
    let FromRelay::Up { outlet, .. } = linked.next().await else {
        panic!("not up");
    };
    call.deliver(request(7)).await;
    call.say(Pong::default()).await;
    let FromRelay::App(envelope) = linked.next().await else {
        panic!("not the request");
    };
    assert_eq!(envelope.from.unwrap().device_id, DeviceId(100));
    assert!(
        matches!(linked.next().await, FromRelay::Relay(message) if matches!(*message, RelayToDevice::Pong(_)))
    );
    let seven = RequestId::parse("7").unwrap();
    outlet.send(&answer(Some(&seven))).unwrap();
    let got = call.receive::<PylonToApp>().await;
    assert_eq!(got, answer(Some(&seven)));
}

#[tokio::test]
async fn a_refused_pylon_tries_again_until_it_is_let_in() {
    let (relay, config) = FakeRelay::start().await;
    let mut linked = link(config);
    for _ in 0..3 {
        let mut call = relay.accept().await;
        call.text().await;
        let error = ApiError::new(ErrorCode::AuthFailed, "unknown".to_owned(), Retry::Never);
        call.say(AuthResult::default().failed(error)).await;
        linked.away(|lost| matches!(lost, LostRelay::Refused(error) if error.code == ErrorCode::AuthFailed)).await;
    }
    let _call = relay.let_in().await;
    assert!(
        matches!(linked.next().await, FromRelay::Up { .. }),
        "refusals make no noise at the desk"
    );
}

#[tokio::test]
async fn without_a_relay_sending_fails_at_once_and_nothing_else_does() {
    let (relay, config) = FakeRelay::start().await;
    drop(relay);
    let linked = link(config);
    linked
        .away(|lost| matches!(lost, LostRelay::Unreachable(_)))
        .await;
    let sent = linked.link.send(&answer(None));
    assert!(matches!(sent, Err(SendError::Gone)), "{sent:?}");
}

/// Answers all requests until the relay has had enough connections.
async fn answer_all(mut linked: Linked, mut connections: usize) -> (Vec<u64>, Linked) {
    let mut seen = Vec::new();
    let mut current = None;
    while connections > 0 {
        match linked.next().await {
            FromRelay::Up { outlet, .. } => current = Some(outlet),
            FromRelay::App(envelope) => {
                let AppToPylon::WorkspaceList(request) = envelope.message else {
                    panic!("nobody asked for that");
                };
                seen.push(number(request.request_id.as_ref()));
                // A connection may be gone by now; then there is nobody to tell.
                let _ = current
                    .as_ref()
                    .unwrap()
                    .send(&answer(request.request_id.as_ref()));
            }
            FromRelay::Down(_) => {
                connections -= 1;
                assert!(matches!(
                    current.take().unwrap().send(&answer(None)),
                    Err(SendError::Gone)
                ));
            }
            FromRelay::Relay(_) | FromRelay::Pylon(_) => {}
        }
    }
    (seen, linked)
}

#[tokio::test]
async fn no_request_is_doubled_and_no_answer_reaches_another_connection() {
    const CONNECTIONS: usize = 60;
    let (relay, config) = FakeRelay::start().await;
    let tasks = TaskTracker::new();
    let desk = tasks.spawn(answer_all(link(config), CONNECTIONS));
    let mut rng = fastrand::Rng::with_seed(4);
    let mut sent = 0;
    for _ in 0..CONNECTIONS {
        let mut call = relay.let_in().await;
        let first = sent + 1;
        for _ in 0..rng.u8(0..12) {
            sent += 1;
            call.deliver(request(sent)).await;
            if rng.bool() {
                let answered = call.answered().await;
                assert!(
                    (first..=sent).contains(&answered),
                    "{answered} is of another connection"
                );
            }
        }
        if rng.bool() {
            // Politely; otherwise the socket is just dropped.
            call.socket.close(None).await.unwrap();
        }
    }
    let (seen, _linked) = desk.await.unwrap();
    assert!(
        seen.is_sorted_by(|a, b| a < b),
        "doubled or out of order: {seen:?}"
    );
    assert!(seen.len() > 50, "only {} requests arrived", seen.len());
}

#[tokio::test]
async fn a_relay_that_reads_nothing_is_given_up_and_holds_up_nobody() {
    let (relay, config) = FakeRelay::start().await;
    let mut linked = link(config);
    let _deaf = relay.let_in().await;
    let FromRelay::Up { outlet, .. } = linked.next().await else {
        panic!("not up");
    };
    let error = "x".repeat(500_000);
    let report = estelle_proto::ErrorReport::new(error);
    let big = Envelope::<PylonToApp>::new(report);
    let mut taken = 0;
    let end = loop {
        match outlet.send(&big) {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(end, SendError::Full), "{end:?}");
    assert!((8..200).contains(&taken), "the queue took {taken} frames");
    assert!(matches!(
        linked.next().await,
        FromRelay::Down(LostRelay::Congested)
    ));
    let _call = relay.let_in().await;
    assert!(matches!(linked.next().await, FromRelay::Up { .. }));
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_and_breaks_nothing() {
    let (relay, config) = FakeRelay::start().await;
    let mut linked = link(config);
    let mut call = relay.let_in().await;
    assert!(matches!(linked.next().await, FromRelay::Up { .. }));
    let report = estelle_proto::ErrorReport::new("x".repeat(1024 * 1024));
    let sent = linked.link.send(&Envelope::<PylonToApp>::new(report));
    assert!(matches!(sent, Err(SendError::TooLarge { .. })), "{sent:?}");
    linked.link.send(&answer(None)).unwrap();
    assert_eq!(call.receive::<PylonToApp>().await, answer(None));
}

#[tokio::test]
async fn whoever_sends_something_unreadable_is_told() {
    let (relay, config) = FakeRelay::start().await;
    let _linked = link(config);
    let mut call = relay.let_in().await;
    let bad = r#"{"type":"claude_send","from":{"deviceId":100,"deviceType":"app","name":"p"},"payload":{"message":7,"requestId":"r1"}}"#;
    call.socket.send(Packet::text(bad)).await.unwrap();
    let got = call.receive::<PylonToApp>().await;
    assert_eq!(got.to, Some(To::device(DeviceId(100))));
    let PylonToApp::ErrorReport(report) = got.message else {
        panic!("not an error");
    };
    assert_eq!(report.error_code, Some(ErrorCode::InvalidMessage));
    assert_eq!(report.about.as_deref(), Some("claude_send"));
    assert_eq!(report.request_id.unwrap().as_str(), "r1");
}

#[tokio::test]
async fn a_relay_that_fell_silent_is_left_for_a_new_connection() {
    let (relay, mut config) = FakeRelay::start().await;
    config.ping_every = Duration::from_millis(10);
    config.dead_after = Duration::from_millis(60);
    let mut linked = link(config);
    // Nobody reads this connection, so nobody answers its pings.
    let _silent = relay.let_in().await;
    assert!(matches!(linked.next().await, FromRelay::Up { .. }));
    assert!(matches!(
        linked.next().await,
        FromRelay::Down(LostRelay::Silent)
    ));
    // This one is read, which answers pings, for longer than a silent one would last.
    let mut call = relay.let_in().await;
    let lasted = tokio::time::timeout(
        Duration::from_millis(300),
        call.socket.by_ref().for_each(|_| async {}),
    )
    .await;
    assert!(lasted.is_err(), "a relay that answers was left");
}

#[tokio::test]
async fn messages_of_a_newer_relay_are_tolerated() {
    let (relay, config) = FakeRelay::start().await;
    let mut linked = link(config);
    let mut call = relay.accept().await;
    for text in [
        r#"{"type":"connected","payload":{"clientId":"1","message":"hi"}}"#,
        r#"{"type":"weather","payload":{"degrees":20}}"#,
        r#"{"type":"auth_result","payload":{"success":true,"mood":"good"},"stamp":1}"#,
        r#"{"type":"weather","payload":{"degrees":21}}"#,
    ] {
        call.socket.send(Packet::text(text)).await.unwrap();
    }
    assert!(matches!(linked.next().await, FromRelay::Up { .. }));
    assert!(
        matches!(linked.next().await, FromRelay::Relay(message) if matches!(*message, RelayToDevice::Unknown(_)))
    );
}
