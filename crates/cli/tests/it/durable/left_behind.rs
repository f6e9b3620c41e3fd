//! What a run leaves behind when the CLI and its shim are killed at once: found by its mark, ended by its group.
//!
//! With the real CLIs only: the simulator starts no processes of its own.

use std::path::Path;

use estelle_claude::options::Options;
use estelle_host::run::{RunWatch, clean_up};
use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Agent, Run, kill};

/// Starts a background command, kills CLI and shim with -9, and cleans up.
async fn a_background_command_does_not_outlive_the_clean_up(cli: RealCli) {
    let run = Run::start(&Agent::Real(cli)).await;
    let willing = Options::new().can_use_tool(|request, _| async move { request.allow() });
    let session = run.session(&willing);
    let work = run.place.path().join("work");
    let watch = RunWatch::default();
    let bell = watch.watch(&work);
    let command = "echo $$ > pid.new; mv pid.new pid; exec sleep 600";
    let background = json!({"command": command, "run_in_background": true, "description": "wait"});
    let script = Script::new().tool("Bash", background).say("done");
    session.send(script.prompt()).await.unwrap();
    let pid: u32 = loop {
        let rung = bell.notified();
        if let Ok(pid) = std::fs::read_to_string(work.join("pid")) {
            break pid.trim().parse().unwrap();
        }
        rung.await;
    };
    kill(run.record.shim_pid);
    kill(run.record.pid);
    assert!(is_running(pid), "it has a session of its own and lives on");
    let cleaned = clean_up(&run.folder, &run.marker).await;
    assert_eq!(cleaned.left, 0);
    assert!(!is_running(pid), "{cleaned:?}");
}

/// Whether the process is there and no zombie.
fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    let state = stat.ok().and_then(|stat| {
        let (_, rest) = stat.rsplit_once(") ")?;
        rest.chars().next()
    });
    state.is_some_and(|state| state != 'Z')
}

#[tokio::test]
async fn a_background_command_of_197_does_not_outlive_the_clean_up() {
    a_background_command_does_not_outlive_the_clean_up(RealCli::v197().unwrap()).await;
}

#[tokio::test]
async fn a_background_command_of_325_does_not_outlive_the_clean_up() {
    a_background_command_does_not_outlive_the_clean_up(RealCli::v325().unwrap()).await;
}
