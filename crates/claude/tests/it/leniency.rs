//! What is odd in a line is reported, kept and survives; nothing else suffers from it.

use estelle_claude::line::Line;
use estelle_claude::wire::stream::{Delta, StreamEvent};
use estelle_claude::wire::{
    AskUserQuestion, Body, ContentBlock, ControlResponse, HookInput, Json, Malformed, Message,
    PermissionMode, PermissionResult, Reason, Request, ResultMessage, StopReason, SystemMessage,
    UserMessage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::transcripts::{value, written};

fn parse(text: &str) -> Message {
    Message::parse(Line::from(text))
}

/// Reads, writes back, and expects the same value.
fn faithful(text: &str) -> Message {
    let message = parse(text);
    assert_eq!(written(&message.body), value(text));
    message
}

fn problems(message: &Message) -> Vec<String> {
    message
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_malformed_optional_field_is_reported_and_kept() {
    let message = faithful(
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":"three","usage":{"input_tokens":-1,"output_tokens":2}}"#,
    );
    assert_eq!(
        problems(&message),
        [
            "num_turns: expected a number",
            "usage.input_tokens: number out of range"
        ]
    );
    let Body::Result(ResultMessage::Success(result)) = &message.body else {
        unreachable!("{message:?}")
    };
    assert_eq!(result.num_turns, None);
    assert_eq!(
        result.extra.get("num_turns").map(Json::as_str),
        Some("\"three\"")
    );
    assert_eq!(
        result.usage.as_ref().and_then(|usage| usage.output_tokens),
        Some(2)
    );
}

#[test]
fn a_missing_required_field_makes_the_member_unknown_and_nothing_else() {
    let message = faithful(
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text"},{"type":"text","text":"ok"}]},"uuid":"u"}"#,
    );
    assert_eq!(
        problems(&message),
        ["message.content[0].text: required field is missing"]
    );
    let Body::Assistant(assistant) = &message.body else {
        unreachable!("{message:?}")
    };
    assert!(assistant.message.content[0].is_unknown());
    assert_eq!(assistant.text(), "ok");
    assert_eq!(message.uuid(), Some("u"));
}

#[test]
fn a_line_without_what_its_type_requires_is_unknown_with_its_raw_json() {
    let text = r#"{"type":"user","message":{"content":"hi"},"session_id":"s"}"#;
    let message = faithful(text);
    assert_eq!(
        problems(&message),
        ["message.role: required field is missing"]
    );
    let Body::Unknown(unknown) = &message.body else {
        unreachable!("{message:?}")
    };
    assert_eq!(
        (unknown.kind.as_str(), unknown.raw.as_str()),
        ("user", text)
    );
    assert_eq!(message.session_id(), Some("s"));
}

#[test]
fn unknown_types_subtypes_and_words_are_visible_and_kept() {
    for (text, kind) in [
        (
            r#"{"type":"brand_new","subtype":"thing","x":[1,{"y":null}]}"#,
            "brand_new/thing",
        ),
        (
            r#"{"type":"system","subtype":"brand_new","x":1}"#,
            "system/brand_new",
        ),
        (
            r#"{"type":"result","subtype":"error_brand_new","is_error":true}"#,
            "result/error_brand_new",
        ),
        (
            r#"{"type":"stream_event","event":{"type":"brand_new"}}"#,
            "stream_event/brand_new",
        ),
        (
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"brand_new"}}"#,
            "control_request/brand_new",
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"brand_new","request_id":"r"}}"#,
            "control_response/brand_new",
        ),
        (r#"{"type":7}"#, ""),
        (r#"{"no":"type"}"#, ""),
    ] {
        let message = faithful(text);
        assert!(!message.kind().is_known(), "{text}");
        assert_eq!(message.kind().to_string(), kind);
        assert_eq!(message.diagnostics, [], "{text}");
    }
}

