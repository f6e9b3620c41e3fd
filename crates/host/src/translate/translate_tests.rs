//! Recorded traffic of the real CLIs, told in our events.

use std::fmt::Write as _;
use std::path::Path;

use estelle_claude::line::Line;

use super::*;

/// The events of a line, kept and passing ones.
fn events(translator: &mut Translator, message: &Message) -> Vec<ClaudeEvent> {
    let found = translator.translate(message, 0);
    let kept = found.durable.into_iter().map(|durable| durable.event);
    kept.chain(found.passing).collect()
}

/// The events of a recording, one line each; of streamed text the first piece.
fn told(recording: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../claude/tests/fixtures/transcripts");
    let text = std::fs::read_to_string(folder.join(recording)).expect("a recording");
    let mut translator = Translator::new(Generation(3));
    let mut told = String::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if line["dir"] == "out" {
            let message = Message::parse(Line::from(line["line"].to_string()));
            for event in events(&mut translator, &message) {
                tell(&mut told, &event);
            }
        }
    }
    told
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other events have tests of their own"
)]
fn tell(told: &mut String, event: &ClaudeEvent) {
    let parent = |id: &Option<ToolUseId>| if id.is_some() { "  sub: " } else { "" };
    match event {
        ClaudeEvent::Init(init) => writeln!(told, "init {}", init.model),
        ClaudeEvent::Text(text) if text.at == Some(0) => {
            writeln!(
                told,
                "{}text {}",
                parent(&text.parent_tool_use_id),
                text.content
            )
        }
        ClaudeEvent::TextComplete(text) => writeln!(
            told,
            "{}complete {}",
            parent(&text.parent_tool_use_id),
            text.text
        ),
        ClaudeEvent::ToolInfo(tool) => writeln!(
            told,
            "{}call {}",
            parent(&tool.parent_tool_use_id),
            tool.tool_name
        ),
        ClaudeEvent::ToolComplete(tool) => writeln!(
            told,
            "{}back {} {}",
            parent(&tool.parent_tool_use_id),
            tool.tool_name,
            tool.error
                .as_deref()
                .unwrap_or(if tool.success { "ok" } else { "failed" })
        ),
        ClaudeEvent::Result(result) => writeln!(
            told,
            "result {} {:.6}",
            result.subtype, result.total_cost_usd
        ),
        ClaudeEvent::Error(error) => writeln!(told, "error {}", error.error),
        ClaudeEvent::Task(task) => writeln!(told, "task {}", task.status),
        _ => Ok(()),
    }
    .expect("memory");
}

#[test]
fn a_turn_with_thinking_is_told_by_its_text() {
    assert_eq!(
        told("01_baseline.jsonl"),
        "init claude-opus-4-8[1m]\ntext hello w\ncomplete hello world from fake\nresult success 0.001125\n"
    );
}

#[test]
fn a_background_task_is_told_beside_the_turns_and_costs_are_those_of_each_turn() {
    assert_eq!(
        told("08c_bash_bg_open.jsonl"),
        "init claude-opus-4-8[1m]\ncall Bash\ntask started\nback Bash ok\ntext st\ncomplete started\n\
         result success 0.002250\ntask completed\ntext [scr\ncomplete [script end]\nresult success 0.001125\n"
    );
}

#[test]
fn a_sub_agent_is_told_under_its_call() {
    let told = told("08a_subagent_fg.jsonl");
    assert!(told.contains("call Agent\ntask started\n"), "{told}");
    assert!(told.contains("  sub: call Bash\n"), "{told}");
    assert!(told.contains("  sub: back Bash"), "{told}");
}

#[test]
fn an_api_error_is_told_as_an_error_beside_the_result() {
    let told = told("11b_403.jsonl");
    assert!(
        told.contains("error Failed to authenticate. API Error: 403 forbidden\n"),
        "{told}"
    );
    assert!(told.ends_with("result success 0.001125\n"), "{told}");
}

#[test]
fn long_output_is_cut_and_a_call_that_was_not_seen_is_said_so() {
    let long = "ä".repeat(1500);
    let line = serde_json::json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": long, "is_error": true}]}});
    let events = events(
        &mut Translator::new(Generation(1)),
        &Message::parse(Line::from(line.to_string())),
    );
    let [ClaudeEvent::ToolComplete(tool)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((tool.tool_name.as_str(), tool.success), ("Unknown", false));
    assert_eq!(tool.result.chars().count(), 1000);
    assert_eq!(
        tool.error.as_deref().map(|error| error.chars().count()),
        Some(200)
    );
}

#[test]
fn a_piece_of_text_says_where_it_belongs() {
    let stream = |event: serde_json::Value| {
        let line = serde_json::json!({"type": "stream_event", "event": event, "session_id": "s", "uuid": "u"});
        Message::parse(Line::from(line.to_string()))
    };
    let delta = |text: &str| {
        let delta = serde_json::json!({"type": "text_delta", "text": text});
        stream(serde_json::json!({"type": "content_block_delta", "index": 1, "delta": delta}))
    };
    let mut translator = Translator::new(Generation(1));
    let places: Vec<_> = ["a😀", "b"]
        .iter()
        .flat_map(|text| events(&mut translator, &delta(text)))
        .map(|event| {
            let ClaudeEvent::Text(text) = event else {
                panic!("{event:?}");
            };
            (text.block, text.at)
        })
        .collect();
    assert_eq!(places, [(Some(1), Some(0)), (Some(1), Some(3))]);
}
