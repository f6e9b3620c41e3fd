//! Every request of the handle, on a session with one turn behind it: it works, or the CLI says that it does not
//! know it.

use anyhow::{Context as _, ensure};
use estelle_claude::wire::Json;
use estelle_claude::wire::control::{
    ContextDetail, ContextReport, HooksListing, InitializeResult, McpStatusResult, PermissionRules,
    ReadFile, RegisterRepoRoot, ReloadPlugins, ReloadedPlugins, SettingsReport, SettingsSource,
    UsageResult,
};
use estelle_claude::wire::{UserMessage, Wire};
use estelle_claude::{ControlError, Session};
use estelle_sim::script::Script;
use futures_util::stream::iter;
use serde_json::{Map, Value, json};

use super::stage::{Stage, ask, turn};

on_both_versions!(
    real_the_session_tells_what_it_offers,
    real_every_request_works_or_is_refused_by_name,
    real_reports_are_read_to_the_last_field,
);

async fn real_the_session_tells_what_it_offers(stage: &Stage) -> anyhow::Result<()> {
    let session = stage.start(stage.options()).await?;
    let offered = session
        .initialization_result()
        .await
        .map_err(anyhow::Error::from)?;
    assert!(offered.pid.is_some());
    assert!(!session.supported_commands().await?.is_empty());
    assert!(!session.supported_models().await?.is_empty());
    assert!(!session.supported_agents().await?.is_empty());
    let account = session.account_info().await?;
    assert_eq!(account.api_key_source.as_deref(), Some("ANTHROPIC_API_KEY"));
    let version = session.binary_version().await?.version;
    assert_eq!(version.as_deref(), Some(stage.cli.version()));
    assert!(session.mcp_server_status().await?.is_empty());
    let again = session.reinitialize().await?;
    assert_eq!(again.result.pid, offered.pid);
    assert!(again.pending_permission_requests.is_empty());

    // Words of the caller's own, and a request that does not exist.
    let version = session.control("get_binary_version", Map::new()).await?;
    assert_eq!(
        version.get_str("version").as_deref(),
        Some(stage.cli.version())
    );
    let refused = session.control("no_such_request", Map::new()).await;
    assert!(
        matches!(&refused, Err(ControlError::Refused { subtype, .. }) if subtype == "no_such_request"),
        "{refused:?}"
    );
    session.send_raw("{\"type\":\n\"keep_alive\"}").await?;
    assert!(
        session.send_raw("not json").await.is_err(),
        "it would end the CLI"
    );
    assert!(session.close().await.exit.is_success());
    Ok(())
}

/// How a request is expected to go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// On both versions.
    Works,
    /// On the newer version; the older one does not know it.
    WorksOnNewer,
    /// Known, and refused in this situation.
    RefusedHere,
    /// Known to the newer version, and refused in this situation.
    RefusedHereOnNewer,
    /// Unknown to both.
    Unknown,
}

/// Checks one line of the table.
fn settle<T: std::fmt::Debug>(
    stage: &Stage,
    name: &str,
    expected: Expected,
    answer: Result<T, ControlError>,
) -> anyhow::Result<Option<T>> {
    use Expected::{RefusedHere, RefusedHereOnNewer, Unknown, Works, WorksOnNewer};
    let unknown = match expected {
        Works | RefusedHere => false,
        WorksOnNewer | RefusedHereOnNewer => stage.is_old(),
        Unknown => true,
    };
    match answer {
        Err(ControlError::Refused { message, .. }) => {
            let says_unknown = message.contains("Unsupported control request subtype");
            ensure!(says_unknown == unknown, "{name}: {message}");
            ensure!(
                unknown || !matches!(expected, Works | WorksOnNewer),
                "{name} is refused: {message}"
            );
            Ok(None)
        }
        Err(error) => Err(anyhow::Error::from(error).context(name.to_owned())),
        Ok(answer) => {
            ensure!(
                !unknown && matches!(expected, Works | WorksOnNewer),
                "{name} works: {answer:?}"
            );
            Ok(Some(answer))
        }
    }
}

