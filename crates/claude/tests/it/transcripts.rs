//! Every recorded line of real traffic is typed and written back with the same meaning.
//!
//! The recordings have one JSON object a line, `{"dir":"in"|"out"|"err","line":...}`; `line` is what went over the
//! pipe, cut to a `_big` placeholder where it was huge.

use std::path::Path;

use estelle_claude::line::Line;
use estelle_claude::wire::{Body, Message};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One line of a recording.
pub(crate) struct Recorded {
    pub(crate) place: String,
    pub(crate) text: String,
}

#[derive(Deserialize)]
struct Record<'a> {
    dir: String,
    #[serde(borrow)]
    line: Option<&'a RawValue>,
}

/// All protocol lines of all recordings, both directions; text on standard error is not protocol.
pub(crate) fn recorded_lines() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the recordings are there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let content = std::fs::read_to_string(&file).expect("a text file");
        for (index, record) in content.lines().enumerate() {
            let record: Record<'_> = serde_json::from_str(record).expect("a record");
            if let (true, Some(line)) = (record.dir != "err", record.line) {
                lines.push(Recorded {
                    place: format!("{name}:{}", index + 1),
                    text: line.get().to_owned(),
                });
            }
        }
    }
    lines
}

/// Lines that cannot be typed: where, what they show as, and why.
const ON_PURPOSE: &[(&str, &str, &str)] = &[
    (
        "03_control_subtypes.jsonl:197",
        "control_request/totally_unknown",
        "a request made up to see the refusal",
    ),
    ("09_fifo_torn.jsonl:3", "control_response", CUT),
    ("09_fifo_torn.jsonl:19", "control_response", CUT),
    ("09_fifo_torn.jsonl:27", "user", CUT),
    ("09_fifo_torn.jsonl:57", "control_response", CUT),
    ("09_fifo_torn_325.jsonl:3", "control_response", CUT),
    ("09_fifo_torn_325.jsonl:22", "control_response", CUT),
    ("09_fifo_torn_325.jsonl:27", "user", CUT),
    ("09_fifo_torn_325.jsonl:50", "user", CUT),
    ("09_fifo_torn_325.jsonl:62", "user", CUT),
    ("09_fifo_torn_325.jsonl:63", "user", CUT),
    ("09_fifo_torn_325.jsonl:64", "user", CUT),
    ("09_fifo_torn_325.jsonl:65", "user", CUT),
    ("09_fifo_torn_325.jsonl:73", "user", CUT),
    ("09_fifo_torn_325.jsonl:117", "control_response", CUT),
    (
        "11_control_no_id.jsonl:4",
        "control_request",
        "a request without an id",
    ),
    ("11_giant_1MB_text.jsonl:4", "", CUT),
    ("11_giant_20MB_text.jsonl:4", "", CUT),
    (
        "11_unknown_control.jsonl:4",
        "control_request/wibble",
        "a request made up to see the refusal",
    ),
    (
        "11_unknown_type.jsonl:4",
        "wibble",
        "a type made up to see that it is ignored",
    ),
    (
        "11_user_missing_role.jsonl:4",
        "user",
        "a user message without a role",
    ),
];

const CUT: &str = "the recording was cut to its length";

#[test]
fn every_recorded_line_is_typed_and_written_back_equal() {
    let lines = recorded_lines();
    assert!(lines.len() > 3000, "only {} lines", lines.len());
    let mut untyped = Vec::new();
    for Recorded { place, text } in &lines {
        let message = Message::parse(Line::from(text.as_str()));
        assert_eq!(message.raw(), text, "{place}");
        assert_eq!(written(&message.body), value(text), "{place}");
        if message.kind().is_known() {
            assert_eq!(message.diagnostics, [], "{place}: {text}");
            let inside = format!("{:?}", message.body);
            let bogus_mode = text.contains(r#""mode":"bogus""#);
            assert!(
                bogus_mode || !inside.contains("Unknown("),
                "{place}: {inside}"
            );
            assert!(!inside.contains("Extra { fields: [("), "{place}: {inside}");
        } else {
            untyped.push((place.clone(), message.kind().to_string()));
        }
    }
    let expected: Vec<_> = ON_PURPOSE
        .iter()
        .map(|(place, kind, _)| ((*place).to_owned(), (*kind).to_owned()))
        .collect();
    assert_eq!(untyped, expected);
}

pub(crate) fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("valid JSON")
}

/// Goes through text, so that both sides are read by the same number parser.
pub(crate) fn written(body: &Body) -> Value {
    value(&serde_json::to_string(body).expect("can be written"))
}
