//! Rights per message, and managing devices.

use estelle_proto::{AppToPylon, Message as _, Right};
use serde_json::json;

use crate::kit::{ALL, Closed, House};

/// Each type of message passes with its right and with no other.
#[tokio::test]
async fn d11_every_message_needs_its_right() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    for right in ALL {
        let (mut app, _) = house.app("home", std::slice::from_ref(&right)).await;
        for kind in AppToPylon::KINDS
            .iter()
            .chain(&["terminal_from_the_future"])
        {
            app.send(&json!({"type": kind, "to": 1, "requestId": "r"}))
                .await;
            if AppToPylon::right_of(kind) == right {
                pylon.expect(kind).await;
            } else {
                let error = app.expect_error("forbidden").await;
                assert_eq!(error["about"], *kind);
                assert_eq!(error["requestId"], "r");
            }
        }
        app.expect_nothing().await;
        drop(app);
        pylon.expect("client_disconnect").await;
    }
    pylon.expect_nothing().await;
}

#[tokio::test]
async fn rights_change_under_an_open_connection() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (key, token) = house.device("home", &[Right::View, Right::Prompt]).await;
    let (mut app, _) = house.app_with(&token).await;
    app.send(&json!({"type": "claude_send", "to": 1})).await;
    pylon.expect("claude_send").await;
    let change = json!({"deviceKey": key.as_str(), "rights": ["view", "view"], "requestId": "x"});
    pylon
        .send(&json!({"type": "device_rights", "payload": change}))
        .await;
    assert_eq!(
        app.expect("rights_changed").await,
        json!({"rights": ["view"]})
    );
    let result = pylon.expect("device_rights_result").await;
    let expected =
        json!({"deviceKey": key.as_str(), "success": true, "rights": ["view"], "requestId": "x"});
    assert_eq!(result, expected);
    app.send(&json!({"type": "claude_send", "to": 1})).await;
    app.expect_error("forbidden").await;
    app.send(&json!({"type": "workspace_list", "to": 1})).await;
    let seen = pylon.message().await;
    assert_eq!(seen["from"]["rights"], json!(["view"]));
}

#[tokio::test]
async fn who_may_not_view_any_more_hears_answers_only() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (key, token) = house.device("home", &[Right::View, Right::Prompt]).await;
    let (mut app, id) = house.app_with(&token).await;
    let event = |text: &str| json!({"type": "claude_event", "to": id, "payload": {"text": text}});
    pylon.send(&event("before")).await;
    assert_eq!(app.expect("claude_event").await, json!({"text": "before"}));
    let change = json!({"deviceKey": key.as_str(), "rights": ["prompt"]});
    pylon
        .send(&json!({"type": "device_rights", "payload": change}))
        .await;
    app.expect("rights_changed").await;
    pylon.send(&event("secret")).await;
    let answer = json!({"type": "claude_send_result", "to": id, "payload": {"success": true}});
    pylon.send(&answer).await;
    let heard = loop {
        let heard = app.message().await;
        if heard["type"] != "device_status" {
            break heard;
        }
    };
    assert_eq!(heard["type"], "claude_send_result", "{heard}");
}

#[tokio::test]
async fn t1_what_a_terminal_shows_is_kept_from_who_may_not_use_one() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let rights = [Right::View, Right::Terminal];
    let (key, token) = house.device("home", &rights).await;
    let (mut app, id) = house.app_with(&token).await;
    let output =
        |text: &str| json!({"type": "terminal_output", "to": id, "payload": {"data": text}});
    pylon.send(&output("before")).await;
    assert_eq!(
        app.expect("terminal_output").await,
        json!({"data": "before"})
    );
    // The right is taken away while the device looks.
    let change = json!({"deviceKey": key.as_str(), "rights": ["view"]});
    pylon
        .send(&json!({"type": "device_rights", "payload": change}))
        .await;
    app.expect("rights_changed").await;
    pylon.send(&output("secret")).await;
    let event = json!({"type": "claude_event", "to": id, "payload": {"text": "seen"}});
    pylon.send(&event).await;
    let heard = loop {
        let heard = app.message().await;
        if heard["type"] != "device_status" {
            break heard;
        }
    };
    assert_eq!(heard["type"], "claude_event", "{heard}");
}

#[tokio::test]
async fn d12_a_device_cannot_raise_itself() {
    let house = House::new().await;
    let (key, token) = house.device("home", &[Right::View, Right::Admin]).await;
    let (other, _) = house.device("home", &[Right::View]).await;
    let (mut admin, _) = house.app_with(&token).await;
    let change = |key: &str, rights: &[&str]| json!({"type": "device_rights", "payload": {"deviceKey": key, "rights": rights}});
    let cases = [
        (
            change(key.as_str(), &["view", "admin", "terminal"]),
            "forbidden",
        ),
        (change(other.as_str(), &["view", "terminal"]), "forbidden"),
        (change(other.as_str(), &["view", "fly"]), "invalid_message"),
        (change(other.as_str(), &[]), "invalid_message"),
        (change("dev-unknown", &["view"]), "unknown_device"),
    ];
    for (message, code) in cases {
        admin.send(&message).await;
        let result = admin.expect("device_rights_result").await;
        assert_eq!(result["errorCode"], code, "{message}");
    }
    admin
        .send(&change(other.as_str(), &["view", "admin"]))
        .await;
    assert_eq!(admin.expect("device_rights_result").await["success"], true);
    let add = json!({"name": "Mine", "rights": ["view"]});
    admin
        .send(&json!({"type": "device_add", "payload": add}))
        .await;
    assert_eq!(
        admin.expect("device_add_result").await["errorCode"],
        "forbidden"
    );
}

