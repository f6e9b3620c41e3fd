//! Every type the vendor declares is read whole, also those never seen on the wire.
//!
//! `messages.jsonl` and `values.jsonl` hold at least one instance of each declared type with every declared field
//! filled, and one for each alternative of a choice; `blocks.jsonl` has what the declarations leave to the Messages API.

use estelle_claude::line::Line;
use estelle_claude::wire::control::{
    AgentDefinition, ContextReport, ElicitationResult, HooksListing, InitializeResult,
    InterruptResult, McpServerStatus, McpSetServersResult, OutputStyles, PermissionRules,
    ReadFileResult, ReadResourceResult, ReloadedPlugins, ReloadedSkills, RewindFilesResult,
    TaskOutput, UsageResult, UserDialogResult,
};
use estelle_claude::wire::{
    HookEvent, HookOutput, Json, Message, PermissionResult, PermissionUpdate, Wire,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::transcripts::{value, written};

fn fixture<T: for<'a> Deserialize<'a>>(text: &str) -> Vec<T> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a golden line"))
        .collect()
}

#[derive(Deserialize)]
struct GoldenMessage {
    kind: String,
    line: Json,
}

fn golden_messages() -> Vec<GoldenMessage> {
    let mut all = fixture(include_str!("../fixtures/golden/messages.jsonl"));
    all.extend(fixture::<GoldenMessage>(include_str!(
        "../fixtures/golden/blocks.jsonl"
    )));
    all
}

#[test]
fn every_declared_message_is_typed_whole_and_written_back_equal() {
    for GoldenMessage { kind, line } in golden_messages() {
        let message = Message::parse(Line::from(line.as_str()));
        assert_eq!(message.kind().to_string(), kind, "{line}");
        assert!(message.kind().is_known(), "{line}");
        assert_eq!(message.diagnostics, [], "{line}");
        assert_eq!(written(&message.body), value(line.as_str()), "{line}");
        assert_read_whole(&format!("{:?}", message.body), line.as_str());
    }
}

/// Neither an unknown member nor an unknown field, at any depth.
fn assert_read_whole(debug: &str, line: &str) {
    assert!(
        !debug.contains("Unknown("),
        "unknown member in {debug}\nof {line}"
    );
    assert!(
        !debug.contains("Extra { fields: [("),
        "unknown field in {debug}\nof {line}"
    );
}

#[derive(Deserialize)]
struct GoldenValue {
    #[serde(rename = "type")]
    name: String,
    value: Json,
}

#[test]
fn every_declared_answer_is_read_whole_and_written_back_equal() {
    let all = fixture::<GoldenValue>(include_str!("../fixtures/golden/values.jsonl"));
    assert!(all.len() > 100);
    for golden in &all {
        check_value(golden);
    }
}

fn check_value(golden: &GoldenValue) {
    let json = &golden.value;
    match golden.name.as_str() {
        "InitializeResult" => check::<InitializeResult>(json),
        "InterruptResult" => check::<InterruptResult>(json),
        "ContextReport" => check::<ContextReport>(json),
        "HooksListing" => check::<HooksListing>(json),
        "TaskOutput" => check::<TaskOutput>(json),
        "UsageResult" => check::<UsageResult>(json),
        "PermissionRules" => check::<PermissionRules>(json),
        "ReadResourceResult" => check::<ReadResourceResult>(json),
        "ReadFileResult" => check::<ReadFileResult>(json),
        "OutputStyles" => check::<OutputStyles>(json),
        "ReloadedPlugins" => check::<ReloadedPlugins>(json),
        "ReloadedSkills" => check::<ReloadedSkills>(json),
        "RewindFilesResult" => check::<RewindFilesResult>(json),
        "McpSetServersResult" => check::<McpSetServersResult>(json),
        "McpServerStatus" => check::<McpServerStatus>(json),
        "PermissionResult" => check::<PermissionResult>(json),
        "HookOutput" => check::<HookOutput>(json),
        "UserDialogResult" => check::<UserDialogResult>(json),
        "ElicitationResult" => check::<ElicitationResult>(json),
        "PermissionUpdate" => check::<PermissionUpdate>(json),
        "AgentDefinition" => check::<AgentDefinition>(json),
        other => unreachable!("no reader for {other}"),
    }
}

fn check<T: Wire + Serialize + std::fmt::Debug>(json: &Json) {
    let (read, diagnostics) = json.wire::<T>().expect("can be read");
    assert_eq!(diagnostics, [], "{json}");
    assert_read_whole(&format!("{read:?}"), json.as_str());
    let back: Value = value(&serde_json::to_string(&read).expect("can be written"));
    assert_eq!(back, value(json.as_str()));
}

#[test]
fn all_hook_events_have_a_golden_input() {
    assert_eq!(HookEvent::KNOWN.len(), 33);
    let lines = golden_messages();
    for event in HookEvent::KNOWN {
        let name = format!(r#""hook_event_name":"{event}""#);
        assert!(
            lines
                .iter()
                .any(|golden| golden.line.as_str().contains(&name)),
            "{event}"
        );
    }
}
