//! The link to the host: nothing lost, nothing doubled, whatever the host and its connections do.

use std::collections::BTreeMap;
use std::time::Duration;

use estelle_proto::ipc::{MessagePayload, SendMessage, StopSession};
use estelle_proto::{
    ClaudeEvent, ClientMessageId, ConversationId, Epoch, ErrorCode, PathText, Prompt, Reply as _,
    Seq, WorkspaceId,
};
use estelle_pylon::link::host::{
    FromHost, HostConfig, HostLink, HostState, LostHost, RequestError,
};
use estelle_state::link::{Cursor, Pace};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::peers::PATIENCE;
use crate::peers::host::{FakeHost, conversation};

struct Linked {
    link: HostLink,
    inbox: mpsc::Receiver<FromHost>,
    _stop: DropGuard,
}

fn config(socket: &std::path::Path) -> HostConfig {
    let mut config = HostConfig::new(socket.to_owned(), "test".to_owned());
    config.pace = Pace {
        first: Duration::from_millis(2),
        cap: Duration::from_millis(8),
        steady: Duration::from_secs(1),
    };
    config
}

fn link(config: HostConfig) -> Linked {
    let stop = CancellationToken::new();
    let (link, inbox) = HostLink::spawn(config, &TaskTracker::new(), stop.clone());
    Linked {
        link,
        inbox,
        _stop: stop.drop_guard(),
    }
}

impl Linked {
    async fn next(&mut self) -> FromHost {
        let next = tokio::time::timeout(PATIENCE, self.inbox.recv()).await;
        next.expect("the link hands something on")
            .expect("the link lives")
    }

    async fn until(&mut self, mut is_it: impl FnMut(&FromHost) -> bool) -> FromHost {
        loop {
            let next = self.next().await;
            if is_it(&next) {
                return next;
            }
        }
    }
}

/// What a desk keeps of each conversation.
#[derive(Default)]
struct Desk {
    rows: BTreeMap<ConversationId, Vec<ClaudeEvent>>,
}

impl Desk {
    fn take(&mut self, message: FromHost) {
        match message {
            FromHost::Began(began) if began.fresh => {
                self.rows.insert(began.session_id, Vec::new());
            }
            FromHost::Event(event) => {
                let rows = self.rows.entry(event.session_id).or_default();
                rows.push(event.event);
                assert_eq!(
                    event.seq,
                    Some(Seq(rows.len() as u64)),
                    "dense and in order"
                );
            }
            _ => {}
        }
    }
}

fn message(name: &str, id: &str) -> SendMessage {
    let mut payload = MessagePayload::new(
        Prompt::parse(id).unwrap(),
        PathText::parse("/").unwrap(),
        WorkspaceId::parse("w").unwrap(),
    );
    payload.client_message_id = Some(ClientMessageId::parse(id).unwrap());
    SendMessage::new(conversation(name), payload)
}

/// The desk's rows equal the host's logs.
async fn settle(desk: &mut Desk, linked: &mut Linked, host: &FakeHost, names: &[ConversationId]) {
    loop {
        let rows = |name| desk.rows.get(name).cloned().unwrap_or_default();
        if names.iter().all(|name| rows(name) == host.log(name)) {
            return;
        }
        let next = linked.next().await;
        desk.take(next);
    }
}

