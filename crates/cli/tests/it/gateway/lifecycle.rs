//! The life of a session's process as clients see it: stop, resume, an end of its own, and the end of everything.

use estelle_sim::script::Script;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::client::Api;
use crate::host::stage::Agent;
use crate::up::stage::Machine;

async fn speak(api: &Api, session: &str, prompt: &str) {
    let line = format!("POST /api/sessions/{session}/input");
    api.done(&line, Some(json!({"content": prompt}))).await;
}

fn names(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_session_is_resumed_with_its_history_and_others_are_not() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    watcher.status("waiting_input").await;
    speak(&api, &session, &Script::new().say("hello").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;

    let resume = format!("POST /api/sessions/{session}/resume");
    let refused = api.call(&resume, None).await;
    let expected = json!({
        "error": "Session is not stopped", "code": "not_stopped", "current_status": "waiting_input",
    });
    assert_eq!((refused.status, refused.json()), (400, expected));

    let stopped = api
        .done(&format!("POST /api/sessions/{session}/stop"), None)
        .await;
    assert_eq!(stopped["session"]["status"], "stopped");
    assert!(stopped["session"]["resume_session_id"].is_string());
    let paused = watcher.kind("process_paused").await;
    let expected = [
        "canResume",
        "epoch",
        "idleMinutes",
        "reason",
        "seq",
        "sessionId",
        "type",
    ];
    assert_eq!(names(&paused), expected);
    assert_eq!(
        (&paused["reason"], &paused["canResume"]),
        (&json!("manual"), &json!(true))
    );
    assert_eq!(paused["sessionId"], session.as_str());
    watcher.status("stopped").await;
    // Somebody who comes only now learns it at once.
    let mut late = api.watch(&session, "").await;
    assert_eq!(late.next().await.unwrap()["status"], "stopped");

    let resumed = api.done(&resume, None).await;
    assert_eq!(names(&resumed), ["resumed_with_history", "session"]);
    let fields = ["created_at", "id", "name", "status", "worktree_path"];
    assert_eq!(names(&resumed["session"]), fields);
    assert_eq!(resumed["session"]["status"], "running");
    assert_eq!(
        resumed["session"]["worktree_path"],
        machine.path("work").to_str().unwrap()
    );
    assert_eq!(resumed["resumed_with_history"], true);
    let told = watcher.kind("process_resumed").await;
    assert_eq!(told["resumedWithHistory"], true);
    watcher.status("waiting_input").await;
    speak(&api, &session, &Script::new().say("again").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_history_is_gone_is_resumed_without_it_and_that_is_said() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    speak(&api, &session, &Script::new().say("hello").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    api.done(&format!("POST /api/sessions/{session}/stop"), None)
        .await;
    watcher.status("stopped").await;
    std::fs::remove_dir_all(machine.path("home/.claude/projects")).unwrap();
    let resumed = api
        .done(&format!("POST /api/sessions/{session}/resume"), None)
        .await;
    assert_eq!(resumed["resumed_with_history"], false, "{resumed}");
    let told = watcher.kind("process_resumed").await;
    assert_eq!(told["resumedWithHistory"], false, "{told}");
    watcher.status("waiting_input").await;
    speak(&api, &session, &Script::new().say("afresh").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_of_its_own_is_an_error_with_the_exit_code_and_nothing_starts_by_itself() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let script = r#"SCRIPT:[{"malformed":"data: the last words"},{"crash":3}]"#;
    speak(&api, &session, script).await;
    watcher.status("waiting_input").await;
    speak(&api, &session, r#"SCRIPT:[{"crash":3}]"#).await;
    let error = watcher.kind("error").await;
    assert_eq!(error["exit_code"], 3, "{error}");
    let content = error["content"].as_str().unwrap();
    // R127: the exit code and what it wrote to stderr.
    assert!(
        content.contains("code 3") && content.contains("the last words"),
        "{content}"
    );
    // Which of the two comes first is nobody's promise.
    let is_told = |m: &Value| m["type"] == "status_change" && m["status"] == "error";
    if !watcher.seen.iter().any(is_told) {
        watcher.until(is_told).await;
    }
    let whole = api
        .done(&format!("GET /api/sessions/{session}"), None)
        .await;
    assert_eq!(whole["session"]["status"], "error");
    let refused = api
        .call(&format!("POST /api/sessions/{session}/resume"), None)
        .await;
    assert_eq!(
        (refused.status, &refused.json()["current_status"]),
        (400, &json!("error"))
    );
    // A person who writes is what starts it again.
    speak(&api, &session, &Script::new().say("back").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_in_good_order_is_told_and_nothing_starts_by_itself() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    speak(&api, &session, &Script::new().say("hello").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    crate::up::stage::signal(run_pid(&machine, &session), Signal::INT);
    watcher.status("completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_host_with_its_runs_is_announced_with_the_real_grace() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    speak(&api, &session, &Script::new().say("hello").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    let stop = machine
        .command(&["host", "stop", "--all"])
        .output()
        .unwrap();
    assert!(stop.status.success(), "{stop:?}");
    let shutdown = watcher.kind("server_shutdown").await;
    assert_eq!(shutdown["gracePeriodSeconds"], 7, "{shutdown}");
    assert_eq!(shutdown["reason"], "SIGTERM", "{shutdown}");
    let paused = watcher.kind("process_paused").await;
    assert_eq!(paused["reason"], "server_shutdown");
    assert_eq!(paused["canResume"], true);
}

/// R110, R130, C33: where a signal is to end the processes, everybody is told first, then of each process.
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_ends_the_processes_is_told_to_everybody() {
    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::INT, "SIGINT")] {
        let settings = [("ESTELLE_SHUTDOWN_STOPS_RUNS", "true")];
        let mut machine = Machine::start_with(&Agent::Simulator, &settings).await;
        let api = Api::of(&machine);
        let session = api.session(&machine).await;
        let mut watcher = api.watch(&session, "").await;
        speak(&api, &session, &Script::new().say("hello").prompt()).await;
        watcher
            .until(|m| m["type"] == "output" && m["final"] == true)
            .await;
        watcher.status("waiting_input").await;
        let host = machine.host_pid();
        let ended = machine.end_up_by(signal);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let shutdown = watcher.kind("server_shutdown").await;
        assert_eq!(shutdown["reason"], name, "{shutdown}");
        assert_eq!(shutdown["gracePeriodSeconds"], 7, "{shutdown}");
        let paused = watcher.kind("process_paused").await;
        assert_eq!(paused["reason"], "server_shutdown", "{paused}");
        assert_eq!(watcher.end().await, Some(1001));
        assert!(!is_running(host), "the host ends with its processes");
        // What was said is there the next time, and goes on.
        machine.up();
        let api = Api::of(&machine);
        let whole = api
            .done(&format!("GET /api/sessions/{session}"), None)
            .await;
        assert_eq!(whole["session"]["status"], "stopped", "{whole}");
        api.done(&format!("POST /api/sessions/{session}/resume"), None)
            .await;
    }
}

/// C52: usually only the way to them ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_leaves_the_processes_alone_unless_it_is_to_end_them() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    speak(&api, &session, &Script::new().say("hello").prompt()).await;
    watcher.status("running").await;
    watcher.status("waiting_input").await;
    let host = machine.host_pid();
    let run = run_pid(&machine, &session);
    assert!(machine.end_up_by(Signal::TERM).success());
    assert_eq!(watcher.end().await, Some(1001));
    let is_end = |m: &Value| m["type"] == "server_shutdown" || m["type"] == "process_paused";
    assert!(!watcher.seen.iter().any(is_end), "{:#?}", watcher.seen);
    assert!(is_running(host) && is_running(run));
}

fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// The first process of a session.
fn run_pid(machine: &Machine, session: &str) -> u32 {
    let run = format!("data/conversations/{session}/runs/1/run.json");
    let run: Value = serde_json::from_slice(&std::fs::read(machine.path(&run)).unwrap()).unwrap();
    u32::try_from(run["pid"].as_u64().unwrap()).unwrap()
}
