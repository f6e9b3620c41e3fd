//! The grammar as a person writes it, and the order in which its steps are played.

use serde_json::json;

use super::*;

fn found(prompt: &str) -> Script {
    Script::find(prompt)
        .expect("a script")
        .expect("a readable script")
}

fn error(prompt: &str) -> String {
    unreadable(
        &Script::find(prompt)
            .expect("a script")
            .expect_err("an error"),
    )
}

#[test]
fn every_kind_of_step_survives_a_round_trip() {
    let json = r#"[{"say":"hi","think":"hm","chunks":4,"delay_ms":5,"stamp":true,"stop":"refusal","drop":true},
        {"tool":"Write","input":{"z": 1, "a": [2]},"say":"x"},{"tools":[{"tool":"A","input":{}},{"tool":"B"}]},
        {"http":429,"etype":"rate_limit_error","msg":"slow","times":2,"hdr":{"retry-after":"1"}},{"malformed":"data: {"},
        {"stall_ms":5},{"stall":true},{"crash":137},{"crash":"SIGKILL"},{"garbage":"x"},{"invalid_utf8":true},
        {"flood":9},{"huge":7},{"half_line":"{"},{"ask":{"subtype":"elicitation"},"gate":"back"},{"say":"late","gate":"go","gate_at":2}]"#;
    let script = Script::from_json(json).expect("readable");
    assert_eq!(script.steps.len(), 16);
    assert_eq!(
        Script::from_json(&script.to_json()).expect("readable"),
        script
    );
    assert_eq!(found(&script.prompt_after("please ")), script);
    let Action::Answer(answer) = &script.steps[1].action else {
        panic!("an answer")
    };
    assert_eq!(answer.calls[0].input.as_str(), r#"{"z": 1, "a": [2]}"#);
    assert_eq!(
        script.steps[15].gate,
        Some(Gate {
            name: "go".to_owned(),
            at: 2
        })
    );
}

#[test]
fn the_last_script_counts_and_a_nested_one_does_not() {
    let inner = Script::new().say("inner").prompt();
    let outer = Script::new().tool("Agent", json!({"prompt": inner}));
    assert_eq!(
        found(&format!(
            "{} then {}",
            Script::new().say("first").prompt(),
            outer.prompt()
        )),
        outer
    );
    assert!(Script::find("a SCRIPT: is a text").is_none());
    assert_eq!(found("SCRIPT: [{\"say\":\"a\"}] thanks").steps.len(), 1);
}

#[test]
fn an_unreadable_script_says_where_and_why() {
    assert_eq!(
        error(r#"SCRIPT:[{"say":"a"},{"say":"b","chunk":2}]"#),
        "[script error] step 1 cannot be read: unknown field `chunk`, expected one of `think`, `say`, `chunks`, \
         `delay_ms`, `stamp`, `stop`, `drop`, `tool`, `input`, `tools` at line 1 column 8"
    );
    assert!(error("SCRIPT:[{\"say\":").contains("EOF while parsing a value at line 1 column 8"));
    assert!(
        error(r#"SCRIPT:[{"sya":"a"}]"#).ends_with("step 0 cannot be read: unknown step \"sya\"")
    );
    assert!(error(r#"SCRIPT:[{"http":200}]"#).contains("http 200 is no error status"));
    assert!(error(r#"SCRIPT:[{"say":"a","gate":"../x"}]"#).contains("no gate name"));
    assert!(
        error(r#"SCRIPT:[{"crash":[]}]"#).contains("crash: invalid type: sequence, expected i32")
    );
    assert!(
        error(r#"SCRIPT:[{"tool":"Bash","input":"ls"}]"#)
            .contains("input of Bash is not an object")
    );
    assert!(error("SCRIPT:[{}]").contains("no kind of step"));
}

#[test]
fn texts_and_inputs_are_cut_as_recorded() {
    let all = |answer: &Answer, now| {
        let mut deltas = answer.deltas();
        let all: Vec<String> = std::iter::from_fn(|| deltas.next(now)).collect();
        let each: Vec<String> = (0..answer.delta_count())
            .map(|index| answer.delta(index, now))
            .collect();
        assert_eq!(all, each);
        all
    };
    let deltas = |text: &str, chunks| {
        all(
            &Answer {
                say: Some(text.to_owned()),
                chunks,
                ..Answer::default()
            },
            0,
        )
    };
    assert_eq!(
        deltas("recovered after 2", None),
        ["recov", "ered a", "fter 2"]
    );
    assert_eq!(
        deltas("partial text here", Some(4)),
        ["part", "ial ", "text", " here"]
    );
    assert_eq!(deltas("hi", None), ["", "h", "i"]);
    assert_eq!(deltas("žluťák", None), ["žl", "uť", "ák"]);
    let stamped = Answer {
        say: Some("x".to_owned()),
        stamp: true,
        ..Answer::default()
    };
    assert_eq!(all(&stamped, 42), ["0:42 ", "1:42 ", "2:42 "]);
    assert!(all(&Answer::default(), 0).is_empty());
    let input = found(r#"SCRIPT:[{"tool":"Bash","input":{"command": "echo 1"}}]"#);
    let Action::Answer(answer) = &input.steps[0].action else {
        panic!("an answer")
    };
    assert_eq!(
        answer.calls[0].input.pieces(),
        ["{\"command\": \"echo 1\"", "}"]
    );
}

#[test]
fn errors_with_times_do_not_count_as_responses() {
    let script = Script::from_json(r#"[{"say":"a"},{"http":429,"times":2},{"http":529,"times":1},{"say":"b"},{"http":500,"times":3}]"#)
        .expect("readable");
    let played = |answered| {
        let plan = script.plan(answered);
        let errors: Vec<usize> = plan.errors_first.iter().map(|(index, _)| *index).collect();
        (errors, plan.response)
    };
    assert_eq!(played(0), (vec![], Response::Step(0, &script.steps[0])));
    assert_eq!(played(1), (vec![1, 2], Response::Step(3, &script.steps[3])));
    assert_eq!(played(2), (vec![4], Response::Recovered(3)));
    assert_eq!(played(3), (vec![], Response::End));
    let forever = Script::new().http(500, "api_error", "boom");
    assert_eq!(
        forever.plan(0).response,
        Response::Step(0, &forever.steps[0])
    );
}

#[tokio::test]
async fn a_gate_holds_until_it_is_opened() {
    let dir = tempfile::tempdir().expect("a directory");
    let gates = Gates::new(dir.path());
    assert!(!gates.is_open("go"));
    let (opened, ()) = tokio::join!(
        async {
            gates.wait("go").await;
            gates.is_open("go")
        },
        async { gates.open("go").expect("opened") }
    );
    assert!(opened);
    assert!(matches!(gates.open("../x"), Err(GateError::Name(_))));
}
