//! Recorded conversations as people see them.

use std::fmt::Write as _;
use std::path::Path;

use estelle_claude::wire::Message;
use serde_json::{Value, json};

use super::*;
use crate::chat::piece::plain;

/// Everything that is shown for these messages; statuses are left out, as in a pipe.
fn shown(messages: &[Value]) -> String {
    let mut view = View::new(60);
    let mut text = String::new();
    for message in messages {
        text.push_str(&fold(&mut view, &message.to_string()));
    }
    text
}

fn fold(view: &mut View, line: &str) -> String {
    let pieces = view.show(&Message::parse(line.into()).body);
    let lasting: Vec<Piece> = pieces
        .into_iter()
        .filter(|piece| !matches!(piece, Piece::Status(_)))
        .collect();
    plain(&lasting)
}

/// A recorded transcript: what went in is a line of its own.
fn recorded(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../claude/tests/fixtures/transcripts");
    let transcript = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut view = View::new(80);
    let mut text = String::new();
    for record in transcript.lines() {
        let record: Value = serde_json::from_str(record).unwrap();
        let line = &record["line"];
        if record["dir"] == "in" && line["type"] == "user" {
            view.sent();
            let _ = writeln!(
                text,
                "> {}",
                line["message"]["content"]
                    .as_str()
                    .unwrap_or_default()
                    .chars()
                    .take(20)
                    .collect::<String>()
            );
        } else if record["dir"] == "out" {
            text.push_str(&fold(&mut view, &line.to_string()));
        }
    }
    text
}

fn delta(text: &str) -> Value {
    json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": text}}, "parent_tool_use_id": null})
}

