//! Idle processes as clients see them: warned about, kept by a look, stopped, resumed. The clock of what is idle is set by
//! the test, so that minutes cost nothing.

use std::path::PathBuf;

use estelle_sim::script::Script;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Api, PATIENCE, Watcher};
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// The clock of what is idle on a machine.
struct Clock {
    _place: TempDir,
    file: PathBuf,
}

impl Clock {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("clock");
        let clock = Self {
            _place: place,
            file,
        };
        clock.set_minutes(0.0);
        clock
    }

    /// So many minutes more have passed.
    fn set_minutes(&self, minutes: f64) {
        let next = self.file.with_extension("next");
        std::fs::write(&next, format!("{:.0}", minutes * 60_000.0)).unwrap();
        std::fs::rename(next, &self.file).unwrap();
    }

    async fn machine(&self) -> Machine {
        let settings = [
            ("ESTELLE_IDLE_CLOCK", self.file.to_str().unwrap()),
            ("PROCESS_IDLE_TIMEOUT_MINUTES", "45"),
        ];
        Machine::start_with(&Agent::Simulator, &settings).await
    }
}

async fn one_turn(api: &Api, session: &str, watcher: &mut Watcher) {
    let line = format!("POST /api/sessions/{session}/input");
    let prompt = Script::new().say("hello").prompt();
    api.done(&line, Some(json!({"content": prompt}))).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
}

async fn last_activity(api: &Api, session: &str) -> String {
    let line = format!("GET /api/sessions/{session}");
    let whole = api.done(&line, None).await;
    let last = &whole["session"]["last_activity_at"];
    last.as_str().unwrap().to_owned()
}

/// Comes to look, and waits until the host knows it; by then it has taken in all that was printed before.
async fn looked(api: &Api, session: &str) -> Watcher {
    let before = last_activity(api, session).await;
    let mut watcher = api.watch(session, "").await;
    watcher.status("waiting_input").await;
    let is_known = async { while last_activity(api, session).await <= before {} };
    tokio::time::timeout(PATIENCE, is_known).await.unwrap();
    watcher
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_process_is_warned_about_kept_by_a_look_stopped_and_resumed() {
    let clock = Clock::new();
    let machine = clock.machine().await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    one_turn(&api, &session, &mut watcher).await;
    drop(looked(&api, &session).await);

    clock.set_minutes(43.5);
    let warning = watcher.kind("idle_warning").await;
    let left = warning["secondsLeft"].as_u64().unwrap();
    assert!((1..=90).contains(&left), "{warning}");
    assert_eq!(warning["sessionId"], session.as_str());
    // R113: a client that comes back is activity, and the minutes begin anew.
    let mut second = looked(&api, &session).await;
    clock.set_minutes(87.0);
    let again = second
        .until(|m| m["type"] != "status_change" && m["type"] != "caught_up")
        .await;
    assert_eq!(again["type"], "idle_warning", "{again}");

    // R111, R121, R128.
    clock.set_minutes(140.0);
    let paused = second.kind("process_paused").await;
    assert_eq!(paused["reason"], "idle_timeout");
    assert!(paused["idleMinutes"].as_u64().unwrap() >= 45, "{paused}");
    assert_eq!(paused["canResume"], true);
    second.status("stopped").await;
    let whole = api
        .done(&format!("GET /api/sessions/{session}"), None)
        .await;
    assert_eq!(whole["session"]["status"], "stopped");
    assert!(whole["session"]["resume_session_id"].is_string(), "{whole}");

    let resumed = api
        .done(&format!("POST /api/sessions/{session}/resume"), None)
        .await;
    assert_eq!(resumed["resumed_with_history"], true);
    let told = second.kind("process_resumed").await;
    assert_eq!(told["resumedWithHistory"], true);
    one_turn(&api, &session, &mut second).await;
}

/// C30: what waits for a person is not idle, however long.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_asks_is_not_idle() {
    let clock = Clock::new();
    let machine = clock.machine().await;
    let api = Api::of(&machine);
    let asking = api.session(&machine).await;
    let workspaces = api.done("GET /api/workspaces", None).await;
    let wanted = json!({"workspace_id": workspaces["workspaces"][0]["id"], "name": "Idle"});
    let made = api.done("POST /api/sessions", Some(wanted)).await;
    let idle = made["session"]["id"].as_str().unwrap().to_owned();
    let mut at_idle = api.watch(&idle, "").await;
    one_turn(&api, &idle, &mut at_idle).await;
    drop(looked(&api, &idle).await);

    let mut at_asking = api.watch(&asking, "").await;
    let file = machine.path("work/kept.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("it is kept");
    let input = json!({"type": "input", "content": script.prompt()});
    at_asking.say(input).await;
    let asked = at_asking.kind("permission_request").await;
    clock.set_minutes(500.0);
    at_idle.kind("process_paused").await;
    // The same look passed by the one that asks.
    let answer = json!({"type": "approve", "request_id": asked["permission"]["request_id"]});
    at_asking.say(answer).await;
    at_asking
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    assert!(file.exists());
    let is_paused = |m: &Value| m["type"] == "process_paused";
    assert!(!at_asking.seen.iter().any(is_paused));
}
