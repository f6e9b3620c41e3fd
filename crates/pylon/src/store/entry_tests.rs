//! What each event looks like in history.

use estelle_proto::decisions::{DecisionState, PermissionDecision, Question};
use estelle_proto::events::{ClaudeAborted, ErrorEvent, Init, ModelShare};
use estelle_proto::runs::{PauseReason, ProcessPaused, ProcessResumed, SessionReset};
use estelle_proto::{
    Author, Cause, ClaudeSessionId, ConversationStatus, DeviceId, DeviceKey, Generation, Usage,
};
use serde_json::{Value, json};

use super::*;

fn beside(call: Call) -> Beside<'static> {
    Beside {
        call,
        full_result: None,
        full_images: &[],
    }
}

/// The entry of an event as apps get it, without its time and number.
fn shown(event: impl Into<ClaudeEvent>, call: Call) -> Option<Value> {
    let entry = entry(&event.into(), Timestamp(5), Seq(7), beside(call))?;
    let mut value = serde_json::to_value(entry.message).unwrap();
    let object = value.as_object_mut().unwrap();
    assert_eq!(object.remove("timestamp"), Some(json!(5)));
    assert_eq!(object.remove("seq"), Some(json!(7)));
    Some(value)
}

fn fresh(event: impl Into<ClaudeEvent>) -> Option<Value> {
    shown(event, Call::Unseen)
}

fn id(text: &str) -> ToolUseId {
    ToolUseId::parse(text).unwrap()
}

#[test]
fn what_was_said_is_shown_with_who_said_it() {
    let message = UserMessage {
        device_id: Some(DeviceId(100)),
        author: Some(Author::new(
            DeviceKey::parse("phone").unwrap(),
            "Pixel".to_owned(),
        )),
        ..UserMessage::new("안녕".to_owned(), Timestamp(1))
    };
    let user = json!({
        "type": "text", "role": "user", "content": "안녕", "deviceId": 100,
        "author": {"deviceKey": "phone", "name": "Pixel"},
    });
    assert_eq!(fresh(message), Some(user));
    let text = TextComplete {
        parent_tool_use_id: Some(id("task")),
        ..TextComplete::new("hello".to_owned())
    };
    let assistant =
        json!({"type": "text", "role": "assistant", "content": "hello", "parentToolUseId": "task"});
    assert_eq!(fresh(text), Some(assistant));
    let thought = ThinkingComplete::new("hm".to_owned());
    let kept = json!({"type": "thinking", "content": "hm"});
    assert_eq!(fresh(thought), Some(kept));
}

