//! A conversation that is gone back in: a new one from before a message, over the whole way.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Talk;
use super::stage::Machine;
use crate::host::stage::Agent;

async fn say(talk: &mut Talk, text: &str) {
    talk.send(&Script::new().say(text).prompt(), text).await;
    talk.client.event("result").await;
    talk.client.idle().await;
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
        &["user: <script>", "assistant: plums", "result"],
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
