//! Who is let in (R), and what a stranger can do.

use std::time::Duration;

use estelle_proto::{Name, Right, Timestamp};
use estelle_relay::{Config, NewDevice};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;

use crate::kit::{ALL, Client, Closed, House, open, profile, realm};

#[tokio::test]
async fn an_app_gets_its_id_and_its_rights_from_the_relay() {
    let house = House::new().await;
    let (key, token) = house.device("home", &[Right::View, Right::Prompt]).await;
    let mut app = house.connect().await;
    let claims = json!({
        "deviceType": "app", "token": token.reveal(), "deviceId": 1, "requestId": "r-1",
        "rights": ["admin"], "realm": "other", "role": "admin", "name": "Boss",
    });
    app.send(&json!({"type": "auth", "payload": claims})).await;
    let result = app.expect("auth_result").await;
    assert_eq!(
        result,
        json!({
            "success": true, "requestId": "r-1", "protocol": 1,
            "relayVersion": env!("CARGO_PKG_VERSION"), "deviceKey": key.as_str(),
            "rights": ["view", "prompt"],
            "device": {"deviceId": 100, "deviceType": "app", "name": "Phone", "icon": "📱", "role": "client"},
        })
    );
}

#[tokio::test]
async fn r1_silence_is_ended_after_five_seconds() {
    let house = House::new().await;
    let mut client = house.connect().await;
    let opened = std::time::Instant::now();
    assert_eq!(client.closed().await, Closed::Code(1008));
    let waited = opened.elapsed();
    assert!(waited > Duration::from_secs(4), "{waited:?}");
    assert!(waited < Duration::from_secs(9), "{waited:?}");
}

#[tokio::test]
async fn r1_a_stranger_is_read_eight_kibibytes_and_no_more() {
    let house = House::new().await;
    let mut client = house.connect().await;
    let long = "x".repeat(9000);
    client
        .send(&json!({"type": "auth", "payload": {"x": long}}))
        .await;
    assert_eq!(client.closed().await, Closed::Code(1009));
    // Small ones add up.
    let mut client = house.connect().await;
    let some = json!({"type": "auth_not", "payload": {"x": "x".repeat(500)}});
    for _ in 0..20 {
        if client.send_raw(some.to_string().into()).await.is_err() {
            break;
        }
    }
    assert_eq!(client.closed().await, Closed::Code(1009));
}

#[tokio::test]
async fn r2_an_expired_secret_is_worth_nothing() {
    let house = House::new().await;
    let device = NewDevice {
        name: Name::parse("Script").unwrap(),
        rights: ALL.to_vec(),
        expires_at: Some(Timestamp(1_706_180_400_000)),
    };
    let issued = house.relay.add_device(realm("home"), device).await.unwrap();
    let mut client = house.connect().await;
    client.log_in(&issued.token).await;
    let result = client.expect("auth_result").await;
    assert_eq!(result["errorCode"], "auth_failed");
    assert_eq!(client.closed().await, Closed::Code(1008));
}

#[tokio::test]
async fn r2_a_secret_that_expires_ends_open_connections() {
    let house = House::new().await;
    let now = std::time::SystemTime::now();
    let now = now
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    let soon = i64::try_from(now).unwrap() + 300;
    let device = NewDevice {
        name: Name::parse("Script").unwrap(),
        rights: ALL.to_vec(),
        expires_at: Some(Timestamp(soon)),
    };
    let issued = house.relay.add_device(realm("home"), device).await.unwrap();
    let (mut app, _) = house.app_with(&issued.token).await;
    assert_eq!(app.closed().await, Closed::Code(4001));
}

/// Every wrong secret gets the same answer.
#[tokio::test]
async fn r3_r6_a_wrong_secret_is_refused_whatever_else_is_right() {
    let house = House::new().await;
    let pylon = house
        .relay
        .put_pylon(realm("home"), profile(1))
        .await
        .unwrap();
    let (_, app) = house.device("home", &ALL).await;
    let elsewhere = House::new().await;
    let (_, foreign) = elsewhere.device("home", &ALL).await;
    let cases = [
        json!({"deviceType": "app"}),
        json!({"deviceType": "app", "token": "wrong"}),
        json!({"deviceType": "app", "token": foreign.reveal()}),
        json!({"deviceType": "app", "token": pylon.reveal()}),
        json!({"deviceType": "pylon", "deviceId": 1}),
        json!({"deviceType": "pylon", "deviceId": 1, "token": "wrong"}),
        json!({"deviceType": "pylon", "deviceId": 1, "token": app.reveal()}),
        json!({"deviceType": "toaster", "token": app.reveal()}),
        json!({"deviceType": "APP", "token": app.reveal()}),
    ];
    let mut answers = Vec::new();
    for case in cases {
        let mut client = house.connect().await;
        client.send(&json!({"type": "auth", "payload": case})).await;
        answers.push(client.expect("auth_result").await);
        assert_eq!(client.closed().await, Closed::Code(1008), "{case}");
    }
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
        assert_eq!(answer["errorCode"], "auth_failed");
        assert_eq!(answer["success"], false);
    }
    assert_eq!(house.count("login_refusals_total"), 9);
}

