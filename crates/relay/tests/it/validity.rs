//! Messages that are none (J): each is answered, none is routed, the connection lives.

use serde_json::{Value, json};

use crate::kit::{ALL, House};

#[tokio::test]
async fn j2_j7_what_is_no_message_is_refused_and_the_connection_lives() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    for bad in [
        "",
        "null",
        "7",
        "[]",
        "{",
        "\u{feff}{\"type\":\"ping\"}",
        "{\"type\":\"ping\"}{\"type\":\"ping\"}",
        "{\"type\":\"ping\"} x",
        "{\"type\":\"ping\"}\0",
        "{}",
        r#"{"to":1}"#,
        r#"{"type":null}"#,
        r#"{"type":7}"#,
        r#"{"type":"a","type":"b"}"#,
        r#"{"type":"claude_permission","payload":{},"payload":{}}"#,
        r#"{"type":"claude_send","to":1,"to":2}"#,
        r#"{"type":"claude_send","to":true}"#,
        r#"{"type":"claude_send","broadcast":7}"#,
        r#"{"type":"claude_send","requestId":7}"#,
        r#"{"type":"claude_send","to":1e400}"#,
        r#"{"type":"claude_send","to":NaN}"#,
        r#"{"type":"claude_send","to":-0}"#,
    ] {
        app.send_text(bad).await;
        let error = app.expect_error("invalid_message").await;
        assert_eq!(error["retry"], "never", "{bad}");
    }
    pylon.expect_nothing().await;
}

#[tokio::test]
async fn j1_depth_is_survived() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    app.send_text(&format!(r#"{{"type":"claude_send","to":{deep}}}"#))
        .await;
    app.expect_error("invalid_message").await;
    app.send_text(&format!(r#"{{"type":"ping","payload":{deep}}}"#))
        .await;
    app.expect_error("invalid_message").await;
    // Sealed, it is the receiver's business.
    app.send_text(&format!(r#"{{"type":"claude_send","payload":{deep}}}"#))
        .await;
    let got = loop {
        let got = pylon.next().await.unwrap();
        if got.contains("claude_send") {
            break got;
        }
    };
    assert!(got.ends_with(&format!(r#""payload":{deep}}}"#)));
}

#[tokio::test]
async fn j5_an_unknown_type_is_the_receivers_business() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("home", &ALL).await;
    for kind in [
        "__proto__",
        "constructor",
        "CLAUDE_SEND",
        "auth_result",
        "未知",
    ] {
        app.send(&json!({"type": kind, "to": 1, "payload": {"__proto__": {}}}))
            .await;
        let got = pylon.message().await;
        assert_eq!(got["type"], kind);
        assert_eq!(got["from"]["deviceType"], "app");
    }
}

/// Values that do not fit a field.
fn misfits(field: &str, good: &Value) -> Vec<Value> {
    let mut cases = vec![json!(true), json!({}), json!(-1.5)];
    // An unknown word is a decision to refuse, not a broken message.
    if field == "decision" {
        cases.push(json!(["x"]));
    } else if good.is_string() {
        let long = "x".repeat(5000);
        cases.extend([json!(7), json!(""), json!(["x"]), json!(long)]);
    }
    cases
}

/// Every field of every message that the relay reads itself: missing, null, of a wrong type, too long, twice.
#[tokio::test]
async fn j6_every_field_of_the_relays_own_messages() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let optional = ["expiresAt"];
    let messages = [
        (
            "pair_confirm",
            json!({"pairId": "pair-1", "decision": "reject"}),
        ),
        (
            "device_add",
            json!({"name": "x", "rights": ["view"], "expiresAt": 1}),
        ),
        ("device_revoke", json!({"deviceKey": "dev-1"})),
        (
            "device_rights",
            json!({"deviceKey": "dev-1", "rights": ["view"]}),
        ),
    ];
    for (kind, good) in &messages {
        for (field, value) in good.as_object().unwrap() {
            let mut payloads = Vec::new();
            for case in misfits(field, value) {
                let mut payload = good.clone();
                payload[field] = case;
                payloads.push(payload.to_string());
            }
            if !optional.contains(&field.as_str()) {
                let mut payload = good.clone();
                payload[field] = Value::Null;
                payloads.push(payload.to_string());
                payload.as_object_mut().unwrap().remove(field);
                payloads.push(payload.to_string());
            }
            let text = good.to_string();
            payloads.push(text.replacen('{', &format!("{{\"{field}\":{value},"), 1));
            for payload in payloads {
                let message = format!(r#"{{"type":"{kind}","payload":{payload}}}"#);
                pylon.send_text(&message).await;
                let error = pylon.expect_error("invalid_message").await;
                assert_eq!(error["about"], *kind, "{message}");
            }
        }
    }
    pylon.send(&json!({"type": "paired_list"})).await;
    assert_eq!(
        pylon.expect("paired_list_result").await["devices"],
        json!([])
    );
}

#[tokio::test]
async fn j6_every_field_of_auth() {
    let house = House::new().await;
    let (_, token) = house.device("home", &ALL).await;
    let good = json!({"deviceType": "app", "token": token.reveal(), "protocol": 1});
    let bad = [
        json!({"deviceType": null}),
        json!({"deviceType": 7}),
        json!({"token": 7}),
        json!({"token": "x".repeat(600)}),
        json!({"token": "a\u{0}b"}),
        json!({"token": null}),
        json!({"protocol": "1"}),
        json!({"deviceId": "one"}),
        json!({"deviceId": -1}),
        json!({"requestId": 7}),
    ];
    for change in bad {
        let mut payload = good.clone();
        payload
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let mut client = house.connect().await;
        client
            .send(&json!({"type": "auth", "payload": payload}))
            .await;
        let result = client.expect("auth_result").await;
        assert_eq!(result["errorCode"], "auth_failed", "{change}");
        assert!(!result.to_string().contains(token.reveal()));
        client.closed().await;
    }
    let mut client = house.connect().await;
    client.send(&json!({"type": "auth"})).await;
    assert_eq!(client.expect("auth_result").await["success"], false);
    let mut client = house.connect().await;
    let twice = format!(
        r#"{{"deviceType":"app","token":"wrong","token":"{}"}}"#,
        token.reveal()
    );
    client
        .send_text(&format!(r#"{{"type":"auth","payload":{twice}}}"#))
        .await;
    assert_eq!(client.expect("auth_result").await["success"], false);
}

#[tokio::test]
async fn j8_long_and_strange_ids_come_back_short_or_not_at_all() {
    let house = House::new().await;
    let (mut app, _) = house.app("home", &ALL).await;
    let kind = "é".repeat(10_000);
    app.send(&json!({"type": kind, "to": 1})).await;
    let error = app.expect_error("undeliverable").await;
    assert_eq!(error["about"].as_str().unwrap().chars().count(), 64);
    for id in ["", "x\u{0}", &"x".repeat(129)] {
        app.send(&json!({"type": "claude_send", "to": 1, "requestId": id}))
            .await;
        app.expect_error("invalid_message").await;
    }
    app.send(&json!({"type": "claude_send", "to": 1, "requestId": "e\u{301}"}))
        .await;
    assert_eq!(
        app.expect_error("undeliverable").await["requestId"],
        "e\u{301}"
    );
}
