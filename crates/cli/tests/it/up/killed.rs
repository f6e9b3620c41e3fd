//! `kill -9` of `estelle up` and of its host, in the middle of a turn and while somebody is asked.

use estelle_sim::script::Script;
use serde_json::json;

use super::stage::Machine;
use super::{Talk, half_said};
use crate::host::stage::Agent;

/// What the history of one turn must be, exactly.
fn told(text: &str) -> [String; 3] {
    [
        "user: <script>".to_owned(),
        format!("assistant: {text}"),
        "result".to_owned(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_goes_on_without_up() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let host = machine.host_pid();
    let mut talk = Talk::begin(&machine).await;
    talk.send(&half_said("one two three four"), "m1").await;
    talk.client.event("text").await;
    machine.kill_up();
    machine.open_gate("half");
    machine.up();
    assert_eq!(machine.host_pid(), host, "the host lived on");
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    assert_eq!(talk.history_of(3).await, told("one two three four"));
    talk.send(&Script::new().say("and on").prompt(), "m2").await;
    talk.client.event("result").await;
    talk.client.idle().await;
    let both = [told("one two three four"), told("and on")].concat();
    assert_eq!(talk.history().await, both);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_goes_on_without_the_host() {
    let machine = Machine::start(&Agent::Simulator).await;
    let host = machine.host_pid();
    let mut talk = Talk::begin(&machine).await;
    talk.send(&half_said("one two three four"), "m1").await;
    talk.client.event("text").await;
    machine.kill_host();
    machine.open_gate("half");
    talk.client.event("result").await;
    talk.client.idle().await;
    assert_ne!(machine.host_pid(), host, "there is another host");
    assert_eq!(talk.history().await, told("one two three four"));
    let numbers = talk.client.numbers();
    let dense: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, dense, "every event once and in order");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_outlives_up_and_host() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let file = machine.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "written"}))
        .say("done");
    talk.send(&script.prompt(), "m1").await;
    let first = talk.client.event("permission_request").await;
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    let again = talk.client.event("permission_request").await;
    assert_eq!(again["toolUseId"], first["toolUseId"]);
    machine.kill_host();
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    let again = talk.client.event("permission_request").await;
    assert_eq!(again["toolUseId"], first["toolUseId"]);
    assert!(!file.exists(), "nothing runs without an answer");
    let answered = talk.allow(&again["toolUseId"]).await;
    assert_eq!(answered["success"], true, "{answered}");
    talk.client.event("result").await;
    talk.client.idle().await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written");
    let expected = [
        "user: <script>",
        "tool_start Write",
        "user_response",
        "tool_complete Write",
        "assistant: done",
        "result",
    ];
    assert_eq!(talk.history().await, expected);
}
