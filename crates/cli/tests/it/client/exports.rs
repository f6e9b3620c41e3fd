//! A whole conversation as a document, from the command line.

use std::io::Read as _;
use std::process::Stdio;

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::{Done, run, with_project};
use crate::up::stage::Machine;

/// A conversation with a call that gave more than a page or a piece of a document holds; gives how often 글 is in it.
async fn with_a_long_call() -> (Machine, String, usize) {
    let (machine, id) = with_project().await;
    let long = machine.path("long.txt");
    let count = 120_000;
    std::fs::write(&long, "긴 글 ".repeat(count)).unwrap();
    let script = Script::new()
        .tool("Read", json!({"file_path": long}))
        .say("read");
    run(&machine, &["send", "-q", &id, &script.prompt()]).with_code(0);
    (machine, id, count)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_written_whole_and_into_nobodys_place() {
    let (machine, id, count) = with_a_long_call().await;
    let export = |form: &str, more: &[&str]| {
        let args = [&["history", &id, "--export", form], more].concat();
        run(&machine, &args)
    };
    let json = export("json", &["--json"]).with_code(0);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    let messages = value["messages"].as_array().unwrap();
    let kinds: Vec<&str> = messages
        .iter()
        .map(|entry| entry["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["text", "tool_start", "tool_complete", "text", "result"]
    );
    let output = messages[2]["output"].as_str().unwrap();
    assert_eq!(output.matches('글').count(), count, "all of it");

    let markdown = export("md", &[]).with_code(0).out;
    assert_eq!(markdown.matches('글').count(), count, "all of it");
    assert!(
        markdown.contains("\n## Tool: Read ("),
        "{}",
        &markdown[..99]
    );

    let file = machine.path("talk.md");
    let named = file.to_str().unwrap();
    std::fs::write(&file, "precious").unwrap();
    let refused = export("md", &["--output", named]).with_code(1);
    assert!(refused.err.contains("--force"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let told = export("md", &["--output", named, "--force", "--json"]).with_code(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), markdown);
    assert_eq!(told.lines()[0]["entries"], 5);
    assert_eq!(told.lines()[0]["bytes"], markdown.len());

    let folder = file.parent().unwrap().to_str().unwrap();
    let refused = export("md", &["--output", folder, "--force"]).with_code(1);
    assert!(refused.err.contains("is a folder"), "{refused:?}");
    let left = std::fs::read_dir(folder).unwrap();
    let mut left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.any(|name| name.contains(".part")));
    export("pdf", &[]).with_code(2);
    export("md", &["--json"]).with_code(1);
    run(&machine, &["history", &id, "--output", named]).with_code(2);
    run(&machine, &["history", "nothing", "--export", "md"]).with_code(5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_goes_on_although_up_was_killed() {
    let (mut machine, id, _) = with_a_long_call().await;
    let whole = run(&machine, &["history", &id, "--export", "json"]).with_code(0);
    let mut writing = machine
        .command(&["history", &id, "--export", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It is held up by what nobody reads: a pipe takes less than a piece.
    let mut out = writing.stdout.take().unwrap();
    let mut first = [0];
    out.read_exact(&mut first).unwrap();
    machine.kill_up();
    machine.up();
    let mut text = String::from_utf8(first.to_vec()).unwrap();
    out.read_to_string(&mut text).unwrap();
    Done::of(writing.wait_with_output().unwrap()).with_code(0);
    assert!(text == whole.out, "the document is another");
}
