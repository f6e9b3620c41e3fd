//! Permissions and questions: every answer there is, and what the agent makes of it.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::super::house::House;
use super::super::shape::check;
use super::super::{Cast, SELENE};
use super::{Talk, answered_shape};

/// `deny` keeps the tool from running, `allowAll` lets the next calls of it run unasked.
pub(super) async fn permissions(house: &House, cast: &mut Cast, talk: &Talk) {
    let file = |name: &str| house.work("one").join(name);
    let write = |name: &str| json!({"file_path": file(name), "content": name});
    let script = Script::new()
        .tool("Write", write("denied"))
        .tool("Write", write("first"))
        .tool("Write", write("second"))
        .say("done");
    let mark = talk.send(&mut cast.owner, &script).await;
    for decision in ["deny", "allowAll"] {
        let asked = cast.owner.event(&talk.id, "permission_request").await;
        let asked = &asked["payload"]["event"]["toolUseId"];
        let mut answer = talk.with(&json!({"toolUseId": asked, "decision": decision}));
        if decision == "deny" {
            answer["message"] = json!("아니 ".repeat(100));
        }
        cast.owner.done(SELENE, "claude_permission", &answer).await;
    }
    cast.owner.event(&talk.id, "result").await;
    talk.idle(&mut cast.owner).await;
    assert_eq!(
        talk.events(&cast.owner, mark, "permission_request").len(),
        2
    );
    let denied = &talk.events(&cast.owner, mark, "toolComplete")[0];
    assert_eq!(denied["success"], false);
    let error = denied["error"].as_str().unwrap();
    assert!(
        error.chars().count() == 200 && error.contains("아니"),
        "{error}"
    );
    let there = ["denied", "first", "second"].map(|name| file(name).exists());
    assert_eq!(there, [false, true, true]);
    let unknown = talk.with(&json!({"toolUseId": "perm_nobody", "decision": "allow"}));
    let unknown = cast.owner.ask(SELENE, "claude_permission", &unknown).await;
    assert_eq!(
        unknown["payload"]["errorCode"], "unknown_decision",
        "{unknown}"
    );
}

/// Every form of an answer, and what the agent makes of it.
pub(super) async fn questions(cast: &mut Cast, talk: &Talk) {
    let option = |label: &str| json!({"label": label, "description": format!("it is {label}")});
    let asked = json!([
        {"question": "Which size?", "header": "Size", "multiSelect": false, "options": [option("S"), option("L")]},
        {"question": "Which colours?", "header": "Colours", "multiSelect": true, "options": [option("Red"), option("Blue")]},
    ]);
    let size = r#""Which size?"="L""#;
    let both = vec![size, r#""Which colours?"="Red, Blue""#];
    for (answer, told) in [
        (json!("L"), &vec![size]),
        (json!(["L", ["Red", "Blue"]]), &both),
        (json!(["L", "Red, Blue"]), &both),
        (
            json!({"Which size?": "L", "Which colours?": ["Red", "Blue"]}),
            &both,
        ),
        (json!({"0": "L", "1": ["Red", "Blue"]}), &both),
    ] {
        let script = Script::new()
            .tool("AskUserQuestion", json!({"questions": asked}))
            .say("thanks");
        let mark = talk.send(&mut cast.owner, &script).await;
        let question = cast.viewer.event(&talk.id, "askQuestion").await;
        let question = &question["payload"]["event"];
        assert_eq!(question["questions"], asked);
        let call = &question["toolUseId"];
        let to = |shown: &Value| {
            talk.with(&json!({"toolUseId": call, "answer": answer, "inputHash": shown}))
        };
        let other = to(&json!("another"));
        let other = cast.phone.ask(SELENE, "claude_answer", &other).await;
        assert_eq!(other["payload"]["errorCode"], "conflict", "{other}");
        let payload = to(&question["inputHash"]);
        let answered = cast.phone.done(SELENE, "claude_answer", &payload).await;
        check(&answered, &answered_shape());
        cast.owner.event(&talk.id, "result").await;
        talk.idle(&mut cast.owner).await;
        let back = &talk.events(&cast.owner, mark, "toolComplete")[0];
        let text = back["result"].as_str().unwrap();
        assert!(
            told.iter().all(|told| text.contains(told)),
            "{answer}: {text}"
        );
        let late = cast.phone.ask(SELENE, "claude_answer", &payload).await;
        assert_eq!(late["payload"]["errorCode"], "already_answered", "{late}");
    }
}
