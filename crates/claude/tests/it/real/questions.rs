//! The model asks a person: questions with one or several answers, and a plan to agree to.

use anyhow::Context as _;
use estelle_claude::wire::permission::PermissionMode;
use estelle_claude::wire::question::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use estelle_claude::wire::{Answer, AskUserQuestion, PermissionResult, SystemMessage};
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::desk::Desk;
use super::stage::{Stage, Told, turn};

on_both_versions!(
    real_answers_to_questions_reach_the_model,
    real_a_plan_is_agreed_to_or_sent_back,
);

/// Questions, the answers to them, and what the model must hear.
type Case<'a> = (Vec<Value>, Vec<(&'a str, Answer)>, &'a [&'a str]);

fn question(text: &str, labels: [&str; 2], several: bool) -> Value {
    let options = labels.map(|label| json!({"label": label, "description": "d"}));
    json!({"question": text, "header": "Choice", "options": options, "multiSelect": several})
}

async fn real_answers_to_questions_reach_the_model(stage: &Stage) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options());
    let mut session = stage.start(options).await?;
    let colour = || question("Which colour?", ["Red", "Blue"], false);
    let sizes = || question("Which sizes?", ["Small", "Large"], true);
    let both = vec!["Small".to_owned(), "Large".to_owned()];
    let cases: [Case; 3] = [
        (
            vec![colour()],
            vec![("Which colour?", "Blue".into())],
            &["Blue"],
        ),
        (
            vec![sizes()],
            vec![("Which sizes?", both.clone().into())],
            &["Small, Large"],
        ),
        (
            vec![colour(), sizes()],
            vec![
                ("Which colour?", "a free text".into()),
                ("Which sizes?", both.into()),
            ],
            &["a free text", "Small, Large"],
        ),
    ];
    for (questions, answers, expected) in cases {
        let count = questions.len();
        let script = Script::new()
            .tool(ASK_USER_QUESTION, json!({"questions": questions}))
            .say("thanks");
        session.send(script.prompt()).await?;
        let asked = desk.next().await?;
        assert_eq!(asked.request.tool_name, ASK_USER_QUESTION);
        let questions =
            AskUserQuestion::from_input(&asked.request.input).context("questions are read")?;
        assert_eq!(questions.questions.len(), count);
        assert_eq!(questions.questions[0].options.len(), 2);
        let answers = answers
            .into_iter()
            .map(|(question, answer)| (question.to_owned(), answer));
        asked.answer(questions.answered(answers)?)?;
        let told = turn(&mut session).await?;
        assert_eq!(told.text(), "thanks");
        let (heard, is_error) = told.tool_result()?;
        assert!(!is_error, "{heard}");
        let history = stage.history()?;
        for answer in expected {
            assert!(heard.contains(answer), "{heard}");
            assert!(history.contains(answer), "the model was not told {answer}");
        }
    }
    // A person who walks away.
    let script = Script::new()
        .tool(ASK_USER_QUESTION, json!({"questions": [colour()]}))
        .say("well");
    session.send(script.prompt()).await?;
    desk.next()
        .await?
        .answer(PermissionResult::deny("ask me later"))?;
    let (heard, is_error) = turn(&mut session).await?.tool_result()?;
    assert!(is_error && heard.contains("ask me later"), "{heard}");
    session.close().await;
    Ok(())
}

async fn real_a_plan_is_agreed_to_or_sent_back(stage: &Stage) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options().permission_mode(PermissionMode::Plan));
    let mut session = stage.start(options).await?;
    let plan = || {
        Script::new()
            .tool(EXIT_PLAN_MODE, json!({"plan": "1. think 2. do"}))
            .say("next")
    };
    session.send(plan().prompt()).await?;
    let asked = desk.next().await?;
    assert_eq!(asked.request.tool_name, EXIT_PLAN_MODE);
    asked.answer(PermissionResult::deny("think again"))?;
    let told = turn(&mut session).await?;
    let (heard, is_error) = told.tool_result()?;
    assert!(is_error && heard.contains("think again"), "{heard}");
    assert_eq!(mode_at_start(&told), Some(PermissionMode::Plan));

    session.send(plan().prompt()).await?;
    desk.next().await?.allow()?;
    let told = turn(&mut session).await?;
    assert_eq!(mode_at_start(&told), Some(PermissionMode::Plan));
    assert!(!told.tool_result()?.1);
    let mode = told.system().find_map(|system| match system {
        SystemMessage::Status(status) => status.permission_mode.clone(),
        _ => None,
    });
    assert_eq!(mode, Some(PermissionMode::Default));
    session.close().await;
    Ok(())
}

fn mode_at_start(told: &Told) -> Option<PermissionMode> {
    told.system().find_map(|system| match system {
        SystemMessage::Init(init) => init.permission_mode.clone(),
        _ => None,
    })
}
