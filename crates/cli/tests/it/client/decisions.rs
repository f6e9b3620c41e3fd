//! Decisions from the terminal: shown whole, answered by their conversation, and waited for by whoever sent the message.

use estelle_sim::script::Script;
use serde_json::json;

use super::{run, with_project};

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_is_shown_and_given() {
    let (machine, id) = with_project().await;
    let file = machine.path("work/a.txt");
    let write = json!({"file_path": &file, "content": "written"});
    let script = Script::new().tool("Write", write).say("done").prompt();
    let asked = run(&machine, &["send", "--exit-when-asked", &id, &script]).with_code(4);
    assert!(asked.out.contains("It asks to use Write"), "{asked:?}");
    assert!(asked.out.contains("written"), "the whole call is shown");
    assert!(
        asked.out.contains(&format!("estelle approve {id}")),
        "{asked:?}"
    );
    assert!(!file.exists(), "nothing runs without an answer");
    let busy = run(&machine, &["ls", "--busy"]).with_code(0);
    assert!(busy.out.contains("asks"), "{busy:?}");

    let shown = run(&machine, &["approve", &id, "--show", "--json"]).with_code(0);
    assert_eq!(shown.lines()[0][0]["toolName"], "Write");
    assert!(!file.exists(), "showing is not answering");
    let done = run(&machine, &["approve", &id]).with_code(0);
    assert_eq!(done.out, "Allowed: Write\n");
    run(&machine, &["watch", &id, "--until-idle", "--timeout", "40"]).with_code(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written");
    let nothing = run(&machine, &["approve", &id]).with_code(5);
    assert!(nothing.err.contains("nothing waits"), "{nothing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_reaches_the_agent_with_its_reason() {
    let (machine, id) = with_project().await;
    let file = machine.path("work/a.txt");
    let write = json!({"file_path": &file, "content": "written"});
    let script = Script::new().tool("Write", write).say("so be it").prompt();
    run(&machine, &["send", "--exit-when-asked", &id, &script]).with_code(4);
    let done = run(&machine, &["deny", &id, "not", "here"]).with_code(0);
    assert_eq!(done.out, "Refused: Write\n");
    run(&machine, &["watch", &id, "--until-idle", "--timeout", "40"]).with_code(0);
    assert!(!file.exists());
    let history = run(&machine, &["history", &id]).with_code(0).out;
    assert!(history.contains("not here"), "{history}");
    assert!(history.contains("so be it"), "{history}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_with_a_number_or_words() {
    let (machine, id) = with_project().await;
    let question = |text: &str| {
        json!({
            "question": text, "header": "H", "multiSelect": false,
            "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}],
        })
    };
    let input = json!({"questions": [question("Which colour?"), question("And then?")]});
    let script = Script::new()
        .tool("AskUserQuestion", input)
        .say("thanks")
        .prompt();
    let asked = run(&machine, &["send", "--exit-when-asked", &id, &script]).with_code(4);
    assert!(asked.out.contains("Which colour?") && asked.out.contains("And then?"));
    let wrong = run(&machine, &["approve", &id]).with_code(5);
    assert!(wrong.err.contains("Which colour?"), "{wrong:?}");
    let wrong = run(&machine, &["answer", &id, "7"]).with_code(1);
    assert!(wrong.err.contains("`7` answers nothing"), "{wrong:?}");
    run(&machine, &["answer", &id, "2", "something else"]).with_code(0);
    run(&machine, &["watch", &id, "--until-idle", "--timeout", "40"]).with_code(0);
    let history = run(&machine, &["history", &id, "--json"]).with_code(0).out;
    assert!(
        history.contains("Blue") && history.contains("something else"),
        "{history}"
    );
}
