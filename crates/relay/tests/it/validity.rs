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

/// What a device may say to the relay.
const SCHEMA: &str = include_str!("../../../../docs/protocol/schema/device-to-relay.json");

/// A message of the schema: its type, its fields with a sound value each, and which of them must be there.
struct Message {
    kind: String,
    sound: serde_json::Map<String, Value>,
    required: Vec<String>,
}

fn messages() -> Vec<Message> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let messages = schema["oneOf"].as_array().unwrap().iter().map(|message| {
        let payload = &message["properties"]["payload"];
        let payload = match payload["$ref"].as_str() {
            Some(path) => schema.pointer(path.trim_start_matches('#')).unwrap(),
            None => payload,
        };
        let fields = payload["properties"].as_object().unwrap().keys();
        let required = payload["required"].as_array().into_iter().flatten();
        Message {
            kind: message["properties"]["type"]["const"]
                .as_str()
                .unwrap()
                .to_owned(),
            sound: fields.map(|name| (name.clone(), sound(name))).collect(),
            required: required
                .map(|name| name.as_str().unwrap().to_owned())
                .collect(),
        }
    });
    messages.collect()
}

/// Stands for a secret, until there is one.
const SECRET: &str = "the secret of the device";

/// A value that fits a field of this name. A new field needs one here.
fn sound(field: &str) -> Value {
    match field {
        "requestId" => json!("r-1"),
        "pairId" => json!("pair-1"),
        "secret" | "token" => json!(SECRET),
        "decision" => json!("reject"),
        "name" => json!("x"),
        "rights" => json!(["view"]),
        "expiresAt" | "protocol" => json!(1),
        "deviceKey" => json!("dev-1"),
        "deviceType" => json!("app"),
        "deviceId" => Value::Null,
        other => panic!("which value has {other}?"),
    }
}

/// The payloads of a message with one field of it wrong: missing, null, of a wrong type, too long, twice.
fn spoiled(message: &Message) -> Vec<String> {
    let mut payloads = Vec::new();
    let good = Value::Object(message.sound.clone());
    for (field, value) in &message.sound {
        let with = |value: Value| {
            let mut payload = good.clone();
            payload[field] = value;
            payload.to_string()
        };
        payloads.extend(misfits(field, value).into_iter().map(with));
        if message.required.contains(field) {
            payloads.push(with(Value::Null));
            let mut payload = message.sound.clone();
            payload.remove(field);
            payloads.push(Value::Object(payload).to_string());
        }
        let text = good.to_string();
        payloads.push(text.replacen('{', &format!("{{\"{field}\":{value},"), 1));
    }
    payloads
}

/// Every field of every message that the relay reads itself.
#[tokio::test]
async fn j6_every_field_of_the_relays_own_messages() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let messages = messages();
    assert!(messages.len() >= 12, "{} messages", messages.len());
    for message in messages.iter().filter(|message| message.kind != "auth") {
        for payload in spoiled(message) {
            let kind = &message.kind;
            let text = format!(r#"{{"type":"{kind}","payload":{payload}}}"#);
            pylon.send_text(&text).await;
            let error = pylon.expect_error("invalid_message").await;
            assert_eq!(error["about"], *kind, "{text}");
        }
    }
    pylon.send(&json!({"type": "paired_list"})).await;
    assert_eq!(
        pylon.expect("paired_list_result").await["devices"],
        json!([])
    );
}

/// The same for who has not joined: it is told and let go.
#[tokio::test]
async fn j6_every_field_of_auth_as_the_schema_has_it() {
    let messages = messages();
    let auth = messages.iter().find(|message| message.kind == "auth");
    let auth = auth.unwrap();
    let house = House::new().await;
    let (_, token) = house.device("home", &ALL).await;
    let sound = Value::Object(auth.sound.clone()).to_string();
    let sound = sound.replace(SECRET, token.reveal());
    let mut client = house.connect().await;
    let text = format!(r#"{{"type":"auth","payload":{sound}}}"#);
    client.send_text(&text).await;
    assert_eq!(client.expect("auth_result").await["success"], true);
    for payload in spoiled(auth) {
        // Strangers of one address are few: each has a relay of its own.
        let house = House::new().await;
        let (_, token) = house.device("home", &ALL).await;
        let payload = payload.replace(SECRET, token.reveal());
        let mut client = house.connect().await;
        let text = format!(r#"{{"type":"auth","payload":{payload}}}"#);
        client.send_text(&text).await;
        let result = client.expect("auth_result").await;
        assert_eq!(result["errorCode"], "auth_failed", "{text}");
        client.closed().await;
    }
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
