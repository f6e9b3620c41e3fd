//! Lines that are longer than a line may be: what is long in them is cut, with a mark, so that every client can read on.
//!
//! A call of a tool may have an input of many mebibytes, and all of it is in the log. What goes to clients is its
//! beginning. Numbers, ids and hashes stay as they are, so no event is missing and an answer is still bound to the whole
//! call.

use std::collections::BTreeMap;

use estelle_proto::ipc::to_line;
use estelle_proto::{ApiError, ErrorCode, ErrorReport, HostToPylon, Retry, limits};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// How much is left of a text, from the mildest cut to the hardest.
const CUTS: [usize; 3] = [256 * 1024, 16 * 1024, 1024];

/// Values that are not ours: whatever is in them may be replaced as a whole.
const FOREIGN: [&str; 4] = ["toolInput", "input", "arguments", "inputSchema"];

/// Whether a line, with its newline, can be read by a client.
pub(crate) fn fits(line: &str) -> bool {
    line.len() <= limits::MAX_IPC_LINE_BYTES + 1
}

/// The line, or what is left of it when it is too long.
pub(crate) fn fitting(line: String) -> String {
    if fits(&line) {
        return line;
    }
    tracing::warn!(
        bytes = line.len(),
        "a line for clients is too long and is cut"
    );
    let shortened = match serde_json::from_str(&line) {
        Ok(value) => shortened(value),
        // It is nested more deeply than is read.
        Err(_) => without_foreign(&line),
    };
    shortened.unwrap_or_else(|| left_out(line.len()))
}

fn shortened(mut value: Value) -> Option<String> {
    for longest in CUTS {
        cut_texts(&mut value, longest);
        if let Some(line) = written(&value) {
            return Some(line);
        }
    }
    replace_foreign(&mut value);
    written(&value)
}

fn written(value: &Value) -> Option<String> {
    to_line(value).ok().filter(|line| fits(line))
}

fn cut_texts(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) if text.len() > longest => {
            let mark = mark(text.len());
            text.truncate(text.floor_char_boundary(longest));
            text.push_str(&mark);
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| cut_texts(value, longest)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|value| cut_texts(value, longest)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn replace_foreign(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(replace_foreign),
        Value::Object(members) => {
            for (name, value) in members {
                if FOREIGN.contains(&name.as_str()) {
                    *value = instead(value.to_string().len());
                } else {
                    replace_foreign(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The line without what is nested too deeply to be read: only what is not ours can be.
fn without_foreign(line: &str) -> Option<String> {
    let mut members: BTreeMap<&str, &RawValue> = serde_json::from_str(line).ok()?;
    let event =
        json!({ "type": "error", "error": format!("an event is left out{}", mark(line.len())) });
    let event = serde_json::value::to_raw_value(&event).ok()?;
    let input = serde_json::value::to_raw_value(&instead(line.len())).ok()?;
    for (name, value) in &mut members {
        if FOREIGN.contains(name) {
            *value = &input;
        } else if *name == "event" {
            *value = &event;
        }
    }
    to_line(&members).ok().filter(|line| fits(line))
}

fn left_out(bytes: usize) -> String {
    let text = format!("something was left out{}", mark(bytes));
    let error = ApiError::new(ErrorCode::TooLarge, text, Retry::Never);
    to_line(&HostToPylon::Error(ErrorReport::from(error))).unwrap_or_default()
}

/// In the place of a value that is not ours.
fn instead(bytes: usize) -> Value {
    json!({ "cut": format!("left out{}", mark(bytes)) })
}

fn mark(bytes: usize) -> String {
    format!(" […cut: {bytes} bytes in all, too long to be sent]")
}

#[cfg(test)]
mod tests {
    use estelle_proto::events::{ClaudeEvent, PermissionAsked};
    use estelle_proto::ipc::{HostEvent, parse_line};
    use estelle_proto::{ConversationId, Json, Seq, ToolUseId};

    use super::*;

    /// The line of an event whose call has this input, as it goes to clients.
    fn sent(input: &str) -> HostEvent {
        let asked = PermissionAsked::new(
            "Write".to_owned(),
            Json::parse(input).unwrap(),
            ToolUseId::parse("toolu_1").unwrap(),
        );
        let event = HostEvent {
            seq: Some(Seq(7)),
            ..HostEvent::new(
                ConversationId::parse("conv-1").unwrap(),
                ClaudeEvent::PermissionAsked(asked),
            )
        };
        let line = fitting(to_line(&HostToPylon::Event(event)).unwrap());
        assert!(fits(&line) && line.ends_with('\n') && line.matches('\n').count() == 1);
        let message = parse_line::<HostToPylon>(line.trim_end());
        let HostToPylon::Event(event) = message.unwrap() else {
            panic!("another message");
        };
        assert_eq!(event.seq, Some(Seq(7)), "its number stays");
        event
    }

    fn input_of(event: &HostEvent) -> String {
        let ClaudeEvent::PermissionAsked(asked) = &event.event else {
            panic!("{event:?}");
        };
        asked.tool_input.get().to_owned()
    }

    #[test]
    fn a_huge_input_is_cut_with_a_mark_and_the_rest_stays() {
        let short = input_of(&sent(r#"{"file_path":"/a","content":"x"}"#));
        assert_eq!(short, r#"{"file_path":"/a","content":"x"}"#);
        let long = "\u{1f319}".repeat(4 * 1024 * 1024);
        let cut = input_of(&sent(&format!(
            r#"{{"file_path":"/a","content":"{long}"}}"#
        )));
        assert!(cut.contains(r#""file_path":"/a""#) && cut.contains("bytes in all, too long"));
        assert!(cut.len() > 200_000, "as much as is useful is kept");
    }

    #[test]
    fn an_input_without_long_texts_is_left_out_as_a_whole() {
        let numbers = "1,".repeat(5 * 1024 * 1024) + "1";
        let cut = input_of(&sent(&format!(r#"{{"numbers":[{numbers}]}}"#)));
        assert!(cut.starts_with(r#"{"cut":"left out"#), "{cut}");
        let deep = "[".repeat(5 * 1024 * 1024) + &"]".repeat(5 * 1024 * 1024);
        let mut event = None;
        if let Ok(input) = Json::parse(&deep) {
            event = Some(sent(input.get()));
        }
        assert!(
            event.is_none_or(|event| matches!(event.event, ClaudeEvent::Error(_))),
            "what cannot be read again is an error in its place"
        );
    }
}
