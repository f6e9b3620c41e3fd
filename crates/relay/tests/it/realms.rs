//! Nothing crosses realms (X).

use serde_json::json;

use crate::kit::{ALL, House};

#[tokio::test]
async fn x1_x4_a_device_of_another_realm_is_not_there() {
    let house = House::new().await;
    let mut home = house.pylon("home", 1).await;
    let _filler = house.app("home", &ALL).await;
    let (mut intruder, _) = house.app("away", &ALL).await;
    let mut answers = Vec::new();
    // An id of the other realm, one that nobody has, and the other's app.
    for to in [1, 55, 101] {
        intruder
            .send(&json!({"type": "claude_send", "to": to}))
            .await;
        let mut error = intruder.expect_error("undeliverable").await;
        let text = error["error"]
            .as_str()
            .unwrap()
            .replace(&to.to_string(), "N");
        error["error"] = json!(text);
        answers.push(error);
    }
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    intruder
        .send(&json!({"type": "claude_send", "broadcast": "all"}))
        .await;
    intruder.send(&json!({"type": "claude_send"})).await;
    intruder.expect_nothing().await;
    home.expect_nothing().await;
    intruder.send(&json!({"type": "get_devices"})).await;
    let list = intruder.expect("device_list").await;
    assert_eq!(list["devices"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn x3_odd_addresses_name_nobody() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (mut app, _) = house.app("away", &ALL).await;
    for to in [
        json!("*"),
        json!("../1"),
        json!(""),
        json!("１"),
        json!("1 "),
        json!(-1),
        json!(1.5),
        json!({"deviceId": "1"}),
        json!([]),
        json!([[1]]),
        json!(4_294_967_297_u64),
        json!({"deviceId": 1, "realm": "home"}),
    ] {
        app.send(&json!({"type": "claude_send", "to": to})).await;
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
async fn devices_of_another_realm_cannot_be_managed() {
    let house = House::new().await;
    let (key, token) = house.device("home", &ALL).await;
    let (mut owner, _) = house.app_with(&token).await;
    let mut other = house.pylon("away", 1).await;
    other
        .send(&json!({"type": "device_revoke", "payload": {"deviceKey": key.as_str()}}))
        .await;
    let result = other.expect("device_revoke_result").await;
    assert_eq!(result["errorCode"], "unknown_device");
    let rights = json!({"deviceKey": key.as_str(), "rights": ["view"]});
    other
        .send(&json!({"type": "device_rights", "payload": rights}))
        .await;
    let result = other.expect("device_rights_result").await;
    assert_eq!(result["errorCode"], "unknown_device");
    other.send(&json!({"type": "paired_list"})).await;
    assert_eq!(
        other.expect("paired_list_result").await["devices"],
        json!([])
    );
    owner.expect_nothing().await;
}

#[tokio::test]
async fn x6_an_id_is_never_given_twice() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (_, token) = house.device("home", &ALL).await;
    let mut last = 99;
    // More than are set aside at once.
    for _ in 0..300 {
        let (app, id) = house.app_with(&token).await;
        assert_eq!(id, last + 1);
        last = id;
        drop(app);
        pylon.expect("client_disconnect").await;
    }
}

#[tokio::test]
async fn x10_many_realms_at_once_see_only_themselves() {
    let house = House::new().await;
    let mut members = Vec::new();
    for number in 0..30 {
        let name = format!("realm-{number}");
        let pylon = house.pylon(&name, 1).await;
        let (app, id) = house.app(&name, &ALL).await;
        members.push((pylon, app, id, number));
    }
    for (pylon, app, _, number) in &mut members {
        let canary = json!({"canary": number});
        app.send(&json!({"type": "claude_send", "broadcast": "all", "payload": canary}))
            .await;
        pylon
            .send(&json!({"type": "claude_event", "payload": canary}))
            .await;
    }
    for (pylon, app, id, number) in &mut members {
        let heard = pylon.message().await;
        assert_eq!(heard["payload"]["canary"], *number);
        assert_eq!(heard["from"]["deviceId"], *id);
        assert_eq!(app.expect("claude_event").await["canary"], *number);
        pylon.expect_nothing().await;
        app.expect_nothing().await;
    }
}

#[tokio::test]
async fn x7_the_same_request_id_means_something_else_to_each() {
    let house = House::new().await;
    let (mut one, _) = house.app("home", &ALL).await;
    let (mut two, _) = house.app("away", &ALL).await;
    for (app, to) in [(&mut one, 7), (&mut two, 8)] {
        app.send(&json!({"type": "claude_send", "to": to, "requestId": "r-1"}))
            .await;
    }
    for (app, to) in [(&mut one, "7"), (&mut two, "8")] {
        let error = app.expect_error("undeliverable").await;
        assert_eq!(error["requestId"], "r-1");
        assert!(error["error"].as_str().unwrap().ends_with(to), "{error}");
        app.expect_nothing().await;
    }
}
