//! The gateway under those who mean it harm: each ends, or is borne, and nobody else notices.

use estelle_sim::script::{Answer, Script};
use futures_util::{SinkExt as _, StreamExt as _};
use rustix::process::Signal;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use super::client::{Api, PATIENCE, Watcher};
use crate::host::stage::Agent;
use crate::up::stage::{Machine, signal};

/// Somebody who looks and means no harm.
async fn honest(api: &Api, session: &str) -> Watcher {
    let mut watcher = api.watch(session, "").await;
    watcher.kind("caught_up").await;
    watcher
}

/// They are served as if nobody else were there.
async fn is_served(watcher: &mut Watcher) {
    let never = json!({"type": "deny", "request_id": "toolu_never"});
    watcher.say(never).await;
    assert_eq!(watcher.kind("error").await["code"], "unknown_decision");
}

/// A frame of a client, with a mask that changes nothing.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match u16::try_from(payload.len()) {
        Ok(length @ 0..=0x7d) => bytes.push(0x80 | u8::try_from(length).unwrap()),
        Ok(length) => {
            bytes.push(0x80 | 0x7e);
            bytes.extend(length.to_be_bytes());
        }
        Err(_) => {
            bytes.push(0x80 | 0x7f);
            bytes.extend((payload.len() as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

/// Sends again and again until the gateway has had enough; whether it has.
async fn is_cut_off(watcher: &mut Watcher, bytes: &[u8], times: usize) -> bool {
    let stream = watcher.socket.get_mut();
    for _ in 0..times {
        let sent = tokio::time::timeout(PATIENCE, stream.write_all(bytes)).await;
        if !matches!(sent, Ok(Ok(()))) {
            return true;
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn w6_w7_fragments_count_together_and_never_ending_ones_are_ended() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut good = honest(&api, &session).await;
    let mut bad = honest(&api, &session).await;
    let piece = vec![b'x'; 64 * 1024];
    let begun = frame(0x01, &piece);
    bad.socket.get_mut().write_all(&begun).await.unwrap();
    assert!(is_cut_off(&mut bad, &frame(0x00, &piece), 10_000).await);
    is_served(&mut good).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w8_w11_empty_fragments_and_pings_without_end_hold_nobody_up() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut good = honest(&api, &session).await;
    let mut empty = honest(&api, &session).await;
    let begun = frame(0x01, b"");
    empty.socket.get_mut().write_all(&begun).await.unwrap();
    let many = frame(0x00, b"").repeat(1000);
    // They cost nothing, and the message that they are part of can still be ended: an empty one is none of ours.
    assert!(!is_cut_off(&mut empty, &many, 100).await);
    let end = frame(0x80, b"");
    empty.socket.get_mut().write_all(&end).await.unwrap();
    assert_eq!(empty.kind("error").await["code"], "invalid_message");
    let mut ping = honest(&api, &session).await;
    let many = frame(0x89, b"").repeat(100);
    let (mut reader, mut writer) = tokio::io::split(ping.socket.get_mut());
    let mut answers = vec![0; 64 * 1024];
    let flood = async {
        for _ in 0..200 {
            tokio::select! {
                sent = writer.write_all(&many) => sent.unwrap_or_default(),
                // Who is answered reads it.
                read = reader.read(&mut answers) => assert!(read.is_ok()),
            }
        }
    };
    tokio::time::timeout(PATIENCE, flood).await.unwrap();
    is_served(&mut good).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w14_w22_neither_compression_nor_the_second_version_of_http_is_agreed_on() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let (host, token) = (&api.address, &api.token);
    let text = format!(
        "GET /ws/sessions/{session} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\n\
         Authorization: Bearer {token}\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    );
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        assert!(stream.read_buf(&mut head).await.unwrap() > 0);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(!head.contains("sec-websocket-extensions"), "{head}");
    let second = api.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert!(second.status == 0 || second.status >= 400, "{second:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn w15_w17_connections_that_break_and_come_again_leave_nothing_behind() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut good = honest(&api, &session).await;
    // More than there are seats, each gone in the middle of a frame or a header.
    for round in 0..150 {
        let mut broken = api.watch(&session, "").await;
        let half = &frame(0x81, b"half of it")[..7];
        broken.socket.get_mut().write_all(half).await.unwrap();
        if round % 2 == 0 {
            // This one ends with a reset.
            broken.socket.get_ref().set_zero_linger().unwrap();
        }
        drop(broken);
        let mut half = TcpStream::connect(&api.address).await.unwrap();
        // One that has been put out already does not matter.
        let _ = half.write_all(b"GET /api").await;
    }
    is_served(&mut good).await;
    assert_eq!(api.call("GET /api/sessions", None).await.status, 200);
}

/// W1, W17: whoever has a token finds a seat, however many without one sit there.
#[tokio::test(flavor = "multi_thread")]
async fn w17_a_crowd_of_strangers_keeps_nobody_out() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut good = honest(&api, &session).await;
    let mut crowd = Vec::new();
    for index in 0..400 {
        let mut stranger = TcpStream::connect(&api.address).await.unwrap();
        if index % 2 == 0 {
            // One that has been put out already does not matter.
            let _ = stranger
                .write_all(b"GET /api/health HTTP/1.1\r\nHost:")
                .await;
        }
        crowd.push(stranger);
    }
    assert_eq!(api.call("GET /api/sessions", None).await.status, 200);
    let mut late = honest(&api, &session).await;
    is_served(&mut late).await;
    is_served(&mut good).await;
    drop(crowd);
}

#[tokio::test(flavor = "multi_thread")]
async fn w19_who_says_too_much_is_told_so_and_nobody_else_waits() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut good = honest(&api, &session).await;
    let mut bad = honest(&api, &session).await;
    let never = json!({"type": "deny", "request_id": "toolu_never"}).to_string();
    let saying = async {
        for _ in 0..2000 {
            bad.socket.feed(Message::text(never.clone())).await.unwrap();
        }
        bad.socket.flush().await.unwrap();
    };
    tokio::time::timeout(PATIENCE, saying).await.unwrap();
    let refused = bad
        .until(|m| m["type"] == "error" && m["code"] == "rate_limited")
        .await;
    assert_eq!(refused["about"], "toolu_never");
    is_served(&mut good).await;
}

/// How long somebody may be silent in these tests, in milliseconds.
const SHORT: [(&str, &str); 1] = [("ESTELLE_GATEWAY_PATIENCE_MS", "6000")];

/// W12: who answers no ping is closed; who does stays.
#[tokio::test(flavor = "multi_thread")]
async fn w12_who_gives_no_sign_of_life_is_closed() {
    let machine = Machine::start_with(&Agent::Simulator, &SHORT).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut good = honest(&api, &session).await;
    let mut silent = honest(&api, &session).await;
    // Bytes are taken, and nothing is ever said.
    let mut taken = Vec::new();
    let silence = silent.socket.get_mut().read_to_end(&mut taken);
    let silence = tokio::time::timeout(PATIENCE, silence);
    tokio::select! {
        ended = silence => assert!(ended.is_ok(), "it is kept for ever"),
        // This one answers each ping, because it reads.
        told = good.next() => panic!("{told:?}"),
    }
    assert!(taken.contains(&0x89), "it was pinged before");
    is_served(&mut good).await;
}

/// W16: who does not read is cut off, and whoever reads is told everything.
#[tokio::test(flavor = "multi_thread")]
async fn w16_who_does_not_read_is_cut_off_and_nobody_waits_for_it() {
    let machine = Machine::start_with(&Agent::Simulator, &SHORT).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut good = honest(&api, &session).await;
    let mut stalled = honest(&api, &session).await;
    // More than a system keeps for somebody who does not read, also when it lets its buffers grow to the full.
    for turn in 0..36 {
        let last = format!("the end of turn {turn}");
        let long = Answer {
            say: Some(format!("{}{last}", "x".repeat(400_000))),
            chunks: Some(1),
            ..Answer::default()
        };
        let script = Script::new().answer(long).prompt();
        good.say(json!({"type": "input", "content": script})).await;
        good.until(|m| {
            m["content"]
                .as_str()
                .is_some_and(|text| text.ends_with(&last))
        })
        .await;
        good.status("waiting_input").await;
        good.seen.clear();
    }
    // What the system had taken for it is all there is: then the connection ends, long before the last word.
    let reading = async { while stalled.next().await.is_ok() {} };
    let ended = tokio::time::timeout(PATIENCE, reading).await;
    assert!(ended.is_ok(), "it is kept for ever");
    let whole = stalled.seen.iter().filter(|m| m["final"] == true);
    let taken = u32::try_from(whole.count()).unwrap();
    assert!(taken < 36, "it was waited for");
    is_served(&mut good).await;
    // It comes again from where it was, and has everything once.
    let place = stalled.seen.iter().rfind(|m| m["seq"].is_u64());
    let query = place.map_or_else(String::new, |place| {
        format!("?after_seq={}&epoch={}", place["seq"], place["epoch"])
    });
    let mut back = api.watch(&session, &query).await;
    back.kind("caught_up").await;
    assert_eq!(turns(&back), (taken..36).collect::<Vec<_>>(), "{query}");
}

/// The turns whose answer somebody was told in one piece, in order.
fn turns(watcher: &Watcher) -> Vec<u32> {
    let whole = watcher.seen.iter().filter(|m| m["final"] == true);
    let texts = whole.filter_map(|m| m["content"].as_str());
    let ends = texts.filter_map(|text| text.rsplit_once("the end of turn "));
    ends.map(|(_, turn)| turn.parse().unwrap()).collect()
}

/// W16: while the gateway waits for a host that says nothing, the silence is its own, and nobody is closed for it.
#[tokio::test(flavor = "multi_thread")]
async fn w16_who_answers_each_ping_stays_while_the_gateway_is_held_up() {
    let patience = [("ESTELLE_GATEWAY_PATIENCE_MS", "300")];
    let machine = Machine::start_with(&Agent::Simulator, &patience).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut all = Vec::new();
    for _ in 0..8 {
        all.push(honest(&api, &session).await);
    }
    let host = machine.host_pid();
    signal(host, Signal::STOP);
    // After each ping the host is asked how the process is, for longer than anybody may be silent.
    let pinged = all.iter_mut().map(async |watcher| {
        for _ in 0..4 {
            let asked = tokio::time::timeout(PATIENCE, watcher.socket.next()).await;
            let asked = asked.unwrap().expect("it is closed").unwrap();
            assert!(matches!(asked, Message::Ping(_)), "{asked:?}");
        }
    });
    futures_util::future::join_all(pinged).await;
    signal(host, Signal::CONT);
    for watcher in &mut all {
        is_served(watcher).await;
    }
}
