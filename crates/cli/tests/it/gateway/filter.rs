//! Which lines of the agent reach clients, and as what (R99, C16, C45).

use estelle_sim::script::{Action, Mischief, Script};
use serde_json::{Value, json};

use super::client::Api;
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// What the agent prints, and what clients are to see of it.
fn lines() -> Vec<(Value, Option<Value>)> {
    let system = |subtype: &str, name: &str, text: &str| json!({"type": "system", "subtype": subtype, name: text, "session_id": "s", "uuid": "u"});
    let output = |text: &str, is_final: bool| {
        Some(json!({"type": "output", "content": text, "final": is_final}))
    };
    let error = |text: &str| Some(json!({"type": "error", "content": text}));
    let assistant = json!({
        "type": "assistant", "parent_tool_use_id": null, "session_id": "s", "uuid": "u",
        "message": {
            "id": "msg_x", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": "one two"}],
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    });
    vec![
        (
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "one "}}),
            output("one ", false),
        ),
        // C16: what was shown in pieces is not shown again.
        (assistant, output("two", true)),
        // C45: only those with words for people.
        (
            system("informational", "content", "mind the gap"),
            output("[System] mind the gap", true),
        ),
        (
            system("notification", "text", "nearly full"),
            output("[System] nearly full", true),
        ),
        (system("informational", "content", "  "), None),
        (system("zebra", "content", "unseen"), None),
        (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "too much"}}),
            error("too much"),
        ),
        (
            json!({"type": "permission_request", "tool": "Bash", "input": {"command": "unseen"}}),
            error(
                "the agent asked for a permission in a form that cannot be answered here; it was not given",
            ),
        ),
        (json!({"type": "zebra", "text": "unseen"}), None),
        (
            json!({"type": "tool_progress", "tool_use_id": "t", "tool_name": "unseen"}),
            None,
        ),
    ]
}

/// What the simulator says when it has printed what it was told to.
const DONE: &str = "[mischief done]";

/// A message without its place.
fn bare(message: &Value) -> Value {
    let mut message = message.clone();
    let members = message.as_object_mut().unwrap();
    members.remove("seq");
    members.remove("epoch");
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn r99_each_kind_of_line_reaches_clients_as_it_should() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let printed: Vec<String> = lines().iter().map(|(line, _)| line.to_string()).collect();
    let printed = Mischief::Garbage(printed.join("\n"));
    let script = Script::new().step(Action::Mischief(printed)).prompt();
    watcher
        .say(json!({"type": "input", "content": script}))
        .await;
    watcher
        .until(|m| m["content"] == DONE && m["final"] == false)
        .await;
    watcher.status("waiting_input").await;
    let shown = watcher.seen.iter().map(bare);
    let shown = shown.filter(|m| {
        let around = ["status_change", "caught_up", "accepted"];
        !around.contains(&m["type"].as_str().unwrap())
    });
    let shown: Vec<Value> = shown.take_while(|m| m["content"] != DONE).collect();
    let expected: Vec<Value> = lines().into_iter().filter_map(|(_, told)| told).collect();
    assert_eq!(shown, expected);
    // Who comes later reads the remarks as well.
    let line = format!("GET /api/sessions/{session}/messages");
    let messages = api.done(&line, None).await;
    let remarks = messages["messages"].as_array().unwrap().iter();
    let remarks: Vec<&Value> = remarks
        .filter(|m| m["type"] == "system")
        .map(|m| &m["content"])
        .collect();
    assert_eq!(remarks, ["mind the gap", "nearly full"]);
    // The result of a tool is a line `user`, which is for the agent alone; and nothing above stands in its way.
    let notes = machine.path("work/notes.txt");
    std::fs::write(&notes, "unseen").unwrap();
    let script = Script::new()
        .tool("Read", json!({"file_path": notes}))
        .say("still here")
        .prompt();
    watcher
        .say(json!({"type": "input", "content": script}))
        .await;
    watcher.until(|m| m["content"] == "still here").await;
    watcher.status("waiting_input").await;
    let all = json!(watcher.seen).to_string();
    assert!(!all.contains("unseen"), "{all}");
}
