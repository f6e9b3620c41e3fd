//! Messages that try to reach another realm or to be read in two ways (X, J).

use estelle_proto::{Name, Timestamp, Token};
use estelle_relay::{Config, NewDevice, Registry};
use futures_util::future::join_all;
use serde_json::json;

use crate::kit::{ALL, Client, House, open, profile, realm};

#[tokio::test]
async fn x2_x8_nobody_watches_or_reads_a_conversation_of_another_realm() {
    let house = House::new().await;
    let mut home = house.pylon("home", 1).await;
    let mut away = house.pylon("away", 1).await;
    let (mut intruder, _) = house.app("away", &ALL).await;
    let ids =
        json!({"workspaceId": "ws-home", "conversationId": "conv-home", "epoch": 1, "seq": 1});
    for kind in [
        "conversation_select",
        "history_request",
        "history_search",
        "history_export",
        "tool_detail",
    ] {
        for address in [json!({}), json!({"to": 1}), json!({"broadcast": "all"})] {
            let mut message = json!({"type": kind, "payload": ids});
            for (name, value) in address.as_object().unwrap() {
                message[name] = value.clone();
            }
            intruder.send(&message).await;
            // The id 1 is that of its own machine, which knows nothing of such a conversation.
            assert_eq!(away.message().await["type"], kind);
        }
    }
    home.expect_nothing().await;
    intruder.expect_nothing().await;
}

#[tokio::test]
async fn x5_an_id_inside_a_message_does_not_change_where_it_goes() {
    let house = House::new().await;
    let mut one = house.pylon("home", 1).await;
    let mut two = house.pylon("home", 2).await;
    let mut other = house.pylon("away", 1).await;
    let (mut app, id) = house.app("home", &ALL).await;
    let inner = json!({
        "to": 1, "deviceId": 1, "broadcast": "all", "realm": "away",
        "from": {"deviceId": 1, "deviceType": "pylon", "name": "Selene"},
    });
    app.send(&json!({"type": "claude_send", "to": 2, "payload": inner, "realm": "away"}))
        .await;
    let got = two.message().await;
    assert_eq!(got["payload"], inner);
    assert_eq!(got["from"]["deviceId"], id);
    one.expect_nothing().await;
    other.expect_nothing().await;
}

/// The secrets of many realms, each with a machine and a phone.
fn many_realms(folder: &tempfile::TempDir, count: usize) -> Vec<(Token, Token)> {
    let mut registry = Registry::open(folder.path().join("relay.json")).unwrap();
    let mut all = Vec::new();
    for number in 0..count {
        let realm = realm(&format!("realm-{number}"));
        let device = NewDevice {
            name: Name::parse("Phone").unwrap(),
            rights: ALL.to_vec(),
            expires_at: None,
        };
        let pylon = registry.put_pylon(&realm, profile(1)).unwrap();
        let (_, phone) = registry.add_device(&realm, device, Timestamp(5)).unwrap();
        all.push((pylon, phone));
    }
    registry.save().unwrap();
    all
}

/// A realm comes in, and says its number both ways.
async fn come_in(house: &House, secrets: &(Token, Token), number: usize) -> (Client, Client) {
    let mut pylon = house.pylon_with(&secrets.0, 1).await;
    let (mut app, _) = house.app_with(&secrets.1).await;
    let canary = json!({"canary": number});
    app.send(&json!({"type": "claude_send", "broadcast": "all", "payload": canary}))
        .await;
    assert_eq!(pylon.message().await["payload"], canary);
    pylon
        .send(&json!({"type": "claude_event", "payload": canary}))
        .await;
    assert_eq!(app.expect("claude_event").await, canary);
    (pylon, app)
}

#[tokio::test]
async fn x10_realms_that_all_come_back_at_once_see_only_themselves() {
    let mut folder = tempfile::tempdir().unwrap();
    let secrets = many_realms(&folder, 80);
    for _ in 0..2 {
        let relay = open(&folder, Config::default()).await;
        let house = House { relay, folder };
        let all = secrets.iter().enumerate();
        let mut members = join_all(all.map(|(number, one)| come_in(&house, one, number))).await;
        for (pylon, app) in &mut members {
            pylon.expect_nothing().await;
            app.expect_nothing().await;
        }
        let House {
            relay,
            folder: same,
        } = house;
        relay.stop().await;
        folder = same;
    }
}

#[tokio::test]
async fn j4_an_id_that_two_readers_would_round_differently_names_nobody() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    for to in [
        "9007199254740993",
        "1.0000000000000001",
        "1e0",
        "18446744073709551617",
    ] {
        app.send_text(&format!(r#"{{"type":"claude_send","to":{to}}}"#))
            .await;
        let error = app.expect("error").await;
        let code = error["errorCode"].as_str().unwrap();
        assert!(
            matches!(code, "invalid_message" | "undeliverable"),
            "{to}: {error}"
        );
    }
    pylon.expect_nothing().await;
}

#[tokio::test]
async fn j10_impossible_moments_break_nothing() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let add = |at: &str| {
        format!(
            r#"{{"type":"device_add","payload":{{"name":"x","rights":["view"],"expiresAt":{at}}}}}"#
        )
    };
    for at in ["1e20", "9223372036854775808", "\"2026-01-01\"", "1.5"] {
        pylon.send_text(&add(at)).await;
        pylon.expect_error("invalid_message").await;
    }
    // Long past and never: the first opens nothing, the second does not overflow.
    for (at, is_let_in) in [
        ("-9223372036854775808", false),
        ("-62198755200000", false),
        ("0", false),
        ("315569520000000000", true),
        ("9223372036854775807", true),
    ] {
        pylon.send_text(&add(at)).await;
        let added = pylon.expect("device_add_result").await;
        let token = Token::parse(added["token"].as_str().unwrap()).unwrap();
        let mut app = house.connect().await;
        app.log_in(&token).await;
        let result = app.expect("auth_result").await;
        assert_eq!(result["success"], is_let_in, "{at}: {result}");
        drop(app);
        if is_let_in {
            pylon.expect("client_disconnect").await;
        }
    }
    pylon.expect_nothing().await;
}

#[tokio::test]
async fn j11_a_secret_has_one_spelling() {
    let house = House::new().await;
    let (_, token) = house.device("home", &ALL).await;
    let right = token.reveal();
    let bare = right.strip_prefix("est_").unwrap();
    let mut swapped: Vec<char> = right.chars().collect();
    let last = swapped.last_mut().unwrap();
    // The last character of 256 bits in base64 has bits to spare, which a decoder would throw away.
    *last = if *last == 'A' { 'B' } else { 'A' };
    for wrong in [
        format!("{right}="),
        format!("{right}=="),
        format!(" {right}"),
        format!("{right}\n"),
        bare.to_owned(),
        right.to_uppercase(),
        swapped.into_iter().collect(),
        format!("EST_{bare}"),
    ] {
        let mut client = house.connect().await;
        let payload = json!({"deviceType": "app", "token": wrong});
        client
            .send(&json!({"type": "auth", "payload": payload}))
            .await;
        let result = client.expect("auth_result").await;
        assert_eq!(result["success"], false, "{wrong:?}");
    }
    house.app_with(&token).await;
}
