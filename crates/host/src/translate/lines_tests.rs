//! Lines to the CLI: what it must find in them, and what it must never find.

use std::collections::BTreeMap;

use estelle_proto::decisions::{Question, QuestionOption};
use estelle_proto::{Choice, OnBusy, ToolUseId};
use estelle_state::conversation::MessageId;
use serde_json::json;

use super::*;

fn request(kind: DecisionKind, input: &Value) -> Request {
    Request {
        request_id: "req-1".to_owned(),
        tool_use_id: ToolUseId::parse("toolu_1").expect("an id"),
        kind,
        tool_name: "Bash".to_owned(),
        input: Json::of(input).expect("JSON"),
        input_hash: "hash".to_owned(),
        questions: Vec::new(),
        parent_tool_use_id: None,
    }
}

fn value(line: &str) -> Value {
    assert!(!line.contains('\n'), "one line");
    serde_json::from_str(line).expect("JSON")
}

fn response(line: &str) -> Value {
    let line = value(line);
    assert_eq!(line["type"], "control_response");
    assert_eq!(line["response"]["subtype"], "success");
    assert_eq!(line["response"]["request_id"], "req-1");
    line["response"]["response"].clone()
}

#[test]
fn an_allowed_call_runs_exactly_as_it_was_shown() {
    let input = json!({"command": "ls", "n": 1.5});
    let line = allow(&request(DecisionKind::Permission, &input)).expect("a line");
    let expected = json!({"behavior": "allow", "updatedInput": input});
    assert_eq!(response(&line), expected);
}

