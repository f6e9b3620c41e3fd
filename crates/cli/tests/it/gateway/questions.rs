//! Questions of the agent over both ways: an answer counts for what was shown, and for nothing else.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::client::Api;
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// A turn in which the agent asks this.
fn asking(question: &str) -> String {
    let options = [("Red", "warm"), ("Blue", "cold")]
        .map(|(label, about)| json!({"label": label, "description": about}));
    let questions = json!([{
        "question": question, "header": "Colour", "options": options, "multiSelect": false,
    }]);
    let script = Script::new().tool("AskUserQuestion", json!({"questions": questions}));
    script.say("so be it").prompt()
}

/// P8: an answer to something else than what was asked is none, over neither way.
#[tokio::test(flavor = "multi_thread")]
async fn p8_an_answer_to_another_question_than_the_one_shown_is_none() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let line = format!("POST /api/sessions/{session}/approve");
    for (question, over_rest) in [("Which wall?", true), ("Which door?", false)] {
        let input = json!({"type": "input", "content": asking(question)});
        watcher.say(input).await;
        let asked = watcher.kind("permission_request").await["permission"].clone();
        assert_eq!(asked["action"], "AskUserQuestion");
        let (id, hash) = (&asked["request_id"], &asked["input_hash"]);
        assert!(hash.is_string(), "{asked}");
        let whole = api
            .done(&format!("GET /api/sessions/{session}"), None)
            .await;
        assert_eq!(whole["permissions"][0]["input_hash"], *hash);
        let answer = |hash: &Value| json!({"action": "approve", "permission_id": id, "answer": "Blue", "input_hash": hash});
        let said = |hash: &Value| json!({"type": "approve", "request_id": id, "answer": "Blue", "input_hash": hash});
        let other = json!("other");
        let refused = api.refused(&line, Some(answer(&other))).await;
        assert_eq!(refused.0, 409, "{refused:?}");
        watcher.say(said(&other)).await;
        let told = watcher.kind("error").await;
        assert_eq!((&told["code"], &told["about"]), (&json!(refused.1), id));
        let whole = api
            .done(&format!("GET /api/sessions/{session}"), None)
            .await;
        assert_eq!(whole["permissions"][0]["request_id"], *id, "it still waits");
        if over_rest {
            api.done(&line, Some(answer(hash))).await;
        } else {
            watcher.say(said(hash)).await;
        }
        assert_eq!(watcher.kind("permission_resolved").await["request_id"], *id);
        watcher
            .until(|m| m["type"] == "output" && m["final"] == true)
            .await;
        watcher.status("waiting_input").await;
    }
}

/// What is refused is named, also when it cannot be read: whoever said it need not wait for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_be_read_is_refused_under_its_own_id() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let large = "x".repeat(513 * 1024);
    for (message, about) in [
        (
            json!({"type": "input", "content": "", "client_message_id": "m1"}),
            json!("m1"),
        ),
        (
            json!({"type": "input", "content": large, "client_message_id": "m2"}),
            json!("m2"),
        ),
        (
            json!({"type": "approve", "request_id": "t1", "answer": 7}),
            json!("t1"),
        ),
        (json!({"type": "input"}), Value::Null),
    ] {
        watcher.say(message).await;
        let told = watcher.kind("error").await;
        assert_eq!(told["code"], "invalid_message", "{about}");
        assert_eq!(told["about"], about);
    }
}
