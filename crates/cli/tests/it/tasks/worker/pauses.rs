//! A worker that is stopped, or that rests because nothing can be done: no task fails for it.

use estelle_proto::{IsoTime, Timestamp};
use estelle_sim::api::RealCli;
use estelle_sim::script::{Action, HttpError, Script};
use serde_json::{Value, json};

use super::super::{Desk, file};
use super::{in_mid_task, is_off, statuses};
use crate::client::run;
use crate::host::stage::Agent;
use crate::up::half_said;
use crate::up::limits::{PLAN, in_seconds, refused_until};
use crate::up::stage::Machine;

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_mid_task_puts_it_back_and_a_start_carries_it_out() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = in_mid_task(&machine).await;
    let payload = desk.with(json!({}));
    desk.client.brings_about("worker_stop", payload).await;
    let stopped = desk.until(is_off).await;
    assert_eq!(statuses(&stopped), ["pending", "pending"]);
    assert_eq!(stopped["workerStatus"]["rest"], Value::Null);
    machine.open_gate("half");
    desk.start().await;
    let over = desk.until(is_off).await;
    assert_eq!(statuses(&over), ["done", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_reaches_a_worker_that_rests_with_a_task_in_hand() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = in_mid_task(&machine).await;
    // Nothing is written where a link leads out of the workspace; so the end of the turn cannot be noted.
    let (folder, outside) = (machine.path("work/task"), machine.path("outside"));
    std::fs::rename(&folder, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &folder).unwrap();
    machine.open_gate("half");
    let is_over = |frame: &Value| {
        frame["type"] == "conversation_status" && frame["payload"]["status"] == "idle"
    };
    desk.client.until(is_over).await;
    let refused = desk.ask("worker_stop", json!({})).await;
    assert_eq!(refused["success"], false, "{refused}");
    // Now it rests. When the folder is back nobody has to wait until that is over.
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&outside, &folder).unwrap();
    let stopped = desk.done("worker_stop", json!({})).await;
    assert_eq!(stopped["workerStatus"]["running"], false, "{stopped}");
    assert_eq!(stopped["workerStatus"]["rest"], Value::Null);
    let over = desk.until_asked(is_off).await;
    assert_eq!(statuses(&over), ["done", "pending"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_after_the_task_lets_it_end() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = in_mid_task(&machine).await;
    let payload = desk.with(json!({"afterTask": true}));
    let stopping = desk.client.brings_about("worker_stop", payload).await;
    assert_eq!(stopping["workerStatus"]["running"], true);
    machine.open_gate("half");
    let over = desk.until(is_off).await;
    assert_eq!(statuses(&over), ["done", "pending"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_stops_the_agent_stops_the_worker() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = in_mid_task(&machine).await;
    let status = desk.done("worker_status", json!({})).await;
    let conversation = &status["workerStatus"]["conversationId"];
    let stop = desk.with(json!({"conversationId": conversation, "action": "stop"}));
    desk.client.brings_about("claude_control", stop).await;
    let stopped = desk.until(is_off).await;
    assert_eq!(statuses(&stopped), ["pending", "pending"]);
    assert_eq!(stopped["workerStatus"]["rest"]["cause"], "stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_a_login_or_an_overload_makes_the_worker_rest_and_fails_no_task() {
    let tries = [("CLAUDE_CODE_MAX_RETRIES", "1")];
    let machine = Machine::start_with(&Agent::Simulator, &tries).await;
    let mut desk = Desk::open(&machine).await;
    for (status, kind, cause) in [
        (429, "rate_limit_error", "usage_limit"),
        (401, "authentication_error", "authentication"),
        (529, "overloaded_error", "unavailable"),
    ] {
        let script = Script::new().step(Action::Http(HttpError {
            status,
            etype: kind.to_owned(),
            msg: "in other words".to_owned(),
            times: None,
            headers: std::collections::BTreeMap::new(),
        }));
        let id = desk.add(cause, &script.prompt()).await;
        desk.add("Next", &Script::new().say("fine").prompt()).await;
        desk.start().await;
        let resting = desk
            .until(|list| list["workerStatus"]["rest"]["cause"] == cause)
            .await;
        assert!(!statuses(&resting).contains(&"failed"), "{resting}");
        assert_eq!(resting["workerStatus"]["on"], true);
        assert_eq!(resting["workerStatus"]["queue"]["pending"], 2);
        assert!(resting["workerStatus"]["rest"]["until"].is_string());
        // Somebody mends what was wrong, and does not wait.
        let path = file(&machine, &format!("{}.md", id.as_str().unwrap()));
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, _) = text.split_once("SCRIPT:").unwrap();
        let script = Script::new().say("it works").prompt();
        std::fs::write(&path, format!("{before}{script}\n")).unwrap();
        desk.start().await;
        let over = desk.until(is_off).await;
        assert!(
            statuses(&over).iter().all(|status| *status == "done"),
            "{over}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_at_a_limit_waits_for_its_reset() {
    let machine = Machine::start_with(&Agent::Simulator, &PLAN).await;
    let mut desk = Desk::open(&machine).await;
    let resets_at = in_seconds(30 * 3600);
    desk.add("Refused", &refused_until(resets_at)).await;
    desk.start().await;
    let rests = |list: &Value| list["workerStatus"]["rest"]["cause"] == "usage_limit";
    let resting = desk.until(rests).await;
    let until = resting["workerStatus"]["rest"]["until"].as_str().unwrap();
    let expected = i64::try_from((resets_at + 15) * 1000).unwrap();
    assert_eq!(until, IsoTime::from(Timestamp(expected)).to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_budget_makes_the_worker_rest_and_fails_no_task() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = Desk::open(&machine).await;
    desk.add("First", &Script::new().say("fine").prompt()).await;
    desk.add("Second", &half_said("one two three four")).await;
    desk.start().await;
    desk.until(|list| statuses(list) == ["done", "running"])
        .await;
    // What runs is stopped; that is no deed of a person, which would turn the worker off.
    run(&machine, &["budget", "--hard", "0.000001"]).with_code(0);
    let rests = |list: &Value| list["workerStatus"]["rest"]["cause"] == "budget";
    let resting = desk.until(rests).await;
    assert_eq!(statuses(&resting), ["done", "pending"]);
    assert_eq!(resting["workerStatus"]["on"], true);
    let why = resting["workerStatus"]["rest"]["message"].as_str().unwrap();
    assert!(why.contains("estelle budget"), "{why}");
    // Whoever does not wait is told the same, and the task is not touched.
    let payload = desk.with(json!({}));
    desk.client.ask("worker_start", payload).await;
    let resting = desk.until_asked(rests).await;
    assert_eq!(statuses(&resting), ["done", "pending"]);
    run(&machine, &["budget", "--remove"]).with_code(0);
    machine.open_gate("half");
    desk.start().await;
    let over = desk.until_asked(is_off).await;
    assert_eq!(statuses(&over), ["done", "done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_costs_more_than_it_may_is_stopped_and_fails() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = Desk::open(&machine).await;
    let mut dear = desk.with(
        json!({"title": "Dear", "content": half_said("one two three four"), "hardUsd": 0.000_001}),
    );
    let refused = json!({"title": "x", "content": "x", "softUsd": 2, "hardUsd": 1});
    let refused = desk.ask("task_create", refused).await;
    assert_eq!(refused["errorCode"], "invalid_message", "{refused}");
    dear["softUsd"] = json!(0.000_000_5);
    let made = desk.client.done("task_create", dear).await;
    assert_eq!(made["task"]["hardUsd"], 0.000_001);
    desk.add("Next", &Script::new().say("fine").prompt()).await;
    let started = desk.start().await;
    let conversation = &started["workerStatus"]["conversationId"];
    desk.until(|list| statuses(list) == ["running", "pending"])
        .await;
    let shown = run(&machine, &["budget"]).with_code(0).out;
    assert!(
        shown.contains("task ") && shown.contains("-dear"),
        "{shown}"
    );
    // A second turn waits in the conversation; the first one passes the line, and this one is stopped.
    let gated = Script::new().say("never to be heard").gated_at("shut", 1);
    let more = json!({"conversationId": conversation, "message": gated.prompt(), "clientMessageId": "more"});
    let more = desk.with(more);
    desk.client.brings_about("claude_send", more).await;
    machine.open_gate("half");
    let warned = |frame: &Value| {
        frame["type"] == "budget_warning" && frame["payload"]["budget"]["scope"] == "task"
    };
    desk.client.place(0, warned).await;
    let over = desk.until(is_off).await;
    assert_eq!(statuses(&over), ["failed", "done"], "{over}");
    let told = desk.client.done("budget_request", json!({})).await;
    assert_eq!(told["budgets"], json!([]), "it goes with its task");
}

/// The worker has nothing to do any more.
fn is_over(list: &Value) -> bool {
    is_off(list) && !statuses(list).contains(&"pending")
}

/// The first answer of the agent passes the line; the second would never end.
async fn stopped_in_the_middle_of_its_turn(agent: &Agent) {
    let machine = Machine::start(agent).await;
    let mut desk = Desk::open(&machine).await;
    let read = machine.path("work/a.txt");
    std::fs::write(&read, "words").unwrap();
    let endless = Script::new()
        .tool("Read", json!({"file_path": read}))
        .say("never to be heard")
        .gated_at("shut", 1);
    let dear = json!({"title": "Dear", "content": endless.prompt(), "hardUsd": 0.000_001});
    let dear = desk.with(dear);
    desk.client.done("task_create", dear).await;
    desk.add("Next", &Script::new().say("fine").prompt()).await;
    desk.start().await;
    let over = desk.until(is_over).await;
    assert_eq!(statuses(&over), ["failed", "done"], "{over}");
    let told = desk.done("task_list", json!({})).await.to_string();
    assert!(told.contains("are spent on the task"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_stopped_in_the_middle_of_the_turn_that_passes_its_line() {
    stopped_in_the_middle_of_its_turn(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_2_1_197_is_stopped_in_the_middle_of_the_turn_that_passes_its_line() {
    stopped_in_the_middle_of_its_turn(&Agent::Real(RealCli::v197().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_2_1_325_is_stopped_in_the_middle_of_the_turn_that_passes_its_line() {
    stopped_in_the_middle_of_its_turn(&Agent::Real(RealCli::v325().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_cost_too_much_when_it_ended_is_not_done() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = Desk::open(&machine).await;
    // One answer alone: what it cost is known when it is over.
    let script = Script::new().say("fine").prompt();
    let dear = desk.with(json!({"title": "Dear", "content": script, "hardUsd": 0.000_001}));
    desk.client.done("task_create", dear).await;
    desk.add("Next", &Script::new().say("fine").prompt()).await;
    desk.start().await;
    let over = desk.until(is_over).await;
    assert_eq!(statuses(&over), ["failed", "done"], "{over}");
    let told = desk.done("task_list", json!({})).await.to_string();
    assert!(told.contains("the turn ended, but cost"), "{told}");
}
