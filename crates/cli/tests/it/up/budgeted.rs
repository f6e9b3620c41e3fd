//! What may be spent: a warning at the soft line, nothing more at the hard one, and on at once when it is raised.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Talk;
use super::forks::say;
use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;

fn passes(line: &'static str, scope: &'static str) -> impl Fn(&Value) -> bool {
    move |frame| {
        frame["type"] == "budget_warning"
            && frame["payload"]["line"] == line
            && frame["payload"]["budget"]["scope"] == scope
    }
}

fn is_aborted(frame: &Value) -> bool {
    frame["payload"]["event"]["type"] == "claudeAborted"
}

/// Sends a message that must be refused, and gives why.
async fn refused(talk: &mut Talk, name: &str) -> Value {
    let prompt = Script::new().say("no").prompt();
    let payload = talk.payload(&json!({"message": prompt, "clientMessageId": name}));
    let answer = talk.client.ask("claude_send", payload).await;
    assert_eq!(answer["errorCode"], "budget_exceeded", "{answer}");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_warned_stopped_and_goes_on_when_its_budget_is_raised() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let id = talk.conversation.as_str().unwrap().to_owned();
    // One turn of the simulator costs more than the soft line, and less than the hard one.
    run(
        &machine,
        &["budget", &id, "--soft", "0.000001", "--hard", "1000"],
    )
    .with_code(0);
    say(&mut talk, "apples").await;
    talk.client.place(0, passes("soft", "conversation")).await;
    run(&machine, &["budget", &id, "--hard", "0.000001"]).with_code(0);
    talk.client.place(0, passes("hard", "conversation")).await;
    let answer = refused(&mut talk, "second").await;
    assert!(
        answer["error"].as_str().unwrap().contains("estelle budget"),
        "{answer}"
    );

    // It is told once, and holds over a death of the Pylon: the next warning comes when this one was noted.
    run(&machine, &["budget", "--soft", "0.000001"]).with_code(0);
    talk.client.place(0, passes("soft", "day")).await;
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    refused(&mut talk, "third").await;
    let told = talk.client.done("budget_request", json!({})).await;
    assert_eq!(told["budgets"][1]["conversationId"], talk.conversation);
    assert!(told["budgets"][1]["spentUsd"].as_f64().unwrap() > 0.0);
    assert!(!talk.client.seen.iter().any(passes("hard", "conversation")));

    run(&machine, &["budget", &id, "--hard", "1000"]).with_code(0);
    talk.look().await;
    say(&mut talk, "quinces").await;
    run(&machine, &["budget", &id, "--remove"]).with_code(0);
    let again = run(&machine, &["budget", &id, "--remove"]);
    assert_ne!(again.code, 0, "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_that_is_used_up_stops_what_runs_and_lets_nothing_begin() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    // A turn is under way when the line comes down.
    let gated = Script::new().say("never to be heard").gated_at("shut", 1);
    talk.send(&gated.prompt(), "long").await;
    run(&machine, &["budget", "--hard", "0.000001"]).with_code(0);
    talk.client.place(0, passes("hard", "day")).await;
    let aborted = talk.client.place(0, is_aborted).await;
    let answer = refused(&mut talk, "next").await;
    assert!(
        answer["error"].as_str().unwrap().contains("tomorrow"),
        "{answer}"
    );
    run(&machine, &["budget", "--remove"]).with_code(0);
    let is_idle = |frame: &Value| {
        frame["type"] == "conversation_status" && frame["payload"]["status"] == "idle"
    };
    talk.client.place(aborted, is_idle).await;
    say(&mut talk, "quinces").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_waits_when_the_line_is_passed_is_not_carried_out() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let id = talk.conversation.as_str().unwrap().to_owned();
    run(&machine, &["budget", &id, "--hard", "0.000001"]).with_code(0);
    let first = Script::new().say("one two three").gated_at("first", 1);
    talk.send(&first.prompt(), "first").await;
    talk.client.event("text").await;
    // It waits behind the first, and would never end by itself.
    let second = Script::new().say("four five six").gated_at("shut", 1);
    talk.send(&second.prompt(), "second").await;
    machine.open_gate("first");
    talk.client.place(0, passes("hard", "conversation")).await;
    talk.client.place(0, is_aborted).await;
    refused(&mut talk, "third").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pylon_that_dies_before_it_told_and_stopped_does_both_when_it_is_back() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let talk = Talk::begin(&machine).await;
    let id = talk.conversation.as_str().unwrap().to_owned();
    run(&machine, &["budget", &id, "--hard", "0.000001"]).with_code(0);
    machine.kill_up();
    machine.up_with(&[("ESTELLE_FAILPOINT", "budget-passed:kill")]);
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    let first = Script::new().say("one two three").gated_at("first", 1);
    talk.send(&first.prompt(), "first").await;
    talk.client.event("text").await;
    // It waits behind the first, begins without anybody, and would never end by itself.
    let second = Script::new().say("four five six").gated_at("shut", 1);
    talk.send(&second.prompt(), "second").await;
    machine.open_gate("first");
    machine.wait_for_up();

    machine.up();
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    talk.client.place(0, passes("hard", "conversation")).await;
    while !talk
        .history()
        .await
        .iter()
        .any(|entry| entry == "claudeAborted")
    {
        talk.client
            .until(|frame| frame["type"] == "claude_event")
            .await;
    }
    refused(&mut talk, "third").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_goes_with_its_conversation_and_needs_the_right() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let id = talk.conversation.as_str().unwrap().to_owned();
    let denied = talk.client.ask("budget_set", json!({"hardUsd": 5})).await;
    assert_eq!(
        denied["errorCode"], "forbidden",
        "a phone may not raise what it spends"
    );
    for wrong in ["-1", "0", "NaN", "inf", "2000000"] {
        let hard = format!("--hard={wrong}");
        assert_ne!(run(&machine, &["budget", &hard]).code, 0, "{wrong}");
    }
    assert_ne!(
        run(&machine, &["budget", "--soft", "5", "--hard", "4"]).code,
        0
    );
    run(&machine, &["budget", &id, "--hard", "5"]).with_code(0);
    let told = talk.client.done("budget_request", json!({})).await;
    assert_eq!(told["budgets"].as_array().unwrap().len(), 1);
    let mut admin = machine.connect(&machine.terminal()).await;
    let payload = talk.payload(&json!({}));
    admin.done("conversation_delete", payload).await;
    let told = talk.client.done("budget_request", json!({})).await;
    assert_eq!(told["budgets"], json!([]));
}