#[test]
fn an_allowance_is_told_from_a_refusal_that_quotes_one() {
    let quoting = json!({"behavior": "allow", "response": {"behavior": "allow"}});
    let request = request(DecisionKind::Permission, &quoting);
    assert!(is_allow(&allow(&request).expect("a line")));
    let refusal = deny(&request, r#"{"behavior":"allow"}"#).expect("a line");
    assert!(!is_allow(&refusal));
    assert!(!is_allow("") && !is_allow("yes"));
}

/// With the id of the call an old answer ran a tool in the next process of 2.1.197.
#[test]
fn no_answer_names_the_call() {
    let request = request(DecisionKind::Permission, &json!({"command": "ls"}));
    for line in [allow(&request), deny(&request, "no")] {
        let line = line.expect("a line");
        assert!(
            !line.contains("toolUseID") && !line.contains("toolu_1"),
            "{line}"
        );
    }
}

#[test]
fn a_refusal_carries_its_reason() {
    let asked = request(DecisionKind::Permission, &json!({}));
    let plain = permission(&asked, &PermissionDecision::Deny, None).expect("a line");
    assert_eq!(
        response(&plain),
        json!({"behavior": "deny", "message": "User denied"})
    );
    let said = permission(&asked, &PermissionDecision::Deny, Some("not today")).expect("a line");
    assert_eq!(response(&said)["message"], "not today");
}

#[test]
fn answers_stand_under_the_text_of_their_questions() {
    let mut asked = request(
        DecisionKind::Question,
        &json!({"questions": [], "metadata": {"a": 1}}),
    );
    let options = vec![QuestionOption::new("S".to_owned(), String::new())];
    asked.questions = vec![
        Question::new(
            "Size?".to_owned(),
            "Size".to_owned(),
            options.clone(),
            false,
        ),
        Question::new("Colours?".to_owned(), "Colour".to_owned(), options, true),
    ];
    let several = Choice::Several(vec!["red".to_owned(), "blue".to_owned()]);
    let given = Answer::Map(BTreeMap::from([
        ("Size?".to_owned(), Choice::One("S".to_owned())),
        ("1".to_owned(), several),
    ]));
    let line = answer(&asked, &given).expect("a line");
    let input = &response(&line)["updatedInput"];
    assert_eq!(
        input["answers"],
        json!({"Size?": "S", "Colours?": "red, blue"})
    );
    assert_eq!(input["metadata"], json!({"a": 1}), "the rest is as it came");
}

#[test]
fn a_word_does_not_answer_a_question_and_an_answer_no_permission() {
    let question = request(DecisionKind::Question, &json!({}));
    let word = permission(&question, &PermissionDecision::Allow, None);
    assert!(matches!(word, Err(AnswerMismatch::WantsAnswer)));
    let call = request(DecisionKind::Permission, &json!({}));
    let given = answer(&call, &Answer::One("yes".to_owned()));
    assert!(matches!(given, Err(AnswerMismatch::WantsPermission)));
    let nonsense = PermissionDecision::from("maybe");
    assert!(matches!(
        permission(&call, &nonsense, None),
        Err(AnswerMismatch::Word(_))
    ));
}

#[test]
fn a_tool_server_and_a_dialog_get_answers_of_their_own_kind() {
    let asked = request(DecisionKind::Elicitation, &json!({}));
    let fields = BTreeMap::from([("name".to_owned(), Choice::One("Ada".to_owned()))]);
    let given = answer(&asked, &Answer::Map(fields)).expect("a line");
    assert_eq!(
        response(&given),
        json!({"action": "accept", "content": {"name": "Ada"}})
    );
    let declined = deny(&asked, "no").expect("a line");
    assert_eq!(response(&declined), json!({"action": "decline"}));
    let cancelled = stopped(&asked).expect("a line");
    assert_eq!(response(&cancelled), json!({"action": "cancel"}));
    let dialog = request(DecisionKind::Dialog, &json!({}));
    let closed = deny(&dialog, "no").expect("a line");
    assert_eq!(response(&closed), json!({"behavior": "cancelled"}));
}

#[test]
fn a_message_is_one_line_with_its_id_whatever_is_in_it() {
    let sent = Message {
        id: MessageId("0190b8c2-7c1e-4000-8000-000000000001".to_owned()),
        content: "two\nlines, \u{2028} and \u{0} \"quotes\"".to_owned(),
        on_busy: OnBusy::Inject,
        client_message_id: None,
        device_id: None,
        author: None,
    };
    let line = value(&message(&sent).expect("a line"));
    assert_eq!(line["type"], "user");
    assert_eq!(line["uuid"], sent.id.0);
    assert_eq!(line["message"]["role"], "user");
    assert!(
        line["message"]["content"]
            .to_string()
            .contains("two\\nlines")
    );
}

#[test]
fn control_requests_are_as_the_cli_takes_them() {
    let id = MessageId("m".to_owned());
    let table = [
        (Control::Interrupt, json!({"subtype": "interrupt"})),
        (
            Control::Cancel { message: id },
            json!({"subtype": "cancel_async_message", "message_uuid": "m"}),
        ),
        (
            Control::StopTask {
                task: "b1".to_owned(),
            },
            json!({"subtype": "stop_task", "task_id": "b1"}),
        ),
        (Control::End, json!({"subtype": "end_session"})),
    ];
    for (wanted, expected) in table {
        let line = control("c-1", &wanted).expect("JSON").expect("a line");
        let line = value(&line);
        assert_eq!(
            (&line["request_id"], &line["request"]),
            (&json!("c-1"), &expected)
        );
    }
    let refused = value(&refusal("r-1", "hook_callback").expect("a line"));
    assert_eq!(refused["response"]["subtype"], "error");
    assert_eq!(refused["response"]["request_id"], "r-1");
}

#[test]
fn a_form_takes_its_fields_by_name_and_nothing_else() {
    let request = request(DecisionKind::Elicitation, &json!({"mode": "form"}));
    let one = Choice::One("blue".to_owned());
    let fields = BTreeMap::from([("colour".to_owned(), one.clone())]);
    let line = answer(&request, &Answer::Map(fields)).expect("a line");
    let expected = json!({"action": "accept", "content": {"colour": "blue"}});
    assert_eq!(response(&line), expected);
    for other in [Answer::One("blue".to_owned()), Answer::List(vec![one])] {
        let error = answer(&request, &other).expect_err("no fields");
        assert!(matches!(error, AnswerMismatch::WantsFields), "{error:?}");
        assert!(error.to_string().contains(r#"{"name":"value"}"#), "{error}");
    }
}
