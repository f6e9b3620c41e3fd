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
    start_as(estelle(folder), args)
}

fn start_as(mut program: Command, args: &[&str]) -> Child {
    let mut host = program
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

#[test]
fn ending_a_host_that_is_configured_to_stop_its_runs_stops_them_however_it_is_asked() {
    for asked in [&["stop"][..], &["stop", "--json"]] {
        let mut running = Running::new(&["--shutdown-stops-runs"]);
        running.say(&["attach", "c", "--cwd", "."], "say hello\n");
        let status = running.run(&["status", "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        let pid = json[0]["evidence"]["pid"].as_u64().unwrap();
        let stop = running.run(asked);
        let said = out(&stop);
        if asked.contains(&"--json") {
            let told: serde_json::Value = serde_json::from_str(&said).unwrap();
            assert_eq!(told["ended"], "host", "{said}");
            assert_eq!(told["runs"], "ended", "{said}");
        } else {
            assert!(said.contains("all its runs have ended"), "{stop:?}");
        }
        assert!(running.host.wait().unwrap().success());
        assert!(!Path::new(&format!("/proc/{pid}/fd")).exists());
    }
}

#[test]
fn a_host_that_was_stopped_has_given_its_data_folder_up() {
    let mut running = Running::new(&[]);
    let data = running.folder.path().join("data");
    for _ in 0..5 {
        let stopped = running.run(&["stop"]);
        assert!(stopped.status.success(), "{stopped:?}");
        let taken = estelle_host::data::DataFolder::take(&data);
        assert!(taken.is_ok(), "{taken:?}");
        drop(taken);
        running.host.wait().unwrap();
        running.host = start(running.folder.path(), &[]);
    }
}

#[test]
fn what_was_ended_is_told_as_json() {
    let mut running = Running::new(&[]);
    running.say(&["attach", "c", "--cwd", "."], "say hello\n");
    let listed = out(&running.run(&["list", "--json"]));
    let lines: Vec<serde_json::Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 1, "{listed}");
    assert_eq!(lines[0]["sessionId"], "c", "{listed}");
    let told = |args: &[&str]| -> serde_json::Value {
        let output = running.run(args);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    };
    let process = told(&["stop", "c", "--json"]);
    assert_eq!(
        process,
        serde_json::json!({ "ended": "process", "sessionId": "c" })
    );
    let host = told(&["stop", "--json"]);
    assert_eq!(host, serde_json::json!({ "ended": "host", "runs": "left" }));
    assert!(running.host.wait().unwrap().success());
}

/// A host that knows one conversation too many for its line.
fn crowded(folder: &Path) -> std::thread::JoinHandle<()> {
    use std::os::unix::net::UnixListener;
    let data = folder.join("data");
    std::fs::create_dir_all(&data).unwrap();
    let listener = UnixListener::bind(estelle_host::data::socket(&data)).unwrap();
    std::thread::spawn(move || {
        for _ in 0..4 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.next().unwrap().unwrap();
            let hello = r#"{"type":"hello","protocol":1,"build":"0.1.0","capabilities":[]}"#;
            writeln!(stream, "{hello}").unwrap();
            let asked = lines.next().unwrap().unwrap();
            let asked: serde_json::Value = serde_json::from_str(&asked).unwrap();
            assert_eq!(asked["type"], "get_status");
            let id = &asked["requestId"];
            let response = serde_json::json!({
                "type": "status_response", "requestId": id, "leftOut": 7,
                "sessions": [{ "sessionId": "c", "state": "idle" }],
            });
            let result = serde_json::json!({
                "type": "request_result", "requestId": id, "success": true,
            });
            writeln!(stream, "{response}\n{result}").unwrap();
        }
    })
}

#[test]
fn conversations_that_found_no_room_in_the_answer_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let host = crowded(folder.path());
    for args in [
        &["status"][..],
        &["list"],
        &["status", "--json"],
        &["list", "--json"],
    ] {
        let output = estelle(folder.path()).arg("host").args(args).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        let (said, noted) = (out(&output), err(&output));
        let told = if args.contains(&"--json") {
            let read: Result<serde_json::Value, _> = serde_json::from_str(&said);
            assert!(read.is_ok(), "{said}");
            noted
        } else {
            said
        };
        assert!(
            told.contains("7 more conversations"),
            "{args:?}: {output:?}"
        );
    }
    host.join().unwrap();
}

