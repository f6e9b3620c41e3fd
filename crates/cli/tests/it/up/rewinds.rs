//! A conversation that is rewound in place, over the whole way, and at every place where the host can die in it.

use std::process::Stdio;

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Talk;
use super::forks::say;
use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;

/// The numbers of what people said.
async fn said(talk: &mut Talk) -> Vec<Value> {
    let page = talk.look().await;
    let entries = page["messages"].as_array().unwrap().iter();
    let users = entries.filter(|entry| entry["role"] == "user");
    users.map(|entry| entry["seq"].clone()).collect()
}

async fn rewind(talk: &mut Talk, before: &Value) -> Value {
    let payload = talk.payload(&json!({"beforeSeq": before}));
    talk.client.ask("conversation_rewind", payload).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_taken_back_is_kept_and_marked() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    say(&mut talk, "quinces").await;
    let before = said(&mut talk).await[1].clone();
    let done = rewind(&mut talk, &before).await;
    assert_eq!(done["success"], true, "{done}");
    let is_mark = |frame: &Value| frame["payload"]["event"]["type"] == "rewound";
    let mark = talk.client.place(0, is_mark).await;
    let marked = talk.client.seen[mark]["payload"]["seq"].clone();
    say(&mut talk, "plums").await;

    let page = talk.look().await;
    let stretch = json!([{"fromSeq": before, "toSeq": marked}]);
    assert_eq!(page["rewound"], stretch);
    // Three turns of three entries each, the mark, and that the session was taken up again.
    assert_eq!(page["totalCount"], 11, "nothing is deleted: {page}");
    let older = talk.payload(&json!({"beforeSeq": before}));
    let older = talk.client.done("history_request", older).await;
    assert_eq!(older["rewound"], Value::Null, "what stands before is not");
    let found = talk
        .client
        .done("history_search", json!({"query": "quinces"}));
    let found = found.await;
    assert_eq!(found["hits"][0]["rewound"], true, "{found}");
    let found = talk
        .client
        .done("history_search", json!({"query": "plums"}));
    assert_eq!(found.await["hits"][0]["rewound"], Value::Null);
    let again = rewind(&mut talk, &before).await;
    assert_eq!(again["errorCode"], "conflict", "{again}");
    let session = saved(&machine);
    assert!(session.contains("plums") && !session.contains("quinces"));
}

/// The newest session that the agent has saved.
fn saved(machine: &Machine) -> String {
    let projects = machine.path("home/.claude/projects");
    let folders = std::fs::read_dir(projects).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let newest = files
        .map(|file| file.unwrap().path())
        .max_by_key(|file| file.metadata().unwrap().modified().unwrap());
    std::fs::read_to_string(newest.unwrap()).unwrap()
}

/// A host that dies at a place, below an `estelle up` that starts the next one.
fn with_mortal_host(machine: &mut Machine, place: &str) {
    machine.kill_up();
    machine.kill_host();
    let mut host = machine.command(&["host", "--detached", "--claude"]);
    let host = host
        .arg(crate::program::simulator())
        .env("ESTELLE_FAILPOINT", format!("{place}:kill"))
        .stdin(Stdio::null());
    machine.start_host(host);
    machine.up();
}

/// Whatever the host dies at, the one who asked is answered by the next host, and what is marked is marked once.
async fn dies_at(place: &str) {
    let mut machine = Machine::start(&Agent::Simulator).await;
    with_mortal_host(&mut machine, place);
    let mortal = machine.host_pid();
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    say(&mut talk, "quinces").await;
    let before = said(&mut talk).await[1].clone();
    let done = rewind(&mut talk, &before).await;
    assert_eq!(done["success"], true, "{place}: {done}");
    say(&mut talk, "plums").await;
    assert_ne!(machine.host_pid(), mortal, "{place} was reached");
    let expected = [
        "user: <script>",
        "assistant: apples",
        "result",
        "user: <script>",
        "assistant: quinces",
        "result",
        "system",
        "user: <script>",
        "system",
        "assistant: plums",
        "result",
    ];
    assert_eq!(talk.history().await, expected, "{place}");
    let page = talk.look().await;
    let stretches = page["rewound"].as_array().unwrap();
    assert_eq!((stretches.len(), &stretches[0]["fromSeq"]), (1, &before));
    let session = saved(&machine);
    assert!(session.contains("plums") && !session.contains("quinces"));
    let proven = run(&machine, &["verify"]);
    assert_eq!(proven.code, 0, "{place}: {proven:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_dies_when_the_session_is_copied() {
    dies_at("rewind-session-copied").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_dies_when_the_process_is_to_end() {
    dies_at("stopping-kept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_dies_when_the_process_has_ended() {
    dies_at("ended-kept").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_dies_when_the_rewind_is_written() {
    dies_at("rewound-appended").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_dies_before_the_rewind_is_answered() {
    dies_at("rewound-published").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_terminal() {
    let (machine, id) = crate::client::with_project().await;
    for text in ["apples", "quinces"] {
        let script = Script::new().say(text).prompt();
        run(&machine, &["send", &id, &script]).with_code(0);
    }
    let shown = run(&machine, &["rewind", &id, "--json"])
        .with_code(0)
        .lines();
    assert_eq!(shown.len(), 2, "both messages, and nothing is changed");
    let number = shown[1]["seq"].to_string();
    let table = run(&machine, &["rewind", &id]).with_code(0).out;
    assert!(
        table.contains(&number) && table.contains("SCRIPT"),
        "{table}"
    );

    let copy = run(&machine, &["fork", &id, &number, "--name", "other way"]).with_code(0);
    let copy = copy.out.trim().to_owned();
    run(&machine, &["rewind", &id, &number]).with_code(0);
    let refused = run(&machine, &["rewind", &id, "2"]).with_code(1);
    assert!(
        refused.err.contains("no message of a person"),
        "{refused:?}"
    );
    let history = run(&machine, &["history", &id]).with_code(0).out;
    assert!(history.contains("taken back from here"), "{history}");
    let lines = run(&machine, &["history", &id, "--json"]).lines();
    let marked = lines.iter().filter(|line| line["rewound"] == true);
    assert_eq!(marked.count(), 3, "{lines:?}");
    let found = run(&machine, &["search", "quinces", "--in", &id]).with_code(0);
    assert!(found.out.contains("(rewound)"), "{found:?}");
    let script = Script::new().say("plums").prompt();
    run(&machine, &["send", &copy, &script]).with_code(0);
    run(&machine, &["send", &id, &script]).with_code(0);
}
