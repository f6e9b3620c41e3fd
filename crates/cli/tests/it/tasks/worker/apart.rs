//! Tasks that are carried out in worktrees of their own.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::super::Desk;
use super::{is_off, statuses};
use crate::conformance::files::repository;
use crate::gateway::client::Api;
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// What a conversation of this name works in.
async fn worktree_of(desk: &mut Desk, title: &str) -> Value {
    let list = desk.client.done("workspace_list", json!({})).await;
    let all = list["workspaces"][0]["conversations"].as_array().unwrap();
    let name = format!("📋 worker: {title}");
    let found = all.iter().find(|one| one["name"] == name.as_str());
    let id = found.unwrap_or_else(|| panic!("{list}"))["conversationId"].clone();
    let trees = desk.client.done("worktree_list", json!({})).await;
    let mut trees = trees["worktrees"].as_array().unwrap().iter();
    trees
        .find(|tree| tree["conversationId"] == id)
        .unwrap()
        .clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_task_can_have_a_worktree_of_its_own_over_a_killed_pylon() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut desk = Desk::open(&machine).await;
    let mode = json!({"permission_mode": "bypassPermissions"});
    let api = Api::of(&machine);
    api.done("PATCH /api/settings", Some(mode)).await;
    let writing = |name: &str| {
        let write = json!({"file_path": name, "content": "made"});
        Script::new().tool("Write", write)
    };
    desk.add("No place", &Script::new().say("never").prompt())
        .await;
    let asked = desk.with(json!({"worktrees": true}));
    desk.client.brings_about("worker_start", asked).await;
    let over = desk
        .until_asked(|list| is_off(list) && statuses(list) == ["failed"])
        .await;
    let why = over["tasks"][0]["error"].as_str().unwrap();
    assert!(why.contains("no git repository"), "{why}");

    std::fs::write(machine.path("work/a.txt"), "one\n").unwrap();
    repository(&machine.path("work"));
    desk.add(
        "First",
        &writing("first.txt").say("one").gated("half").prompt(),
    )
    .await;
    desk.add("Second", &writing("second.txt").say("done").prompt())
        .await;
    desk.start().await;
    desk.until_asked(|list| statuses(list)[1] == "running")
        .await;
    machine.kill_up();
    machine.open_gate("half");
    machine.up();
    let mut desk = desk.again(&machine).await;
    desk.until_asked(|list| is_off(list) && statuses(list) == ["failed", "done", "done"])
        .await;
    for (title, file) in [("First", "first.txt"), ("Second", "second.txt")] {
        let tree = worktree_of(&mut desk, title).await;
        assert_eq!(
            (&tree["state"], &tree["uncommitted"]),
            (&json!("ready"), &json!(1))
        );
        let path = std::path::PathBuf::from(tree["path"].as_str().unwrap());
        assert!(path.join(file).exists() && !machine.path("work").join(file).exists());
    }
}
