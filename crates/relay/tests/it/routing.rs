//! Who receives a message, and what it looks like.

use estelle_proto::Right;
use serde_json::{Value, json};

use crate::kit::{ALL, Client, House};

/// Says something and returns what each of the others got, in order.
async fn said(from: &mut Client, message: Value, others: &mut [&mut Client]) -> Vec<bool> {
    from.send(&message).await;
    let mut got = Vec::new();
    // Whatever the sender said is delivered when it has its pong.
    from.send(&json!({"type": "ping"})).await;
    loop {
        let answer = from.message().await;
        if answer["type"] == "pong" {
            break;
        }
        assert_eq!(answer["type"], message["type"], "{answer}");
    }
    for other in others {
        other.send(&json!({"type": "ping"})).await;
        let first = other.message().await;
        let is_it = first["type"] == message["type"];
        if is_it {
            other.expect("pong").await;
        } else {
            assert_eq!(first["type"], "pong", "{first}");
        }
        got.push(is_it);
    }
    got
}

#[tokio::test]
async fn addresses_and_groups_reach_whom_they_name() {
    let house = House::new().await;
    let mut one = house.pylon("home", 1).await;
    let mut two = house.pylon("home", 2).await;
    let (mut a, a_id) = house.app("home", &ALL).await;
    let (mut b, b_id) = house.app("home", &ALL).await;
    let say = |extra: Value| {
        let mut message = json!({"type": "workspace_list"});
        message
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        message
    };
    // From an app: [one, two, b].
    let cases = [
        (json!({}), [true, true, false]),
        (json!({"broadcast": "pylons"}), [true, true, false]),
        (json!({"broadcast": "pylon"}), [true, true, false]),
        (json!({"broadcast": "all"}), [true, true, true]),
        (json!({"broadcast": "clients"}), [false, false, true]),
        (json!({"broadcast": "app"}), [false, false, true]),
        (json!({"broadcast": "nobody"}), [false, false, false]),
        (json!({"to": 1}), [true, false, false]),
        (json!({"to": "2"}), [false, true, false]),
        (
            json!({"to": {"deviceId": 2, "deviceType": "pylon"}}),
            [false, true, false],
        ),
        (json!({"to": [1, "2", 1]}), [true, true, false]),
        (json!({"to": [1, {"deviceId": b_id}]}), [true, false, true]),
        (json!({"to": 1, "broadcast": "all"}), [true, false, false]),
        (json!({"to": a_id}), [false, false, false]),
    ];
    for (extra, expected) in cases {
        let got = said(
            &mut a,
            say(extra.clone()),
            &mut [&mut one, &mut two, &mut b],
        )
        .await;
        assert_eq!(got, expected, "{extra}");
    }
    // From a Pylon without an address: all clients.
    let got = said(&mut one, say(json!({})), &mut [&mut two, &mut a, &mut b]).await;
    assert_eq!(got, [false, true, true]);
    let got = said(
        &mut one,
        say(json!({"broadcast": "all"})),
        &mut [&mut two, &mut a, &mut b],
    )
    .await;
    assert_eq!(got, [true, true, true]);
}

#[tokio::test]
async fn the_sender_is_the_true_one_and_the_payload_untouched() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (key, token) = house.device("home", &[Right::View]).await;
    let (mut app, id) = house.app_with(&token).await;
    let payload = r#"{"z" : 1.50,"a":[ 1e3,"\u00e9"], "a":2}"#;
    app.send_text(&format!(
        r#"{{"from":{{"deviceId":1,"deviceType":"pylon","name":"x"}},"payload":{payload},"type":"workspace_list","to":1}}"#
    ))
    .await;
    let got = loop {
        let got = pylon.next().await.unwrap();
        if !got.contains("device_status") {
            break got;
        }
    };
    let from = format!(
        r#"{{"deviceId":{id},"deviceType":"app","name":"Phone","icon":"📱","rights":["view"],"deviceKey":"{key}"}}"#
    );
    assert_eq!(
        got,
        format!(
            r#"{{"type":"workspace_list","to":{{"deviceId":1}},"from":{from},"payload":{payload}}}"#
        )
    );
}

#[tokio::test]
async fn what_cannot_be_delivered_is_answered() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, id) = house.app("home", &ALL).await;
    app.send(&json!({"type": "workspace_list", "to": [1, 7, 100_000], "requestId": "r-9"}))
        .await;
    let error = app.expect_error("undeliverable").await;
    assert_eq!(error["about"], "workspace_list");
    assert_eq!(error["requestId"], "r-9");
    let text = error["error"].as_str().unwrap();
    assert!(text.contains('7') && text.contains("100000"), "{text}");
    pylon.expect("workspace_list").await;
    // A device of another type is not the one that was meant.
    app.send(&json!({"type": "workspace_list", "to": {"deviceId": 1, "deviceType": "app"}}))
        .await;
    app.expect_error("undeliverable").await;
    pylon.send(&json!({"type": "claude_event", "to": id})).await;
    app.expect("claude_event").await;
    drop(app);
    pylon.expect("client_disconnect").await;
    pylon.send(&json!({"type": "claude_event", "to": id})).await;
    pylon.expect_error("undeliverable").await;
}

#[tokio::test]
async fn everybody_hears_who_is_there_and_pylons_who_left() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (app, id) = house.app("home", &ALL).await;
    let listed = loop {
        let status: Value = serde_json::from_str(&pylon.next().await.unwrap()).unwrap();
        assert_eq!(status["type"], "device_status");
        let devices = status["payload"]["devices"].as_array().unwrap().clone();
        if devices.len() == 2 {
            break devices;
        }
    };
    assert_eq!(listed[0]["name"], "Selene");
    assert_eq!(listed[0]["role"], "home");
    assert_eq!(listed[1]["deviceId"], id);
    let since = listed[1]["connectedAt"].as_str().unwrap();
    assert!(since.ends_with('Z') && since.len() == 24, "{since}");
    drop(app);
    let left = pylon.expect("client_disconnect").await;
    assert_eq!(left, json!({"deviceId": id, "deviceType": "app"}));
    pylon
        .send(&json!({"type": "getDevices", "payload": {"requestId": "r"}}))
        .await;
    let list = pylon.expect("device_list").await;
    assert_eq!(list["devices"].as_array().unwrap().len(), 1);
    assert_eq!(list["requestId"], "r");
}

#[tokio::test]
async fn the_relay_answers_for_itself() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    app.send(&json!({"type": "ping", "payload": {"requestId": "p"}}))
        .await;
    assert_eq!(app.expect("pong").await["requestId"], "p");
    app.send(&json!({"type": "relay_version"})).await;
    let version = app.expect("relay_version_result").await;
    assert_eq!(version["commit"], env!("CARGO_PKG_VERSION"));
    for client in [&mut app, &mut pylon] {
        client.send(&json!({"type": "relay_update"})).await;
        let result = client.expect("relay_update_result").await;
        assert_eq!(result["errorCode"], "forbidden");
    }
}

#[tokio::test]
async fn a_group_is_those_who_may_see() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut blind, id) = house.app("home", &[Right::Prompt]).await;
    pylon
        .send(&json!({"type": "conversation_status", "broadcast": "clients"}))
        .await;
    pylon.expect_nothing().await;
    blind.expect_nothing().await;
    pylon
        .send(&json!({"type": "claude_send_result", "to": id}))
        .await;
    blind.expect("claude_send_result").await;
}
