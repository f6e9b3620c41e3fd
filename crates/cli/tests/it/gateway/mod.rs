//! The gateway of `estelle up` from outside: every route and message, the life of a process, and what is refused.

mod client;
mod lifecycle;
mod refusals;
mod sockets;
mod terminals;

use estelle_sim::script::Script;
use serde_json::{Value, json};

use crate::host::stage::Agent;
use crate::up::stage::{Machine, VIEWER_TOKEN};
use client::Api;

fn is_time(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.ends_with('Z') && text.contains('T'))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_in_its_shape() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let health = api.plain("GET /api/health", "", "").await;
    assert_eq!(
        (health.status, health.json()),
        (200, json!({"status": "ok"}))
    );
    let document = api.plain("GET /api/openapi.json", "", "").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let page = api.plain("GET /api/docs", "", "").await;
    assert!(
        page.head.contains("content-type: text/html"),
        "{}",
        page.head
    );

    let version = api.done("GET /api/version", None).await;
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    let settings = api.done("GET /api/settings", None).await;
    let expected = json!({
        "idle_timeout_minutes": 45, "shutdown_grace_seconds": 7, "shutdown_stops_runs": false,
        "deny_first": false, "permission_mode": "default",
    });
    assert_eq!(
        settings["settings"], expected,
        "from PROCESS_IDLE_TIMEOUT_MINUTES and its like"
    );
    let wanted = json!({"permission_mode": "plan"});
    let changed = api.done("PATCH /api/settings", Some(wanted)).await;
    assert_eq!(changed["settings"]["permission_mode"], "plan");
    let wanted = json!({"permission_mode": "default"});
    api.done("PATCH /api/settings", Some(wanted)).await;
    let devices = api.done("GET /api/devices", None).await;
    assert!(
        devices["devices"].as_array().unwrap().len() >= 2,
        "{devices}"
    );
    assert!(!devices.to_string().contains(&machine.phone), "no secrets");
    let usage = api.done("GET /api/usage?group_by=model", None).await;
    assert_eq!(usage["total"]["session_count"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_made_used_and_deleted() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let first = api.session(&machine).await;
    let workspaces = api.done("GET /api/workspaces", None).await;
    let workspace = workspaces["workspaces"][0]["id"].clone();
    let wanted = json!({"workspace_id": workspace, "name": "Second"});
    let made = api.call("POST /api/sessions", Some(wanted)).await;
    assert_eq!(made.status, 201);
    let second = made.json()["session"]["id"].as_str().unwrap().to_owned();
    assert_eq!(made.json()["session"]["status"], "waiting_input");
    let wanted = json!({"name": "Renamed"});
    let renamed = api
        .done(&format!("PATCH /api/sessions/{second}"), Some(wanted))
        .await;
    assert_eq!(renamed["session"]["name"], "Renamed");
    let list = api.done("GET /api/sessions", None).await;
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2);

    let mut watcher = api.watch(&first, "").await;
    watcher.status("waiting_input").await;
    let line = format!("DELETE /api/sessions/{second}");
    assert_eq!(api.call(&line, None).await.status, 204);
    let gone = api.refused(&line, None).await;
    assert_eq!(gone, (404, "unknown_conversation".to_owned()));
    let line = format!("DELETE /api/workspaces/{}", workspace.as_str().unwrap());
    assert_eq!(api.call(&line, None).await.status, 204);
    // Who looks at what is gone is told so by the end of the connection.
    assert!(watcher.end().await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_runs_once_and_is_found_again() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let first = api.session(&machine).await;
    let mut watcher = api.watch(&first, "").await;
    watcher.status("waiting_input").await;
    let script = Script::new().say("a marigold in the garden").prompt();
    let wanted = json!({"content": script, "client_message_id": "m1"});
    let said = api
        .done(
            &format!("POST /api/sessions/{first}/input"),
            Some(wanted.clone()),
        )
        .await;
    let message = said["message"].as_object().unwrap();
    assert_eq!(
        message.keys().collect::<Vec<_>>(),
        ["content", "id", "role", "timestamp"]
    );
    assert_eq!(
        (&message["id"], &message["role"]),
        (&json!("m1"), &json!("user"))
    );
    assert!(message["content"] == script.as_str() && is_time(&message["timestamp"]));
    watcher.status("running").await;
    watcher.status("waiting_input").await;
    // The same id runs once.
    api.done(&format!("POST /api/sessions/{first}/input"), Some(wanted))
        .await;

    let whole = api.done(&format!("GET /api/sessions/{first}"), None).await;
    assert_eq!(whole["session"]["status"], "waiting_input");
    assert!(whole["session"]["resume_session_id"].is_string(), "{whole}");
    assert!(is_time(&whole["session"]["last_activity_at"]), "{whole}");
    let messages = api
        .done(&format!("GET /api/sessions/{first}/messages"), None)
        .await;
    let kinds: Vec<&Value> = messages["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["type"])
        .collect();
    assert_eq!(kinds, ["text", "text", "result"]);
    let page = api
        .done(
            &format!("GET /api/sessions/{first}/messages?limit=1&offset=1"),
            None,
        )
        .await;
    assert_eq!(page["messages"][0]["content"], "a marigold in the garden");
    assert_eq!(
        (&page["has_more"], &page["total_count"]),
        (&json!(true), &json!(3))
    );
    let hits = api.done("GET /api/search?q=marigold+garden", None).await;
    assert!(
        hits["hits"]
            .as_array()
            .unwrap()
            .iter()
            .any(|hit| hit["session_id"] == first.as_str()),
        "{hits}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_is_approved_and_denied_over_rest() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    for (action, name) in [("approve", "a.txt"), ("deny", "b.txt")] {
        let file = machine.path("work").join(name);
        let script = Script::new()
            .tool("Write", json!({"file_path": &file, "content": "x"}))
            .say("so be it");
        let input = json!({"content": script.prompt()});
        api.done(&format!("POST /api/sessions/{session}/input"), Some(input))
            .await;
        let asked = watcher.kind("permission_request").await;
        assert_eq!(asked["permission"]["action"], "Write");
        let id = asked["permission"]["request_id"].clone();
        let whole = api
            .done(&format!("GET /api/sessions/{session}"), None)
            .await;
        assert_eq!(whole["permissions"][0]["request_id"], id);
        assert_eq!(whole["session"]["status"], "waiting_input");
        let line = format!("POST /api/sessions/{session}/approve");
        let answer = json!({"action": action, "permission_id": id});
        let decided = api.done(&line, Some(answer.clone())).await;
        assert_eq!(decided, json!({"action": action, "permission_id": id}));
        // P4: the second answer changes nothing.
        let again = api.refused(&line, Some(answer)).await;
        assert_eq!(again.0, 409, "{again:?}");
        let resolved = watcher.kind("permission_resolved").await;
        assert_eq!(resolved["request_id"], id);
        watcher
            .until(|m| m["type"] == "output" && m["final"] == true)
            .await;
        watcher.status("waiting_input").await;
        assert_eq!(file.exists(), action == "approve");
    }
    // P3: an id that nobody asked about.
    let answer = json!({"action": "approve", "permission_id": "toolu_never"});
    let unknown = api
        .refused(
            &format!("POST /api/sessions/{session}/approve"),
            Some(answer),
        )
        .await;
    assert_eq!(unknown, (404, "unknown_decision".to_owned()));
}

/// P1 and P2: who may only look answers nothing, over neither way.
#[tokio::test(flavor = "multi_thread")]
async fn p1_p2_a_token_without_the_right_answers_nothing() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let viewer = Api {
        token: VIEWER_TOKEN.to_owned(),
        ..api.clone()
    };
    let session = api.session(&machine).await;
    let answer = json!({"action": "approve", "permission_id": "toolu_1"});
    let line = format!("POST /api/sessions/{session}/approve");
    let refused = viewer.refused(&line, Some(answer.clone())).await;
    assert_eq!(refused, (403, "forbidden".to_owned()));
    let stranger = Api {
        token: "nobody".to_owned(),
        ..api.clone()
    };
    let refused = stranger.refused(&line, Some(answer)).await;
    assert_eq!(refused, (401, "not_authenticated".to_owned()));
    assert_eq!(viewer.call("GET /api/sessions", None).await.status, 200);
    let mut watcher = viewer.watch(&session, "").await;
    watcher
        .say(json!({"type": "approve", "request_id": "toolu_1"}))
        .await;
    let told = watcher.kind("error").await;
    assert_eq!(
        (&told["code"], &told["about"]),
        (&json!("forbidden"), &json!("toolu_1"))
    );
    watcher.say(json!({"type": "input", "content": "hi"})).await;
    assert_eq!(watcher.kind("error").await["code"], "forbidden");
}