#[tokio::test]
async fn a_pylon_must_name_the_id_of_its_secret() {
    let house = House::new().await;
    let token = house
        .relay
        .put_pylon(realm("home"), profile(1))
        .await
        .unwrap();
    for id in [json!(null), json!(2), json!(100)] {
        let mut client = house.connect().await;
        let payload = json!({"deviceType": "pylon", "deviceId": id, "token": token.reveal()});
        client
            .send(&json!({"type": "auth", "payload": payload}))
            .await;
        let result = client.expect("auth_result").await;
        assert_eq!(result["errorCode"], "auth_failed", "{id}");
    }
}

#[tokio::test]
async fn r7_what_stands_in_the_address_is_ignored() {
    let house = House::new().await;
    let (_, token) = house.device("home", &ALL).await;
    let address = house.address();
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let url = format!("ws://{address}/ws?token={}&role=admin", token.reveal());
    let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    socket.next().await.unwrap().unwrap();
    socket
        .send(r#"{"type":"get_devices"}"#.into())
        .await
        .unwrap();
    let answer = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(answer.contains("not_authenticated"), "{answer}");
}

#[tokio::test]
async fn nothing_but_auth_is_heard_from_a_stranger() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let mut client = house.connect().await;
    for kind in [
        "ping",
        "get_devices",
        "claude_send",
        "paired_list",
        "pair_offer",
        "unheard_of",
    ] {
        client
            .send(&json!({"type": kind, "broadcast": "all"}))
            .await;
        let error = client.expect_error("not_authenticated").await;
        assert_eq!(error["about"], kind);
    }
    pylon.expect_nothing().await;
}

#[tokio::test]
async fn r10_a_revoked_device_is_cut_off_at_once() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (key, token) = house.device("home", &ALL).await;
    let (mut one, _) = house.app_with(&token).await;
    let (mut two, _) = house.app_with(&token).await;
    let revoked = std::time::Instant::now();
    pylon
        .send(&json!({"type": "device_revoke", "payload": {"deviceKey": key.as_str()}}))
        .await;
    assert_eq!(one.closed().await, Closed::Code(4001));
    assert_eq!(two.closed().await, Closed::Code(4001));
    assert!(revoked.elapsed() < Duration::from_secs(1));
    let mut again = house.connect().await;
    again.log_in(&token).await;
    assert_eq!(again.expect("auth_result").await["success"], false);
}

#[tokio::test]
async fn r10_a_revocation_survives_a_restart() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (key, token) = house.device("home", &ALL).await;
    pylon
        .send(&json!({"type": "device_revoke", "payload": {"deviceKey": key.as_str()}}))
        .await;
    pylon.expect("paired_list_result").await;
    pylon.expect("device_revoke_result").await;
    // What was acknowledged is on the disk: the relay ends without a farewell.
    let House { relay, folder } = house;
    drop(relay);
    let relay = reopened(&folder).await;
    let mut again = Client::open(relay.local_addr()).await;
    again.log_in(&token).await;
    assert_eq!(again.expect("auth_result").await["success"], false);
}