#[test]
fn an_idle_timeout_that_makes_no_sense_keeps_no_host_from_starting() {
    for given in ["soon", "-5"] {
        let folder = tempfile::tempdir().unwrap();
        let mut program = estelle(folder.path());
        program.env("PROCESS_IDLE_TIMEOUT_MINUTES", given);
        let running = Running {
            host: start_as(program, &[]),
            folder,
        };
        assert!(out(&running.run(&["list"])).contains("no conversations"));
        let mut shown = estelle(running.folder.path());
        shown.env("PROCESS_IDLE_TIMEOUT_MINUTES", given);
        let shown = out(&shown.arg("config").output().unwrap());
        assert!(
            shown.contains(&format!("is `{given}`")) && shown.contains("30 holds instead"),
            "{shown}"
        );
    }
}

/// The files of the traffic log with their lines.
fn traffic(folder: &Path) -> Vec<(String, String)> {
    let logs = std::fs::read_dir(folder.join("data/logs")).unwrap();
    let mut files: Vec<(String, String)> = logs
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("sdk-"))
        .map(|entry| {
            let text = std::fs::read(entry.path()).unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, String::from_utf8(text).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_running_host_logs_its_traffic_without_secrets_and_begins_a_new_file_when_one_is_full() {
    const BY_VALUE: &str = "c4n4ry-of-the-environment";
    const BY_LOOKS: &str = "sk-ant-api03-c4n4ryc4n4ryc4n4ry";
    let folder = tempfile::tempdir().unwrap();
    let start_with_secret = |folder: &Path| {
        let mut program = estelle(folder);
        program.env("MY_SERVICE_TOKEN", BY_VALUE);
        start_as(program, &[])
    };
    let mut running = Running {
        host: start_with_secret(folder.path()),
        folder,
    };
    let said = running.say(
        &["attach", "c", "--cwd", "."],
        &format!("say {BY_VALUE}\nsay {BY_LOOKS}\nsay harmless\n"),
    );
    assert!(out(&said).contains(BY_LOOKS), "{said:?}");
    // With its end everything is written.
    assert!(running.run(&["stop", "--all"]).status.success());
    assert!(running.host.wait().unwrap().success());
    let files = traffic(running.folder.path());
    let text: String = files.iter().map(|(_, text)| text.as_str()).collect();
    assert!(!text.contains("c4n4ry"), "a secret stands in the log");
    assert!(text.contains("[redacted]"), "{text}");
    for direction in ["input", "output"] {
        let is_there = text.lines().any(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(line["timestamp"].is_i64(), "{line}");
            line["sessionId"] == "c"
                && line["direction"] == direction
                && line["data"].to_string().contains("say harmless")
                || line["direction"] == "output" && line["data"].to_string().contains("harmless")
        });
        assert!(is_there, "nothing of the way {direction} in {text}");
    }

    // The file is full, as after a long day.
    let (name, _) = files.last().unwrap();
    let path = running.folder.path().join("data/logs").join(name);
    let file = std::fs::OpenOptions::new().append(true).open(&path);
    file.unwrap().set_len(32 * 1024 * 1024).unwrap();
    running.host = start_with_secret(running.folder.path());
    running.say(&["attach", "c"], "say once more\n");
    assert!(running.run(&["stop", "--all"]).status.success());
    assert!(running.host.wait().unwrap().success());
    let files = traffic(running.folder.path());
    let (newest, text) = files.last().unwrap();
    // Past midnight the next file has the name of the next day.
    let part = name.replace(".jsonl", ".1.jsonl");
    let is_kept = |kept: &str| files.iter().any(|(name, _)| name == kept);
    assert!(
        newest == name && is_kept(&part) || newest > name && is_kept(name),
        "{newest}"
    );
    assert!(text.contains("once more") && text.len() < 1024 * 1024);
}
