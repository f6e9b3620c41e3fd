//! A conversation that goes on by itself at the reset of a limit: once, whoever dies in between.

use serde_json::{Value, json};

use super::Talk;
use super::limits::{PLAN, in_seconds, refused_until};
use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;

/// How the agent is told to go on.
const GO_ON: &str = "Continue where you left off";

async fn set(talk: &mut Talk, more: Value) -> Value {
    let payload = talk.payload(&more);
    talk.client.ask("continuation_set", payload).await
}

/// What was said to the agent by nobody.
fn continued(history: &[String]) -> usize {
    let ours = history
        .iter()
        .filter(|entry| entry.starts_with("user: ") && entry.contains(GO_ON));
    ours.count()
}

/// Waits until it went on and that came to its end.
async fn until_it_went_on(talk: &mut Talk) {
    talk.look().await;
    loop {
        let history = talk.history().await;
        let is_answered = history.last().is_some_and(|entry| entry == "result");
        if continued(&history) > 0 && is_answered {
            return;
        }
        talk.client
            .until(|frame| frame["type"] == "claude_event")
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_reset_outlives_a_pylon_that_is_killed_and_runs_once() {
    let mut machine = Machine::start_with(&Agent::Simulator, &PLAN).await;
    let mut talk = Talk::begin(&machine).await;
    let off = set(&mut talk, json!({})).await;
    assert_eq!(
        (&off["success"], &off["enabled"]),
        (&json!(true), &json!(false))
    );
    let on = set(&mut talk, json!({"enabled": true})).await;
    assert_eq!(on["enabled"], true);
    let resets_at = in_seconds(5);
    talk.send(&refused_until(resets_at), "first").await;
    let waits = |frame: &Value| {
        frame["type"] == "continuation_status" && frame["payload"]["at"].is_number()
    };
    let place = talk.client.place(0, waits).await;
    let at = talk.client.seen[place]["payload"]["at"].as_u64().unwrap();
    assert!(at > resets_at * 1000, "not before the reset");
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    until_it_went_on(&mut talk).await;
    let now = set(&mut talk, json!({})).await;
    assert_eq!(
        (&now["at"], &now["failure"]),
        (&Value::Null, &Value::Null),
        "{now}"
    );
    // Nothing is left that another Pylon would send again.
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    super::forks::say(&mut talk, "on").await;
    assert_eq!(continued(&talk.history().await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_host_took_when_the_pylon_died_runs_once() {
    let mut machine = Machine::start_with(&Agent::Simulator, &PLAN).await;
    let mut talk = Talk::begin(&machine).await;
    talk.send(&refused_until(in_seconds(1)), "first").await;
    talk.client.event("error").await;
    machine.kill_up();
    machine.up_with(&[("ESTELLE_FAILPOINT", "continuation-taken:kill")]);
    let mut talk = talk.again(&machine).await;
    set(&mut talk, json!({"enabled": true})).await;
    machine.wait_for_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    until_it_went_on(&mut talk).await;
    assert_eq!(set(&mut talk, json!({})).await["at"], Value::Null);
    super::forks::say(&mut talk, "on").await;
    assert_eq!(continued(&talk.history().await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_turned_on_after_the_limit_was_hit_goes_on_as_well() {
    let machine = Machine::start_with(&Agent::Simulator, &PLAN).await;
    let mut talk = Talk::begin(&machine).await;
    talk.send(&refused_until(in_seconds(5)), "first").await;
    talk.client.event("error").await;
    let id = talk.conversation.as_str().unwrap().to_owned();
    let shown = run(&machine, &["continue", &id, "on"]).with_code(0).out;
    assert!(shown.contains("goes on by itself at 20"), "{shown}");
    until_it_went_on(&mut talk).await;
    assert_eq!(continued(&talk.history().await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_can_be_cancelled_and_a_person_takes_its_place() {
    let machine = Machine::start_with(&Agent::Simulator, &PLAN).await;
    let mut talk = Talk::begin(&machine).await;
    let refused = set(&mut talk, json!({"cancel": true})).await;
    assert_eq!(refused["errorCode"], "conflict", "{refused}");
    set(&mut talk, json!({"enabled": true})).await;
    let far = refused_until(in_seconds(3600));
    talk.send(&far, "first").await;
    talk.client.event("error").await;
    let waits = set(&mut talk, json!({})).await;
    assert!(waits["at"].is_number(), "{waits}");
    let id = talk.conversation.as_str().unwrap().to_owned();
    let shown = run(&machine, &["continue", &id]).with_code(0).out;
    assert!(shown.contains("goes on by itself at 20"), "{shown}");
    let cancelled = set(&mut talk, json!({"cancel": true})).await;
    assert_eq!(
        (&cancelled["at"], &cancelled["enabled"]),
        (&Value::Null, &json!(true))
    );

    talk.send(&far, "second").await;
    talk.client.event("error").await;
    assert!(set(&mut talk, json!({})).await["at"].is_number());
    super::forks::say(&mut talk, "back").await;
    assert_eq!(set(&mut talk, json!({})).await["at"], Value::Null);
    let shown = run(&machine, &["continue", &id, "off"]).with_code(0).out;
    assert!(shown.contains("off"), "{shown}");
    talk.send(&far, "third").await;
    talk.client.event("error").await;
    assert_eq!(
        set(&mut talk, json!({})).await["at"],
        Value::Null,
        "it is off"
    );
}
