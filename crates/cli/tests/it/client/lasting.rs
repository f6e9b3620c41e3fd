//! A command that is left, and one whose `estelle up` is killed: the turn goes on, and so does whoever waits for it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{run, with_project};
use crate::up::half_said;

/// Reads the JSON lines of a command until one is as wanted. The output is given back to it.
pub(crate) fn see(child: &mut Child, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut seen = Vec::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "{seen:#?}");
        let value: Value = serde_json::from_str(&line).unwrap();
        let is_wanted = wanted(&value);
        seen.push(value);
        if is_wanted {
            // What is in the buffer was sent before; nothing that matters follows without a cause.
            child.stdout = Some(output.into_inner());
            return seen;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_leaves_and_the_turn_goes_on() {
    let (machine, id) = with_project().await;
    let mut sending = machine
        .command(&["send", "--json", &id, &half_said("one two three four")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    see(&mut sending, |line| line["event"]["type"] == "text");
    let pid = Pid::from_raw(i32::try_from(sending.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let left = sending.wait_with_output().unwrap();
    assert_eq!(left.status.code(), Some(130));
    let told = String::from_utf8(left.stderr).unwrap();
    assert!(told.contains("What runs goes on"), "{told}");
    machine.open_gate("half");
    run(&machine, &["watch", &id, "--until-idle", "--timeout", "40"]).with_code(0);
    let last = run(&machine, &["history", &id, "-n", "2", "--json"]).lines();
    assert_eq!(last[0]["content"], "one two three four");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_a_turn_sees_its_end_although_up_was_killed() {
    let (mut machine, id) = with_project().await;
    let mut sending = machine
        .command(&["send", "--json", &id, &half_said("one two three four")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    see(&mut sending, |line| line["event"]["type"] == "text");
    machine.kill_up();
    machine.open_gate("half");
    machine.up();
    let sent = super::Done::of(sending.wait_with_output().unwrap()).with_code(0);
    assert!(sent.err.contains("trying again"), "{sent:?}");
    let texts = sent
        .out
        .lines()
        .filter(|line| line.contains("textComplete"));
    let texts: Vec<&str> = texts.collect();
    assert_eq!(texts.len(), 1, "{sent:?}");
    assert!(texts[0].contains("one two three four"), "{sent:?}");
}
