//! What people see when they are asked, and what their answers do.

use estelle_claude::wire::{Body, Message, PermissionResult, Request};
use serde_json::{Value, json};

use super::*;
use crate::chat::piece::plain;

fn ask(tool: &str, input: &Value, more: &Value) -> Ask {
    let mut request =
        json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "t1"});
    if let (Some(request), Some(more)) = (request.as_object_mut(), more.as_object()) {
        request.extend(more.clone());
    }
    let line =
        json!({"type": "control_request", "request_id": "r1", "request": request}).to_string();
    let Body::ControlRequest(control) = Message::parse(line.into()).body else {
        panic!("no control request");
    };
    let Request::CanUseTool(request) = control.request else {
        panic!("no permission request");
    };
    Ask::new(*request)
}

fn settled(reply: Reply) -> Value {
    let Reply::Settled(result, _) = reply else {
        panic!("not settled: {reply:?}");
    };
    serde_json::to_value(*result).unwrap()
}

fn bash() -> Ask {
    let suggestion = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}],
        "behavior": "allow", "destination": "localSettings"});
    let input = json!({"command": "rm -rf build\necho \u{1b}[2Jdone", "timeout": 9});
    ask(
        "Bash",
        &input,
        &json!({"permission_suggestions": [suggestion]}),
    )
}

#[test]
fn the_exact_input_is_shown_and_cannot_hide_anything() {
    let shown = plain(&bash().show());
    assert_eq!(
        shown,
        "\n? Claude asks to use Bash\n  │ rm -rf build\n  │ echo ␛[2Jdone\n  │ timeout: 9\n  y  yes, this once\n  \
         a  yes, and from now on in this conversation: allow Bash(rm:*)\n  n  no (n and why, for the model to read)\n"
    );
}

#[test]
fn yes_runs_the_input_as_it_was_asked() {
    let allowed = settled(bash().reply("Y"));
    assert_eq!(allowed["behavior"], "allow");
    assert_eq!(
        allowed["updatedInput"]["command"],
        "rm -rf build\necho \u{1b}[2Jdone"
    );
    assert_eq!(allowed.get("updatedPermissions"), None);
}

#[test]
fn always_holds_for_this_conversation_only() {
    let allowed = settled(bash().reply("a"));
    assert_eq!(allowed["updatedPermissions"][0]["destination"], "session");
    assert_eq!(
        allowed["updatedPermissions"][0]["rules"][0]["ruleContent"],
        "rm:*"
    );
    let mut without = ask("Bash", &json!({"command": "ls"}), &json!({}));
    assert!(matches!(without.reply("a"), Reply::Misunderstood(_)));
}

#[test]
fn no_tells_the_model_why() {
    assert_eq!(
        settled(bash().reply("n, use trash instead"))["message"],
        "use trash instead"
    );
    assert_eq!(settled(bash().reply("No"))["message"], "The user said no.");
    assert_eq!(settled(bash().reply("n"))["behavior"], "deny");
}

#[test]
fn anything_else_runs_nothing() {
    for line in ["", "yeah", "nothing", "yes please", "ja"] {
        assert!(
            matches!(bash().reply(line), Reply::Misunderstood(_)),
            "{line:?}"
        );
    }
}

#[test]
fn a_long_input_can_be_seen_whole() {
    let content = (0..100)
        .map(|n| format!("line {n}"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut ask = ask(
        "Write",
        &json!({"file_path": "/a", "content": content}),
        &json!({}),
    );
    let shown = plain(&ask.show());
    assert!(
        shown.contains("… 61 more lines; type s to see all"),
        "{shown}"
    );
    let Reply::Again(all) = ask.reply("s") else {
        panic!("s shows more");
    };
    assert!(plain(&all).contains("+ line 99"));
}

#[test]
fn a_plan_is_approved_or_sent_back() {
    let mut plan = ask(
        "ExitPlanMode",
        &json!({"plan": "# Plan\n1. do it"}),
        &json!({}),
    );
    let shown = plain(&plan.show());
    assert!(
        shown.starts_with(
            "\n? Claude asks to begin with this plan\n  │ # Plan\n  │ 1. do it\n  y  approve it\n"
        ),
        "{shown}"
    );
    assert_eq!(plan.prompt(), "Approve? y/n › ");
    assert_eq!(settled(plan.reply("no: add tests"))["message"], "add tests");
    assert_eq!(settled(plan.reply("y"))["behavior"], "allow");
}

#[test]
fn a_plan_that_stands_above_is_not_missed() {
    let plan = ask("ExitPlanMode", &json!({}), &json!({}));
    let shown = plain(&plan.show());
    assert!(
        shown.starts_with("\n? Claude asks to begin with this plan\n  y  approve it\n"),
        "{shown}"
    );
}

fn questions() -> Ask {
    let questions = json!({"questions": [
        {"question": "Which colour?", "header": "Colour", "multiSelect": false,
         "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}]},
        {"question": "Which sizes?", "multiSelect": true,
         "options": [{"label": "S"}, {"label": "M"}, {"label": "L"}]},
    ]});
    ask("AskUserQuestion", &questions, &json!({}))
}

#[test]
fn questions_are_asked_one_by_one() {
    let mut ask = questions();
    let shown = plain(&ask.show());
    assert!(
        shown.starts_with("\n? 1 of 2: Which colour?\n  1  Red  warm\n  2  Blue\n"),
        "{shown}"
    );
    let Reply::Again(next) = ask.reply("2") else {
        panic!("there is a second question");
    };
    assert!(plain(&next).contains("✓ Blue\n\n? 2 of 2: Which sizes?\n"));
    let answered = settled(ask.reply("1, 3"));
    assert_eq!(
        answered["updatedInput"]["answers"],
        json!({"Which colour?": "Blue", "Which sizes?": "S, L"})
    );
    assert_eq!(answered["updatedInput"]["questions"][0]["header"], "Colour");
}

#[test]
fn own_words_are_an_answer_and_a_wrong_number_is_not() {
    let mut ask = questions();
    assert!(matches!(ask.reply("9"), Reply::Misunderstood(_)));
    assert!(matches!(ask.reply("0"), Reply::Misunderstood(_)));
    assert!(matches!(ask.reply("teal, like the sea"), Reply::Again(_)));
    let answered = settled(ask.reply("=42"));
    assert_eq!(
        answered["updatedInput"]["answers"],
        json!({"Which colour?": "teal, like the sea", "Which sizes?": "42"})
    );
}

#[test]
fn questions_can_be_skipped() {
    assert_eq!(settled(questions().reply("/skip"))["behavior"], "deny");
    assert!(matches!(questions().refusal(), PermissionResult::Deny(_)));
}

#[test]
fn a_question_that_cannot_be_read_is_still_a_request_for_permission() {
    let ask = ask("AskUserQuestion", &json!({"questions": "?"}), &json!({}));
    assert!(plain(&ask.show()).contains("questions: ?"));
}
