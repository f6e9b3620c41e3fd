//! What goes wrong on the way to the model, and the limits a caller sets.

use estelle_claude::options::OutputFormat;
use estelle_claude::wire::assistant::AssistantError;
use estelle_claude::wire::result::ResultErrorKind;
use estelle_claude::wire::{Body, Json, ResultMessage, SystemMessage};
use estelle_sim::script::{Action, HttpError, Script};
use serde_json::{Value, json};

use super::stage::{Stage, Told, ask};

on_both_versions!(
    real_api_errors_are_results_and_the_session_goes_on,
    real_limits_end_the_turn,
    real_an_answer_in_a_fixed_form_arrives_as_json,
);

fn error_of(told: &Told) -> Option<AssistantError> {
    told.messages
        .iter()
        .find_map(|message| match &message.body {
            Body::Assistant(answer) => answer.error.clone(),
            _ => None,
        })
}

fn failing(status: u16, etype: &str, times: Option<u32>) -> Script {
    Script::new().step(Action::Http(HttpError {
        status,
        etype: etype.to_owned(),
        msg: "as scripted".to_owned(),
        times,
        headers: [("retry-after".to_owned(), "0".to_owned())].into(),
    }))
}

async fn real_api_errors_are_results_and_the_session_goes_on(stage: &Stage) -> anyhow::Result<()> {
    let options = stage.options_with_env(&[("CLAUDE_CODE_MAX_RETRIES", "1")]);
    let mut session = stage.start(options).await?;
    for (status, etype, error) in [
        (
            401,
            "authentication_error",
            AssistantError::AuthenticationFailed,
        ),
        (
            403,
            "permission_error",
            AssistantError::AuthenticationFailed,
        ),
        (404, "not_found_error", AssistantError::ModelNotFound),
        (500, "api_error", AssistantError::ServerError),
        (529, "overloaded_error", AssistantError::ServerError),
    ] {
        let told = ask(&mut session, failing(status, etype, None).prompt()).await?;
        let ResultMessage::Success(result) = &told.result else {
            anyhow::bail!("{status}: {:?}", told.result)
        };
        assert!(result.is_error, "{status}");
        assert_eq!(result.api_error_status, Some(u64::from(status)));
        assert_eq!(error_of(&told), Some(error), "{status}");
    }
    let script = failing(429, "rate_limit_error", Some(1)).say("through");
    let told = ask(&mut session, script.prompt()).await?;
    assert_eq!(told.text(), "through");
    let retry = told.system().find_map(|system| match system {
        SystemMessage::ApiRetry(retry) => Some(retry.clone()),
        _ => None,
    });
    assert_eq!(retry.and_then(|retry| retry.error_status), Some(429));

    let broken = "event: message_start\ndata: {broken json\n\n".to_owned();
    let told = ask(
        &mut session,
        Script::new().step(Action::Malformed(broken)).prompt(),
    )
    .await?;
    assert!(!told.result.is_error(), "{:?}", told.result);
    let told = ask(&mut session, Script::new().say("still here").prompt()).await?;
    assert_eq!(told.text(), "still here");
    session.close().await;
    Ok(())
}

async fn real_limits_end_the_turn(stage: &Stage) -> anyhow::Result<()> {
    let echo = |word: &str| json!({"command": format!("echo {word}")});
    let mut session = stage.start(stage.options().max_turns(2)).await?;
    let script = Script::new()
        .tool("Bash", echo("one"))
        .tool("Bash", echo("two"))
        .say("never");
    let told = ask(&mut session, script.prompt()).await?;
    let ResultMessage::Error(error) = &told.result else {
        anyhow::bail!("{:?}", told.result)
    };
    assert_eq!(error.subtype, ResultErrorKind::MaxTurns);
    let told = ask(&mut session, Script::new().say("again").prompt()).await?;
    assert_eq!(told.text(), "again");
    session.close().await;

    let mut session = stage
        .start(stage.options().max_budget_usd(0.000_001))
        .await?;
    let script = Script::new().tool("Bash", echo("one")).say("never");
    let told = ask(&mut session, script.prompt()).await?;
    let ResultMessage::Error(error) = &told.result else {
        anyhow::bail!("{:?}", told.result)
    };
    assert_eq!(error.subtype, ResultErrorKind::MaxBudgetUsd);
    assert!(told.result.total_cost_usd().is_some_and(|cost| cost > 0.0));
    session.close().await;
    Ok(())
}

async fn real_an_answer_in_a_fixed_form_arrives_as_json(stage: &Stage) -> anyhow::Result<()> {
    let schema = json!({
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
    });
    let options = stage
        .options()
        .output_format(OutputFormat::JsonSchema(schema));
    let mut session = stage.start(options).await?;
    let script = Script::new()
        .tool("StructuredOutput", json!({"colour": "green"}))
        .say("done");
    let told = ask(&mut session, script.prompt()).await?;
    let ResultMessage::Success(result) = &told.result else {
        anyhow::bail!("{:?}", told.result)
    };
    let output = result.structured_output.as_ref().map(Json::value);
    assert_eq!(output.transpose()?, Some(json!({"colour": "green"})));
    let tools = &stage.newest()?["tools"];
    let offered = tools.as_array().is_some_and(|tools| {
        tools
            .iter()
            .any(|tool: &Value| tool["name"] == "StructuredOutput")
    });
    assert!(offered, "{tools}");
    session.close().await;
    Ok(())
}
