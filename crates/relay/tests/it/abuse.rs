//! Clients that flood, stall or break the protocol (W): they are ended, the others do not notice.

use std::time::Duration;

use estelle_relay::{Config, Limits, Rate};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio_tungstenite::tungstenite::Message;

use crate::kit::{ALL, Closed, House};

fn limited(change: impl FnOnce(&mut Limits)) -> Config {
    let mut limits = Limits::default();
    change(&mut limits);
    Config {
        limits,
        ..Config::default()
    }
}

#[tokio::test]
async fn w16_a_client_that_does_not_read_is_cut_off_and_nobody_waits_for_it() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (stalled, _) = house.app("home", &ALL).await;
    let (mut healthy, _) = house.app("home", &ALL).await;
    let text = "x".repeat(100_000);
    let event = json!({"type": "claude_event", "broadcast": "clients", "payload": {"text": text}});
    let event = event.to_string();
    // The kernel takes some megabytes before anything has to wait.
    let mut sent: u32 = 0;
    while house.count("cut_off_total") == 0 {
        assert!(sent < 2000, "still not cut off");
        pylon.send_text(&event).await;
        healthy.expect("claude_event").await;
        sent += 1;
    }
    let left = loop {
        let message = pylon.message().await;
        if message["type"] == "client_disconnect" {
            break message["payload"]["deviceId"].as_u64();
        }
    };
    assert_eq!(left, Some(100));
    house.reaches("apps", 1).await;
    house.reaches("connections", 2).await;
    healthy.expect_nothing().await;
    drop(stalled);
}

/// An app may send ten megabytes at once; a Pylon that is busy meanwhile reads them afterwards, and nobody else notices.
#[tokio::test]
async fn w16_no_app_gets_the_pylon_cut_off_for_the_others() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut eager, _) = house.app("home", &ALL).await;
    let (mut other, _) = house.app("home", &ALL).await;
    let text = "x".repeat(500_000);
    let send = json!({"type": "claude_send", "to": 1, "payload": {"message": text}}).to_string();
    for _ in 0..20 {
        eager.send_text(&send).await;
    }
    let ask = json!({"type": "workspace_list", "to": 1, "payload": {}});
    other.send(&ask).await;
    let (mut messages, mut asked) = (0, 0);
    while messages < 20 || asked < 1 {
        match pylon.message().await["type"].as_str() {
            Some("claude_send") => messages += 1,
            Some("workspace_list") => asked += 1,
            _ => {}
        }
    }
    assert_eq!(house.count("cut_off_total"), 0);
    house.reaches("apps", 2).await;
}

#[tokio::test]
async fn a_revoked_device_that_does_not_read_is_gone_all_the_same() {
    let house = House::with(limited(|limits| {
        // So that it is not cut off for what waits.
        limits.queue_bytes = 1_000_000_000;
    }))
    .await;
    let mut pylon = house.pylon("home", 1).await;
    let (key, token) = house.device("home", &ALL).await;
    let (stalled, _) = house.app_with(&token).await;
    let (mut healthy, _) = house.app("home", &ALL).await;
    let text = "x".repeat(100_000);
    let event = json!({"type": "claude_event", "broadcast": "clients", "payload": {"text": text}});
    let event = event.to_string();
    // The kernel takes some megabytes; what is more waits, in more frames than are written at once.
    for _ in 0..400 {
        pylon.send_text(&event).await;
        healthy.expect("claude_event").await;
    }
    pylon
        .send(&json!({"type": "device_revoke", "payload": {"deviceKey": key}}))
        .await;
    loop {
        let message = pylon.message().await;
        if message["type"] == "device_revoke_result" {
            assert_eq!(message["payload"]["success"], true, "{message}");
            break;
        }
    }
    house.reaches("connections", 2).await;
    drop(stalled);
}

