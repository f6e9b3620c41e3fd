//! What a client is told of a session while the host is away, and what became of its process while the client was.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::client::{Api, Watcher};
use crate::host::stage::Agent;
use crate::up::stage::Machine;

async fn speak(api: &Api, session: &str, prompt: &str) {
    let line = format!("POST /api/sessions/{session}/input");
    api.done(&line, Some(json!({"content": prompt}))).await;
}

/// Says something and gives the query of a client that has heard the answer.
async fn heard(api: &Api, session: &str, watcher: &mut Watcher) -> String {
    speak(api, session, &Script::new().say("hello").prompt()).await;
    let last = watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    format!("?after_seq={}&epoch={}", last["seq"], last["epoch"])
}

/// `kill -9` of the host, whichever it is by now.
fn kill_any_host(machine: &Machine) {
    let text = std::fs::read_to_string(machine.path("data/host.lock"));
    let pid = text.ok().and_then(|text| text.trim().parse::<i32>().ok());
    if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
        // One that is gone is what is wanted.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

fn kinds(watcher: &Watcher) -> Vec<&str> {
    let all = watcher.seen.iter().map(|m| m["type"].as_str().unwrap());
    let told = all.filter(|kind| !["status_change", "caught_up"].contains(kind));
    told.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_is_told_what_became_of_the_process_in_its_place() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let query = heard(&api, &session, &mut watcher).await;
    let mut gone = api.watch(&session, &query).await;
    gone.status("waiting_input").await;
    drop(gone);

    // While that client is away: a stop, a resumption, an answer, and an end of its own.
    let act = |name: &str| format!("POST /api/sessions/{session}/{name}");
    api.done(&act("stop"), None).await;
    watcher.kind("process_paused").await;
    api.done(&act("resume"), None).await;
    watcher.kind("process_resumed").await;
    watcher.status("waiting_input").await;
    speak(&api, &session, &Script::new().say("missed").prompt()).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    speak(&api, &session, "SCRIPT:[{\"crash\":3}]").await;
    watcher.kind("error").await;

    let mut back = api.watch(&session, &query).await;
    let error = back.kind("error").await;
    assert_eq!(error["exit_code"], 3, "{error}");
    let expected = ["process_paused", "process_resumed", "output", "error"];
    assert_eq!(kinds(&back), expected, "{:#?}", back.seen);
    let paused = &back.seen.iter().find(|m| m["type"] == "process_paused");
    let live = watcher.seen.iter().find(|m| m["type"] == "process_paused");
    assert_eq!(*paused, live, "as it was told then");
    let numbers: Vec<u64> = back
        .seen
        .iter()
        .skip(1)
        .filter_map(|m| m["seq"].as_u64())
        .collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    // Whoever has heard all of it hears nothing again.
    let query = format!("?after_seq={}&epoch={}", error["seq"], error["epoch"]);
    let mut knowing = api.watch(&session, &query).await;
    knowing.status("error").await;
    knowing
        .say(json!({"type": "deny", "request_id": "toolu_never"}))
        .await;
    let refused = knowing.kind("error").await;
    assert_eq!(refused["about"], "toolu_never", "{refused}");
    assert_eq!(kinds(&knowing), ["error"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_session_is_stopped_while_the_host_is_away() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    heard(&api, &session, &mut watcher).await;
    api.done(&format!("POST /api/sessions/{session}/stop"), None)
        .await;
    watcher.status("stopped").await;

    // Whoever holds its lock keeps the next host from beginning.
    let lock = std::fs::File::open(machine.path("data/host.lock")).unwrap();
    let taking = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock));
    while !taking.is_finished() {
        kill_any_host(&machine);
        tokio::task::yield_now().await;
    }
    let _lock = taking.await.unwrap().unwrap();
    let resume = format!("POST /api/sessions/{session}/resume");
    let mut refused = api.call(&resume, None).await;
    while refused.status != 503 {
        // That the host is gone has not been noticed yet.
        assert_ne!(refused.status, 200, "{refused:?}");
        refused = api.call(&resume, None).await;
    }
    let whole = api
        .done(&format!("GET /api/sessions/{session}"), None)
        .await;
    assert_eq!(whole["session"]["status"], "stopped", "{whole}");
    assert!(whole["session"]["resume_session_id"].is_string());
    let list = api.done("GET /api/sessions", None).await;
    assert_eq!(list["sessions"][0]["status"], "stopped", "{list}");
    let mut late = api.watch(&session, "").await;
    let first: Value = late.next().await.unwrap();
    assert_eq!(first["status"], "stopped", "{first}");
}
