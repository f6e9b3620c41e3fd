//! The worker: tasks are carried out one after another, once each, whoever is killed or stops it in between.
//! [`pauses`] has those that rest, [`apart`] those that work in worktrees.

mod apart;
mod pauses;

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::{Desk, file};
use crate::client::{run, with_project};
use crate::host::stage::Agent;
use crate::up::half_said;
use crate::up::stage::Machine;

impl Desk {
    /// Writes a task that makes the agent play a script; gives its id.
    async fn add(&mut self, title: &str, prompt: &str) -> Value {
        let new = json!({"title": title, "content": prompt});
        let made = self.done("task_create", new).await;
        made["task"]["id"].clone()
    }

    async fn start(&mut self) -> Value {
        let payload = self.with(json!({}));
        self.client.brings_about("worker_start", payload).await
    }

    /// Waits until the list of tasks is as wanted, whether that was told already or not.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let workspace = self.workspace.clone();
        let frame = self
            .client
            .until(|frame| {
                frame["type"] == "task_list_result"
                    && frame["payload"]["workspaceId"] == workspace
                    && wanted(&frame["payload"])
            })
            .await;
        frame["payload"].clone()
    }

    /// Asks until the list of tasks is as wanted: who has just come was told nothing.
    async fn until_asked(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let list = self.done("task_list", json!({})).await;
            if wanted(&list) {
                return list;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Comes back after everything was started anew.
    async fn again(self, machine: &Machine) -> Self {
        let client = machine.connect(&machine.phone).await;
        Self { client, ..self }
    }

    /// What was said in the worker's conversation, in short.
    async fn history(&mut self) -> Vec<String> {
        let status = self.done("worker_status", json!({})).await;
        let conversation = status["workerStatus"]["conversationId"].clone();
        let page = json!({"conversationId": conversation, "limit": 200, "offset": 0});
        let page = self.done("history_request", page).await;
        let entries = page["messages"].as_array().unwrap().iter();
        let short = entries.map(|entry| match entry["type"].as_str().unwrap() {
            "text" => entry["role"].as_str().unwrap().to_owned(),
            other => other.to_owned(),
        });
        short.collect()
    }
}

/// The status of each task, in the order in which they were written.
fn statuses(list: &Value) -> Vec<&str> {
    let tasks = list["tasks"].as_array().unwrap().iter().rev();
    tasks.map(|task| task["status"].as_str().unwrap()).collect()
}

fn is_off(list: &Value) -> bool {
    list["workerStatus"]["on"] == false && list["workerStatus"]["running"] == false
}

async fn the_main_path(agent: &Agent) {
    let machine = Machine::start(agent).await;
    let mut desk = Desk::open(&machine).await;
    let marker = machine.path("work/made.txt");
    let write = json!({"file_path": &marker, "content": "made"});
    desk.add(
        "First",
        &Script::new().tool("Write", write).say("done").prompt(),
    )
    .await;
    let refusal = Script::new().http(400, "invalid_request_error", "not like this");
    desk.add("Second", &refusal.prompt()).await;
    desk.add("Third", &Script::new().say("fine").prompt()).await;
    let started = desk.start().await;
    assert_eq!(started["taskTitle"], "First");
    assert_eq!(started["workerStatus"]["status"], "running");
    // A person decides, as in every conversation.
    let asked = desk
        .client
        .until(|frame| frame["payload"]["event"]["type"] == "permission_request")
        .await;
    let busy = desk.ask("worker_start", json!({})).await;
    assert_eq!(busy["errorCode"], "conflict", "{busy}");
    let mark = json!({"taskId": started["taskId"], "status": "done"});
    let mark = desk.ask("task_status", mark).await;
    assert_eq!(mark["errorCode"], "conflict", "{mark}");
    let allow = json!({
        "conversationId": asked["payload"]["conversationId"],
        "toolUseId": asked["payload"]["event"]["toolUseId"], "decision": "allow",
    });
    let payload = desk.with(allow);
    desk.client.brings_about("claude_permission", payload).await;
    let over = desk.until(is_off).await;
    assert_eq!(statuses(&over), ["done", "failed", "done"]);
    assert_eq!(std::fs::read_to_string(&marker).unwrap(), "made");
    let why = over["tasks"][1]["error"].as_str().unwrap();
    assert!(why.contains("not like this"), "{why}");
    assert_eq!(
        over["workerStatus"]["queue"],
        json!({"pending": 0, "total": 3})
    );
    let text = std::fs::read_to_string(file(&machine, over["tasks"][2]["file"].as_str().unwrap()));
    let text = text.unwrap();
    assert!(
        text.contains("startedAt: ") && text.contains("completedAt: "),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_carried_out_one_after_another_with_the_simulator() {
    the_main_path(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_carried_out_one_after_another_with_claude_2_1_325() {
    the_main_path(&Agent::Real(RealCli::v325().unwrap())).await;
}

/// A task in the middle of its turn, and one behind it.
async fn in_mid_task(machine: &Machine) -> Desk {
    let mut desk = Desk::open(machine).await;
    desk.add("Half", &half_said("one two three four")).await;
    desk.add("Next", &Script::new().say("fine").prompt()).await;
    let started = desk.start().await;
    assert_eq!(started["taskTitle"], "Half");
    let look = json!({"conversationId": started["workerStatus"]["conversationId"]});
    let look = desk.with(look);
    desk.client.brings_about("conversation_select", look).await;
    // Either the pieces come, or what was written before we looked.
    desk.client
        .until(|frame| {
            let event = &frame["payload"]["event"];
            event["type"] == "text"
                || event["partialText"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty())
        })
        .await;
    desk
}

const ONCE: [&str; 6] = ["user", "assistant", "result", "user", "assistant", "result"];

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_carried_out_once_over_the_death_of_up() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let desk = in_mid_task(&machine).await;
    machine.kill_up();
    machine.open_gate("half");
    machine.up();
    let mut desk = desk.again(&machine).await;
    let over = desk.until_asked(is_off).await;
    assert_eq!(statuses(&over), ["done", "done"]);
    assert_eq!(desk.history().await, ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_carried_out_once_over_the_death_of_the_host() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = in_mid_task(&machine).await;
    machine.kill_host();
    machine.open_gate("half");
    let over = desk.until(is_off).await;
    assert_eq!(statuses(&over), ["done", "done"]);
    assert_eq!(desk.history().await, ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_carried_out_once_over_the_death_of_both() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let desk = in_mid_task(&machine).await;
    machine.kill_host();
    machine.kill_up();
    machine.up();
    let mut desk = desk.again(&machine).await;
    let running = desk.done("task_list", json!({})).await;
    assert_eq!(statuses(&running), ["running", "pending"]);
    machine.open_gate("half");
    let over = desk.until_asked(is_off).await;
    assert_eq!(statuses(&over), ["done", "done"]);
    assert_eq!(desk.history().await, ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_people_change_while_it_runs_keeps_what_they_wrote() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut desk = in_mid_task(&machine).await;
    let list = desk.done("task_list", json!({})).await;
    let path = file(&machine, list["tasks"][1]["file"].as_str().unwrap());
    let next = file(&machine, list["tasks"][0]["file"].as_str().unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    let renamed = path.with_file_name("renamed.md");
    std::fs::write(&renamed, text.replace("status:", "note: mine\nstatus:")).unwrap();
    std::fs::remove_file(&path).unwrap();
    let broken = "---\nstatus: pending\n";
    std::fs::write(&next, broken).unwrap();
    machine.open_gate("half");
    let over = desk.until(is_off).await;
    assert_eq!(over["tasks"].as_array().unwrap().len(), 2);
    let text = std::fs::read_to_string(&renamed).unwrap();
    assert!(text.contains("note: mine\nstatus: done\n"), "{text}");
    assert!(!path.exists());
    assert_eq!(
        std::fs::read_to_string(&next).unwrap(),
        broken,
        "it is not run"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workspaces_of_one_folder_have_one_worker() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut desk = in_mid_task(&machine).await;
    let second = json!({"name": "Second", "workingDir": machine.path("work")});
    let second = desk.client.done("workspace_create", second).await;
    let second = json!({"workspaceId": second["workspace"]["workspaceId"]});
    let is_refused = |refused: Value| {
        assert_eq!(refused["errorCode"], "conflict", "{refused}");
        let told = refused["error"].as_str().unwrap();
        assert!(told.contains("another worker"), "{told}");
    };
    is_refused(desk.client.ask("worker_start", second.clone()).await);
    // The turn goes on without a Pylon, and the next one knows that the folder is taken.
    machine.kill_up();
    machine.up();
    let mut desk = desk.again(&machine).await;
    is_refused(desk.client.ask("worker_start", second).await);
    machine.open_gate("half");
    desk.until_asked(is_off).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_starts_and_stops_the_worker_in_the_terminal() {
    let (machine, _) = with_project().await;
    let empty = run(&machine, &["tasks", "start"]).with_code(1);
    assert!(empty.err.contains("no task waits"), "{empty:?}");
    let script = half_said("one two three four");
    run(&machine, &["tasks", "add", "Half", &script]).with_code(0);
    let started = run(&machine, &["tasks", "start"]).with_code(0);
    assert!(
        started.out.contains("The worker is at: Half"),
        "{started:?}"
    );
    let shown = run(&machine, &["tasks", "worker", "--json"])
        .with_code(0)
        .lines();
    assert_eq!(shown[0]["workerStatus"]["running"], true);
    run(&machine, &["tasks", "stop"]).with_code(0);
    loop {
        let listed = run(&machine, &["tasks", "list"]).with_code(0).out;
        if listed.contains("The worker is off. Waiting: 1.") {
            break;
        }
    }
    machine.open_gate("half");
    run(&machine, &["tasks", "continue"]).with_code(0);
    loop {
        let listed = run(&machine, &["tasks", "list", "--json"])
            .with_code(0)
            .lines();
        if listed[0]["tasks"][0]["status"] == "done" {
            break;
        }
    }
}