#[test]
fn unknown_blocks_deltas_stop_reasons_and_fields_do_not_hide_the_rest() {
    let message = faithful(
        r#"{"type":"assistant","brand":{"new":true},"message":{"role":"assistant","stop_reason":"bored","content":[{"type":"hologram","depth":3},{"type":"text","text":"t","glow":1}]}}"#,
    );
    let Body::Assistant(assistant) = &message.body else {
        unreachable!("{message:?}")
    };
    assert_eq!(
        assistant.extra.get("brand").map(Json::as_str),
        Some(r#"{"new":true}"#)
    );
    assert_eq!(
        assistant.message.stop_reason,
        Some(StopReason::Unknown("bored".to_owned()))
    );
    let ContentBlock::Unknown(block) = &assistant.message.content[0] else {
        unreachable!()
    };
    assert_eq!(
        (block.kind.as_str(), block.raw.as_str()),
        ("hologram", r#"{"type":"hologram","depth":3}"#)
    );
    let ContentBlock::Text(block) = &assistant.message.content[1] else {
        unreachable!()
    };
    assert_eq!(block.extra.get("glow").map(Json::as_str), Some("1"));

    let message = faithful(
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"smell_delta","smell":"rose"}}}"#,
    );
    let Body::StreamEvent(event) = &message.body else {
        unreachable!()
    };
    let StreamEvent::ContentBlockDelta(event) = &event.event else {
        unreachable!()
    };
    assert!(matches!(&event.delta, Delta::Unknown(unknown) if unknown.kind == "smell_delta"));
}

#[test]
fn an_unknown_hook_event_is_passed_on() {
    let message = faithful(
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"h","input":{"hook_event_name":"FullMoon","session_id":"s"}}}"#,
    );
    let Body::ControlRequest(control) = &message.body else {
        unreachable!()
    };
    let Request::HookCallback(hook) = &control.request else {
        unreachable!()
    };
    assert!(matches!(&hook.input, HookInput::Unknown(unknown) if unknown.kind == "FullMoon"));
    assert_eq!(hook.input.event().as_str(), "FullMoon");
}

#[test]
fn null_and_absent_stay_apart() {
    for text in [
        r#"{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}"#,
        r#"{"type":"system","subtype":"status","permissionMode":"plan"}"#,
    ] {
        let message = faithful(text);
        let Body::System(SystemMessage::Status(status)) = &message.body else {
            unreachable!()
        };
        assert_eq!(status.status, None);
        assert_eq!(status.permission_mode, Some(PermissionMode::Plan));
    }
}

#[test]
fn of_a_field_given_twice_the_last_one_counts() {
    for text in [
        r#"{"type":"keep_alive","x":1,"x":2}"#,
        r#"{"type":"system","subtype":"status","status":7,"status":"requesting"}"#,
        r#"{"type":"system","subtype":"status","status":"requesting","status":7}"#,
        r#"{"type":"system","subtype":"status","status":"requesting","status":null}"#,
        r#"{"type":"system","subtype":"status","status":null,"status":"requesting"}"#,
    ] {
        faithful(text);
    }
}

#[test]
fn what_is_no_json_object_is_malformed_and_still_has_its_line() {
    for (text, expected) in [
        ("", Malformed::Blank),
        (" \t\r", Malformed::Blank),
        ("{\"type\":\"user\", broken", Malformed::NotJson),
        ("{} {}", Malformed::NotJson),
        ("\u{feff}{}", Malformed::NotJson),
        ("null", Malformed::NotAnObject),
        ("[]", Malformed::NotAnObject),
        ("42", Malformed::NotAnObject),
        ("\"str\"", Malformed::NotAnObject),
    ] {
        let message = parse(text);
        assert_eq!(message.body, Body::Malformed(expected), "{text:?}");
        assert_eq!(message.raw(), text);
        assert_eq!((message.session_id(), message.uuid()), (None, None));
    }
}

#[test]
fn white_space_and_order_of_keys_do_not_matter() {
    let message = faithful(
        " { \"event\" : { \"index\" : 3 , \"delta\" : { \"text\" : \"hi\" , \"type\" : \"text_delta\" } , \"type\" : \"content_block_delta\" } , \"type\" : \"stream_event\" } \r",
    );
    let Body::StreamEvent(event) = &message.body else {
        unreachable!("{message:?}")
    };
    assert_eq!(event.text_delta(), Some("hi"));
}

#[test]
fn half_an_emoji_is_replaced_and_the_raw_line_keeps_it() {
    let text = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83d \ud83d\ude00"}}}"#;
    let message = parse(text);
    let Body::StreamEvent(event) = &message.body else {
        unreachable!()
    };
    assert_eq!(event.text_delta(), Some("a\u{fffd} 😀"));
    assert_eq!(message.raw(), text);
}

