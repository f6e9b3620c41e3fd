//! Hooks: what they are told, and what their answers do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use estelle_claude::options::HookMatcher;
use estelle_claude::wire::hooks::{
    AsyncHookOutput, HookPermissionDecision, PostToolUseOutput, PreToolUseOutput,
    UserPromptSubmitOutput,
};
use estelle_claude::wire::{HookEvent, HookInput, HookOutput, Json};
use estelle_sim::script::Script;
use serde_json::json;
use tokio::sync::mpsc;

use super::desk::Desk;
use super::stage::{Stage, ask};

on_both_versions!(
    real_a_hook_before_a_tool_denies_it_or_rewrites_its_input,
    real_hooks_around_a_turn_add_context_and_make_it_go_on,
);

async fn real_a_hook_before_a_tool_denies_it_or_rewrites_its_input(
    stage: &Stage,
) -> anyhow::Result<()> {
    let rewritten = format!("touch {}", stage.path("rewritten").display());
    let before = move |input: HookInput| {
        let HookInput::PreToolUse(input) = input else {
            return HookOutput::default();
        };
        let command = input.tool_input.get_str("command").unwrap_or_default();
        let mut output = PreToolUseOutput::default();
        if command.contains("forbidden") {
            output.permission_decision = Some(HookPermissionDecision::Deny);
            output.permission_decision_reason = Some("the hook says no".to_owned());
        } else if command.contains("original") {
            output.permission_decision = Some(HookPermissionDecision::Allow);
            output.updated_input = Some(Json::from(json!({"command": rewritten})));
        }
        HookOutput::specific(Box::new(output))
    };
    let matcher = HookMatcher::for_tools("Bash").callback(move |input, tool_use_id, _| {
        assert!(tool_use_id.is_some(), "a tool hook names its call");
        let output = before(input);
        async move { output }
    });
    let (options, desk) = Desk::of(stage.options().hook(HookEvent::PreToolUse, matcher));
    let mut session = stage.start(options).await?;

    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": format!("touch {}", stage.path("forbidden").display())}),
        )
        .say("went on");
    let told = ask(&mut session, script.prompt()).await?;
    let (heard, is_error) = told.tool_result()?;
    assert!(is_error && heard.contains("the hook says no"), "{heard}");
    assert_eq!(told.text(), "went on");

    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": format!("touch {}", stage.path("original").display())}),
        )
        .say("ran");
    let told = ask(&mut session, script.prompt()).await?;
    assert_eq!(told.text(), "ran");
    assert!(stage.path("rewritten").exists());
    assert!(!stage.path("original").exists() && !stage.path("forbidden").exists());
    assert!(desk.is_empty(), "a hook that decides spares the question");
    session.close().await;
    Ok(())
}

async fn real_hooks_around_a_turn_add_context_and_make_it_go_on(
    stage: &Stage,
) -> anyhow::Result<()> {
    let (firing, mut fired) = mpsc::channel(64);
    let submitted = HookMatcher::any().callback(|_, _, _| async {
        let output = UserPromptSubmitOutput {
            additional_context: Some("the moon is full".to_owned()),
            ..UserPromptSubmitOutput::default()
        };
        HookOutput::specific(output)
    });
    let after = HookMatcher::for_tools("Bash").callback(move |input, _, _| {
        let firing = firing.clone();
        async move {
            let output = PostToolUseOutput {
                additional_context: Some("the tool left a smell".to_owned()),
                ..PostToolUseOutput::default()
            };
            // A test that stopped listening has failed already.
            let _ = firing.send(input).await;
            HookOutput::specific(Box::new(output))
        }
    });
    let blocked = Arc::new(AtomicBool::new(false));
    let stop = HookMatcher::any().callback(move |input, _, _| {
        let again = blocked.swap(true, Ordering::Relaxed);
        async move {
            assert!(matches!(input, HookInput::Stop(_)), "{input:?}");
            if again {
                HookOutput::default()
            } else {
                HookOutput::block("one more thing")
            }
        }
    });
    let in_background = HookMatcher::any()
        .callback(|_, _, _| async { HookOutput::from(AsyncHookOutput::new(true)) });
    let options = stage
        .options()
        .hook(HookEvent::UserPromptSubmit, submitted)
        .hook(HookEvent::PostToolUse, after)
        .hook(HookEvent::PostToolUse, in_background)
        .hook(HookEvent::Stop, stop);
    let mut session = stage.start(options).await?;
    let script = Script::new()
        .tool("Bash", json!({"command": "echo visible"}))
        .say("done")
        .say("and more");
    let told = ask(&mut session, script.prompt()).await?;

    assert_eq!(told.text(), "and more", "the stop hook makes it go on once");
    let history = stage.history()?;
    for wanted in [
        "the moon is full",
        "the tool left a smell",
        "one more thing",
    ] {
        assert!(history.contains(wanted), "the model was not told: {wanted}");
    }
    let Some(HookInput::PostToolUse(input)) = fired.recv().await else {
        anyhow::bail!("another hook fired")
    };
    assert_eq!(input.tool_name, "Bash");
    assert_eq!(input.base().cwd, stage.work.path().to_str());
    let response = input.tool_response.as_ref().map(Json::to_string);
    assert!(response.is_some_and(|response| response.contains("visible")));
    session.close().await;
    Ok(())
}
