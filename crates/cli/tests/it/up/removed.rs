//! Deleting a workspace and clearing a conversation, with `estelle up` or the host killed at each window
//! (docs/design/removals.md), and while a terminal has one of the conversations.

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::client::Client;
use super::forks::say;
use super::stage::Machine;
use super::{Talk, half_said};
use crate::host::stage::Agent;

const FAILPOINT: &str = "ESTELLE_FAILPOINT";

/// A workspace with a conversation that is at rest and one that writes, and somebody who may delete them. Everything dies
/// at this place of its code.
async fn stage(place: &str) -> (Machine, Talk, Client) {
    let place = format!("{place}:kill");
    let machine = Machine::start_with(&Agent::Simulator, &[(FAILPOINT, &place)]).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    let wanted = json!({"workspaceId": talk.workspace, "name": "second", "skillType": "general"});
    let made = talk.client.done("conversation_create", wanted).await;
    talk.conversation = made["conversation"]["conversationId"].clone();
    talk.look().await;
    talk.send(&half_said("one two three four"), "m1").await;
    talk.client.event("text").await;
    let boss = machine.connect(&machine.terminal()).await;
    (machine, talk, boss)
}

fn logs(machine: &Machine) -> usize {
    let folder = machine.path("data/conversations");
    std::fs::read_dir(folder).unwrap().count()
}

/// The list is empty at once, and the host follows.
async fn is_all_gone(machine: &Machine, boss: &mut Client) {
    loop {
        let list = boss.done("workspace_list", json!({})).await;
        assert_eq!(list["workspaces"], json!([]), "{list}");
        if logs(machine) == 0 {
            return;
        }
    }
}

async fn deleted_although_up_dies_at(place: &str) {
    let (mut machine, talk, mut boss) = stage(place).await;
    assert_eq!(logs(&machine), 2);
    let delete = json!({
        "type": "workspace_delete", "to": {"deviceId": 1}, "payload": {"workspaceId": talk.workspace},
    });
    boss.send(&delete).await;
    machine.wait_for_up();
    machine.unset(FAILPOINT);
    machine.up();
    let mut boss = machine.connect(&machine.terminal()).await;
    is_all_gone(&machine, &mut boss).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_deleted_although_up_is_killed_before_the_host_hears_of_it() {
    deleted_although_up_dies_at("removal-kept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_deleted_although_up_is_killed_between_its_conversations() {
    deleted_although_up_dies_at("removal-ended").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_deleted_although_up_is_killed_after_its_conversations() {
    deleted_although_up_dies_at("removal-ended:2").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_deleted_although_the_host_is_killed_at_each_of_its_conversations() {
    let (machine, talk, mut boss) = stage("conversation-aside").await;
    let host = machine.host_pid();
    let payload = json!({"workspaceId": talk.workspace});
    boss.done("workspace_delete", payload).await;
    is_all_gone(&machine, &mut boss).await;
    assert_ne!(machine.host_pid(), host, "it was killed");
}

async fn cleared_although_up_dies_at(place: &str) {
    let place = format!("{place}:kill");
    let mut machine = Machine::start_with(&Agent::Simulator, &[(FAILPOINT, &place)]).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    let before = session(&mut talk).await;
    let payload = talk.payload(&json!({"action": "clear"}));
    let clear = json!({"type": "claude_control", "to": {"deviceId": 1}, "payload": payload});
    talk.client.send(&clear).await;
    machine.wait_for_up();
    machine.unset(FAILPOINT);
    machine.up();
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    say(&mut talk, "plums").await;
    let told = ["user: <script>", "assistant: plums", "result"];
    assert_eq!(talk.history().await, told, "nothing of before");
    let after = session(&mut talk).await;
    assert_ne!(after, before, "the agent remembers nothing either");
    assert!(after.is_string());
}

/// The agent's session of the first conversation.
async fn session(talk: &mut Talk) -> Value {
    let list = talk.client.done("workspace_list", json!({})).await;
    list["workspaces"][0]["conversations"][0]["claudeSessionId"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_is_cleared_although_up_is_killed_before_the_host_hears_of_it() {
    cleared_although_up_dies_at("clearing-kept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_is_cleared_although_up_is_killed_before_it_knows_that_the_host_has_followed() {
    cleared_although_up_dies_at("clearing-done").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_with_a_conversation_in_a_terminal_is_refused_whole() {
    let machine = Machine::start(&Agent::Real(RealCli::v325().unwrap())).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    let wanted = json!({"workspaceId": talk.workspace, "name": "second", "skillType": "general"});
    let made = talk.client.done("conversation_create", wanted).await;
    let second = made["conversation"]["conversationId"].clone();
    let mut boss = machine.connect(&machine.terminal()).await;
    let size = json!({"cols": 100, "rows": 40});
    let wanted = json!({"kind": "agent", "conversationId": second, "size": size});
    let made = boss.done("terminal_create", wanted).await;
    let terminal = made["terminal"]["terminalId"].clone();

    let whole = json!({"workspaceId": talk.workspace});
    let refused = boss.ask("workspace_delete", whole.clone()).await;
    assert_eq!(refused["errorCode"], "conflict", "{refused}");
    let advice = refused["error"].as_str().unwrap();
    assert!(advice.contains(terminal.as_str().unwrap()), "{advice}");
    let list = boss.done("workspace_list", json!({})).await;
    let there = list["workspaces"][0]["conversations"].as_array().unwrap();
    assert_eq!(there.len(), 2, "{list}");
    assert_eq!(talk.history().await[1], "assistant: apples");
    // The first one goes on as if nothing had been asked.
    let again = Script::new().say("pears").prompt();
    talk.send(&again, "pears").await;
    talk.client.event("result").await;

    boss.done("terminal_close", json!({"terminalId": terminal}))
        .await;
    boss.done("workspace_delete", whole).await;
    is_all_gone(&machine, &mut boss).await;
}