#[test]
fn a_line_nested_without_end_does_not_exhaust_the_stack() {
    let depth = 20_000;
    let block = r#"{"type":"tool_result","tool_use_id":"t","content":["#.repeat(depth);
    let text = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{block}{}]}}}}"#,
        "]}".repeat(depth)
    );
    let message = parse(&text);
    assert!(matches!(message.body, Body::User(_)));
    assert_eq!(message.diagnostics[0].reason, Reason::TooDeep);
    assert_eq!(
        serde_json::to_string(&message.body)
            .expect("can be written")
            .len(),
        text.len()
    );
}

#[test]
fn answers_never_carry_the_field_that_revives_old_permissions() {
    let input = Json::parse(r#"{"b":1,"a":1.50}"#).expect("json");
    let allow = serde_json::to_string(&PermissionResult::allow(input)).expect("json");
    assert_eq!(
        allow,
        r#"{"behavior":"allow","updatedInput":{"b":1,"a":1.50}}"#
    );
    let deny = serde_json::to_string(&PermissionResult::deny_and_interrupt("no")).expect("json");
    assert_eq!(
        deny,
        r#"{"behavior":"deny","message":"no","interrupt":true}"#
    );
    let response = ControlResponse::success("r", Json::parse(&allow).expect("json"));
    assert!(
        !serde_json::to_string(&response)
            .expect("json")
            .contains("toolUseID")
    );
}

#[test]
fn questions_are_answered_by_their_text_and_keep_what_came_with_them() {
    let input = Json::parse(
        r#"{"questions":[{"question":"Which sizes?","header":"Size","options":[{"label":"S","description":"small"},{"label":"L","description":"large"}],"multiSelect":true}],"new":1}"#,
    )
    .expect("json");
    let question = AskUserQuestion::from_input(&input).expect("a question");
    assert_eq!(question.questions[0].multi_select, Some(true));
    let answers = [(
        "Which sizes?".to_owned(),
        vec!["S".to_owned(), "L".to_owned()].into(),
    )];
    let PermissionResult::Allow(allow) = question.answered(answers).expect("an answer") else {
        unreachable!()
    };
    let mut expected = input.value().expect("json");
    expected["answers"] = json!({"Which sizes?": "S, L"});
    assert_eq!(allow.updated_input.value().expect("json"), expected);
}

#[test]
fn a_prompt_has_a_uuid_and_the_fields_the_cli_needs() {
    let prompt = serde_json::to_string(&UserMessage::prompt("hi").with_uuid("u-1")).expect("json");
    let expected = r#"{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null,"session_id":"","uuid":"u-1"}"#;
    assert_eq!(prompt, expected);
    assert_ne!(
        UserMessage::prompt("hi").uuid,
        UserMessage::prompt("hi").uuid
    );
}

/// Any JSON, with the wire's own names and words among the keys and strings, so that readers are reached.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type"),
        Just("subtype"),
        Just("user"),
        Just("system"),
        Just("status"),
        Just("message"),
        Just("content"),
        Just("result"),
        Just("success"),
        Just("stream_event"),
        Just("event"),
        Just("text"),
        Just("assistant"),
        Just("control_request"),
        Just("request"),
        Just("can_use_tool"),
        Just("request_id"),
        Just("index"),
        Just("usage"),
        Just("init"),
        Just("session_id"),
        Just("hook_callback"),
        Just("input"),
        Just("hook_event_name"),
        Just("Stop"),
        Just("tool_result"),
        Just("tool_use_id"),
        Just("role"),
        Just("x\n\"y"),
        Just("is_error"),
    ]
    .prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(word.clone(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_without_panic_and_written_back_equal(json in any_json()) {
        let text = json.to_string();
        let message = parse(&text);
        if json.is_object() {
            prop_assert_eq!(written(&message.body), json);
        } else {
            prop_assert_eq!(message.body, Body::Malformed(Malformed::NotAnObject));
        }
    }

    #[test]
    fn any_text_is_read_without_panic(text in ".*") {
        let message = parse(&text);
        prop_assert_eq!(message.raw(), text);
    }
}
