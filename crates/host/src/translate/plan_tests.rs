//! Lines of the CLI about its plan and about failures, as both releases print them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each test looks for a few kinds and passes over the others"
)]

use estelle_claude::line::Line;
use estelle_claude::wire::Message;
use estelle_proto::Generation;
use serde_json::{Value, json};

use super::super::Translator;
use super::*;

/// All events of lines that one process printed.
fn told(lines: &[Value]) -> Vec<ClaudeEvent> {
    let mut translator = Translator::new(Generation(1));
    let mut events = Vec::new();
    for line in lines {
        let message = Message::parse(Line::from(line.to_string()));
        let found = translator.translate(&message, 0);
        events.extend(found.durable.into_iter().map(|durable| durable.event));
        events.extend(found.passing);
    }
    events
}

fn rejected() -> Value {
    json!({"type": "rate_limit_event", "uuid": "u", "session_id": "s", "rate_limit_info": {
        "status": "rejected", "resetsAt": 1_794_829_222, "rateLimitType": "five_hour",
        "overageStatus": "rejected", "overageDisabledReason": "org_level_disabled", "isUsingOverage": false,
        "unifiedWindows": {"five_hour": {"utilization": 1, "resetsAt": 1_794_829_222},
                           "seven_day": {"utilization": 0.4, "resetsAt": 1_795_000_000}}}})
}

fn refused(word: &str) -> Value {
    json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null, "error": word,
        "message": {"id": "m", "model": "<synthetic>", "role": "assistant", "content": []}})
}

fn failed(status: &Value, text: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": true, "api_error_status": status,
        "result": text, "session_id": "s"})
}

/// The cause and status of each result, and that the error beside it says the same.
fn whys(lines: &[Value]) -> Vec<(Option<Cause>, Option<u64>)> {
    let events = told(lines);
    let results = events.iter().filter_map(|event| match event {
        ClaudeEvent::Result(result) => Some((result.cause.clone(), result.api_status)),
        _ => None,
    });
    let errors = events.iter().filter_map(|event| match event {
        ClaudeEvent::Error(error) => Some((error.cause.clone(), error.api_status)),
        _ => None,
    });
    let results: Vec<_> = results.collect();
    assert_eq!(
        errors.collect::<Vec<_>>(),
        results
            .iter()
            .filter(|(cause, _)| cause.is_some())
            .cloned()
            .collect::<Vec<_>>()
    );
    results
}

#[test]
fn the_window_that_is_in_the_way_is_told_whenever_it_is_another_one() {
    let mut opus = rejected();
    opus["rate_limit_info"]["rateLimitType"] = json!("seven_day_opus");
    let mut more_used = rejected();
    more_used["rate_limit_info"]["unifiedWindows"]["seven_day"]["utilization"] = json!(0.5);
    let events = told(&[rejected(), opus, rejected(), more_used]);
    let refusing = events.iter().map(|event| match event {
        ClaudeEvent::Limits(told) => {
            let mut refusing = told.limits.iter().filter(|limit| is_refusing(limit));
            let window = refusing.next().map(|limit| limit.window.as_str());
            assert_eq!(refusing.count(), 0, "{told:?}");
            window
        }
        other => panic!("{other:?}"),
    });
    let (five_hour, opus) = (Some("five_hour"), Some("seven_day_opus"));
    assert_eq!(
        refusing.collect::<Vec<_>>(),
        [five_hour, opus, five_hour, five_hour]
    );
}

#[test]
fn windows_are_told_with_their_reset_and_only_when_something_changed() {
    let events = told(&[rejected(), rejected()]);
    let [ClaudeEvent::Limits(told)] = &events[..] else {
        panic!("{events:?}")
    };
    let [five_hour, seven_day] = &told.limits[..] else {
        panic!("{told:?}")
    };
    assert_eq!(five_hour.window, "five_hour");
    assert_eq!(five_hour.status, LimitStatus::Rejected);
    assert_eq!(five_hour.resets_at, Some(Timestamp(1_794_829_222_000)));
    assert_eq!(five_hour.utilization, Some(1.0));
    assert_eq!(seven_day.status, LimitStatus::Allowed);
    assert_eq!(seven_day.utilization, Some(0.4));
}

#[test]
fn use_is_told_by_whole_percents() {
    let used = |share: f64| {
        json!({"type": "rate_limit_event", "rate_limit_info":
        {"status": "allowed", "rateLimitType": "five_hour", "resetsAt": 1_794_829_222, "utilization": share}})
    };
    assert_eq!(told(&[used(0.501), used(0.502), used(0.503)]).len(), 1);
    assert_eq!(told(&[used(0.50), used(0.51), used(0.52)]).len(), 3);
}

