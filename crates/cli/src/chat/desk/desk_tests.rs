//! The rules of the conversation, as what is done for what happens.

use estelle_claude::wire::Request;
use serde_json::{Value, json};

use super::*;
use crate::chat::piece::plain;

/// A machine and what it did, in words.
struct Talk {
    desk: Desk,
}

fn at_terminal() -> Talk {
    Talk {
        desk: Desk::new(Source::Terminal, 80, Offer::default()),
    }
}

fn in_pipe() -> Talk {
    Talk {
        desk: Desk::new(Source::Pipe, 80, Offer::default()),
    }
}

impl Talk {
    /// The effects in words; what is shown is left out but for its first line.
    fn step(&mut self, input: Input) -> Vec<String> {
        let effects = self.desk.step(input).into_iter();
        effects
            .map(|effect| match effect {
                Effect::Show(pieces) => plain(&pieces)
                    .trim()
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
                Effect::Send(text) => format!("SEND {text}"),
                Effect::Answer(id, result) => format!("ANSWER {id} {}", result.tag()),
                Effect::Control(control) => format!("CONTROL {control:?}"),
                Effect::EndInput => "END INPUT".to_owned(),
                Effect::Close => "CLOSE".to_owned(),
            })
            .filter(|words| !words.is_empty())
            .collect()
    }

    fn line(&mut self, line: &str) -> Vec<String> {
        self.step(Input::Line(line.to_owned()))
    }

    fn message(&mut self, json: &Value) -> Vec<String> {
        self.step(Input::Message(Box::new(Message::parse(
            json.to_string().into(),
        ))))
    }

    fn result(&mut self) -> Vec<String> {
        self.message(&json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 1000}))
    }

    fn asked(&mut self, id: AskId) -> Vec<String> {
        self.step(Input::Asked(id, Box::new(permission())))
    }
}

fn permission() -> CanUseTool {
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t"});
    let line =
        json!({"type": "control_request", "request_id": "r", "request": request}).to_string();
    let Body::ControlRequest(control) = Message::parse(line.into()).body else {
        panic!("no control request");
    };
    let Request::CanUseTool(request) = control.request else {
        panic!("no permission request");
    };
    *request
}

#[test]
fn a_line_is_a_message_and_the_prompt_comes_back_with_the_result() {
    let mut talk = at_terminal();
    assert_eq!(talk.desk.prompt(), Some("› "));
    assert_eq!(talk.line("hello"), ["SEND hello"]);
    assert_eq!(talk.desk.prompt(), None);
    assert_eq!(talk.result(), ["— 1.0 s"]);
    assert_eq!(talk.desk.prompt(), Some("› "));
    assert!(talk.line("  ").is_empty());
}

#[test]
fn a_line_that_ends_in_a_backslash_goes_on() {
    let mut talk = at_terminal();
    assert!(talk.line("one\\").is_empty());
    assert_eq!(talk.desk.prompt(), Some("… "));
    assert_eq!(talk.line("two"), ["SEND one\ntwo"]);
}

#[test]
fn what_is_typed_during_a_turn_is_handed_in_and_that_is_said() {
    let mut talk = at_terminal();
    talk.line("hello");
    assert_eq!(
        talk.line("and this"),
        [
            "→ Handed in; Claude reads it after the current step.",
            "SEND and this"
        ]
    );
}

#[test]
fn questions_are_answered_one_after_the_other() {
    let mut talk = at_terminal();
    talk.line("hello");
    assert_eq!(talk.asked(1), ["? Claude asks to use Bash"]);
    assert!(talk.asked(2).is_empty());
    assert_eq!(talk.desk.prompt(), Some("Allow? y/n › "));
    assert_eq!(talk.line("hm"), ["Type y for yes, or n (and why) for no."]);
    assert_eq!(
        talk.line("y"),
        [
            "✓ Allowed once.",
            "ANSWER 1 allow",
            "? Claude asks to use Bash"
        ]
    );
    assert_eq!(talk.line("n"), ["✗ Refused.", "ANSWER 2 deny"]);
    assert_eq!(talk.desk.prompt(), None);
}

#[test]
fn a_line_that_the_terminal_has_cut_is_not_sent() {
    let cut = "x".repeat(4095);
    for line in [cut.clone(), format!("before\n{cut}")] {
        let told = at_terminal().line(&line);
        assert!(told[0].contains("this was not sent"), "{told:?}");
        assert_eq!(told.len(), 1);
    }
    let whole = format!("{0}\n{0}", "x".repeat(4094));
    assert_eq!(at_terminal().line(&whole), [format!("SEND {whole}")]);
}

#[test]
fn ctrl_c_stops_the_turn_then_leaves() {
    let mut talk = at_terminal();
    talk.line("hello");
    let stopping = "Stopping the turn; Ctrl-C again leaves.";
    assert_eq!(talk.step(Input::Interrupt), [stopping, "CONTROL Interrupt"]);
    assert!(
        talk.step(Input::Done(Control::Interrupt, Ok(())))
            .is_empty()
    );
    talk.result();
    talk.line("again");
    assert_eq!(talk.step(Input::Interrupt), [stopping, "CONTROL Interrupt"]);
    assert_eq!(talk.step(Input::Interrupt), ["CLOSE"]);
    assert_eq!(talk.desk.exit_code(), 130);
}

#[test]
fn ctrl_c_at_a_question_withdraws_it() {
    let mut talk = at_terminal();
    talk.line("hello");
    talk.asked(1);
    assert!(
        talk.step(Input::Interrupt)
            .contains(&"CONTROL Interrupt".to_owned())
    );
    assert_eq!(
        talk.step(Input::Withdrawn(1)),
        ["The question was withdrawn; nothing was run."]
    );
    talk.result();
    assert_eq!(talk.desk.prompt(), Some("› "));
}