async fn live_through(seed: u64) {
    let host = FakeHost::start(seed);
    host.world.lock().unwrap().is_rough = true;
    let names: Vec<_> = (0..5).map(|n| conversation(&format!("c{n}"))).collect();
    let mut linked = link(config(&host.socket));
    for name in &names {
        linked.link.follow(name.clone(), None).await;
    }
    let mut rng = fastrand::Rng::with_seed(seed);
    let tasks = TaskTracker::new();
    let mut desk = Desk::default();
    for round in 0..60 {
        let name = rng.choice(&names).unwrap();
        match rng.u8(0..10) {
            0..6 => host.append(name, &format!("said {round}")),
            6..8 => {
                let (link, command) = (
                    linked.link.clone(),
                    message(name.as_str(), &format!("m{round}")),
                );
                tasks.spawn(async move { link.request(command).await.unwrap().outcome().unwrap() });
            }
            8 if !host.log(name).is_empty() => host.rebuild(name),
            _ => host.cut(),
        }
        // Some of what came, so that reading and breaking mix.
        for _ in 0..rng.u8(0..8) {
            let soon = tokio::time::timeout(Duration::from_millis(1), linked.inbox.recv()).await;
            if let Ok(Some(message)) = soon {
                desk.take(message);
            }
        }
    }
    tasks.close();
    host.world.lock().unwrap().is_rough = false;
    host.cut();
    let mut requests = std::pin::pin!(tokio::time::timeout(PATIENCE, tasks.wait()));
    loop {
        tokio::select! {
            done = &mut requests => break done.expect("every message is answered"),
            next = linked.next() => desk.take(next),
        }
    }
    settle(&mut desk, &mut linked, &host, &names).await;
    let connections = host.world.lock().unwrap().connections;
    assert!(
        connections > 5,
        "only {connections} connections: nothing was broken"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_wherever_the_connection_is_cut() {
    for seed in 0..12 {
        live_through(seed).await;
    }
}

#[tokio::test]
async fn a_pylon_that_starts_again_goes_on_at_its_cursor() {
    let host = FakeHost::start(0);
    let name = conversation("a");
    for text in ["one", "two", "three"] {
        host.append(&name, text);
    }
    let mut first = link(config(&host.socket));
    first.link.follow(name.clone(), None).await;
    let second_event = first
        .until(|message| matches!(message, FromHost::Event(event) if event.seq == Some(Seq(2))))
        .await;
    let FromHost::Event(event) = second_event else {
        unreachable!()
    };
    drop(first);
    let mut again = link(config(&host.socket));
    let cursor = Cursor {
        epoch: event.epoch.unwrap(),
        seq: Seq(2),
        chain_hash: event.chain_hash,
    };
    again.link.follow(name.clone(), Some(cursor)).await;
    let next = again
        .until(|message| matches!(message, FromHost::Event(_)))
        .await;
    let FromHost::Event(event) = next else {
        unreachable!()
    };
    assert_eq!((event.epoch, event.seq), (Some(Epoch(1)), Some(Seq(3))));
}

#[tokio::test]
async fn a_new_conversation_is_followed_as_soon_as_the_host_knows_it() {
    let host = FakeHost::start(0);
    let mut linked = link(config(&host.socket));
    let name = conversation("new");
    linked.link.follow(name.clone(), None).await;
    linked
        .until(|message| matches!(message, FromHost::Status(_)))
        .await;
    // The answer to this comes after the refusal of the subscription.
    linked.link.status(None).await.unwrap();
    linked
        .link
        .request(message("new", "m1"))
        .await
        .unwrap()
        .outcome()
        .unwrap();
    let mut desk = Desk::default();
    settle(&mut desk, &mut linked, &host, std::slice::from_ref(&name)).await;
    assert_eq!(desk.rows[&name].len(), 1);
}

#[tokio::test]
async fn a_message_sent_while_the_host_is_away_arrives_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("link.sock");
    let linked = link(config(&socket));
    let sent = linked.link.request(message("a", "m1"));
    let host = async {
        let mut state = linked.link.state();
        let is_away =
            |state: &HostState| matches!(state, HostState::Away(LostHost::Unreachable(_)));
        state.wait_for(is_away).await.unwrap();
        let host = FakeHost::start(0);
        std::os::unix::fs::symlink(&host.socket, &socket).unwrap();
        host
    };
    let (sent, host) = tokio::join!(sent, host);
    sent.unwrap().outcome().unwrap();
    assert_eq!(host.log(&conversation("a")).len(), 1);
    assert!(host.folder().exists());
}

/// Says hello, reads the first three lines (`hello`, `pylon_reconnected` and one more) and gives the last.
async fn take_one(listener: &UnixListener) -> (UnixStream, String) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let hello = b"{\"type\":\"hello\",\"protocol\":1,\"build\":\"b\",\"capabilities\":[]}\n";
    stream.write_all(hello).await.unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    for _ in 0..3 {
        line.clear();
        reader.read_line(&mut line).await.unwrap();
    }
    (reader.into_inner(), line)
}