async fn real_every_request_works_or_is_refused_by_name(stage: &Stage) -> anyhow::Result<()> {
    use Expected::{RefusedHere, RefusedHereOnNewer, Unknown, Works, WorksOnNewer};
    std::fs::write(stage.path("herring.txt"), "silver\n")?;
    std::fs::create_dir(stage.path("sub"))?;
    let mut session = stage.start(stage.options()).await?;
    ask(&mut session, Script::new().say("one turn").prompt()).await?;

    macro_rules! table {
        ($($method:ident ( $($argument:expr),* ) $expected:expr;)+) => {$(
            settle(stage, stringify!($method), $expected, session.$method($($argument),*).await)?;
        )+};
    }
    table! {
        interrupt() Works;
        set_model(None) Works;
        set_max_thinking_tokens(None) Works;
        apply_flag_settings(&json!({"includeCoAuthoredBy": false})) Works;
        update_settings(SettingsSource::Local, &json!({"outputStyle": "default"})) WorksOnNewer;
        settings() Works;
        permission_rules() WorksOnNewer;
        hooks_listing() WorksOnNewer;
        rename_session("A title") Works;
        generate_session_title("what it is about") Works;
        set_color("red") Unknown;
        set_has_subscribers(Some(true)) WorksOnNewer;
        list_models() WorksOnNewer;
        context_usage(ContextDetail::Summary) Works;
        context_usage(ContextDetail::Full) Works;
        session_cost() Works;
        usage() Works;
        mcp_server_status() Works;
        reconnect_mcp_server("nobody") RefusedHere;
        mcp_call("mcp__nobody__nothing", &json!({})) RefusedHere;
        read_mcp_resource("nobody", "file:///x") RefusedHereOnNewer;
        file_suggestions("herr") Works;
        seed_read_state(stage.path("herring.txt").to_string_lossy(), 1.0) Works;
        register_repo_root(RegisterRepoRoot::new("/")) RefusedHere;
        reload_plugins(ReloadPlugins::default()) Works;
        reload_skills() Works;
        reload_output_styles() WorksOnNewer;
        stop_task("nobody") Works;
        background_tasks() Works;
        task_output("nobody") RefusedHereOnNewer;
        cancel_async_message("11111111-1111-4111-8111-111111111111") Works;
        side_question("And the herring?") Works;
        rewind_files("11111111-1111-4111-8111-111111111111") RefusedHere;
    }
    let root = RegisterRepoRoot::new(stage.path("sub").to_string_lossy());
    settle(
        stage,
        "register_repo_root",
        Works,
        session.register_repo_root(root).await,
    )?;
    let file = ReadFile::new(stage.path("herring.txt").to_string_lossy());
    let file = settle(stage, "read_file", Works, session.read_file(file).await)?;
    let file = file.and_then(|file| file.contents);
    assert_eq!(file.as_deref(), Some("silver\n"));

    let messages = ["one", "two"].map(|word| UserMessage::from(Script::new().say(word).prompt()));
    session.stream_input(iter(messages)).await?;
    let said = turn(&mut session).await?.text();
    assert!(said == "one" || said == "two", "it still works: {said}");
    session.end_input().await;
    while let Some(message) = session.next().await {
        message?;
    }
    let end = session.end().context("it has ended")?;
    assert!(end.exit.is_success(), "{end}");
    Ok(())
}

/// Asks by name and reads the answer as its type, with nothing left unread.
async fn exact<T: Wire>(session: &Session, subtype: &str) -> anyhow::Result<T> {
    let answer: Json = session
        .control(subtype, Map::new())
        .await
        .with_context(|| subtype.to_owned())?;
    let (report, diagnostics) = answer.wire::<T>()?;
    ensure!(
        diagnostics.is_empty(),
        "{subtype}: {diagnostics:?} in {answer}"
    );
    Ok(report)
}

async fn real_reports_are_read_to_the_last_field(stage: &Stage) -> anyhow::Result<()> {
    let mut session = stage.start(stage.options()).await?;
    ask(&mut session, Script::new().say("one turn").prompt()).await?;
    exact::<InitializeResult>(&session, "initialize").await?;
    let context = exact::<ContextReport>(&session, "get_context_usage").await?;
    assert!(context.max_tokens.is_some_and(|tokens| tokens > 0));
    exact::<UsageResult>(&session, "get_usage").await?;
    let settings = exact::<SettingsReport>(&session, "get_settings").await?;
    assert!(settings.effective.is_some());
    exact::<ReloadedPlugins>(&session, "reload_plugins").await?;
    exact::<McpStatusResult>(&session, "mcp_status").await?;
    if !stage.is_old() {
        exact::<HooksListing>(&session, "get_hooks_listing").await?;
        exact::<PermissionRules>(&session, "list_permission_rules").await?;
    }
    let cost = session.session_cost().await?.text.unwrap_or_default();
    assert!(cost.contains('$'), "{cost}");
    let usage: Value = session.control("get_usage", Map::new()).await?.value()?;
    assert!(usage.is_object());
    session.close().await;
    Ok(())
}
