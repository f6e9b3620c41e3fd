//! May this tool run? Every answer a host can give, and what becomes of it.

use anyhow::Context as _;
use estelle_claude::wire::permission::{
    AddRules, Allow, PermissionBehavior, PermissionDestination, PermissionMode, PermissionUpdate,
};
use estelle_claude::wire::result::TerminalReason;
use estelle_claude::wire::{Json, PermissionResult, PermissionRuleValue, ResultMessage};
use estelle_claude::wire::{SystemMessage, system::Status};
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::desk::Desk;
use super::stage::{Stage, ask, turn};

on_both_versions!(
    real_answers_decide_what_a_tool_does,
    real_granted_rules_and_modes_spare_the_next_question,
    real_a_callback_that_panics_lets_nothing_run,
);

fn touch(stage: &Stage, name: &str) -> Value {
    json!({"command": format!("touch {}", stage.path(name).display())})
}

async fn real_answers_decide_what_a_tool_does(stage: &Stage) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options());
    let mut session = stage.start(options).await?;

    // Allow.
    let script = Script::new()
        .tool("Bash", touch(stage, "allowed"))
        .say("ran");
    session.send(script.prompt()).await?;
    let asked = desk.next().await?;
    assert_eq!(asked.request.tool_name, "Bash");
    assert_eq!(asked.request.input.value()?, touch(stage, "allowed"));
    assert!(
        !stage.path("allowed").exists(),
        "it ran before it was allowed"
    );
    asked.allow()?;
    assert_eq!(turn(&mut session).await?.text(), "ran");
    assert!(stage.path("allowed").exists());

    // Allow with another input: the file has what the host wanted.
    let file = stage.path("note.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": file, "content": "as asked"}))
        .say("written");
    session.send(script.prompt()).await?;
    let changed = Json::of(&json!({"file_path": file, "content": "as changed"}))?;
    desk.next()
        .await?
        .answer(PermissionResult::allow(changed))?;
    assert_eq!(turn(&mut session).await?.text(), "written");
    assert_eq!(stage.read("note.txt").as_deref(), Some("as changed"));

    // Deny: the model is told and the turn goes on.
    let script = Script::new()
        .tool("Bash", touch(stage, "denied"))
        .say("went on");
    session.send(script.prompt()).await?;
    desk.next()
        .await?
        .answer(PermissionResult::deny("not on a Sunday"))?;
    let told = turn(&mut session).await?;
    let (text, is_error) = told.tool_result()?;
    assert!(is_error && text.contains("not on a Sunday"), "{text}");
    assert_eq!(told.text(), "went on");
    let ResultMessage::Success(result) = &told.result else {
        anyhow::bail!("{:?}", told.result)
    };
    let denials = result.permission_denials.as_deref().unwrap_or_default();
    assert_eq!(denials.len(), 1);
    assert_eq!(denials[0].tool_name, "Bash");
    assert!(stage.history()?.contains("not on a Sunday"));

    // Deny and interrupt: the turn is over, the session is not.
    let script = Script::new()
        .tool("Bash", touch(stage, "denied"))
        .say("never said");
    session.send(script.prompt()).await?;
    desk.next()
        .await?
        .answer(PermissionResult::deny_and_interrupt("stop it"))?;
    let told = turn(&mut session).await?;
    assert!(
        matches!(told.result, ResultMessage::Error(_)),
        "{:?}",
        told.result
    );
    assert_eq!(
        told.result.terminal_reason(),
        Some(&TerminalReason::AbortedTools)
    );
    assert!(!stage.path("denied").exists());
    let told = ask(&mut session, Script::new().say("still here").prompt()).await?;
    assert_eq!(told.text(), "still here");
    assert!(desk.is_empty());
    session.close().await;
    Ok(())
}

async fn real_granted_rules_and_modes_spare_the_next_question(stage: &Stage) -> anyhow::Result<()> {
    let (options, mut desk) = Desk::of(stage.options());
    let mut session = stage.start(options).await?;

    let script = Script::new()
        .tool("Bash", touch(stage, "first"))
        .tool("Bash", touch(stage, "second"))
        .say("both");
    session.send(script.prompt()).await?;
    let asked = desk.next().await?;
    let mut rule = PermissionRuleValue::new("Bash");
    rule.rule_content = Some("touch:*".to_owned());
    let mut allow = Allow::new(asked.request.input.clone());
    allow.updated_permissions = Some(vec![PermissionUpdate::AddRules(AddRules::new(
        vec![rule],
        PermissionBehavior::Allow,
        PermissionDestination::Session,
    ))]);
    asked.answer(PermissionResult::Allow(allow))?;
    assert_eq!(turn(&mut session).await?.text(), "both");
    assert!(stage.path("first").exists() && stage.path("second").exists());
    assert!(desk.is_empty(), "the second call was asked about");

    // The suggestion that comes with a write, taken: edits are no longer asked about.
    let write = |name: &str| json!({"file_path": stage.path(name), "content": name});
    let script = Script::new()
        .tool("Write", write("one"))
        .tool("Write", write("two"))
        .say("written");
    session.send(script.prompt()).await?;
    let asked = desk.next().await?;
    let suggested = asked.request.permission_suggestions.clone();
    let suggested = suggested.context("a write comes with a suggestion")?;
    assert!(
        matches!(&suggested[..], [PermissionUpdate::SetMode(set)] if set.mode == PermissionMode::AcceptEdits),
        "{suggested:?}"
    );
    let mut allow = Allow::new(asked.request.input.clone());
    allow.updated_permissions = Some(suggested);
    asked.answer(PermissionResult::Allow(allow))?;
    let told = turn(&mut session).await?;
    assert_eq!(told.text(), "written");
    assert_eq!(stage.read("two").as_deref(), Some("two"));
    assert!(desk.is_empty(), "the second write was asked about");
    let mode = told.system().find_map(|system| match system {
        SystemMessage::Status(Status {
            permission_mode: Some(mode),
            ..
        }) => Some(mode.clone()),
        _ => None,
    });
    assert_eq!(mode, Some(PermissionMode::AcceptEdits));
    session.close().await;
    Ok(())
}

#[expect(clippy::panic, reason = "the panic is what the test is about")]
async fn real_a_callback_that_panics_lets_nothing_run(stage: &Stage) -> anyhow::Result<()> {
    let options = stage
        .options()
        .can_use_tool(|_, _| async { panic!("a broken callback") });
    let mut session = stage.start(options).await?;
    let script = Script::new()
        .tool("Bash", touch(stage, "never"))
        .say("went on");
    let told = ask(&mut session, script.prompt()).await?;
    assert!(told.tool_result()?.1, "the call must fail");
    assert_eq!(told.text(), "went on");
    assert!(!stage.path("never").exists());
    session.close().await;
    Ok(())
}
