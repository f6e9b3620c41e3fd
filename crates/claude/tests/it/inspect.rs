//! The `inspect` example as a process: one word per line, every byte back, success whatever the input.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::transcripts::recorded_lines;

/// The example is built beside the tests by the same cargo call.
fn program() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its path");
    let folder = test.ancestors().nth(2).expect("target/debug");
    folder.join("examples").join("inspect")
}

fn run(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("inspect starts (cargo builds examples with the tests)");
    let mut stdin = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().expect("inspect ends")
    });
    assert!(output.status.success(), "{:?}", output.status);
    output.stdout
}

fn describe(input: &[u8]) -> Vec<String> {
    let text = String::from_utf8(run(&[], input)).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn it_says_of_each_line_what_it_is() {
    let input = [
        br#"{"type":"system","subtype":"init","session_id":"s"}"#.as_slice(),
        br#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}"#,
        br#"{"type":"result","subtype":"success","is_error":false}"#,
        b"{\"type\":\"keep_alive\"}\r",
        br#"{"type":"system","subtype":"brand\nnew"}"#,
        br#"{"type":"wibble","subtype":"wobble"}"#,
        b"{}",
        b"",
        b"null",
        b"{broken",
        b"\xff\xfe",
        b"half a line",
    ]
    .join(b"\n".as_slice());
    assert_eq!(
        describe(&input),
        [
            "typed SystemInit",
            "typed ControlRequest/can_use_tool",
            "typed ResultSuccess",
            "typed KeepAlive",
            "unknown system/brand\\nnew",
            "unknown wibble/wobble",
            "unknown no-type",
            "unknown blank",
            "unknown not-an-object",
            "unknown not-json",
            "unknown invalid-utf8",
            "unknown half-line",
        ]
    );
}

#[test]
fn it_says_something_of_every_recorded_line() {
    let lines = recorded_lines();
    let input = lines
        .iter()
        .map(|recorded| recorded.text.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    let said = describe(input.as_bytes());
    assert_eq!(said.len(), lines.len());
    let unknown = said
        .iter()
        .filter(|line| line.starts_with("unknown "))
        .count();
    let typed = said
        .iter()
        .filter(|line| line.starts_with("typed "))
        .count();
    assert_eq!((typed + unknown, unknown), (lines.len(), 21));
}

#[test]
fn it_writes_every_byte_back() {
    let mut huge = br#"{"type":"user","message":{"role":"user","content":""#.to_vec();
    huge.resize(64 * 1024 * 1024, b'x');
    huge.extend_from_slice(b"\"}}\nnext\n");
    for input in [
        b"".as_slice(),
        b"\n\n",
        b"{\"type\":\"keep_alive\"}\r\n{ \"b\" : 1.50 }\n",
        b"no line feed at the end",
        b"\xff\xfe\n\x00\nok\xc3",
        &huge,
    ] {
        assert!(
            run(&["--emit"], input) == input,
            "{} bytes changed",
            input.len()
        );
    }
}

#[test]
fn a_line_past_the_limit_is_reported_and_the_next_one_read() {
    let mut input = vec![b'x'; 49 * 1024 * 1024];
    input.extend_from_slice(b"\n{\"type\":\"keep_alive\"}\n");
    assert_eq!(describe(&input), ["unknown too-long", "typed KeepAlive"]);
}

#[test]
fn it_does_not_mind_when_nobody_reads_its_output() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut child = Command::new(program())
        .stdin(Stdio::piped())
        .stdout(writer)
        .spawn()
        .expect("inspect starts");
    let mut stdin = child.stdin.take().expect("piped");
    // The program may be gone before everything is written.
    let _ = stdin.write_all(&b"{\"type\":\"keep_alive\"}\n".repeat(100_000));
    drop(stdin);
    assert!(child.wait().expect("inspect ends").success());
}
