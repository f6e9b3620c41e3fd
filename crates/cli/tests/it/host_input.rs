//! Bad input to a host that runs, line by line over its socket: each gets an error that says what to do, and nothing
//! changes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use estelle_proto::limits;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use crate::host_command::{Running, estelle};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Somebody who writes lines to the host by hand.
struct Guest {
    lines: BufReader<UnixStream>,
    requests: u32,
    /// What came while something else was waited for.
    early: Vec<Value>,
}

impl Guest {
    fn connect(running: &Running) -> Self {
        let stream = UnixStream::connect(running.folder.path().join("data/host.sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            lines: BufReader::new(stream),
            requests: 0,
            early: Vec::new(),
        }
    }

    fn greeted(running: &Running) -> Self {
        let mut guest = Self::connect(running);
        guest.write(r#"{"type":"hello","protocol":1,"build":"0","capabilities":[]}"#);
        assert_eq!(guest.next().unwrap()["type"], "hello");
        guest
    }

    fn write(&mut self, line: &str) {
        let stream = self.lines.get_mut();
        stream.write_all(line.as_bytes()).unwrap();
        stream.write_all(b"\n").unwrap();
    }

    /// The next message; nothing when the host has hung up.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The first message as wanted; the others are kept for later.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.early.iter().position(&wanted) {
            return self.early.remove(at);
        }
        loop {
            let message = self.next().unwrap();
            if wanted(&message) {
                return message;
            }
            self.early.push(message);
        }
    }

    /// Sends a command and gives its result.
    fn ask(&mut self, mut command: Value) -> Value {
        self.requests += 1;
        let id = format!("r{}", self.requests);
        command["requestId"] = id.as_str().into();
        self.write(&command.to_string());
        self.until(|message| {
            message["requestId"] == id.as_str()
                && (message["type"] == "request_result" || message["type"] == "error")
        })
    }

    /// Sends a command that must fail with this code, and with these words in what it says.
    fn refused(&mut self, command: Value, code: &str, words: &str) {
        let text = command.to_string();
        let result = self.ask(command);
        assert_eq!(result["errorCode"], code, "{text}: {result}");
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(words), "{text}: {error}");
        assert_plain(error);
    }

    /// Sends a line that must be answered with an `error` of this code.
    fn rejected(&mut self, line: &str, code: &str) {
        self.write(line);
        let error = self.until(|message| message["type"] == "error");
        assert_eq!(error["errorCode"], code, "{error}");
        assert_plain(error["error"].as_str().unwrap());
    }
}

/// No name of a type of ours, and no word of the system's alone.
fn assert_plain(error: &str) {
    let names = [
        "ConversationId",
        "PathText",
        "Payload",
        "struct ",
        "enum ",
        "Err(",
        "os error",
    ];
    assert!(!names.iter().any(|name| error.contains(name)), "{error}");
}

fn send(conversation: &str, fields: &Value) -> Value {
    let mut payload = json!({ "prompt": "hello", "workspaceId": "w", "workingDir": "/tmp" });
    for (name, value) in fields.as_object().unwrap() {
        payload[name] = value.clone();
    }
    json!({ "type": "send_message", "sessionId": conversation, "payload": payload })
}

fn answer(conversation: &str, id: &Value, decision: &str) -> Value {
    json!({ "type": "permission_response", "sessionId": conversation, "toolUseId": id, "decision": decision })
}