#[test]
fn ctrl_c_drops_what_was_typed_and_only_then_leaves() {
    let warning = "Ctrl-C again leaves; so does Ctrl-D.";
    let mut talk = at_terminal();
    talk.line("a message that goes on\\");
    assert_eq!(talk.step(Input::Interrupt), [warning]);
    assert_eq!(talk.desk.prompt(), Some("› "));
    assert_eq!(talk.line("hello"), ["SEND hello"]);
    talk.result();
    assert_eq!(talk.step(Input::Interrupt), [warning]);
    assert_eq!(talk.step(Input::Interrupt), ["CLOSE"]);
    assert_eq!(talk.desk.exit_code(), 0);
    assert!(talk.step(Input::Gone(Some(vec![Piece::Gap]))).is_empty());
    assert_eq!(at_terminal().step(Input::LinesOver), ["CLOSE"]);
    assert_eq!(at_terminal().line("/quit"), ["CLOSE"]);
}

#[test]
fn a_crash_is_told_and_makes_the_exit_code() {
    let mut talk = at_terminal();
    talk.line("hello");
    let told = Some(vec![Piece::line(Tone::Bad, "it crashed")]);
    assert_eq!(talk.step(Input::Gone(told)), ["it crashed"]);
    assert_eq!(talk.desk.exit_code(), 1);
}

#[test]
fn commands_work_during_a_question_and_others_go_to_the_cli() {
    let mut talk = at_terminal();
    assert_eq!(talk.line("/model opus"), ["CONTROL Model(\"opus\")"]);
    assert_eq!(talk.line("/mode PLAN"), ["CONTROL Mode(Plan)"]);
    assert!(talk.line("/mode yolo")[0].starts_with("There is no such mode."));
    assert_eq!(talk.line("/compact"), ["SEND /compact"]);
    talk.asked(1);
    assert!(talk.line("/help")[0].starts_with("/model"));
    assert_eq!(talk.line("/stop"), ["CONTROL Interrupt"]);
}

#[test]
fn a_refused_request_is_told() {
    let mut talk = at_terminal();
    let refused = Err("the CLI refused it".to_owned());
    assert_eq!(
        talk.step(Input::Done(Control::Model("x".to_owned()), refused)),
        ["✗ the CLI refused it"]
    );
}

#[test]
fn a_pipe_is_read_turn_by_turn() {
    let mut talk = in_pipe();
    assert_eq!(talk.line("one"), ["› one", "SEND one"]);
    assert!(!talk.desk.wants_line());
    talk.result();
    assert!(talk.desk.wants_line());
    assert!(talk.line("").is_empty());
    talk.line("two");
    assert!(talk.step(Input::LinesOver).is_empty());
    assert_eq!(talk.result(), ["— 1.0 s", "CLOSE"]);
}

#[test]
fn in_a_pipe_a_question_takes_the_next_line_if_it_is_an_answer() {
    let mut talk = in_pipe();
    talk.line("one");
    talk.asked(1);
    assert!(talk.desk.wants_line());
    assert_eq!(
        talk.line("y"),
        ["Allow? y/n › y", "✓ Allowed once.", "ANSWER 1 allow"]
    );
    talk.asked(2);
    let refused = "✗ Bash: that is no answer, so it is refused.";
    assert_eq!(
        talk.line("list files"),
        ["Allow? y/n › list files", refused, "ANSWER 2 deny"]
    );
    assert_eq!(talk.result(), ["— 1.0 s", "SEND list files"]);
}

#[test]
fn at_the_end_of_a_pipe_questions_are_refused() {
    let mut talk = in_pipe();
    talk.line("one");
    talk.asked(1);
    let refused = "✗ Bash: nobody is there to ask, so it is refused.";
    assert_eq!(talk.step(Input::LinesOver), [refused, "ANSWER 1 deny"]);
    assert_eq!(
        talk.asked(2),
        ["? Claude asks to use Bash", refused, "ANSWER 2 deny"]
    );
    assert_eq!(talk.result(), ["— 1.0 s", "CLOSE"]);
}

#[test]
fn a_failed_turn_in_a_pipe_makes_the_exit_code() {
    let failed = json!({"type": "result", "subtype": "success", "is_error": true, "result": "API Error: 500"});
    let mut talk = in_pipe();
    talk.line("one");
    assert_eq!(
        talk.message(&failed)[0],
        "✗ The turn failed: API Error: 500"
    );
    assert_eq!(talk.desk.exit_code(), 1);
    let mut talk = at_terminal();
    talk.line("one");
    talk.message(&failed);
    assert_eq!(talk.desk.exit_code(), 0);
}

#[test]
fn a_pipe_waits_for_work_in_the_background() {
    let mut talk = in_pipe();
    talk.line("one");
    talk.message(&json!({"type": "system", "subtype": "task_started", "task_id": "b1", "description": "sleep"}));
    talk.step(Input::LinesOver);
    assert_eq!(talk.result(), ["— 1.0 s", "END INPUT"]);
}

#[test]
fn a_line_that_is_no_message_is_mentioned_and_harmless() {
    let mut talk = at_terminal();
    let garbage = Message::parse("not json \u{1b}[2J".into());
    let shown = talk.step(Input::Message(Box::new(garbage)));
    assert_eq!(
        shown,
        ["The CLI printed a line that is no message: not json ␛[2J"]
    );
    let blank = Message::parse("  ".into());
    assert!(talk.step(Input::Message(Box::new(blank))).is_empty());
}
