//! What people read at the end of a turn.

use estelle_claude::wire::{Body, Message};

use super::*;
use crate::chat::piece::plain;

fn result(json: &str) -> ResultMessage {
    let Body::Result(result) = Message::parse(json.into()).body else {
        panic!("no result: {json}");
    };
    result
}

#[test]
fn a_turn_tells_time_tokens_cost_and_model() {
    let result = result(
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":2345,"total_cost_usd":0.03,
        "usage":{"input_tokens":100,"cache_read_input_tokens":12000,"output_tokens":345},"result":"hi"}"#,
    );
    let context = Context {
        model: Some("claude-opus-4-8"),
        cost_before: 0.01,
        error: None,
    };
    let shown = plain(&lines(&result, &context));
    assert_eq!(
        shown,
        "\n— 2.3 s · 12.1k tokens in, 345 out · $0.0200 ($0.0300 in all) · claude-opus-4-8\n"
    );
}

#[test]
fn an_interrupt_is_no_failure() {
    let result = result(
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"duration_ms":100,
        "terminal_reason":"aborted_streaming","errors":["Request was aborted."]}"#,
    );
    assert!(was_interrupted(&result));
    assert_eq!(
        plain(&lines(&result, &Context::default())),
        "\n■ Interrupted.\n— 0.1 s\n"
    );
}

#[test]
fn a_refused_key_says_how_to_sign_in() {
    let result = result(
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"duration_ms":61000,
        "result":"Invalid API key · Fix external API key"}"#,
    );
    let error = AssistantError::AuthenticationFailed;
    let context = Context {
        error: Some(&error),
        ..Context::default()
    };
    let shown = plain(&lines(&result, &context));
    assert!(
        shown.contains("✗ The turn failed: Invalid API key · Fix external API key\n"),
        "{shown}"
    );
    assert!(
        shown.contains("type /login, or set ANTHROPIC_API_KEY"),
        "{shown}"
    );
    assert!(shown.ends_with("— 1 min 01 s\n"), "{shown}");
}

#[test]
fn reaching_the_most_turns_says_how_to_go_on() {
    let result = result(
        r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (2)"]}"#,
    );
    let shown = plain(&lines(&result, &Context::default()));
    assert!(
        shown.contains("Reached maximum number of turns (2)"),
        "{shown}"
    );
    assert!(shown.contains("`go on`"), "{shown}");
}