fn conversations(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("data/conversations")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn what_is_no_sensible_message_is_refused_and_begins_nothing() {
    let running = Running::new(&[]);
    let mut guest = Guest::greeted(&running);
    for line in [
        "\0",
        "garbage",
        "[]",
        "{}",
        "null",
        r#"{"type":7}"#,
        r#"{"type":"send_message"}"#,
        r#"{"type":"send_message","sessionId":"c","payload":[]}"#,
        r#"{"type":"touch","sessionId":"../../etc"}"#,
    ] {
        guest.rejected(line, "invalid_message");
    }
    guest.rejected(r#"{"type":"fly","requestId":"f"}"#, "unknown_type");
    guest.rejected(&"x".repeat(50 * 1024 * 1024), "too_large");
    let line = send("c", &json!({ "prompt": "x".repeat(50 * 1024 * 1024) }));
    guest.rejected(&line.to_string(), "too_large");
    guest.refused(
        send("c", &json!({ "prompt": "x".repeat(7 * 1024 * 1024) })),
        "too_large",
        "into a file",
    );
    for folder in [Value::Null, "".into(), 7.into()] {
        let message = send("c", &json!({ "workingDir": folder }));
        guest.refused(message, "bad_path", "name the folder");
    }
    for (folder, words) in [
        ("src", "absolute path"),
        ("/no/such/folder", "create it again"),
        ("/etc/passwd", "not a folder"),
    ] {
        let message = send("c", &json!({ "workingDir": folder }));
        guest.refused(message, "bad_path", words);
    }
    let config = send("c", &json!({ "mcpConfig": [] }));
    guest.refused(config, "invalid_message", "mcpServers");
    for (field, word) in [("onBusy", "queue"), ("permissionMode", "acceptEdits")] {
        let message = send("c", &json!({ field: "whatever" }));
        guest.refused(message, "invalid_message", word);
    }
    for kind in [
        "stop_session",
        "resume_session",
        "new_session",
        "clear_session",
        "delete_session",
        "touch",
        "get_cost",
        "subscribe",
    ] {
        let command = json!({ "type": kind, "sessionId": "nobody" });
        guest.refused(command, "unknown_conversation", "no conversation nobody");
    }
    guest.refused(
        answer("nobody", &"t".into(), "allow"),
        "unknown_conversation",
        "no conversation nobody",
    );
    assert_eq!(guest.ask(json!({ "type": "get_status" }))["success"], true);
    assert_eq!(conversations(running.folder.path()), [""; 0]);
}

#[test]
fn answers_that_nobody_waits_for_are_refused_and_change_nothing() {
    let running = Running::new(&[]);
    let mut guest = Guest::greeted(&running);
    let folder = running.folder.path();
    let script = |name: &str| {
        let input = json!({ "file_path": folder.join(name), "content": "x" });
        Script::new().tool("Write", input).say("done").prompt()
    };
    let message = |id: &str, prompt: String| {
        let fields =
            json!({ "prompt": prompt, "clientMessageId": id, "workingDir": folder.to_str() });
        send("c", &fields)
    };
    let first = guest.ask(message("m-1", script("a")));
    assert_eq!(first["success"], true, "{first}");
    let subscribed = guest.ask(json!({ "type": "subscribe", "sessionId": "c" }));
    assert_eq!(subscribed["success"], true, "{subscribed}");
    let asked = guest.until(|message| message["type"] == "permission_request");
    let id = asked["toolUseId"].clone();

    guest.refused(
        answer("c", &"toolu_nobody".into(), "allow"),
        "unknown_decision",
        "",
    );
    guest.refused(answer("c", &id, "yes"), "invalid_message", "allowAll");
    let mut other = message("m-1", "something else".to_owned());
    other["payload"]["workingDir"] = "/tmp".into();
    guest.refused(other, "duplicate_id", "choose a new id");
    assert_eq!(guest.ask(json!({ "type": "get_status" }))["success"], true);
    let status = guest.until(|message| message["type"] == "status_response");
    assert_eq!(
        status["sessions"][0]["workingDir"].as_str(),
        folder.to_str()
    );
    let again = guest.ask(message("m-1", script("a")));
    assert_eq!(again["seq"], first["seq"], "the same message is the same");
    let elsewhere = send("c", &json!({ "workingDir": "/no/such/folder" }));
    guest.refused(elsewhere, "bad_path", "create it again");
    assert!(!folder.join("a").exists());

    // The decision is as open as it was; the first answer counts, and a late one hears so.
    assert_eq!(guest.ask(answer("c", &id, "deny"))["success"], true);
    guest.refused(answer("c", &id, "allow"), "already_answered", "");
    guest.until(|message| message["event"]["type"] == "result");
    assert!(!folder.join("a").exists());

    // One whose process is gone cannot be answered.
    let second = guest.ask(message("m-2", script("b")));
    assert_eq!(second["success"], true, "{second}");
    let asked = guest.until(|message| message["type"] == "permission_request");
    let stop = json!({ "type": "stop_session", "sessionId": "c", "endProcess": true });
    assert_eq!(guest.ask(stop)["success"], true);
    let stale = guest.ask(answer("c", &asked["toolUseId"], "allow"));
    let code = stale["errorCode"].as_str().unwrap();
    assert!(
        ["already_answered", "decision_void"].contains(&code),
        "{stale}"
    );
    assert!(!folder.join("b").exists());
}

#[test]
fn a_stranger_who_speaks_otherwise_is_told_how_to_speak() {
    let running = Running::new(&[]);
    let cases = [
        (
            r#"{"type":"hello","protocol":99,"build":"9","capabilities":[]}"#.to_owned(),
            "protocol_mismatch",
            "builds that go together",
        ),
        (
            r#"{"type":"get_status"}"#.to_owned(),
            "invalid_message",
            "first line must be `hello`",
        ),
        ("GET / HTTP/1.1".to_owned(), "invalid_message", ""),
        (
            "x".repeat(limits::MAX_UNAUTHENTICATED_FRAME_BYTES + 1),
            "too_large",
            "",
        ),
    ];
    for (line, code, words) in cases {
        let mut guest = Guest::connect(&running);
        guest.write(&line);
        let error = guest.next().unwrap();
        assert_eq!(error["errorCode"], code, "{error}");
        assert!(error["error"].as_str().unwrap().contains(words), "{error}");
        assert_eq!(guest.next(), None, "the host hangs up");
    }
    Guest::greeted(&running);
}

#[test]
fn a_program_that_cannot_be_the_agent_is_named_with_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = place.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let cases = [
        (place.path().join("gone"), "there is no file"),
        (file("plain", "no program", 0o600), "chmod +x"),
        (
            file("old", "#!/bin/sh\necho '1.0.0 (Claude Code)'\n", 0o700),
            "claude update",
        ),
        (
            file("other", "#!/bin/sh\necho hi\n", 0o700),
            "not Claude Code",
        ),
    ];
    for (path, words) in cases {
        let running = Running::new(&["--claude", path.to_str().unwrap()]);
        let mut guest = Guest::greeted(&running);
        guest.refused(send("c", &json!({})), "agent_unavailable", words);
        assert_eq!(conversations(running.folder.path()), [""; 0]);
    }
}

#[test]
fn a_file_is_no_data_folder_and_a_short_timeout_is_said_to_be_longer() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), "").unwrap();
    for args in [&["host"][..], &["host", "status"], &["verify"]] {
        let output = estelle(folder.path()).args(args).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success());
        assert!(
            error.contains("is not a folder") && error.contains("--data"),
            "{args:?}: {error}"
        );
    }
    std::fs::remove_file(folder.path().join("data")).unwrap();
    let mut host = estelle(folder.path())
        .args(["host", "--idle-timeout-minutes", "2"])
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stderr.take().unwrap()).lines();
    let said = lines
        .map(Result::unwrap)
        .find(|line| line.contains("5 min is the least"));
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(said.is_some());
}