#[tokio::test]
async fn a_stop_is_never_sent_twice() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("h.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let linked = link(config(&socket));
    let stop = linked.link.request(StopSession::new(conversation("a")));
    let host = async {
        let (stream, line) = take_one(&listener).await;
        assert!(line.contains("stop_session"), "{line}");
        drop(stream);
        // The link comes back, and asks for something else only.
        let (stream, line) = take_one(&listener).await;
        (stream, line)
    };
    let next = async {
        let lost = stop.await;
        assert!(matches!(lost, Err(RequestError::Lost)), "{lost:?}");
        linked.link.request(message("a", "m1")).await
    };
    let told = tokio::time::timeout(PATIENCE, async {
        tokio::select! {
            (_stream, line) = host => line,
            answer = next => panic!("nobody answered, but there is {answer:?}"),
        }
    });
    let line = told.await.unwrap();
    assert!(line.contains("send_message"), "{line}");
}

#[tokio::test]
async fn a_link_that_is_cut_off_comes_back_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("h.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut linked = link(config(&socket));
    linked.link.follow(conversation("a"), None).await;
    let (mut stream, line) = take_one(&listener).await;
    assert!(line.contains("\"subscribe\""), "{line}");
    stream
        .write_all(b"{\"type\":\"cut_off\",\"cursors\":[]}\n")
        .await
        .unwrap();
    let down = linked
        .until(|message| matches!(message, FromHost::Down(_)))
        .await;
    assert_eq!(down, FromHost::Down(LostHost::CutOff));
    let (_stream, line) = take_one(&listener).await;
    assert!(line.contains("\"subscribe\""), "{line}");
}

#[tokio::test]
async fn an_older_or_newer_host_is_understood_as_far_as_possible() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("h.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut linked = link(config(&socket));
    linked.link.follow(conversation("a"), None).await;
    let (mut stream, _) = take_one(&listener).await;
    // No request ids, no epochs, no hashes; kinds, fields and words of another version; lines that are no messages.
    let lines = concat!(
        "{\"type\":\"weather\",\"degrees\":20}\n",
        "not json\n",
        "{\"type\":\"subscribed\",\"sessionId\":\"a\",\"epoch\":1,\"headSeq\":1,\"fresh\":false,\"mood\":1}\n",
        "{\"type\":\"claude_event\",\"sessionId\":\"a\",\"seq\":1,\"event\":{\"type\":\"danced\",\"steps\":3}}\n",
        "{\"type\":\"snapshot\",\"sessionId\":\"a\"}\n",
        "{\"type\":\"claude_event\",\"sessionId\":\"a\",\"seq\":2,\"event\":{\"type\":\"state\",\"state\":\"dancing\"}}\n",
    );
    stream.write_all(lines.as_bytes()).await.unwrap();
    let mut kinds = Vec::new();
    while kinds.len() < 2 {
        if let FromHost::Event(event) = linked.next().await {
            kinds.push(event.event.kind().to_owned());
        }
    }
    assert_eq!(kinds, ["danced", "state"]);
}

#[tokio::test]
async fn a_host_that_refuses_is_asked_again_and_the_reason_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("h.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let linked = link(config(&socket));
    let mut state = linked.link.state();
    let refusals = [
        "{\"type\":\"error\",\"error\":\"too new\",\"errorCode\":\"protocol_mismatch\"}\n",
        "{\"type\":\"hello\",\"protocol\":900,\"build\":\"b\",\"capabilities\":[]}\n",
    ];
    for refusal in refusals {
        let (stream, _) = listener.accept().await.unwrap();
        state.mark_unchanged();
        let mut stream = BufReader::new(stream);
        stream.read_line(&mut String::new()).await.unwrap();
        stream.write_all(refusal.as_bytes()).await.unwrap();
        tokio::time::timeout(PATIENCE, state.changed())
            .await
            .unwrap()
            .unwrap();
        let now = state.borrow().clone();
        let is_refused = matches!(&now, HostState::Away(LostHost::Refused(error)) if error.code == ErrorCode::ProtocolMismatch);
        assert!(is_refused, "{now:?}");
    }
    tokio::time::timeout(PATIENCE, listener.accept())
        .await
        .expect("it tries again")
        .unwrap();
}

#[tokio::test]
async fn a_host_that_says_nothing_is_left_and_called_again() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("h.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut config = config(&socket);
    config.hello_within = Duration::from_millis(20);
    let linked = link(config);
    let (_silent, _) = listener.accept().await.unwrap();
    let (_second, _) = tokio::time::timeout(PATIENCE, listener.accept())
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(
        *linked.link.state().borrow(),
        HostState::Away(LostHost::NoHello)
    ));
}
