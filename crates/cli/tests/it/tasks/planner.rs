//! Planners: they write tasks with tools of their own, once each, and change nothing else.

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Desk;
use crate::host::stage::Agent;
use crate::up::stage::Machine;

impl Desk {
    /// A planner to which everything is allowed, as far as its mode goes.
    async fn planner(&mut self) -> Value {
        let new = json!({
            "name": "Plans", "skillType": "planner", "permissionMode": "bypassPermissions",
        });
        let made = self.done("conversation_create", new).await;
        made["conversation"]["conversationId"].clone()
    }

    async fn say(&mut self, conversation: &Value, script: &Script) {
        let say = json!({"conversationId": conversation, "message": script.prompt()});
        let say = self.with(say);
        self.client.brings_about("claude_send", say).await;
    }

    /// What the next tool to come back gave.
    async fn returned(&mut self) -> Value {
        self.client.event("toolComplete").await
    }
}

async fn planning(agent: &Agent) {
    let machine = Machine::start(agent).await;
    let mut desk = Desk::open_with(&machine, &machine.terminal()).await;
    let planner = desk.planner().await;
    let edited = machine.path("work/edited.txt");
    let touched = machine.path("work/touched.txt");
    let write = json!({"file_path": &edited, "content": "no"});
    let touch = json!({"command": format!("touch {}", touched.display()), "description": "x"});
    let new = json!({"title": "Tidy", "content": "# Goal\n"});
    let script = Script::new()
        .tool("Write", write)
        .tool("Bash", touch)
        .tool("mcp__estelle__task_create", new)
        .tool("mcp__estelle__task_list", json!({"status": "pending"}))
        .tool("mcp__estelle__worker_status", json!({}))
        .tool(
            "mcp__estelle__task_create",
            json!({"title": " ", "content": "x"}),
        )
        .say("planned");
    desk.say(&planner, &script).await;
    for _ in ["Write", "Bash"] {
        let refused = desk.returned().await;
        assert_eq!(refused["success"], false, "{refused}");
        assert!(refused.to_string().contains("Read only"), "{refused}");
    }
    let created = desk.returned().await;
    assert_eq!(created["success"], true, "{created}");
    let task: Value = serde_json::from_str(created["result"].as_str().unwrap()).unwrap();
    assert_eq!(task["title"], "Tidy");
    let listed = desk.returned().await;
    let listed: Value = serde_json::from_str(listed["result"].as_str().unwrap()).unwrap();
    assert_eq!(listed, json!({"tasks": [task], "total": 1}));
    let worker = desk.returned().await;
    let worker: Value = serde_json::from_str(worker["result"].as_str().unwrap()).unwrap();
    assert_eq!(worker["queue"], json!({"pending": 1, "total": 1}));
    let blank = desk.returned().await;
    assert_eq!(blank["success"], false, "{blank}");
    assert!(blank.to_string().contains("`title`"), "{blank}");
    let result = desk.client.event("result").await;
    assert_eq!(result["subtype"], "success");
    assert!(!edited.exists() && !touched.exists());
    let list = desk.done("task_list", json!({})).await;
    assert_eq!(list["tasks"], json!([task]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_writes_tasks_and_changes_nothing_with_the_simulator() {
    planning(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_writes_tasks_and_changes_nothing_with_claude_2_1_325() {
    planning(&Agent::Real(RealCli::v325().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_stays_one_over_the_death_of_the_host() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut desk = Desk::open_with(&machine, &machine.terminal()).await;
    let planner = desk.planner().await;
    let edited = machine.path("work/edited.txt");
    let write = json!({"file_path": &edited, "content": "no"});
    let script = Script::new().tool("Write", write).say("end");
    desk.say(&planner, &script).await;
    let refused = desk.returned().await;
    assert!(refused.to_string().contains("Read only"), "{refused}");
    desk.client.event("result").await;
    // Nor does a terminal lead around it, where the agent's own interface would let a person allow everything.
    let mut admin = machine.connect(&machine.terminal()).await;
    let size = json!({"cols": 80, "rows": 24});
    let wish = json!({"kind": "agent", "conversationId": planner, "size": size});
    let refused = admin.ask("terminal_create", wish).await;
    assert_eq!(refused["errorCode"], "conflict", "{refused}");
    machine.kill_host();
    machine.kill_up();
    machine.up();
    let client = machine.connect(&machine.phone).await;
    let mut desk = Desk { client, ..desk };
    let look = desk.with(json!({"conversationId": planner}));
    desk.client.brings_about("conversation_select", look).await;
    let new = json!({"title": "After", "content": "x"});
    let again = json!({"file_path": &edited, "content": "no"});
    let script = Script::new()
        .tool("Edit", again)
        .tool("mcp__estelle__task_create", new)
        .say("end");
    desk.say(&planner, &script).await;
    let refused = desk.returned().await;
    assert_eq!(refused["success"], false, "{refused}");
    let created = desk.returned().await;
    assert_eq!(created["success"], true, "{created}");
    desk.client.event("result").await;
    assert!(!edited.exists());
}
