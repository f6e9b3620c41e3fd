//! What the plan allows, from the CLI's line to the person: the event, the state of the machine, `estelle usage`.

use std::time::{SystemTime, UNIX_EPOCH};

use estelle_sim::api::RealCli;
use estelle_sim::script::{Action, HttpError, Script, used_up};
use serde_json::{Value, json};

use super::Talk;
use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;

/// An account with a plan.
pub(crate) const PLAN: [(&str, &str); 2] = [
    ("CLAUDE_CODE_OAUTH_TOKEN", "fake"),
    ("ANTHROPIC_API_KEY", ""),
];

/// Unix seconds from now.
pub(crate) fn in_seconds(seconds: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs() + seconds
}

/// A turn that is refused because the five hours are used up until then.
pub(crate) fn refused_until(resets_at: u64) -> String {
    let error = HttpError {
        status: 429,
        etype: "rate_limit_error".to_owned(),
        msg: "no".to_owned(),
        times: None,
        headers: used_up("five_hour", resets_at),
    };
    Script::new().step(Action::Http(error)).prompt()
}

async fn a_used_up_plan_is_shown(agent: &Agent) {
    let mut machine = Machine::start_with(agent, &PLAN).await;
    let mut talk = Talk::begin(&machine).await;
    let resets_at = in_seconds(3600);
    talk.send(&refused_until(resets_at), "first").await;
    let told = talk.client.event("limits").await;
    let limit = &told["limits"][0];
    assert_eq!(limit["window"], "five_hour");
    assert_eq!(limit["status"], "rejected");
    assert_eq!(limit["resetsAt"], resets_at * 1000);
    for kind in ["result", "error"] {
        let event = talk.client.event(kind).await;
        assert_eq!(event["cause"], "usage_limit", "{event}");
        assert_eq!(event["apiStatus"], 429);
    }
    let is_told = |frame: &Value| {
        frame["type"] == "pylon_status" && frame["payload"]["limits"][0]["status"] == "rejected"
    };
    talk.client.place(0, is_told).await;

    // Somebody who comes later, after a death of the Pylon, is told as well.
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    let used = talk
        .client
        .done("usage_request", json!({"groupBy": "day"}))
        .await;
    assert_eq!(used["limits"][0]["window"], "five_hour", "{used}");
    let shown = run(&machine, &["usage"]).with_code(0).out;
    assert!(shown.contains("limit five hour is used up"), "{shown}");
    assert!(shown.contains("begins anew at 20"), "{shown}");

    // The next answer lifts it.
    talk.look().await;
    talk.send(&Script::new().say("fine").prompt(), "second")
        .await;
    talk.client.event("result").await;
    let used = talk
        .client
        .done("usage_request", json!({"groupBy": "day"}))
        .await;
    let limits = used["limits"].as_array().unwrap();
    assert!(
        limits.iter().all(|limit| limit["status"] == "allowed"),
        "{used}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_plan_is_shown_with_its_reset() {
    a_used_up_plan_is_shown(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_plan_is_shown_with_its_reset_197() {
    a_used_up_plan_is_shown(&Agent::Real(RealCli::v197().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_plan_is_shown_with_its_reset_325() {
    a_used_up_plan_is_shown(&Agent::Real(RealCli::v325().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_try_that_failed_is_seen_while_the_next_is_waited_for() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let busy = HttpError {
        status: 529,
        etype: "overloaded_error".to_owned(),
        msg: "busy".to_owned(),
        times: Some(1),
        headers: [("retry-after".to_owned(), "0".to_owned())].into(),
    };
    let script = Script::new().step(Action::Http(busy)).say("at last");
    talk.send(&script.prompt(), "first").await;
    let event = talk.client.event("apiRetry").await;
    assert_eq!(
        (&event["attempt"], &event["cause"]),
        (&json!(1), &json!("overloaded"))
    );
    assert_eq!(event["apiStatus"], 529);
    let result = talk.client.event("result").await;
    assert_eq!(result["cause"], Value::Null);
}
