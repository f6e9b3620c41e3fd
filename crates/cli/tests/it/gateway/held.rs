//! An agent that the environment names, and one that does not end when it is told to.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use estelle_sim::script::Script;
use serde_json::json;

use super::client::{Api, PATIENCE};
use crate::program::simulator;
use crate::up::stage::Machine;

/// A program in a folder of its own that does this, and is the simulator where it does nothing else.
fn agent(body: &str) -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("claude");
    let simulator = simulator().display();
    let text = format!("#!/bin/sh\n{body}\nexec {simulator} \"$@\"\n");
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (place, program)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_that_the_environment_names_answers() {
    let (place, program) = agent("echo \"$*\" >> \"${0%/*}/calls\"");
    let machine = Machine::start_unsaid(&[("CLAUDE_CODE_PATH", program.to_str().unwrap())]);
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let input = format!("POST /api/sessions/{session}/input");
    let script = Script::new().say("from the variable").prompt();
    api.done(&input, Some(json!({"content": script}))).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    assert_eq!(watcher.text(), "from the variable");
    let calls = std::fs::read_to_string(place.path().join("calls")).unwrap();
    assert!(calls.contains("stream-json"), "{calls}");
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Only SIGKILL ends it: it reads nothing, and ignores every signal that can be ignored.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_ignores_everything_is_killed_after_the_grace() {
    let body = "case \"$PWD $*\" in *canary*|*--version*) ;; *) trap '' TERM INT HUP; echo $$ > \"${0%/*}/new\"; \
                mv \"${0%/*}/new\" \"${0%/*}/pid\"; exec tail -f /dev/null;; esac";
    let (place, program) = agent(body);
    let machine = Machine::start_unsaid(&[
        ("CLAUDE_CODE_PATH", program.to_str().unwrap()),
        ("PROCESS_SHUTDOWN_GRACE_SECONDS", "1"),
    ]);
    let api = Api::of(&machine);
    let settings = api.done("GET /api/settings", None).await;
    assert_eq!(settings["settings"]["shutdown_grace_seconds"], 1);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let input = format!("POST /api/sessions/{session}/input");
    let script = Script::new().say("never").prompt();
    api.done(&input, Some(json!({"content": script}))).await;
    let pid = place.path().join("pid");
    while !pid.exists() {
        tokio::task::yield_now().await;
    }
    let pid = std::fs::read_to_string(pid).unwrap().trim().to_owned();
    assert!(is_running(&pid));
    api.done(&format!("POST /api/sessions/{session}/stop"), None)
        .await;
    watcher.status("stopped").await;
    let gone = async {
        while is_running(&pid) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
    let line = format!("GET /api/sessions/{session}");
    let whole = api.done(&line, None).await;
    assert_eq!(whole["session"]["status"], "stopped", "{whole}");
    assert_eq!(watcher.text(), "");
}
