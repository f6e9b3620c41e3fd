//! Everything that can be killed while somebody looks: the Pylon, the host, the keeper of a terminal, and all of a user.

use std::process::Command;

use estelle_sim::script::Script;
use rustix::process::Signal;
use serde_json::json;

use super::client::Api;
use super::looker::{Looker, gone, shell};
use crate::host::stage::Agent;
use crate::up::stage::{Machine, kill, signal};

#[tokio::test(flavor = "multi_thread")]
async fn t8_a_terminal_outlives_the_pylon_and_the_host_and_is_lost_with_its_keeper() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let id = shell(&api, &machine).await;
    let mut looker = Looker::at(&api, &id, "").await;
    let (keeper, program) = machine.terminal_pids(&id);
    // Killed in the middle of a sequence and of a character: what follows comes while nobody looks.
    looker
        .types("printf 'bef%s\\n\\033[3' ore; until [ -e gate ]; do sleep 0.1; done; printf '1mred\\033[m \\352\\260'; printf '\\200 after\\n'\r")
        .await;
    looker.until_shown("before").await;
    machine.kill_up();
    std::fs::write(machine.path("work/gate"), "").unwrap();
    machine.kill_host();
    machine.up();
    let api = Api::of(&machine);
    let list = api.done("GET /api/terminals", None).await;
    assert_eq!(list["terminals"][0]["state"], "running", "{list}");
    assert_eq!(machine.terminal_pids(&id), (keeper, program));
    let mut looker = Looker::at(&api, &id, "").await;
    looker.until_shown("red 가 after").await;
    looker.types("echo st0$((1))ll\r").await;
    looker.until_shown("st01ll").await;
    // The host alone is killed: nobody who types notices.
    machine.kill_host();
    looker.types("echo ag0$((1))in\r").await;
    looker.until_shown("ag01in").await;
    // With its keeper a terminal is gone, and that is said.
    kill(keeper);
    let exit = looker.until_exit().await;
    assert_eq!(exit["state"], "lost", "{exit}");
    gone(program).await;
    let api = Api::of(&machine);
    // The next host is being started.
    let mut list = api.call("GET /api/terminals", None).await;
    while list.status == 503 {
        list = api.call("GET /api/terminals", None).await;
    }
    assert_eq!(list.json()["terminals"][0]["state"], "lost", "{list:?}");
}

/// The end is told although what is acknowledged meanwhile reaches nobody.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_keeper_that_is_killed_in_a_flood_is_told() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    for round in 0..4 {
        let id = shell(&api, &machine).await;
        let mut looker = Looker::at(&api, &id, "").await;
        let (keeper, program) = machine.terminal_pids(&id);
        looker.types("while :; do echo flood; done\r").await;
        looker.until_shown("\nflood").await;
        kill(keeper);
        let exit = looker.until_exit().await;
        assert_eq!(exit["state"], "lost", "round {round}: {exit}");
        gone(program).await;
    }
}

