//! The terminal as a client: the commands of a person, as processes, against `estelle up` with the simulator.

mod asked;
mod decisions;
mod exports;
mod files;
pub(crate) mod lasting;
mod squatted;
mod terminals;
mod worktrees;

use std::process::{Command, Output, Stdio};

use estelle_sim::script::Script;
use serde_json::{Value, json};

use crate::host::stage::Agent;
use crate::up::half_said;
use crate::up::stage::Machine;

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The lines of the output as JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{self:?}")))
            .collect()
    }

    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

pub(crate) fn run(machine: &Machine, args: &[&str]) -> Done {
    let mut command = machine.command(args);
    Done::of(command.stdin(Stdio::null()).output().unwrap())
}

/// A machine with a workspace "Project"; gives the id of its conversation.
pub(crate) async fn with_project() -> (Machine, String) {
    let machine = Machine::start(&Agent::Simulator).await;
    let made = run(&machine, &["new", "workspace", "Project"]).with_code(0);
    let id = made.out.trim().to_owned();
    (machine, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_from_its_beginning_to_what_it_cost() {
    let (machine, id) = with_project().await;
    let listed = run(&machine, &["ls"]).with_code(0).out;
    assert!(
        listed.contains("Project") && listed.contains("idle"),
        "{listed}"
    );
    assert!(listed.contains(&id[..8]), "{listed}");

    let script = Script::new().say("the answer is 42").prompt();
    let sent = run(&machine, &["send", &id[..20], &script]).with_code(0);
    assert!(sent.out.contains("the answer is 42"), "{sent:?}");
    assert!(!sent.out.contains('\u{1b}'), "no colours in a pipe");
    let quiet = run(&machine, &["send", "-q", &id, &script]).with_code(0);
    assert_eq!(quiet.out, "the answer is 42\n");

    let history = run(&machine, &["history", &id, "--json"]).with_code(0);
    let kinds: Vec<String> = history
        .lines()
        .iter()
        .map(|entry| entry["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["text", "text", "result", "text", "text", "result"]);
    let last = run(&machine, &["history", &id, "-n", "2", "--json"]).lines();
    assert_eq!(last.len(), 2);
    assert_eq!(last[0]["content"], "the answer is 42");

    let found = run(&machine, &["search", "answer", "42"]).with_code(0);
    assert!(found.out.contains("Project/"), "{found:?}");
    run(&machine, &["search", "nowhere"]).with_code(1);
    let usage = run(&machine, &["usage", "--by", "conversation"]).with_code(0);
    assert!(usage.out.contains("Project/"), "{usage:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_events_of_a_turn_are_lines_of_json() {
    let (machine, id) = with_project().await;
    let script = Script::new().say("hello").prompt();
    let mut command = machine.command(&["send", "--json", &id, "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, script.as_bytes()).unwrap();
    drop(stdin);
    let sent = Done::of(child.wait_with_output().unwrap()).with_code(0);
    let lines = sent.lines();
    let numbers: Vec<u64> = lines
        .iter()
        .filter_map(|line| line["seq"].as_u64())
        .collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    let has = |kind: &str| lines.iter().any(|line| line["event"]["type"] == kind);
    assert!(has("userMessage") && has("textComplete") && has("result"));
    let last = lines.last().unwrap();
    assert_eq!(last["event"], json!({"type": "state", "state": "idle"}));
    assert_eq!(last["conversationId"], json!(id));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_meant_is_found_by_name_or_said_to_be_unclear() {
    let (machine, id) = with_project().await;
    let new = |name: &str| {
        let args = ["new", "conversation", name, "--in", "project"];
        run(&machine, &args).with_code(0).out.trim().to_owned()
    };
    let (one, two) = (new("Twin"), new("twin"));
    let script = Script::new().say("here").prompt();
    run(&machine, &["send", "-q", "Twin", &script]).with_code(0);
    let history = |id: &str| run(&machine, &["history", id, "--json"]).lines().len();
    assert_eq!((history(&one), history(&two)), (3, 0));
    let unclear = run(&machine, &["send", "TWIN", "x"]).with_code(5);
    assert!(
        unclear.err.contains(&one) && unclear.err.contains(&two),
        "{unclear:?}"
    );
    assert!(!unclear.err.contains(&id), "{unclear:?}");
    let missing = run(&machine, &["history", "nothing"]).with_code(5);
    assert!(missing.err.contains("estelle ls"), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_may_what_its_secret_lets_it_and_the_secret_is_in_a_file() {
    let (machine, id) = with_project().await;
    let file = machine.path("viewer.token");
    std::fs::write(&file, &machine.viewer).unwrap();
    let file = file.to_str().unwrap();
    let address = machine.greeting["address"].as_str().unwrap();
    let there = ["--address", address, "--token-file", file];
    let with = |args: &[&str]| {
        let mut command: Command = machine.command(args);
        let output = command.args(there).env_remove("ESTELLE_DATA").output();
        Done::of(output.unwrap())
    };
    let listed = with(&["ls", "--json"]).with_code(0).lines();
    let name = &listed[0]["machines"][0]["workspaces"][0]["name"];
    assert_eq!(name, "Project");
    let refused = with(&["send", &id, "hello"]).with_code(7);
    assert!(refused.err.contains("forbidden"), "{refused:?}");
    std::fs::write(file, "not-a-secret").unwrap();
    with(&["ls"]).with_code(7);
    let far = [
        "ls",
        "--address",
        "http://192.0.2.1:7710",
        "--token-file",
        file,
    ];
    let plain = run(&machine, &far).with_code(1);
    assert!(plain.err.contains("allow_plaintext"), "{plain:?}");
}

#[test]
fn without_a_machine_it_is_said_how_to_get_one() {
    let place = crate::program::Place::new();
    let output = place.command(&["ls"]).output().unwrap();
    let done = Done::of(output).with_code(6);
    assert!(done.err.contains("`estelle up` does not run"), "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_talks_over_the_relay() {
    let (machine, id) = with_project().await;
    let script = Script::new().say("good day").prompt();
    run(&machine, &["send", "-q", &id, &script]).with_code(0);
    let mut child = machine
        .command(&["chat", &id])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let next = Script::new().say("and good night").prompt();
    std::io::Write::write_all(&mut stdin, format!("{next}\n").as_bytes()).unwrap();
    drop(stdin);
    let talked = child.wait_with_output().unwrap();
    let text = String::from_utf8(talked.stdout).unwrap();
    assert!(talked.status.success(), "{text}");
    let (before, after) = (text.find("good day"), text.rfind("and good night"));
    assert!(before.is_some() && before < after, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_fails_or_is_stopped_is_told_by_the_exit_code() {
    let (machine, id) = with_project().await;
    let failing = Script::new()
        .http(400, "invalid_request_error", "no")
        .prompt();
    run(&machine, &["send", &id, &failing]).with_code(3);
    let slow = half_said("one two three four");
    let mut sending = machine
        .command(&["send", "--json", &id, &slow])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    lasting::see(&mut sending, |line| line["event"]["type"] == "text");
    run(&machine, &["stop", &id]).with_code(0);
    assert_eq!(sending.wait().unwrap().code(), Some(3));
}
