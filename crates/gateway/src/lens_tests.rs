//! What a client sees of what happens, and what never reaches one.

use estelle_proto::events::{QuestionAsked, StateChanged, TurnResult, Usage, UserMessage};
use estelle_proto::runs::{ProcessPaused, ProcessResumed, TaskUpdate};
use estelle_proto::{ConversationStatus, Timestamp};
use serde_json::{Value, json};

use super::*;

fn lens() -> Lens {
    Lens::new(ConversationId::parse("s").unwrap())
}

fn call(id: &str) -> ToolUseId {
    ToolUseId::parse(id).unwrap()
}

fn piece(block: u64, at: u64, content: &str) -> ClaudeEvent {
    TextDelta {
        generation: Some(Generation(1)),
        block: Some(block),
        at: Some(at),
        ..TextDelta::new(content.to_owned())
    }
    .into()
}

fn whole(text: &str) -> ClaudeEvent {
    TextComplete::new(text.to_owned()).into()
}

fn told(lens: &mut Lens, event: &ClaudeEvent) -> Value {
    serde_json::to_value(lens.event(event)).unwrap()
}

#[test]
fn text_that_was_shown_in_pieces_is_not_shown_again() {
    let mut lens = lens();
    let output = |content: &str, is_final: bool| json!({"type": "output", "content": content, "final": is_final});
    assert_eq!(told(&mut lens, &piece(0, 0, "a😀")), output("a😀", false));
    assert_eq!(told(&mut lens, &piece(0, 3, "b")), output("b", false));
    assert_eq!(told(&mut lens, &piece(0, 3, "b")), Value::Null, "known");
    assert_eq!(told(&mut lens, &whole("a😀b")), output("", true));
    assert_eq!(told(&mut lens, &whole("alone")), output("alone", true));
}

#[test]
fn what_is_missing_of_the_pieces_comes_with_the_whole() {
    let mut lens = lens();
    told(&mut lens, &piece(0, 0, "one "));
    assert_eq!(
        told(&mut lens, &piece(0, 9, "three")),
        Value::Null,
        "a hole"
    );
    assert_eq!(
        told(&mut lens, &whole("one two three"))["content"],
        "two three"
    );
    assert_eq!(told(&mut lens, &piece(1, 5, "late")), Value::Null);
    assert_eq!(
        told(&mut lens, &whole("much too late"))["content"],
        "much too late"
    );
}

#[test]
fn a_text_that_became_another_one_takes_the_place_of_what_was_shown() {
    let mut lens = lens();
    told(&mut lens, &piece(0, 0, "one two"));
    let expected = json!({"type": "output", "content": "three", "final": true, "replaces": true});
    assert_eq!(told(&mut lens, &whole("three")), expected);
    let expected = json!({"type": "output", "content": "four", "final": true});
    assert_eq!(told(&mut lens, &whole("four")), expected);
}

#[test]
fn results_echoes_and_states_never_reach_a_client() {
    let usage = Usage::new(1, 2, 3, 4);
    let events: [ClaudeEvent; 3] = [
        TurnResult::new("success".to_owned(), 1, 0.1, 1, usage).into(),
        UserMessage::new("hi".to_owned(), Timestamp(1)).into(),
        StateChanged::new(ConversationStatus::Working).into(),
    ];
    for event in &events {
        assert_eq!(lens().event(event), None, "{event:?}");
    }
}

#[test]
fn remarks_for_people_are_marked_and_others_left_out() {
    let mut task = TaskUpdate::new("t".to_owned(), "completed".to_owned());
    assert_eq!(lens().event(&task.clone().into()), None);
    task.summary = Some("it is built".to_owned());
    let told = told(&mut lens(), &task.into());
    assert_eq!(told["content"], "[System] it is built");
}

#[test]
fn a_sub_agent_speaks_under_its_name() {
    let mut lens = lens();
    let input = Json::parse(r#"{"subagent_type":"explorer","description":"look"}"#).unwrap();
    let mut start = ToolInfo::new("Task".to_owned(), input);
    start.tool_use_id = Some(call("t1"));
    assert_eq!(lens.event(&start.into()), None);
    let mut said = TextComplete::new("found".to_owned());
    said.parent_tool_use_id = Some(call("t1"));
    let expected = json!({
        "type": "output", "sub_agent": {"name": "explorer", "output": "found"}, "final": true,
    });
    assert_eq!(told(&mut lens, &said.clone().into()), expected);
    said.parent_tool_use_id = Some(call("t2"));
    let nameless = told(&mut lens, &said.into());
    assert_eq!(nameless["sub_agent"]["name"], "sub-agent");
}

#[test]
fn questions_are_asked_like_permissions() {
    let asked = QuestionAsked::new(call("q1"), Vec::new());
    let told = told(&mut lens(), &asked.into());
    let permission = json!({
        "request_id": "q1", "action": "AskUserQuestion", "details": {"questions": []},
    });
    assert_eq!(
        told,
        json!({"type": "permission_request", "permission": permission})
    );
}

#[test]
fn the_life_of_a_process_is_told_in_the_words_of_the_interface() {
    let mut lens = lens();
    let paused = ProcessPaused::new(PauseReason::IdleTimeout, 31, true);
    let expected = json!({
        "type": "process_paused", "sessionId": "s", "reason": "idle_timeout", "idleMinutes": 31,
        "canResume": true,
    });
    assert_eq!(told(&mut lens, &paused.into()), expected);
    let expected = json!({
        "type": "process_resumed", "sessionId": "s", "resumedWithHistory": false,
    });
    assert_eq!(
        told(&mut lens, &ProcessResumed::new(false).into()),
        expected
    );
    let shutdown = Down::from(ServerShutdown::new("SIGTERM".to_owned(), 7));
    let expected = json!({
        "type": "server_shutdown", "reason": "SIGTERM", "gracePeriodSeconds": 7,
    });
    assert_eq!(serde_json::to_value(shutdown).unwrap(), expected);
    let error = ErrorEvent {
        exit_code: Some(3),
        ..ErrorEvent::new("it said: no".to_owned())
    };
    let expected = json!({"type": "error", "content": "it said: no", "exit_code": 3});
    assert_eq!(told(&mut lens, &error.into()), expected);
}

#[test]
fn whoever_begins_to_look_is_told_what_is_being_written_and_goes_on_from_there() {
    let mut lens = lens();
    let block = |text: &str| OpenBlock::new(BlockKind::Text, Generation(1), 0, text.to_owned());
    let thought = OpenBlock::new(BlockKind::Thinking, Generation(1), 1, "hm".to_owned());
    let told_first = lens.catch_up(&[block("one"), thought]);
    assert_eq!(told_first.len(), 1);
    assert_eq!(told(&mut lens, &piece(0, 3, " two"))["content"], " two");
    let later = lens.catch_up(&[block("one two three")]);
    assert_eq!(
        serde_json::to_value(&later[0]).unwrap()["content"],
        " three"
    );
    assert_eq!(told(&mut lens, &whole("one two three"))["content"], "");
}