#[tokio::test]
async fn without_admin_devices_are_none_of_your_business() {
    let house = House::new().await;
    let (other, _) = house.device("home", &[Right::View]).await;
    let (own, token) = house.device("home", &[Right::View, Right::Prompt]).await;
    let (mut app, _) = house.app_with(&token).await;
    let key = other.as_str();
    let cases = [
        ("paired_list", json!({})),
        ("device_revoke", json!({"deviceKey": key})),
        (
            "device_rights",
            json!({"deviceKey": key, "rights": ["view"]}),
        ),
        ("pair_offer", json!({})),
        (
            "pair_confirm",
            json!({"pairId": "pair-1", "decision": "accept"}),
        ),
    ];
    for (kind, payload) in cases {
        app.send(&json!({"type": kind, "payload": payload})).await;
        let result = app.expect(&format!("{kind}_result")).await;
        assert_eq!(result["errorCode"], "forbidden", "{kind}");
    }
    // But everybody may leave.
    app.send(&json!({"type": "device_revoke", "payload": {"deviceKey": own.as_str()}}))
        .await;
    assert_eq!(app.expect("device_revoke_result").await["success"], true);
    assert_eq!(app.closed().await, Closed::Code(4001));
}

#[tokio::test]
async fn devices_are_added_and_listed() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let add = json!({"name": "Nightly", "rights": ["view", "prompt"], "requestId": "a"});
    pylon
        .send(&json!({"type": "device_add", "payload": add}))
        .await;
    let added = pylon.expect("device_add_result").await;
    assert_eq!(added["device"]["rights"], json!(["view", "prompt"]));
    assert_eq!(added["requestId"], "a");
    let token = estelle_proto::Token::parse(added["token"].as_str().unwrap()).unwrap();
    let (_app, id) = house.app_with(&token).await;
    pylon.send(&json!({"type": "paired_list"})).await;
    let list = pylon.expect("paired_list_result").await;
    let device = &list["devices"][0];
    assert_eq!(device["name"], "Nightly");
    assert_eq!(device["connected"], json!([id]));
    assert_eq!(device["deviceKey"], added["device"]["deviceKey"]);
    assert!(device["lastSeenAt"].as_i64() >= device["createdAt"].as_i64());
    assert!(!list.to_string().contains(token.reveal()));
    let file = std::fs::read_to_string(house.folder.path().join("relay.json")).unwrap();
    assert!(!file.contains(token.reveal()));
}

#[tokio::test]
async fn a_device_has_only_so_many_connections() {
    let limits = estelle_relay::Limits {
        connections_per_device: 2,
        ..estelle_relay::Limits::default()
    };
    let config = estelle_relay::Config {
        limits,
        ..estelle_relay::Config::default()
    };
    let house = House::with(config).await;
    let (_, token) = house.device("home", &ALL).await;
    let _one = house.app_with(&token).await;
    let _two = house.app_with(&token).await;
    let mut three = house.connect().await;
    three.log_in(&token).await;
    assert_eq!(
        three.expect("auth_result").await["errorCode"],
        "rate_limited"
    );
}

/// They keep things for devices, ways to notify them for example.
#[tokio::test]
async fn pylons_are_told_who_is_left_when_a_device_is_revoked() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let mut elsewhere = house.pylon("elsewhere", 1).await;
    let (lost, _) = house.device("home", &ALL).await;
    let (kept, token) = house.device("home", &ALL).await;
    let (mut owner, _) = house.app_with(&token).await;
    let revoke = json!({"deviceKey": lost.as_str()});
    owner
        .send(&json!({"type": "device_revoke", "payload": revoke}))
        .await;
    let left = pylon.expect("paired_list_result").await;
    assert_eq!(left["success"], true);
    let left = left["devices"].as_array().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["deviceKey"], kept.as_str());
    owner.expect("device_revoke_result").await;
    elsewhere.expect_nothing().await;
}

#[tokio::test]
async fn d13_an_answer_of_a_revoked_device_reaches_nobody() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (key, token) = house.device("home", &ALL).await;
    let (mut app, _) = house.app_with(&token).await;
    pylon
        .send(&json!({"type": "device_revoke", "payload": {"deviceKey": key.as_str()}}))
        .await;
    pylon.expect("client_disconnect").await;
    let left = pylon.expect("paired_list_result").await;
    assert_eq!(left["devices"], json!([]), "whoever asks is told as well");
    pylon.expect("device_revoke_result").await;
    // It may not know yet.
    let answer = json!({"type": "claude_permission", "to": 1, "payload": {"decision": "allow"}});
    let _ = app.send_raw(answer.to_string().into()).await;
    assert_eq!(app.closed().await, Closed::Code(4001));
    pylon.expect_nothing().await;
}