/// The dropped relay gives its registry back a moment later.
async fn reopened(folder: &tempfile::TempDir) -> estelle_relay::Relay {
    let path = folder.path().join("relay.json");
    let registry = loop {
        match estelle_relay::Registry::open(&path) {
            Ok(registry) => break registry,
            Err(estelle_relay::OpenError::Taken { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    };
    estelle_relay::Relay::bind(Config::default(), registry)
        .await
        .unwrap()
}

#[tokio::test]
async fn r11_a_replaced_secret_is_refused_without_a_restart() {
    let house = House::new().await;
    let old = house
        .relay
        .put_pylon(realm("home"), profile(1))
        .await
        .unwrap();
    let mut pylon = house.pylon_with(&old, 1).await;
    let new = house
        .relay
        .put_pylon(realm("home"), profile(1))
        .await
        .unwrap();
    assert_eq!(pylon.closed().await, Closed::Code(4001));
    let mut client = house.connect().await;
    let payload = json!({"deviceType": "pylon", "deviceId": 1, "token": old.reveal()});
    client
        .send(&json!({"type": "auth", "payload": payload}))
        .await;
    assert_eq!(client.expect("auth_result").await["success"], false);
    house.pylon_with(&new, 1).await;
}

#[tokio::test]
async fn r15_the_newest_connection_of_a_pylon_wins_but_two_pylons_do_not_fight_for_ever() {
    let house = House::new().await;
    let token = house
        .relay
        .put_pylon(realm("home"), profile(1))
        .await
        .unwrap();
    let mut old = house.pylon_with(&token, 1).await;
    for _ in 0..3 {
        let new = house.pylon_with(&token, 1).await;
        let told = old.expect_error("conflict").await;
        assert!(told["error"].as_str().unwrap().contains("again"), "{told}");
        assert_eq!(old.closed().await, Closed::Code(4002));
        old = new;
    }
    for _ in 0..10 {
        let mut client = house.connect().await;
        let payload = json!({"deviceType": "pylon", "deviceId": 1, "token": token.reveal()});
        client
            .send(&json!({"type": "auth", "payload": payload}))
            .await;
        let refused = client.expect("auth_result").await;
        assert_eq!(refused["errorCode"], "conflict");
        assert_eq!(refused["retry"], "later");
    }
    old.expect_nothing().await;
}

#[tokio::test]
async fn a_second_auth_and_another_version_are_refused() {
    let house = House::new().await;
    let (_, token) = house.device("home", &ALL).await;
    let (mut app, _) = house.app_with(&token).await;
    app.log_in(&token).await;
    app.expect_error("conflict").await;
    let mut newer = house.connect().await;
    let payload = json!({"deviceType": "app", "token": token.reveal(), "protocol": 2});
    newer
        .send(&json!({"type": "auth", "payload": payload}))
        .await;
    let refused = newer.expect("auth_result").await;
    assert_eq!(refused["errorCode"], "protocol_mismatch");
}

#[tokio::test]
async fn stopping_is_announced_and_ids_are_not_used_again() {
    let house = House::new().await;
    let (_, token) = house.device("home", &ALL).await;
    let (mut app, first) = house.app_with(&token).await;
    let House { relay, folder } = house;
    let seen = async {
        app.expect("relay_restarting").await;
        app.closed().await
    };
    let ((), closed) = tokio::join!(relay.stop(), seen);
    assert_eq!(closed, Closed::Code(1012));
    let relay = open(&folder, Config::default()).await;
    let mut again = Client::open(relay.local_addr()).await;
    again.log_in(&token).await;
    let second = again.expect("auth_result").await["device"]["deviceId"].as_u64();
    assert_eq!(second, Some(first + 1));
}

#[tokio::test]
async fn d1_the_id_of_another_device_is_not_taken_over() {
    let house = House::new().await;
    let (mut victim, id) = house.app("home", &ALL).await;
    let (_, token) = house.device("home", &[Right::View]).await;
    let mut thief = house.connect().await;
    let payload = json!({"deviceType": "app", "deviceId": id, "token": token.reveal()});
    thief
        .send(&json!({"type": "auth", "payload": payload}))
        .await;
    let result = thief.expect("auth_result").await;
    assert_ne!(result["device"]["deviceId"], id);
    assert_eq!(result["rights"], json!(["view"]));
    victim.expect_nothing().await;
}

#[tokio::test]
async fn w24_everybody_comes_back_after_a_restart() {
    let house = House::new().await;
    let pylon_token = house
        .relay
        .put_pylon(realm("home"), profile(1))
        .await
        .unwrap();
    let (_, token) = house.device("home", &ALL).await;
    let House { relay, folder } = house;
    relay.stop().await;
    let relay = open(&folder, Config::default()).await;
    let house = House { relay, folder };
    let mut pylon = house.pylon_with(&pylon_token, 1).await;
    let joins = (0..50).map(|_| house.app_with(&token));
    let mut apps = futures_util::future::join_all(joins).await;
    let ids: std::collections::BTreeSet<u64> = apps.iter().map(|(_, id)| *id).collect();
    assert_eq!(ids.len(), 50);
    pylon.send(&json!({"type": "claude_event"})).await;
    for (app, _) in &mut apps {
        app.expect("claude_event").await;
    }
}
