//! Messages sent while the CLI is busy: folded in, queued, urgent, taken back, repeated, silent.

use estelle_claude::wire::{Body, Priority, ResultMessage, UserMessage};
use estelle_sim::script::Script;
use serde_json::json;

use super::desk::Desk;
use super::stage::{Stage, ask, turn, until_streamed};

on_both_versions!(
    real_a_message_is_folded_into_a_tool_call_and_queued_behind_a_text,
    real_an_urgent_message_cuts_in_and_a_queued_one_is_taken_back,
    real_a_repeated_message_runs_once_and_a_silent_one_not_at_all,
);

async fn real_a_message_is_folded_into_a_tool_call_and_queued_behind_a_text(
    stage: &Stage,
) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options().include_partial_messages(true));
    let mut session = stage.start(options).await?;

    let file = stage.path("made");
    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": format!("touch {}", file.display())}),
        )
        .say("after the tool");
    let first = session.send(script.prompt()).await?;
    let asked = desk.next().await?;
    let second = session.send("hurry up, please").await?;
    // The answer to a request behind it shows that the message has been read.
    session.binary_version().await?;
    asked.allow()?;
    let told = turn(&mut session).await?;
    assert_eq!(told.text(), "after the tool", "one result for both");
    assert!(stage.history()?.contains("hurry up, please"));
    if !stage.is_old() {
        assert_eq!(told.result.user_message_uuids(), [first, second]);
    }

    session
        .send(Script::new().say("abcdef").gated_at("go", 1).prompt())
        .await?;
    until_streamed(&mut session, "ab").await?;
    session
        .send(Script::new().say("the queued one").prompt())
        .await?;
    session.binary_version().await?;
    stage.api.open("go")?;
    assert_eq!(turn(&mut session).await?.text(), "abcdef");
    assert_eq!(turn(&mut session).await?.text(), "the queued one");
    session.close().await;
    Ok(())
}

async fn real_an_urgent_message_cuts_in_and_a_queued_one_is_taken_back(
    stage: &Stage,
) -> anyhow::Result<()> {
    let mut session = stage
        .start(stage.options().include_partial_messages(true))
        .await?;
    session
        .send(Script::new().say("abcdef").gated_at("never", 1).prompt())
        .await?;
    until_streamed(&mut session, "ab").await?;
    let urgent = UserMessage::from(Script::new().say("at once").prompt());
    session.send(urgent.with_priority(Priority::Now)).await?;
    let cut = turn(&mut session).await?;
    assert_ne!(cut.text(), "abcdef");
    assert_eq!(turn(&mut session).await?.text(), "at once");

    session
        .send(Script::new().say("uvwxyz").gated_at("later", 1).prompt())
        .await?;
    until_streamed(&mut session, "uv").await?;
    let queued = session.send(Script::new().say("unwanted").prompt()).await?;
    assert!(
        session.cancel_async_message(&queued).await?,
        "it still waits"
    );
    assert!(!session.cancel_async_message(&queued).await?, "only once");
    stage.api.open("later")?;
    assert_eq!(turn(&mut session).await?.text(), "uvwxyz");
    let told = ask(&mut session, Script::new().say("the next").prompt()).await?;
    assert_eq!(told.text(), "the next", "what was taken back did not run");

    // Newer CLIs drop the queue with the interrupt; older ones run it.
    session
        .send(Script::new().say("ghijkl").gated_at("last", 1).prompt())
        .await?;
    until_streamed(&mut session, "gh").await?;
    let queued = session.send(Script::new().say("behind").prompt()).await?;
    let interrupted = session.interrupt_and_cancel_queued().await?;
    assert!(matches!(
        turn(&mut session).await?.result,
        ResultMessage::Error(_)
    ));
    if stage.is_old() {
        assert_eq!(turn(&mut session).await?.text(), "behind");
    } else {
        assert_eq!(interrupted.cancelled, Some(vec![queued]));
    }
    let told = ask(&mut session, Script::new().say("the end").prompt()).await?;
    assert_eq!(told.text(), "the end");
    session.close().await;
    Ok(())
}

async fn real_a_repeated_message_runs_once_and_a_silent_one_not_at_all(
    stage: &Stage,
) -> anyhow::Result<()> {
    let options = stage.options().replay_user_messages(true);
    let mut session = stage.start(options).await?;
    let message = UserMessage::from(Script::new().say("once").prompt());
    let uuid = message.uuid.clone();
    let told = ask(&mut session, message.clone()).await?;
    assert_eq!(told.text(), "once");
    let echoes = told.messages.iter().filter(|message| match &message.body {
        Body::UserReplay(echo) => echo.uuid == uuid,
        _ => false,
    });
    assert_eq!(echoes.count(), 1, "the message is echoed");

    session.send(message).await?;
    let told = ask(&mut session, Script::new().say("other").prompt()).await?;
    assert_eq!(told.text(), "other", "the repeated one did not run");
    let before = stage.turns().len();

    let silent = UserMessage::from("remember the milk").without_query();
    let told = ask(&mut session, silent).await?;
    assert_eq!(told.text(), "");
    assert_eq!(stage.turns().len(), before, "no request was made");
    ask(&mut session, Script::new().say("ok").prompt()).await?;
    assert!(stage.history()?.contains("remember the milk"));
    session.close().await;
    Ok(())
}
