//! The whole mapping, one row per row of the table recorded from the TypeScript SDK 0.3.325.
//!
//! A row reads like the table: the option, the arguments added to the base, the variables added, the
//! `initialize` fields. Two words in one entry are two arguments (`--settings /tmp/s.json`). Fields are
//! compared as JSON, so the order of keys does not matter; the order of arguments within a row does. The rows are kept
//! out of the formatter's hands because as a table they can be compared with the recorded one.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::*;
use crate::mcp::{
    McpServerConfig, NoInput, RemoteServer, StdioServer, create_sdk_mcp_server, tool,
};
use crate::wire::control::{Elicitation, RequestUserDialog};
use crate::wire::{HookEvent, HookOutput, PermissionMode, PermissionResult};

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// Option, arguments, variables, `initialize` fields, and the Rust options that must give them.
struct Row(
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
    Options,
);

const BASE: [&str; 5] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
];
const NONE: &[&str] = &[];

#[test]
fn every_option_becomes_what_the_table_says() {
    let rows = all_rows();
    assert_eq!(rows.len(), 78, "the recorded table has 78 rows");
    for row in rows {
        check(row);
    }
}

fn check(Row(name, added, env, initialize, options): Row) {
    let launch = launch(&options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let args: Vec<_> = launch
        .args
        .iter()
        .map(|arg| arg.to_str().expect("rows are UTF-8"))
        .collect();
    // The one row whose arguments come first.
    let (first, args) = match name {
        "executableArgs" => args.split_at(1),
        _ => args.split_at(0),
    };
    assert_eq!(args[..BASE.len()], BASE, "{name}: the base comes first");
    let got = first.iter().chain(&args[BASE.len()..]);
    let expected = added.iter().flat_map(|entry| match entry.split_once(' ') {
        Some((flag, value)) if !flag.contains('=') => vec![flag, value],
        Some(_) | None => vec![*entry],
    });
    assert_eq!(
        got.map(|arg| comparable(arg)).collect::<Vec<_>>(),
        expected.map(comparable).collect::<Vec<_>>(),
        "{name}: arguments"
    );

    assert_eq!(added_variables(&launch), env, "{name}: variables");

    let mut fields = match serde_json::to_value(options.initialize()) {
        Ok(Value::Object(fields)) => fields,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(
        fields.remove("subtype"),
        Some(json!("initialize")),
        "{name}"
    );
    // Every row but those about the prompt keeps the empty one.
    if !name.starts_with("systemPrompt") {
        assert_eq!(
            fields.remove("systemPrompt"),
            Some(json!([""])),
            "{name}: the prompt is empty"
        );
    }
    let expected = match initialize {
        "-" => Map::new(),
        text => serde_json::from_str(text).expect("the column is JSON"),
    };
    assert_eq!(
        Value::Object(fields),
        Value::Object(expected),
        "{name}: initialize"
    );
}

/// JSON arguments as values, all others as texts.
fn comparable(arg: &str) -> Value {
    serde_json::from_str(arg)
        .ok()
        .filter(Value::is_object)
        .unwrap_or_else(|| arg.into())
}

fn launch(options: &Options) -> Result<Launch, LaunchError> {
    options.launch(&Cli::new("/opt/claude", CliVersion::new(2, 1, 325)))
}

/// The variables that are not in the base, as `NAME=value`.
fn added_variables(launch: &Launch) -> String {
    let base = BTreeMap::from([
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-rs"),
        ("CLAUDE_AGENT_SDK_VERSION", env!("CARGO_PKG_VERSION")),
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
    ]);
    let all: BTreeMap<_, _> = launch
        .env
        .set
        .iter()
        .map(|(name, value)| {
            (
                name.to_str().expect("UTF-8"),
                value.to_str().expect("UTF-8"),
            )
        })
        .collect();
    for (name, value) in &base {
        assert_eq!(all.get(name), Some(value), "{name} belongs to the base");
    }
    let added: Vec<_> = all
        .iter()
        .filter(|(name, _)| !base.contains_key(*name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if added.is_empty() {
        "-".to_owned()
    } else {
        added.join(" ")
    }
}

fn all_rows() -> Vec<Row> {
    let mut rows = basic_rows();
    rows.extend(permission_rows());
    rows.extend(session_rows());
    rows.extend(mcp_rows());
    rows.extend(model_rows());
    rows.extend(prompt_rows());
    rows.extend(settings_rows());
    rows.extend(callback_and_process_rows());
    rows
}

#[rustfmt::skip]
fn basic_rows() -> Vec<Row> {
    let o = Options::new;
    vec![
        Row("prompt is string", NONE, "-", "-", o()),
        Row("model", &["--model=claude-sonnet-4-5"], "-", "-", o().model("claude-sonnet-4-5")),
        Row("fallbackModel", &["--fallback-model=haiku"], "-", "-", o().fallback_model("haiku")),
        Row("cwd", NONE, "-", "-", o().cwd("/tmp")),
        Row("additionalDirectories", &["--add-dir=/a", "--add-dir=/b"], "-", "-",
            o().additional_directories(["/a", "/b"])),
        Row("agent", &["--agent=Explore"], "-", "-", o().agent("Explore")),
        Row("agents", NONE, "-", r#"{"agents": {"rev": {"description": "d", "prompt": "p", "tools": ["Read"]}}}"#,
            o().agents([("rev", AgentDefinition::new("d", "p").tools(["Read"]))])),
        Row("allowedTools", &["--allowedTools=Read,Bash(ls:*)"], "-", "-", o().allowed_tools(["Read", "Bash(ls:*)"])),
        Row("disallowedTools", &["--disallowedTools=WebFetch"], "-", "-", o().disallowed_tools(["WebFetch"])),
        Row("tools array", &["--tools=Read,Bash"], "-", "-", o().tools(Tools::list(["Read", "Bash"]))),
        Row("tools []", &["--tools="], "-", "-", o().tools(Tools::List(Vec::new()))),
        Row("tools preset", &["--tools=default"], "-", "-", o().tools(Tools::Preset)),
        Row("toolAliases", NONE, "-", r#"{"toolAliases": {"Bash": "mcp__x__bash"}}"#,
            o().tool_aliases([("Bash", "mcp__x__bash")])),
    ]
}

#[rustfmt::skip]
fn permission_rows() -> Vec<Row> {
    let o = Options::new;
    vec![
        Row("canUseTool", &["--permission-prompt-tool=stdio"], "-", "-",
            o().can_use_tool(|_, _| async { PermissionResult::deny("no") })),
        Row("permissionPromptToolName", &["--permission-prompt-tool=mcp__x__perm"], "-", "-",
            o().permission_prompt_tool_name("mcp__x__perm")),
        Row("permissionPrompts", &["--permission-prompts=none"], "-", "-",
            o().permission_prompts(PermissionPrompts::None)),
        Row("permissionMode plan", &["--permission-mode=plan"], "-", "-", o().permission_mode(PermissionMode::Plan)),
        Row("bypass", &["--permission-mode=bypassPermissions", "--allow-dangerously-skip-permissions"], "-", "-",
            o().permission_mode(PermissionMode::BypassPermissions).allow_dangerously_skip_permissions(true)),
    ]
}

#[rustfmt::skip]
fn session_rows() -> Vec<Row> {
    const RESUME: &str = "--resume=11111111-1111-4111-8111-111111111111";
    const AT: &str = "--resume-session-at=11111111-1111-4111-8111-111111111111";
    const DROPS: &str = "--resume-drops-turn=11111111-1111-4111-8111-111111111111";
    const NEW: &str = "--session-id=11111111-1111-4111-8111-111111111111";
    let o = Options::new;
    let resume = || o().resume(ID);
    vec![
        Row("continue", &["--continue"], "-", "-", o().continue_(true)),
        Row("resume", &[RESUME], "-", "-", resume()),
        Row("resume+fork", &[RESUME, "--fork-session"], "-", "-", resume().fork_session(true)),
        Row("resumeSessionAt", &[RESUME, AT], "-", "-", resume().resume_session_at(ID)),
        Row("resumeDropsTurn", &[RESUME, AT, DROPS], "-", "-", resume().resume_session_at(ID).resume_drops_turn(ID)),
        Row("sessionId", &[NEW], "-", "-", o().session_id(ID)),
        Row("persistSession false", &["--no-session-persistence"], "-", "-", o().persist_session(false)),
        Row("enableFileCheckpointing", NONE, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true", "-",
            o().enable_file_checkpointing(true)),
        Row("includePartialMessages", &["--include-partial-messages"], "-", "-", o().include_partial_messages(true)),
        Row("includeHookEvents", &["--include-hook-events"], "-", "-", o().include_hook_events(true)),
        Row("forwardSubagentText", NONE, "-", r#"{"forwardSubagentText": true}"#, o().forward_subagent_text(true)),
        Row("verbatimPrompts", NONE, "-", "-", o().verbatim_prompts(true)),
    ]
}

#[rustfmt::skip]
fn mcp_rows() -> Vec<Row> {
    let o = Options::new;
    let hook = |matcher: HookMatcher| matcher.callback(|_, _, _| async { HookOutput::default() });
    let ping = tool("ping", "Answers pong.", async |_: NoInput| Ok("pong"));
    let server = create_sdk_mcp_server("inproc", "1.0.0", [ping]).expect("one tool is a server");
    let manifest =
        serde_json::to_string(&server.manifest().expect("tools are known ahead")).expect("JSON");
    // The table cuts these two cells short; the server's own manifest stands in for the rest.
    let announced: &'static str = format!(
        r#"{{"sdkMcpServers": ["inproc"], "sdkMcpServerManifests": {{"inproc": {manifest}}}}}"#
    )
    .leak();
    vec![
        Row("hooks", NONE, "-", r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 5}], "Stop": [{"hookCallbackIds": ["hook_1", "hook_2"]}]}}"#,
            o().hook(HookEvent::PreToolUse, hook(HookMatcher::for_tools("Bash").timeout(Duration::from_secs(5)))).hook(HookEvent::Stop, hook(hook(HookMatcher::any())))),
        Row("mcpServers stdio", &[r#"--mcp-config {"mcpServers":{"s":{"type":"stdio","command":"x","args":["y"],"env":{"A":"b"}}}}"#], "-", "-",
            o().mcp_server("s", StdioServer::new("x").arg("y").env("A", "b"))),
        Row("mcpServers sdk", NONE, "-", announced, o().mcp_server("inproc", server.clone())),
        Row("mcpServers mixed", &[r#"--mcp-config {"mcpServers":{"h":{"type":"http","url":"http://127.0.0.1:1/m"}}}"#], "-", announced,
            o().mcp_server("inproc", server).mcp_server("h", McpServerConfig::Http(RemoteServer::new("http://127.0.0.1:1/m")))),
        Row("strictMcpConfig", &["--strict-mcp-config"], "-", "-", o().strict_mcp_config(true)),
    ]
}

#[rustfmt::skip]
fn model_rows() -> Vec<Row> {
    let o = Options::new;
    vec![
        Row("maxTurns", &["--max-turns=3"], "-", "-", o().max_turns(3)),
        Row("maxBudgetUsd", &["--max-budget-usd=1.5"], "-", "-", o().max_budget_usd(1.5)),
        Row("taskBudget", &["--task-budget=1000"], "-", "-", o().task_budget(1000)),
        Row("maxThinkingTokens", &["--max-thinking-tokens=4000"], "-", "-", o().max_thinking_tokens(4000)),
        Row("maxThinkingTokens 0", &["--thinking=disabled"], "-", "-", o().max_thinking_tokens(0)),
        Row("thinking adaptive", &["--thinking=adaptive"], "-", "-", o().thinking(Thinking::adaptive())),
        Row("thinking enabled", &["--max-thinking-tokens=2000"], "-", "-", o().thinking(Thinking::budget(2000))),
        Row("thinking disabled", &["--thinking=disabled"], "-", "-", o().thinking(Thinking::Disabled)),
        Row("effort", &["--effort=high"], "-", "-", o().effort(Effort::High)),
        Row("outputFormat", &[r#"--json-schema={"type":"object"}"#], "-", r#"{"jsonSchema": {"type": "object"}}"#,
            o().output_format(OutputFormat::JsonSchema(json!({ "type": "object" })))),
    ]
}

#[rustfmt::skip]
fn prompt_rows() -> Vec<Row> {
    let o = Options::new;
    vec![
        Row("systemPrompt string", NONE, "-", r#"{"systemPrompt": ["You are X"]}"#, o().system_prompt("You are X")),
        Row("systemPrompt array", NONE, "-", r#"{"systemPrompt": ["a", "b"]}"#,
            o().system_prompt(SystemPrompt::custom(["a", "b"]))),
        Row("systemPrompt custom", NONE, "-", r#"{"systemPrompt": ["c"], "systemPromptSnapshot": false}"#,
            o().system_prompt(SystemPrompt::custom(["c"]).snapshot(false))),
        Row("systemPrompt preset", NONE, "-", "-", o().system_prompt(SystemPrompt::preset())),
        Row("systemPrompt preset append", NONE, "-", r#"{"appendSystemPrompt": "more", "excludeDynamicSections": true}"#,
            o().system_prompt(SystemPrompt::preset().append("more").exclude_dynamic_sections(true))),
    ]
}

#[rustfmt::skip]
fn settings_rows() -> Vec<Row> {
    let o = Options::new;
    let sandbox = SandboxSettings {
        enabled: Some(true),
        ..SandboxSettings::default()
    };
    let sources = [
        SettingSource::User,
        SettingSource::Project,
        SettingSource::Local,
    ];
    let plugin = || o().plugins([Plugin::local("/tmp/p")]);
    vec![
        Row("settings", &[r#"--settings {"model":"x"}"#], "-", "-",
            o().settings(Settings::Inline(json!({ "model": "x" })))),
        Row("settings path", &["--settings /tmp/s.json"], "-", "-", o().settings(Settings::Path("/tmp/s.json".into()))),
        Row("managedSettings", &["--managed-settings {}"], "-", "-", o().managed_settings(json!({}))),
        Row("settingSources []", &["--setting-sources="], "-", "-", o().setting_sources([])),
        Row("settingSources", &["--setting-sources=user,project,local"], "-", "-", o().setting_sources(sources)),
        Row("skills", &["--allowedTools=Skill(a)"], "-", r#"{"skills": ["a"]}"#,
            o().skills(Skills::List(vec!["a".into()]))),
        Row("skills all", &["--allowedTools=Skill"], "-", "-", o().skills(Skills::All)),
        Row("sandbox", &[r#"--settings {"sandbox":{"enabled":true,"failIfUnavailable":true}}"#], "-", "-",
            o().sandbox(sandbox)),
        Row("betas", &["--betas=context-1m-2025-08-07"], "-", "-", o().betas([Beta::Context1m])),
        Row("plugins", &["--plugin-dir=/tmp/p"], "-", "-", plugin()),
        Row("pluginDelivery", &["--await-initialize"], "-", r#"{"plugins": [{"type": "local", "path": "/tmp/p"}]}"#,
            plugin().plugin_delivery(PluginDelivery::Initialize)),
    ]
}

#[rustfmt::skip]
fn callback_and_process_rows() -> Vec<Row> {
    let o = Options::new;
    let html = ToolConfig {
        question_preview: Some(QuestionPreview::Html),
    };
    vec![
        Row("promptSuggestions", NONE, "-", r#"{"promptSuggestions": true}"#, o().prompt_suggestions(true)),
        Row("agentProgressSummaries", NONE, "-", r#"{"agentProgressSummaries": true}"#,
            o().agent_progress_summaries(true)),
        Row("title", NONE, "-", r#"{"title": "T"}"#, o().title("T")),
        Row("debug", &["--debug"], "-", "-", o().debug(true)),
        Row("debugFile", &["--debug-file=/tmp/d.log"], "-", "-", o().debug_file("/tmp/d.log")),
        Row("stderr", NONE, "-", "-", o().stderr(|_| ())),
        Row("extraArgs", &["--foo bar", "--flag"], "-", "-", o().extra_arg("foo", "bar").extra_flag("flag")),
        // The table lists only what the SDK adds of its own accord; the variable the caller sets shows here.
        Row("env", NONE, "A=b", "-", o().env("A", "b")),
        Row("toolConfig", NONE, "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT=html", "-", o().tool_config(html)),
        Row("onElicitation", NONE, "-", "-", o().on_elicitation(|_: Elicitation, _| std::future::pending())),
        Row("onUserDialog", NONE, "-", r#"{"supportedDialogKinds": ["refusal_fallback_prompt"]}"#,
            o().on_user_dialog(|_: RequestUserDialog, _| std::future::pending()).supported_dialog_kinds(["refusal_fallback_prompt"])),
        Row("perTaskStopAffordance", NONE, "-", r#"{"perTaskStopAffordance": true}"#,
            o().per_task_stop_affordance(true)),
        Row("planModeInstructions", NONE, "-", r#"{"planModeInstructions": "plan it"}"#,
            o().plan_mode_instructions("plan it")),
        Row("projectConfigRoot", &["--project-config-root=/tmp"], "-", "-", o().project_config_root("/tmp")),
        Row("executable", NONE, "-", "-", o().executable(Runtime::Node)),
        Row("executableArgs", &["--x"], "-", "-", o().executable_args(["--x"])),
        Row("loadTimeoutMs", NONE, "-", "-", o().load_timeout(Duration::from_secs(5))),
    ]
}
