//! The gateway as a page from the relay reaches it when its WebSocket is cut: same origin, with the secret and the rights of
//! its device (R131).

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::client::{Api, PATIENCE};
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// A device at the relay of a machine.
fn device(machine: &Machine, token: &str) -> Api {
    Api {
        address: machine.address().to_owned(),
        token: token.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r131_a_device_talks_decides_and_reads_over_rest_at_the_relay() {
    let machine = Machine::start(&Agent::Simulator).await;
    let session = Api::of(&machine).session(&machine).await;
    let phone = device(&machine, &machine.phone);
    let file = machine.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("over and done")
        .prompt();
    let said = json!({"content": script, "client_message_id": "m1", "on_busy": "queue"});
    let input = format!("POST /api/sessions/{session}/input");
    // Said twice, because nobody knows what arrived; it runs once.
    phone.done(&input, Some(said.clone())).await;
    phone.done(&input, Some(said)).await;
    let events = |after: u64| format!("GET /api/sessions/{session}/events?after_seq={after}");
    let asked = async {
        loop {
            let page: Value = phone.done(&events(0), None).await;
            if let Some(permission) = page["permissions"].get(0) {
                return permission.clone();
            }
        }
    };
    let asked = tokio::time::timeout(PATIENCE, asked).await.unwrap();
    let answer = json!({
        "action": "approve", "permission_id": asked["request_id"], "input_hash": asked["input_hash"],
    });
    let approve = format!("POST /api/sessions/{session}/approve");
    phone.done(&approve, Some(answer)).await;
    let done = async {
        loop {
            let page: Value = phone.done(&events(0), None).await;
            if page.to_string().contains("over and done") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, done).await.unwrap();
    assert!(file.exists());
    let messages = format!("GET /api/sessions/{session}/messages");
    let all = phone.done(&messages, None).await;
    let users = all["messages"].as_array().unwrap().iter();
    let users = users.filter(|m| m["role"] == "user" && m["type"] == "text");
    assert_eq!(users.count(), 1, "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_devices_with_the_right_come_through_the_relay_and_from_no_other_page() {
    let machine = Machine::start(&Agent::Simulator).await;
    let own = Api::of(&machine);
    let session = own.session(&machine).await;
    let phone = device(&machine, &machine.phone);
    let viewer = device(&machine, &machine.viewer);
    assert_eq!(viewer.call("GET /api/sessions", None).await.status, 200);
    let input = format!("POST /api/sessions/{session}/input");
    let said = json!({"content": "hi"});
    let refused = viewer.refused(&input, Some(said.clone())).await;
    assert_eq!(refused, (403, "forbidden".to_owned()));
    // The token of the machine is for the machine; it opens nothing where others can reach.
    for stranger in [&own.token, "nobody", ""] {
        let stranger = device(&machine, stranger);
        assert_eq!(stranger.call(&input, Some(said.clone())).await.status, 401);
        assert_eq!(stranger.call("GET /api/sessions", None).await.status, 401);
    }
    // L1, L5: another page and another name are refused before anything is looked at.
    let bearer = format!("Authorization: Bearer {}\r\n", machine.phone);
    let evil = format!("{bearer}Origin: https://evil.example\r\n");
    assert_eq!(
        phone.plain("GET /api/sessions", &evil, "").await.status,
        403
    );
    let text = format!(
        "GET /api/sessions HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n{bearer}\r\n"
    );
    assert_eq!(phone.raw(text.as_bytes()).await.status, 403);
    // Terminals need a right that a device has to be given.
    let refused = phone.refused("GET /api/terminals", None).await;
    assert_eq!(refused, (403, "forbidden".to_owned()));
    let preflight = phone.plain("OPTIONS /api/sessions", &evil, "").await;
    assert!(!preflight.head.contains("access-control"), "{preflight:?}");
}
