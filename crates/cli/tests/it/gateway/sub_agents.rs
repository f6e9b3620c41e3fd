//! What sub-agents say: it reaches clients under the name of who said it, with the simulator and both releases.

use estelle_sim::api::RealCli;
use estelle_sim::script::{Answer, Script, ToolCall};
use serde_json::{Value, json};

use super::client::{Api, Watcher};
use crate::host::stage::Agent;
use crate::up::stage::Machine;

#[tokio::test(flavor = "multi_thread")]
async fn c50_what_a_sub_agent_says_goes_by_its_name_with_the_simulator() {
    overheard(Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c50_what_a_sub_agent_says_goes_by_its_name_with_197() {
    overheard(Agent::Real(RealCli::v197().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c50_what_a_sub_agent_says_goes_by_its_name_with_325() {
    overheard(Agent::Real(RealCli::v325().unwrap())).await;
}

/// What the agent itself said, without what the program around it remarks about its tasks.
fn own_words(watcher: &Watcher) -> String {
    let texts = watcher.seen.iter().filter_map(|m| match &m["type"] {
        kind if kind == "output" => m["content"].as_str(),
        _ => None,
    });
    texts
        .filter(|text| !text.starts_with("[System] "))
        .collect()
}

/// A sub-agent in the foreground speaks, looks into a file and speaks again, before the agent itself does.
async fn overheard(agent: Agent) {
    let machine = Machine::start(&agent).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let notes = machine.path("work/notes.txt");
    std::fs::write(&notes, "unseen").unwrap();
    let looks = Answer {
        say: Some("looking at the notes".to_owned()),
        calls: vec![ToolCall::new("Read", json!({"file_path": notes}))],
        ..Answer::default()
    };
    let inner = Script::new().answer(looks).say("the notes are short");
    let task = json!({
        "description": "read the notes", "prompt": inner.prompt(),
        "subagent_type": "general-purpose", "run_in_background": false,
    });
    let begins = Answer {
        say: Some("I send somebody. ".to_owned()),
        calls: vec![ToolCall::new("Agent", task)],
        ..Answer::default()
    };
    let script = Script::new().answer(begins).say("They were read.").prompt();

    let mut watcher = api.watch(&session, "").await;
    let input = json!({"type": "input", "content": script});
    watcher.say(input).await;
    let asked = watcher.kind("permission_request").await;
    assert_eq!(asked["permission"]["action"], "Agent");
    let id = &asked["permission"]["request_id"];
    watcher
        .say(json!({"type": "approve", "request_id": id}))
        .await;
    let last = |m: &Value| m["content"].is_string() && m["final"] == true && m["seq"].is_u64();
    watcher.until(|m| m["sub_agent"].is_object()).await;
    watcher.until(last).await;
    watcher.status("waiting_input").await;
    let said: Vec<&Value> = watcher.seen.iter().map(|m| &m["sub_agent"]).collect();
    let said: Vec<&Value> = said.into_iter().filter(|said| said.is_object()).collect();
    let expected = ["looking at the notes", "the notes are short"]
        .map(|text| json!({"name": "general-purpose", "output": text}));
    assert_eq!(said, expected.iter().collect::<Vec<_>>());
    // None of it is mistaken for words of the agent itself.
    assert_eq!(own_words(&watcher), "I send somebody. They were read.");
    let both = |m: &&Value| m["sub_agent"].is_object() && m["content"].is_string();
    assert_eq!(watcher.seen.iter().find(both), None);

    // Who comes later is told the same, and history says whose words they are.
    let mut later = api.watch(&session, "?after_seq=0").await;
    later.kind("caught_up").await;
    let said: Vec<&Value> = later.seen.iter().map(|m| &m["sub_agent"]).collect();
    let said: Vec<&Value> = said.into_iter().filter(|said| said.is_object()).collect();
    assert_eq!(said, expected.iter().collect::<Vec<_>>());
    assert_eq!(own_words(&later), "I send somebody. They were read.");
    let line = format!("GET /api/sessions/{session}/messages");
    let messages = api.done(&line, None).await;
    let messages = messages["messages"].as_array().unwrap();
    let call = messages.iter().find(|m| m["tool_name"] == "Agent").unwrap();
    let words = |m: &&Value| m["type"] == "text" && m["role"] == "assistant";
    let words = messages.iter().filter(words);
    let words: Vec<(&Value, &Value)> = words
        .map(|m| (&m["content"], &m["parent_tool_use_id"]))
        .collect();
    let id = &call["tool_use_id"];
    let whole = [
        ("I send somebody. ", &Value::Null),
        ("looking at the notes", id),
        ("the notes are short", id),
        ("They were read.", &Value::Null),
    ];
    let told: Vec<(&str, &Value)> = words
        .iter()
        .map(|(text, by)| (text.as_str().unwrap(), *by))
        .collect();
    assert_eq!(told, whole);
}