fn assistant(block: &Value, parent: Option<&str>) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent,
        "message": {"role": "assistant", "content": [block]}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn result_of(id: &str, content: &str, parent: Option<&str>) -> Value {
    json!({"type": "user", "parent_tool_use_id": parent, "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]}})
}

#[test]
fn a_streamed_answer_is_shown_once() {
    let messages = [delta("Hel"), delta("lo"), assistant(&text("Hello"), None)];
    assert_eq!(shown(&messages), "\nHello");
}

#[test]
fn an_answer_that_was_not_streamed_to_its_end_is_completed() {
    let messages = [delta("Hel"), assistant(&text("Hello"), None)];
    assert_eq!(shown(&messages), "\nHello");
    let messages = [delta("Hel"), assistant(&text("Another"), None)];
    assert_eq!(shown(&messages), "\nHel\nAnother");
    assert_eq!(shown(&[assistant(&text("Whole"), None)]), "\nWhole");
}

#[test]
fn nothing_in_an_answer_reaches_the_terminal() {
    let evil = "\u{1b}]52;c;QQ==\u{7}\u{1b}[2J\rgone\u{202e}";
    let messages = [
        delta(evil),
        assistant(&text(evil), None),
        assistant(
            &call("t1", "Bash\u{1b}[8m", &json!({"command": evil, evil: evil})),
            None,
        ),
        result_of("t1", evil, None),
        assistant(&json!({"type": "thinking", "thinking": evil}), None),
        json!({"type": "system", "subtype": "notification", "text": evil}),
        json!({"type": "result", "subtype": "success", "is_error": true, "result": evil}),
    ];
    let shown = shown(&messages);
    let active = shown
        .chars()
        .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    assert_eq!(active, None, "{shown:?}");
    assert!(shown.contains("␛]52;c;QQ==␇␛[2J␍gone‹U+202E›"), "{shown:?}");
}

#[test]
fn thinking_is_one_line() {
    let thinking = json!({"type": "thinking", "thinking": "First I look around.\nThen I do it.\n"});
    assert_eq!(
        shown(&[assistant(&thinking, None)]),
        "\n∴ First I look around. (8 words)\n"
    );
}

#[test]
fn a_tool_is_shown_with_what_runs_and_a_short_result() {
    let messages = [
        assistant(&call("t1", "Bash", &json!({"command": "ls"})), None),
        result_of("t1", "a\nb", None),
    ];
    assert_eq!(shown(&messages), "\n● Bash  ls\n  a\n  b\n");
}

#[test]
fn a_plan_is_shown_whole() {
    let lines: Vec<String> = (1..=30).map(|n| format!("{n}. step")).collect();
    let shown = shown(&[assistant(
        &call("p1", "ExitPlanMode", &json!({"plan": lines.join("\n")})),
        None,
    )]);
    assert!(
        shown.starts_with("\n● Plan\n  1. step\n") && shown.ends_with("  30. step\n"),
        "{shown}"
    );
}

#[test]
fn sub_agents_are_indented_and_wait_for_the_end_of_a_text() {
    let messages = [
        assistant(
            &call(
                "a1",
                "Agent",
                &json!({"description": "look", "prompt": "look around"}),
            ),
            None,
        ),
        assistant(&call("t2", "Bash", &json!({"command": "ls"})), Some("a1")),
        delta("Hel"),
        result_of("t2", "file", Some("a1")),
        assistant(&text("seen"), Some("a1")),
        delta("lo"),
        assistant(&text("Hello"), None),
    ];
    assert_eq!(
        shown(&messages),
        "\n● Agent  look\n  look around\n│ ● Bash  ls\n\nHello\n│   file\n│ seen\n"
    );
}

#[test]
fn the_question_below_a_call_need_not_repeat_it() {
    let mut view = View::new(80);
    let input = json!({"command": "ls"});
    fold(
        &mut view,
        &assistant(&call("t1", "Bash", &input), None).to_string(),
    );
    let same = Json::from(input);
    assert!(view.just_showed(&same));
    assert!(!view.just_showed(&Json::from(json!({"command": "rm"}))));
    fold(&mut view, &result_of("t1", "x", None).to_string());
    assert!(!view.just_showed(&same));
}

#[test]
fn an_error_of_the_api_is_told_once_with_what_to_do() {
    let shown = recorded("11b_403.jsonl");
    assert_eq!(shown.matches("403").count(), 2, "{shown}");
    assert!(shown.contains("/login"), "{shown}");
}

#[test]
fn retries_are_told() {
    let shown = recorded("11b_429_2x_then_ok.jsonl");
    assert!(
        shown.contains("The API failed (429, rate_limit); try 1 of 10 follows in "),
        "{shown}"
    );
}

#[test]
fn a_recorded_sub_agent_reads_well() {
    let shown = recorded("08a_subagent_fg.jsonl");
    assert!(
        shown.contains("● Agent  sub task (general-purpose)\n"),
        "{shown}"
    );
    assert!(
        shown.contains("│ ● Bash  chown 0 /etc/hostname\n│   (Bash completed with no output)\n"),
        "{shown}"
    );
    assert!(!shown.contains("agentId"), "{shown}");
}

#[test]
fn a_recorded_background_task_tells_its_end_and_what_it_starts() {
    let shown = recorded("08c_bash_bg_open.jsonl");
    assert!(
        shown.contains("⧗ In the background: sleep 2; echo bgdone\n"),
        "{shown}"
    );
    assert!(
        shown.contains("⧗ Background work finished: Background command"),
        "{shown}"
    );
    assert!(
        shown.contains("⧗ The conversation goes on by itself.\n"),
        "{shown}"
    );
}

#[test]
fn the_output_of_a_command_of_the_cli_is_shown() {
    assert!(recorded("11b_slash_unknown.jsonl").contains("Unknown command: /nosuchcommand"));
    assert!(recorded("11b_slash_cost.jsonl").contains("Total cost:"));
}

#[test]
fn every_recorded_line_can_be_shown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../claude/tests/fixtures/transcripts");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let shown = recorded(&name);
        assert!(
            !shown
                .chars()
                .any(|c| c.is_control() && c != '\n' && c != '\t'),
            "{name}"
        );
        files += 1;
    }
    assert!(files > 50, "{files}");
}