#[test]
fn a_call_and_its_return_are_two_entries_with_one_id() {
    let call = ToolInfo {
        tool_use_id: Some(id("c")),
        ..ToolInfo::new(
            "Read".to_owned(),
            Json::parse(r#"{"file_path":"/a"}"#).unwrap(),
        )
    };
    let start = json!({"type": "tool_start", "toolName": "Read", "toolInput": {"file_path": "/a"}, "toolUseId": "c"});
    assert_eq!(fresh(call), Some(start));
    let back = ToolComplete {
        tool_use_id: Some(id("c")),
        error: Some("e".repeat(300)),
        ..ToolComplete::new("Read".to_owned(), false, "한".repeat(2000))
    };
    let end = json!({
        "type": "tool_complete", "toolName": "Read", "success": false, "toolUseId": "c",
        "output": "한".repeat(1000), "error": "e".repeat(200), "truncated": true,
    });
    assert_eq!(fresh(back), Some(end));
}

#[test]
fn a_cut_call_without_an_id_gets_one() {
    let back = ToolComplete::new("Read".to_owned(), true, "x".repeat(1001));
    let made = entry(&back.into(), Timestamp(5), Seq(7), beside(Call::Unseen)).unwrap();
    let shown = serde_json::to_value(&made.message).unwrap();
    assert_eq!(shown["truncated"], json!(true));
    let (call, part) = made.part.unwrap();
    assert_eq!(call, id("seq_7"));
    assert_eq!(
        part,
        Part::Output {
            whole: Some("x".repeat(1001)),
            images: Vec::new(),
        }
    );
    let short = ToolComplete::new("Read".to_owned(), true, "x".to_owned());
    let made = entry(&short.into(), Timestamp(5), Seq(7), beside(Call::Unseen)).unwrap();
    assert_eq!(made.part, None);
    let shown = serde_json::to_value(&made.message).unwrap();
    assert_eq!(shown.get("truncated"), None);
    let input = json!({"content": "x".repeat(3000)});
    let call = ToolInfo::new("Write".to_owned(), Json::of(&input).unwrap());
    assert_eq!(fresh(call).unwrap()["truncated"], json!(true));
}

#[test]
fn a_question_is_shown_once() {
    let question = Question::new("Which?".to_owned(), "Choice".to_owned(), Vec::new(), false);
    let asked = QuestionAsked::new(id("q"), vec![question]);
    let value = fresh(asked.clone()).unwrap();
    assert_eq!(
        (&value["toolName"], &value["toolUseId"]),
        (&json!("AskUserQuestion"), &json!("q"))
    );
    assert_eq!(value["toolInput"]["questions"][0]["question"], "Which?");
    assert_eq!(shown(asked, Call::Shown), None);
}

#[test]
fn a_permission_is_shown_by_its_call_and_its_answer() {
    let asked = PermissionAsked {
        reason: Some("the folder is new".to_owned()),
        ..PermissionAsked::new("Trust".to_owned(), Json::parse("{}").unwrap(), id("p"))
    };
    assert_eq!(shown(asked.clone(), Call::Shown), None);
    let remark =
        json!({"type": "system", "subtype": "decision", "content": "Trust: the folder is new"});
    assert_eq!(fresh(asked), Some(remark));

    let answered = |state, decision| {
        let answer = DecisionAnswered {
            decision,
            device_id: Some(DeviceId(3)),
            ..DecisionAnswered::new(id("p"), state)
        };
        fresh(answer).map(|value| value["content"].as_str().unwrap().to_owned())
    };
    let deny = Some(PermissionDecision::Deny);
    assert_eq!(
        answered(DecisionState::Answered, deny.clone()).as_deref(),
        Some("denied")
    );
    assert_eq!(
        answered(DecisionState::Answered, None).as_deref(),
        Some("answered")
    );
    assert!(answered(DecisionState::Void, None).is_some());
    assert_eq!(answered(DecisionState::Delivered, deny.clone()), None);
    assert_eq!(answered(DecisionState::Settled, deny), None);
}

#[test]
fn another_session_is_divided_from_the_last() {
    let session = ClaudeSessionId::parse("a").unwrap();
    assert_eq!(
        fresh(Init::new(session, "opus".to_owned(), Vec::new())),
        None
    );
    let reset = |reason: &str| fresh(SessionReset::new(reason.to_owned())).unwrap();
    assert_eq!(reset("new_session")["subtype"], "divider");
    assert_ne!(
        reset("new_session")["content"],
        reset("resume_failed")["content"]
    );
}

#[test]
fn results_errors_and_breaks_are_shown() {
    let turn = TurnResult {
        stop_reason: Some("end_turn".to_owned()),
        models: Some(vec![ModelShare::new(
            "opus".to_owned(),
            0.25,
            Usage::new(1, 2, 3, 4),
        )]),
        ..TurnResult::new("success".to_owned(), 1500, 0.25, 2, Usage::new(1, 2, 3, 4))
    };
    let expected = json!({
        "type": "result", "subtype": "success", "stop_reason": "end_turn", "duration_ms": 1500,
        "total_cost_usd": 0.25, "num_turns": 2,
        "models": [{"model": "opus", "costUsd": 0.25, "usage": {
            "inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheCreationInputTokens": 4,
        }}],
        "usage": {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheCreationInputTokens": 4},
    });
    assert_eq!(fresh(turn), Some(expected));
    let error = json!({"type": "error", "content": "no", "role": "system"});
    assert_eq!(fresh(ErrorEvent::new("no".to_owned())), Some(error));
    let failure = ErrorEvent {
        cause: Some(Cause::Billing),
        exit_code: Some(1),
        ..ErrorEvent::new("no".to_owned())
    };
    let error = fresh(failure).unwrap();
    assert_eq!(error["cause"], "billing", "it says what to do");
    assert_eq!(error["exitCode"], 1);
    let aborted = json!({"type": "claudeAborted", "reason": "user"});
    assert_eq!(fresh(ClaudeAborted::new("user".to_owned())), Some(aborted));
    let damage = fresh(JournalDamage::new(10, 20, Generation(2))).unwrap();
    assert_eq!(damage["subtype"], "damage");
    let task = |status: &str| fresh(TaskUpdate::new("t".to_owned(), status.to_owned()));
    assert_eq!(task("running"), None);
    assert_eq!(
        task("failed").unwrap()["content"],
        "background task failed: t"
    );
}

#[test]
fn the_machinery_leaves_no_trace() {
    let state = estelle_proto::events::StateChanged::new(ConversationStatus::Idle);
    assert_eq!(fresh(state), None);
    let unknown: ClaudeEvent = serde_json::from_str(r#"{"type":"novelty","x":1}"#).unwrap();
    assert_eq!(fresh(unknown), None);
}

#[test]
fn a_process_that_was_stopped_and_one_that_went_on_are_shown() {
    let paused = |reason| fresh(ProcessPaused::new(reason, 30, true)).unwrap();
    for reason in [
        PauseReason::IdleTimeout,
        PauseReason::Manual,
        PauseReason::ServerShutdown,
    ] {
        let word = format!("paused_{}", reason.as_str());
        assert_eq!(paused(reason)["subtype"], word);
    }
    let resumed = |with| fresh(ProcessResumed::new(with)).unwrap()["subtype"].clone();
    assert_eq!(resumed(true), "resumed");
    assert_eq!(resumed(false), "resume");
}

/// The fixtures of the fold say which rows their numbered events make; the web app folds them to what the events gave.
#[test]
fn the_rows_of_the_fold_fixtures_are_those_of_their_events() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/fold");
    let mut checked = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let fixture: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let Some(expected) = fixture.get("rows") else {
            continue;
        };
        let mut head = Seq(0);
        let mut rows = Vec::new();
        for input in fixture["input"].as_array().unwrap() {
            let Some(seq) = input.get("seq").and_then(Value::as_u64).map(Seq) else {
                continue;
            };
            // An event that is told twice is taken in once.
            if seq <= head {
                continue;
            }
            head = seq;
            let event: ClaudeEvent = serde_json::from_value(input["event"].clone()).unwrap();
            let made = entry(&event, Timestamp(0), seq, beside(Call::Unseen));
            rows.extend(made.map(|made| serde_json::to_value(made.message).unwrap()));
        }
        assert_eq!(&Value::from(rows), expected, "{}", path.display());
        checked += 1;
    }
    assert!(checked >= 6, "the rows of the fixtures are gone");
}
