//! A conversation that is gone back in: a new one from before a message, over the whole way.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Talk;
use super::stage::Machine;
use crate::host::stage::Agent;

pub(super) async fn say(talk: &mut Talk, text: &str) {
    let before = talk.client.seen.len();
    talk.send(&Script::new().say(text).prompt(), text).await;
    // The turn may be over before it is said that the message was taken.
    let is_result = |frame: &Value| frame["payload"]["event"]["type"] == "result";
    let result = talk.client.place(before, is_result).await;
    let is_idle = |frame: &Value| {
        frame["type"] == "conversation_status" && frame["payload"]["status"] == "idle"
    };
    talk.client.place(result, is_idle).await;
}

async fn output_tokens(talk: &mut Talk) -> i64 {
    let used = talk
        .client
        .done("usage_request", json!({"groupBy": "model"}))
        .await;
    let rows = used["rows"].as_array().unwrap().iter();
    rows.map(|row| row["outputTokens"].as_i64().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_has_the_history_before_a_message_and_costs_nothing() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    let one_turn = output_tokens(&mut talk).await;
    say(&mut talk, "quinces").await;
    let page = talk.look().await;
    let entries = page["messages"].as_array().unwrap();
    let second = entries.iter().rev().find(|entry| entry["role"] == "user");
    let seq = second.unwrap()["seq"].clone();

    let made = fork(&mut talk, &seq).await;
    assert_eq!(made["success"], true, "{made}");
    let name = made["conversation"]["name"].as_str().unwrap();
    assert!(name.ends_with(" (fork)"), "{name}");
    assert_ne!(made["conversation"]["conversationId"], talk.conversation);
    let old = std::mem::replace(
        &mut talk.conversation,
        made["conversation"]["conversationId"].clone(),
    );
    let copied = ["user: <script>", "assistant: apples", "result"];
    while talk.history().await != copied {
        // The copy comes in as events do.
        talk.client
            .until(|frame| frame["type"] == "claude_event")
            .await;
    }
    assert_eq!(output_tokens(&mut talk).await, 2 * one_turn);
    talk.look().await;
    say(&mut talk, "plums").await;
    let expected = [
        &copied[..],
        &["user: <script>", "system", "assistant: plums", "result"],
    ]
    .concat();
    assert_eq!(talk.history().await, expected);
    assert_eq!(output_tokens(&mut talk).await, 3 * one_turn);

    talk.conversation = old;
    assert_eq!(talk.history().await.len(), 6, "the old one is as it was");
    let refused = fork(&mut talk, &json!(2)).await;
    assert_eq!(refused["errorCode"], "conflict", "{refused}");
    let list = talk.client.done("workspace_list", json!({})).await;
    let listed = list["workspaces"][0]["conversations"].as_array().unwrap();
    assert_eq!(listed.len(), 2, "nothing half is left behind: {list}");
}

async fn fork(talk: &mut Talk, before: &Value) -> Value {
    let payload = talk.payload(&json!({"beforeSeq": before}));
    talk.client.ask("conversation_fork", payload).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_listed_even_if_everything_was_killed_when_the_host_had_made_it() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    let page = talk.look().await;
    let entries = page["messages"].as_array().unwrap().iter();
    let first = entries.clone().find(|entry| entry["role"] == "user");
    let payload = talk.payload(&json!({"beforeSeq": first.unwrap()["seq"]}));
    let frame = json!({"type": "conversation_fork", "to": {"deviceId": 1}, "payload": payload});
    talk.client.send(&frame).await;
    let folder = machine.path("data/conversations");
    while std::fs::read_dir(&folder).unwrap().count() < 2 {}
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    let is_listed = |list: &Value| {
        let all = list["workspaces"][0]["conversations"].as_array();
        all.is_some_and(|all| all.len() == 2)
    };
    let mut list = talk.client.done("workspace_list", json!({})).await;
    while !is_listed(&list) {
        let told = |frame: &Value| frame["type"] == "workspace_list_result";
        list = talk.client.until(told).await["payload"].clone();
    }
    // It can be talked to like any other.
    let all = list["workspaces"][0]["conversations"].as_array().unwrap();
    let old = talk.conversation.clone();
    let copy = all.iter().find(|one| one["conversationId"] != old);
    talk.conversation = copy.unwrap()["conversationId"].clone();
    talk.look().await;
    say(&mut talk, "plums").await;
    assert_eq!(talk.history().await.last().unwrap(), "result");
}