/// The same for an app behind the relay: it types on, and hears that nobody takes it.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_types_at_a_killed_keeper_is_told_of_its_end() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    machine.end_up();
    let tablet = machine.device("view,terminal");
    machine.up();
    let mut tablet = machine.connect(&tablet).await;
    let size = json!({"cols": 80, "rows": 24});
    let create =
        json!({"kind": "shell", "size": size, "path": machine.path("work"), "terminalId": "t-own"});
    tablet.done("terminal_create", create).await;
    let attach = json!({"terminalId": "t-own", "size": size});
    tablet.brings_about("terminal_attach", attach).await;
    let (keeper, program) = machine.terminal_pids("t-own");
    // It takes nothing any more; what is typed waits on the way to it.
    signal(keeper, Signal::STOP);
    let payload = json!({"terminalId": "t-own", "data": "x".repeat(60_000)});
    let input = json!({"type": "terminal_input", "to": {"deviceId": 1}, "payload": payload});
    for _ in 0..20 {
        tablet.send(&input).await;
    }
    tablet.done("terminal_list", json!({})).await;
    kill(keeper);
    let ended = tablet
        .until(|frame| frame["type"] == "terminal_ended")
        .await;
    assert_eq!(ended["payload"]["state"], "lost", "{ended}");
    gone(program).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_of_the_pylon_with_a_terminal_open_and_a_permission_pending() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let file = machine.path("work/kept.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("it is kept");
    let input = json!({"type": "input", "content": script.prompt()});
    watcher.say(input).await;
    let asked = watcher.kind("permission_request").await;
    let id = shell(&api, &machine).await;
    let mut looker = Looker::at(&api, &id, "").await;
    looker.types("echo be0$((1))ore; kept=by-the-shell\r").await;
    looker.until_shown("be01ore").await;
    let pids = machine.terminal_pids(&id);

    machine.kill_up();
    assert!(watcher.end().await.is_none(), "cut off without a word");
    while looker.try_see().await.is_ok() {}
    machine.up();

    let api = Api::of(&machine);
    let query = format!("?after_seq={}", asked["seq"]);
    let mut back = api.watch(&session, &query).await;
    let again = back.kind("permission_request").await;
    assert_eq!(again["permission"], asked["permission"]);
    let mut looker = Looker::at(&api, &id, "").await;
    looker.until_shown("be01ore").await;
    assert_eq!(machine.terminal_pids(&id), pids, "the same processes");
    looker.types("echo still-$kept\r").await;
    looker.until_shown("still-by-the-shell").await;
    assert!(!file.exists(), "nothing runs unasked");
    let request = &asked["permission"]["request_id"];
    back.say(json!({"type": "approve", "request_id": request}))
        .await;
    back.until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    assert!(file.exists());
    assert_eq!(back.text(), "it is kept");
}

/// A place in which `kill -9 -1` reaches nothing else.
const OWN_PROCESSES: [&str; 7] = [
    "unshare",
    "--user",
    "--map-root-user",
    "--pid",
    "--fork",
    "--mount-proc",
    "--kill-child",
];

/// T13: everything of the user is killed from inside of a terminal. Nothing of ours can outlive that, and it is said.
#[tokio::test(flavor = "multi_thread")]
async fn t13_everything_of_the_user_is_killed_and_that_is_said() {
    let mut probe = Command::new(OWN_PROCESSES[0]);
    let probe = probe.args(&OWN_PROCESSES[1..]).arg("true").output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("not shown here: this system gives no process a place of its own");
        return;
    }
    let mut machine = Machine::start(&Agent::Simulator).await;
    machine.end_up();
    let stopped = machine.command(&["host", "stop", "--all"]).output();
    assert!(stopped.unwrap().status.success());
    let mut before = OWN_PROCESSES.to_vec();
    // The first process of such a place is the one that `kill` spares.
    before.extend(["sh", "-c", "\"$0\" \"$@\" & wait"]);
    machine.up_behind(&before);
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let script = Script::new()
        .tool(
            "Write",
            json!({"file_path": machine.path("work/x"), "content": "x"}),
        )
        .prompt();
    watcher
        .say(json!({"type": "input", "content": script}))
        .await;
    watcher.kind("permission_request").await;
    let id = shell(&api, &machine).await;
    let mut looker = Looker::at(&api, &id, "").await;
    looker.types("kill -9 -1\r").await;
    while looker.try_see().await.is_ok() {}
    assert!(watcher.end().await.is_none(), "cut off without a word");
    machine.wait_for_up();

    machine.up();
    let api = Api::of(&machine);
    let list = api.done("GET /api/terminals", None).await;
    assert_eq!(list["terminals"][0]["id"], id.as_str());
    assert_eq!(list["terminals"][0]["state"], "lost", "{list}");
    // The agent's process was of the same user.
    let mut back = api.watch(&session, "?after_seq=1").await;
    let told = back.kind("error").await;
    assert!(told["content"].as_str().unwrap().contains("gone"), "{told}");
    let whole = api
        .done(&format!("GET /api/sessions/{session}"), None)
        .await;
    assert_eq!(whole["session"]["status"], "error", "{whole}");
    assert_eq!(whole["permissions"], json!([]), "nothing is asked any more");
    assert!(!machine.path("work/x").exists());
}
