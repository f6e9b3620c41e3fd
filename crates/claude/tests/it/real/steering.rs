//! Steering a running session: interrupts, the model, the permission mode, thinking.

use anyhow::Context as _;
use estelle_claude::wire::permission::PermissionMode;
use estelle_claude::wire::result::TerminalReason;
use estelle_claude::wire::{Body, ResultMessage, SystemMessage};
use estelle_sim::script::Script;
use serde_json::json;

use super::desk::Desk;
use super::stage::{Stage, ask, turn, until, until_streamed};

on_both_versions!(
    real_an_interrupt_stops_a_stream_and_a_question,
    real_settings_change_between_the_turns_of_one_conversation,
);

async fn real_an_interrupt_stops_a_stream_and_a_question(stage: &Stage) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options().include_partial_messages(true));
    let mut session = stage.start(options).await?;

    session
        .send(Script::new().say("abcdef").gated_at("never", 1).prompt())
        .await?;
    until_streamed(&mut session, "ab").await?;
    session.interrupt().await?;
    let told = turn(&mut session).await?;
    assert_eq!(
        told.result.terminal_reason(),
        Some(&TerminalReason::AbortedStreaming)
    );
    let partial = told
        .messages
        .iter()
        .find_map(|message| match &message.body {
            Body::Assistant(answer) => Some(answer.text()),
            _ => None,
        });
    assert_eq!(partial.as_deref(), Some("ab"));

    // While a person still decides, the interrupt is acknowledged and the question withdrawn.
    let file = stage.path("undecided");
    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": format!("touch {}", file.display())}),
        )
        .say("never");
    session.send(script.prompt()).await?;
    let asked = desk.next().await?;
    let open = session.reinitialize().await?.pending_permission_requests;
    assert_eq!(open.len(), 1, "the CLI lists what is undecided");
    assert_eq!(open[0].request_id, asked.context.request_id);
    session.interrupt().await?;
    asked.withdrawn().await;
    let told = turn(&mut session).await?;
    assert!(
        matches!(told.result, ResultMessage::Error(_)),
        "{:?}",
        told.result
    );
    assert!(!file.exists());
    assert_eq!(
        ask(&mut session, Script::new().say("usable").prompt())
            .await?
            .text(),
        "usable"
    );
    session.close().await;
    Ok(())
}

async fn real_settings_change_between_the_turns_of_one_conversation(
    stage: &Stage,
) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options());
    let mut session = stage.start(options).await?;
    let told = ask(&mut session, Script::new().say("the first answer").prompt()).await?;
    let id = told.session_id()?;

    session
        .set_model(Some("claude-sonnet-4-5".to_owned()))
        .await?;
    session.set_max_thinking_tokens(Some(2048)).await?;
    let told = ask(&mut session, Script::new().say("second").prompt()).await?;
    assert_eq!(told.session_id()?, id, "one conversation");
    let request = stage.newest()?;
    let model = request["model"].as_str().context("a model")?;
    assert!(model.starts_with("claude-sonnet-4-5"), "{model}");
    assert_eq!(
        request["thinking"]["budget_tokens"], 2048,
        "{}",
        request["thinking"]
    );
    assert!(
        stage.history()?.contains("the first answer"),
        "the history is sent"
    );

    session.set_max_thinking_tokens(Some(0)).await?;
    ask(&mut session, Script::new().say("third").prompt()).await?;
    assert_ne!(stage.newest()?["thinking"]["type"], "enabled");

    let write = |name: &str| {
        Script::new()
            .tool(
                "Write",
                json!({"file_path": stage.path(name), "content": name}),
            )
            .say("ok")
            .prompt()
    };
    session
        .set_permission_mode(PermissionMode::AcceptEdits)
        .await?;
    ask(&mut session, write("unasked")).await?;
    assert!(stage.path("unasked").exists() && desk.is_empty());
    session.set_permission_mode(PermissionMode::Default).await?;
    session.send(write("asked")).await?;
    desk.next().await?.allow()?;
    let mode = until(&mut session, |message| match &message.body {
        Body::System(SystemMessage::Init(init)) => init.permission_mode.clone(),
        _ => None,
    });
    assert_eq!(mode.await?, PermissionMode::Default);
    turn(&mut session).await?;
    let wrong = session
        .set_permission_mode(PermissionMode::from("nonsense"))
        .await;
    assert_eq!(
        wrong.is_ok(),
        stage.is_old(),
        "only the newer one looks: {wrong:?}"
    );
    session.close().await;
    Ok(())
}