#[tokio::test]
async fn w19_an_app_that_sends_too_much_is_closed() {
    let house = House::with(limited(|limits| {
        limits.app_rate = Rate {
            frames: 5,
            bytes: 1_000_000,
            burst: 2,
        };
    }))
    .await;
    let (mut app, _) = house.app("home", &ALL).await;
    let (mut other, _) = house.app("home", &ALL).await;
    for _ in 0..12 {
        let _ = app.send_raw(Message::text(r#"{"type":"ping"}"#)).await;
    }
    let mut last = String::new();
    let closed = loop {
        match app.next().await {
            Ok(text) => last = text,
            Err(closed) => break closed,
        }
    };
    assert!(last.contains("rate_limited"), "{last}");
    assert_eq!(closed, Closed::Code(1008));
    other.expect_nothing().await;
    assert_eq!(house.count("rate_limited_total"), 1);
}

#[tokio::test]
async fn a_pylon_that_sends_too_much_is_read_more_slowly_and_loses_nothing() {
    let house = House::with(limited(|limits| {
        limits.pylon_rate = Rate {
            frames: 100,
            bytes: 10_000_000,
            burst: 1,
        };
    }))
    .await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    let begun = std::time::Instant::now();
    for number in 0..150 {
        pylon
            .send(&json!({"type": "claude_event", "payload": {"number": number}}))
            .await;
    }
    for number in 0..150 {
        assert_eq!(app.expect("claude_event").await["number"], number);
    }
    assert!(
        begun.elapsed() > Duration::from_millis(400),
        "{:?}",
        begun.elapsed()
    );
    pylon.expect_nothing().await;
}

#[tokio::test]
async fn w11_a_flood_of_pings_counts_as_messages() {
    let house = House::with(limited(|limits| limits.app_rate.frames = 10)).await;
    let (mut app, _) = house.app("home", &ALL).await;
    for _ in 0..200 {
        if app
            .send_raw(Message::Ping(bytes::Bytes::default()))
            .await
            .is_err()
        {
            break;
        }
    }
    app.closed().await;
    house.reaches("rate_limited_total", 1).await;
}

#[tokio::test]
async fn w12_a_client_without_a_sign_of_life_is_closed() {
    let house = House::with(limited(|limits| {
        limits.heartbeat = Duration::from_millis(50);
    }))
    .await;
    let (app, _) = house.app("home", &ALL).await;
    // A client that is never polled answers no ping.
    house.reaches("apps", 0).await;
    drop(app);
}

#[tokio::test]
async fn a_client_that_answers_pings_lives() {
    let house = House::with(limited(|limits| {
        // Two of them without a sign of life are the end, and a busy machine may be that slow with a shorter one.
        limits.heartbeat = Duration::from_millis(250);
    }))
    .await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    let alive = async {
        for _ in 0..20 {
            tokio::time::timeout(Duration::from_millis(75), app.next())
                .await
                .ok();
        }
    };
    let other = async {
        for _ in 0..20 {
            tokio::time::timeout(Duration::from_millis(75), pylon.next())
                .await
                .ok();
        }
    };
    tokio::join!(alive, other);
    assert_eq!(house.count("apps"), 1);
    assert_eq!(house.count("pylons"), 1);
}

#[tokio::test]
async fn w5_w9_broken_frames_end_the_connection_and_only_it() {
    let house = House::new().await;
    let (mut other, _) = house.app("home", &ALL).await;
    let huge = [&[0x81, 0xff][..], &(u64::MAX >> 1).to_be_bytes(), &[0; 4]].concat();
    let cases: [(&[u8], u16); 5] = [
        (&huge, 1009),
        (b"\x81\x02hi", 1002),
        (b"\xc1\x80\0\0\0\0", 1002),
        (b"\x82\x81\0\0\0\0x", 1003),
        (b"\x81\x81\0\0\0\0\xff", 1007),
    ];
    for (bytes, code) in cases {
        let (mut app, _) = house.app("home", &ALL).await;
        app.stream().write_all(bytes).await.unwrap();
        assert_eq!(app.closed().await, Closed::Code(code), "{bytes:?}");
    }
    other.expect_nothing().await;
}

#[tokio::test]
async fn the_largest_frame_passes_and_one_more_byte_does_not() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    let shell = r#"{"type":"claude_event","payload":""}"#;
    let limit = estelle_proto::limits::MAX_FRAME_BYTES;
    let frame = |length: usize| shell.replace(r#""""#, &format!("\"{}\"", "x".repeat(length)));
    // What the relay adds.
    pylon.send_text(&frame(0)).await;
    let got = loop {
        let got = app.next().await.unwrap();
        if got.contains("claude_event") {
            break got;
        }
    };
    let most = limit - got.len();
    pylon.send_text(&frame(most)).await;
    let got = app.expect("claude_event").await;
    assert_eq!(got.as_str().unwrap().len(), most);
    pylon.send_text(&frame(most + 1)).await;
    pylon.expect_error("too_large").await;
    pylon.send_text(&frame(limit)).await;
    assert_eq!(pylon.closed().await, Closed::Code(1009));
}

#[tokio::test]
async fn r13_wrong_logins_do_not_keep_the_owner_out() {
    let house = House::with(limited(|limits| {
        limits.strangers = 20;
        limits.strangers_per_address = 1000;
    }))
    .await;
    let (_, token) = house.device("home", &ALL).await;
    // Strangers who sit and wait have to make room.
    let mut crowd = Vec::new();
    for _ in 0..40 {
        crowd.push(house.connect().await);
    }
    let (mut owner, _) = house.app_with(&token).await;
    for _ in 0..200 {
        let mut client = house.connect().await;
        client
            .send(&json!({"type": "auth", "payload": {"deviceType": "app", "token": "guess"}}))
            .await;
        client.closed().await;
    }
    owner.expect_nothing().await;
    assert_eq!(house.count("login_refusals_total"), 200);
    assert_eq!(crowd[0].closed().await, Closed::Broken);
}

#[tokio::test]
async fn an_address_has_only_so_many_strangers() {
    let house = House::with(limited(|limits| limits.strangers_per_address = 3)).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(house.connect().await);
    }
    let stream = tokio::net::TcpStream::connect(house.address())
        .await
        .unwrap();
    let url = format!("ws://{}/ws", house.address());
    assert!(tokio_tungstenite::client_async(url, stream).await.is_err());
    drop(open.pop());
    house.reaches("connections", 2).await;
    house.connect().await;
}

#[tokio::test]
async fn w15_a_connection_that_breaks_is_noticed() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, id) = house.app("home", &ALL).await;
    // The beginning of a frame, and then nothing more for ever.
    app.stream().write_all(b"\x81\xfe\xff\xff").await.unwrap();
    app.stream().set_zero_linger().unwrap();
    drop(app);
    assert_eq!(pylon.expect("client_disconnect").await["deviceId"], id);
}

#[tokio::test]
async fn joins_are_told_together() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (_, token) = house.device("home", &ALL).await;
    let mut apps = Vec::new();
    for _ in 0..40 {
        apps.push(house.app_with(&token).await);
    }
    pylon.send(&json!({"type": "ping"})).await;
    let mut told = 0;
    while !pylon.next().await.unwrap().contains("\"pong\"") {
        told += 1;
    }
    assert!(told < 20, "{told} times for 40 joins");
}
