//! Earlier conversations: resumed, forked, continued, cut back, and those that do not exist.

use anyhow::Context as _;
use estelle_claude::{Body, Session};
use estelle_sim::script::Script;
use uuid::Uuid;

use super::stage::{Stage, ask};

on_both_versions!(
    real_a_conversation_is_resumed_forked_and_continued,
    real_a_conversation_that_does_not_exist_is_named_in_the_error,
);

async fn real_a_conversation_is_resumed_forked_and_continued(stage: &Stage) -> anyhow::Result<()> {
    let id = Uuid::new_v4().to_string();
    let mut session = stage.start(stage.options().session_id(&id)).await?;
    let told = ask(&mut session, Script::new().say("alpha").prompt()).await?;
    assert_eq!(told.session_id()?, id, "the id asked for");
    let first_answer = told
        .messages
        .iter()
        .find_map(|message| match &message.body {
            Body::Assistant(answer) => answer.uuid.clone(),
            _ => None,
        });
    let first_answer = first_answer.context("an answer has a uuid")?;
    ask(&mut session, Script::new().say("bravo").prompt()).await?;
    assert!(session.close().await.exit.is_success());

    let mut session = Session::resume(&id, stage.options()).await?;
    let told = ask(&mut session, Script::new().say("charlie").prompt()).await?;
    assert_eq!(told.session_id()?, id, "the same conversation");
    let history = stage.history()?;
    assert!(
        history.contains("alpha") && history.contains("bravo"),
        "{history}"
    );
    session.close().await;

    let mut session = stage
        .start(stage.options().resume(&id).fork_session(true))
        .await?;
    let told = ask(&mut session, Script::new().say("delta").prompt()).await?;
    assert_ne!(told.session_id()?, id, "a conversation of its own");
    assert!(stage.history()?.contains("charlie"), "with the same past");
    session.close().await;

    let options = stage.options().resume(&id).resume_session_at(&first_answer);
    let mut session = stage.start(options.fork_session(true)).await?;
    ask(&mut session, Script::new().say("echo").prompt()).await?;
    let history = stage.history()?;
    assert!(
        history.contains("alpha") && !history.contains("bravo"),
        "{history}"
    );
    session.close().await;

    let mut session = stage.start(stage.options().continue_(true)).await?;
    ask(&mut session, Script::new().say("foxtrot").prompt()).await?;
    assert!(stage.history()?.contains("echo"), "the latest one goes on");
    session.close().await;
    Ok(())
}

async fn real_a_conversation_that_does_not_exist_is_named_in_the_error(
    stage: &Stage,
) -> anyhow::Result<()> {
    let unknown = Uuid::new_v4().to_string();
    let error = stage.start(stage.options().resume(&unknown)).await;
    let error = format!("{:#}", error.err().context("an unknown id was taken")?);
    let expected = format!("No conversation found with session ID: {unknown}");
    assert!(error.contains(&expected), "{error}");

    // The same through the other door: the stream says it.
    let mut query = estelle_claude::query("hello", stage.options().resume(&unknown)).await?;
    let mut said = String::new();
    while let Some(message) = futures_util::StreamExt::next(&mut query).await {
        match message {
            Ok(message) => {
                if let Body::Result(result) = message.body {
                    said += &result.text();
                }
            }
            Err(error) => said += &error.to_string(),
        }
    }
    assert!(said.contains(&expected), "{said}");
    Ok(())
}
