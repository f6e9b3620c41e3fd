//! `estelle host` and its subcommands, as a person uses them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::program::simulator;

/// A host that runs on a data folder of its own.
pub(crate) struct Running {
    host: Child,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn estelle(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_estelle"));
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder)
        .env("ESTELLE_DATA", folder.join("data"))
        .env("CLAUDE_CODE_PATH", simulator());
    command
}

fn start(folder: &Path, args: &[&str]) -> Child {
    let mut host = estelle(folder)
        .arg("host")
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let said = BufReader::new(host.stdout.take().unwrap()).read_line(&mut line);
    assert!(said.unwrap() > 0 && line.contains("is ready at"), "{line}");
    host
}

impl Running {
    pub(crate) fn new(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = start(folder.path(), args);
        Self { host, folder }
    }

    fn run(&self, args: &[&str]) -> Output {
        self.say(args, "")
    }

    /// Runs a subcommand with these lines on its standard input.
    fn say(&self, args: &[&str], lines: &str) -> Output {
        let mut child = estelle(self.folder.path())
            .arg("host")
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Whatever went wrong, nothing is left behind.
        let _ = estelle(self.folder.path())
            .args(["host", "stop", "--all"])
            .output();
        let _ = self.host.kill();
        let _ = self.host.wait();
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn without_a_host_every_command_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["status"][..], &["list"], &["stop"], &["attach", "c"]] {
        let output = estelle(folder.path())
            .arg("host")
            .args(args)
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(
            err(&output).contains("no host runs on") && err(&output).contains("estelle host"),
            "{output:?}"
        );
    }
}

#[test]
fn a_person_talks_to_a_conversation_of_the_host_alone() {
    let running = Running::new(&[]);
    let second = running.run(&[]);
    assert!(!second.status.success());
    assert!(err(&second).contains("another host (pid "), "{second:?}");

    let unknown = running.run(&["attach", "c"]);
    assert!(
        err(&unknown).contains("there is no conversation c"),
        "{unknown:?}"
    );
    let talk = running.say(
        &["attach", "c", "--cwd", "."],
        "say good morning\nwrite a.txt hi\ny\nask\n2\n",
    );
    let said = out(&talk);
    assert!(talk.status.success(), "{talk:?}");
    for part in [
        "good morning",
        "? It asks to use Write",
        "? Which colour",
        "Thank you",
    ] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    assert_eq!(
        std::fs::read_to_string(running.folder.path().join("a.txt"))
            .unwrap()
            .trim(),
        "hi"
    );

    // It comes back to what was said.
    let again = out(&running.say(&["attach", "c", "--history"], ""));
    assert!(
        again.contains("› say good morning") && again.contains("Thank you"),
        "{again}"
    );

    let status = out(&running.run(&["status"]));
    assert!(
        status.contains("waiting_input") && status.contains("lock held"),
        "{status}"
    );
    let json: serde_json::Value =
        serde_json::from_slice(&running.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(json[0]["sessionId"], "c");
    assert_eq!(json[0]["evidence"]["lockHeld"], true);
    let stop = running.run(&["stop", "c"]);
    assert!(stop.status.success(), "{stop:?}");
    assert!(out(&running.run(&["status", "c"])).contains("stopped"));
    let resumed = out(&running.say(&["attach", "c"], "say back again\n"));
    assert!(resumed.contains("back again"), "{resumed}");
}

#[test]
fn ending_the_host_leaves_its_runs_alone_unless_they_shall_end() {
    let mut running = Running::new(&[]);
    running.say(&["attach", "c", "--cwd", "."], "say hello\n");
    let pid = |running: &Running| {
        let status = running.run(&["status", "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        json[0]["evidence"]["pid"].as_u64().unwrap()
    };
    let first = pid(&running);
    let is_alive = |pid: u64| Path::new(&format!("/proc/{pid}/fd")).exists();
    let stop = running.run(&["stop"]);
    assert!(out(&stop).contains("its runs live on"), "{stop:?}");
    assert!(running.host.wait().unwrap().success());
    assert!(is_alive(first));

    running.host = start(running.folder.path(), &[]);
    assert_eq!(pid(&running), first, "the next host takes it up");
    let stop = running.run(&["stop", "--all"]);
    assert!(out(&stop).contains("all its runs have ended"), "{stop:?}");
    assert!(running.host.wait().unwrap().success());
    assert!(!is_alive(first));
}
