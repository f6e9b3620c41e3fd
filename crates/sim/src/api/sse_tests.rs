//! The framing and the order of a stream, without a server.

use super::*;
use crate::script::{Action, Script};

fn names(calls: &[&str]) -> Names {
    Names {
        message: "msg_1".to_owned(),
        model: "claude-test".to_owned(),
        calls: calls.iter().map(|&id| id.to_owned()).collect(),
    }
}

fn step(json: &str) -> (Answer, Option<Gate>) {
    let script = Script::from_json(&format!("[{json}]")).expect("readable");
    let step = script.steps.into_iter().next().expect("a step");
    let Action::Answer(answer) = step.action else {
        panic!("an answer")
    };
    (answer, step.gate)
}

/// The plan in short words, one per element.
fn plan(json: &str) -> Vec<String> {
    let (answer, gate) = step(json);
    let word = |emit| match emit {
        Emit::Event(name, data) => {
            let delta = data
                .pointer("/delta/type")
                .or(data.pointer("/content_block/type"));
            match delta.and_then(Value::as_str) {
                Some(kind) => format!("{name}:{}:{kind}", data["index"]),
                None => name.to_owned(),
            }
        }
        Emit::Text { block, index } => format!("text:{block}:{index}"),
        Emit::Raw(_) => "raw".to_owned(),
        Emit::Pause(ms) => format!("pause:{ms}"),
        Emit::Hold(gate) => format!("hold:{gate}"),
        Emit::Cut => "cut".to_owned(),
    };
    events(&answer, &names(&["toolu_1", "toolu_2"]), gate.as_ref())
        .map(word)
        .collect()
}

#[test]
fn a_frame_names_its_event_and_ends_with_an_empty_line() {
    let text = frame(
        "message_stop",
        &json!({"type": "message_stop", "text": "a\nb"}),
    );
    assert_eq!(
        text,
        "event: message_stop\ndata: {\"type\":\"message_stop\",\"text\":\"a\\nb\"}\n\n"
    );
}

#[test]
fn thinking_text_and_calls_come_in_blocks() {
    assert_eq!(
        plan(
            r#"{"think":"hm","say":"hello","chunks":2,"delay_ms":7,"tools":[{"tool":"A"},{"tool":"B"}]}"#
        ),
        [
            "message_start",
            "content_block_start:0:thinking",
            "ping",
            "content_block_delta:0:thinking_delta",
            "content_block_delta:0:signature_delta",
            "content_block_stop",
            "content_block_start:1:text",
            "text:1:0",
            "pause:7",
            "text:1:1",
            "content_block_stop",
            "content_block_start:2:tool_use",
            "content_block_delta:2:input_json_delta",
            "content_block_stop",
            "content_block_start:3:tool_use",
            "content_block_delta:3:input_json_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
}

#[test]
fn a_gate_stands_where_the_step_says() {
    let held = |json: &str| {
        let plan = plan(json);
        let at = plan
            .iter()
            .position(|word| word == "hold:go")
            .expect("a gate");
        (plan[at - 1].clone(), plan[at + 1].clone())
    };
    assert_eq!(
        held(r#"{"say":"x","gate":"go"}"#),
        (
            "content_block_start:0:text".to_owned(),
            "text:0:0".to_owned()
        )
    );
    assert_eq!(
        held(r#"{"say":"x","gate":"go","gate_at":2}"#),
        ("text:0:1".to_owned(), "text:0:2".to_owned())
    );
    assert_eq!(
        held(r#"{"say":"x","gate":"go","gate_at":9}"#),
        ("text:0:2".to_owned(), "content_block_stop".to_owned())
    );
    assert_eq!(held(r#"{"tool":"A","gate":"go"}"#).0, "message_start");
}

#[test]
fn a_dropped_stream_is_cut_before_its_block_ends() {
    let plan = plan(r#"{"say":"x","chunks":1,"drop":true}"#);
    assert_eq!(
        plan[..5],
        [
            "message_start",
            "content_block_start:0:text",
            "text:0:0",
            "pause:50",
            "cut"
        ]
    );
}

#[test]
fn the_whole_message_says_the_same() {
    let (answer, _) =
        step(r#"{"think":"hm","say":"hello","tool":"A","input":{"b":1},"stop":"max_tokens"}"#);
    let message = message(&answer, &names(&["toolu_1"]));
    assert_eq!(
        message["content"],
        json!([
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "hello"},
            {"type": "tool_use", "id": "toolu_1", "name": "A", "input": {"b": 1}},
        ])
    );
    assert_eq!(message["stop_reason"], "max_tokens");
    assert_eq!(message["usage"]["input_tokens"], 100);
}