#[test]
fn numbers_that_cannot_be_are_left_out() {
    let line = json!({"type": "rate_limit_event", "rate_limit_info":
        {"status": "wibble", "rateLimitType": "x".repeat(500), "resetsAt": -5, "utilization": 7.5}});
    let events = told(&[line]);
    let [ClaudeEvent::Limits(told)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(told.limits[0].window.len(), WINDOW_CHARS);
    assert_eq!(told.limits[0].status, LimitStatus::Unknown("wibble".into()));
    assert_eq!(told.limits[0].resets_at, None);
    assert_eq!(told.limits[0].utilization, Some(1.0));
}

#[test]
fn a_429_is_a_used_up_plan_only_if_the_plan_says_so() {
    let used_up = (Some(Cause::UsageLimit), Some(429));
    let busy = (Some(Cause::RateLimit), Some(429));
    let fails = || failed(&json!(429), "API Error: Request rejected (429)");
    assert_eq!(
        whys(&[refused("rate_limit"), fails()]),
        std::slice::from_ref(&busy)
    );
    // The window is named once; it stays used up until the CLI says otherwise.
    assert_eq!(
        whys(&[rejected(), refused("rate_limit"), fails(), fails()]),
        [used_up.clone(), used_up.clone()]
    );
    let allowed = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}});
    assert_eq!(whys(&[rejected(), allowed, fails()]), [busy]);
    // A host that came later has only the text.
    let text = "You've hit your session limit · resets 11:38am (UTC)";
    assert_eq!(whys(&[failed(&json!(429), text)]), [used_up]);
}

#[test]
fn each_failure_has_its_cause() {
    let cases = [
        ("authentication_failed", json!(401), Cause::Unauthorized),
        ("authentication_failed", json!(403), Cause::Unauthorized),
        ("model_not_found", json!(404), Cause::ModelNotFound),
        ("invalid_request", json!(400), Cause::InvalidRequest),
        ("billing_error", json!(402), Cause::Billing),
        ("server_error", json!(500), Cause::Server),
        ("server_error", json!(529), Cause::Overloaded),
        ("something_new", Value::Null, Cause::Other),
    ];
    for (word, status, cause) in cases {
        let number = status.as_u64();
        let found = whys(&[refused(word), failed(&status, "API Error")]);
        assert_eq!(found, [(Some(cause), number)], "{word}");
    }
    let text = "API Error: Unable to connect to API (ConnectionRefused)";
    let found = whys(&[refused("server_error"), failed(&Value::Null, text)]);
    assert_eq!(found, [(Some(Cause::Network), None)]);
}

#[test]
fn a_turn_that_was_cut_short_says_by_what_and_one_that_worked_says_nothing() {
    let cut = |subtype: &str, reason: &str| {
        json!({"type": "result", "subtype": subtype, "is_error": true,
        "errors": ["no"], "terminal_reason": reason, "session_id": "s"})
    };
    let worked = json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok"});
    let found = whys(&[
        cut("error_max_budget_usd", "max_budget"),
        cut("error_max_turns", "max_turns"),
        cut("error_during_execution", "aborted_tools"),
        cut("error_during_execution", "boom"),
        refused("server_error"),
        worked,
    ]);
    let causes: Vec<_> = found.into_iter().map(|(cause, _)| cause).collect();
    let expected = [Cause::Budget, Cause::MaxTurns, Cause::Aborted, Cause::Other];
    assert_eq!(causes[..4], expected.map(Some));
    assert_eq!(causes[4], None);
}

#[test]
fn a_retry_is_passing_and_says_when_and_why() {
    let line = json!({"type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 10,
        "retry_delay_ms": 592.2, "error_status": 529, "error": "overloaded", "session_id": "s", "uuid": "u"});
    let events = told(&[line]);
    let [ClaudeEvent::ApiRetry(retry)] = &events[..] else {
        panic!("{events:?}")
    };
    assert!(events[0].is_passing());
    assert_eq!((retry.attempt, retry.max_retries), (2, Some(10)));
    assert_eq!((retry.delay_ms, retry.api_status), (Some(592), Some(529)));
    assert_eq!(retry.cause, Cause::Overloaded);
    let line = json!({"type": "system", "subtype": "api_retry", "attempt": 1, "error_status": null, "error": "unknown"});
    let [ClaudeEvent::ApiRetry(retry)] = &told(&[line])[..] else {
        panic!("no retry")
    };
    assert_eq!(retry.cause, Cause::Network);
}
