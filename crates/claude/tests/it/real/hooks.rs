//! Hooks: what they are told, and what their answers do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use estelle_claude::options::HookMatcher;
use estelle_claude::wire::hooks::{
    AsyncHookOutput, HookPermissionDecision, PostToolUseOutput, PreToolUseOutput,
    UserPromptSubmitOutput,
};
use estelle_claude::wire::result::TerminalReason;
use estelle_claude::wire::{HookEvent, HookInput, HookOutput, Json, ResultMessage};
use estelle_sim::script::Script;
use serde_json::json;
use tokio::sync::mpsc;

use super::desk::Desk;
use super::stage::{Stage, ask};

on_both_versions!(
    real_a_hook_before_a_tool_denies_it_or_rewrites_its_input,
    real_a_hook_that_is_late_or_defers_ends_the_call,
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

async fn real_a_hook_that_is_late_or_defers_ends_the_call(stage: &Stage) -> anyhow::Result<()> {
    let (calling, mut called) = mpsc::channel(1);
    let late = HookMatcher::for_tools("Bash")
        .timeout(Duration::from_secs(1))
        .callback(move |_, _, context| {
            let calling = calling.clone();
            async move {
                // A test that stopped listening has failed already.
                let _ = calling.send(context).await;
                std::future::pending().await
            }
        });
    let defer = HookMatcher::for_tools("Write").callback(|_, _, _| async {
        HookOutput::specific(Box::new(PreToolUseOutput {
            permission_decision: Some(HookPermissionDecision::Defer),
            ..PreToolUseOutput::default()
        }))
    });
    let options = stage
        .options()
        .allowed_tools(["Bash", "Write"])
        .hook(HookEvent::PreToolUse, late)
        .hook(HookEvent::PreToolUse, defer);
    let mut session = stage.start(options).await?;
    let file = stage.path("late");
    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": format!("touch {}", file.display())}),
        )
        .say("went on");
    let told = ask(&mut session, script.prompt()).await?;
    let context = called.recv().await.context("the hook is called")?;
    context.cancelled.cancelled().await;
    assert!(
        told.tool_result()?.1 && !file.exists(),
        "a late hook lets nothing run"
    );

    let input = json!({"file_path": file, "content": "x"});
    let told = ask(&mut session, Script::new().tool("Write", input).prompt()).await?;
    let ResultMessage::Success(result) = &told.result else {
        anyhow::bail!("{:?}", told.result)
    };
    assert_eq!(result.terminal_reason, Some(TerminalReason::ToolDeferred));
    let deferred = result
        .deferred_tool_use
        .as_ref()
        .context("the call is named")?;
    assert_eq!(deferred.name, "Write");
    assert!(!file.exists());
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
