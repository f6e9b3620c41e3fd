//! The options against the real CLIs: each must take every argument it is given, and refuse those the gates name.
//!
//! The variables `ESTELLE_CLAUDE_197` and `ESTELLE_CLAUDE_325` name the programs. They run with a home of their own,
//! a false key and standard input at its end, so that they only read their arguments and leave.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::probe::probe_as;
use super::*;
use crate::mcp::{McpServerConfig, RemoteServer, StdioServer};
use crate::wire::{PermissionMode, PermissionResult};

const ID: &str = "11111111-1111-4111-8111-111111111111";
const V197: CliVersion = CliVersion::new(2, 1, 197);
const V325: CliVersion = CliVersion::new(2, 1, 325);

/// Longest time for one start and end on a busy machine.
const LIMIT: Duration = Duration::from_mins(1);

#[tokio::test]
async fn real_cli_197_tells_its_version() {
    tells_its_version("ESTELLE_CLAUDE_197", V197).await;
}

#[tokio::test]
async fn real_cli_325_tells_its_version() {
    tells_its_version("ESTELLE_CLAUDE_325", V325).await;
}

#[tokio::test]
async fn real_cli_197_takes_every_argument() {
    let cli = Cli::new(real("ESTELLE_CLAUDE_197", V197), V197);
    takes_every_argument(&cli, Options::new()).await;
}

#[tokio::test]
async fn real_cli_325_takes_every_argument() {
    let cli = Cli::new(real("ESTELLE_CLAUDE_325", V325), V325);
    takes_every_argument(&cli, Options::new().project_config_root("/tmp")).await;
    // These three need other companions than the long list has.
    let home = home();
    for options in [
        Options::new().permission_prompts(PermissionPrompts::None),
        Options::new().plugin_delivery(PluginDelivery::Initialize),
        Options::new()
            .resume(ID)
            .resume_session_at(ID)
            .resume_drops_turn(ID),
    ] {
        let output = run(&cli, options, home.path()).await;
        assert_eq!(complaint(&output), None);
    }
}

#[tokio::test]
async fn real_cli_197_refuses_what_the_gates_name() {
    let path = real("ESTELLE_CLAUDE_197", V197);
    // Passed off as a newer one, because the gate itself would refuse.
    let cli = Cli::new(path, V325);
    let home = home();
    for (options, flag) in [
        (
            Options::new().permission_prompts(PermissionPrompts::None),
            "--permission-prompts",
        ),
        (
            Options::new().plugin_delivery(PluginDelivery::Initialize),
            "--await-initialize",
        ),
        (
            Options::new().project_config_root("/tmp"),
            "--project-config-root",
        ),
        (
            Options::new()
                .resume(ID)
                .resume_session_at(ID)
                .resume_drops_turn(ID),
            "--resume-drops-turn",
        ),
    ] {
        let output = run(&cli, options, home.path()).await;
        let complaint =
            complaint(&output).unwrap_or_else(|| panic!("{flag} was taken: {output:?}"));
        assert!(complaint.contains(flag), "{flag}: {complaint}");
        assert_eq!(output.status.code(), Some(1), "{flag}");
    }
}

async fn tells_its_version(variable: &str, version: CliVersion) {
    let path = real(variable, version);
    let home = home();
    let probed = probe_as(&path, None, &[], &environment(home.path())).await;
    assert_eq!(probed.expect("it answers"), version);
}

/// Starts the CLI with all options that go together, and with those that exclude them.
async fn takes_every_argument(cli: &Cli, first: Options) {
    let home = home();
    let all = everything(first, home.path());
    let output = run(cli, all, home.path()).await;
    assert_eq!(complaint(&output), None);
    assert!(
        output.status.success(),
        "it leaves when its input ends: {output:?}"
    );

    let bypass = Options::new()
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions(true)
        .env("IS_SANDBOX", "1")
        .thinking(Thinking::budget(2000))
        .debug(true)
        .continue_(true)
        .persist_session(false);
    let resumed = Options::new()
        .resume(ID)
        .fork_session(true)
        .resume_session_at(ID)
        .thinking(Thinking::Disabled);
    for options in [bypass, resumed] {
        let output = run(cli, options, home.path()).await;
        assert_eq!(complaint(&output), None);
    }
}

fn everything(options: Options, home: &Path) -> Options {
    options
        .model("claude-sonnet-4-5")
        .fallback_model("haiku")
        .additional_directories([home])
        .agent_definition("rev", AgentDefinition::new("d", "p"))
        .allowed_tools(["Read", "Bash(ls:*)"])
        .disallowed_tools(["WebFetch"])
        .tools(Tools::list(["Read", "Bash"]))
        .can_use_tool(|_, _| async { PermissionResult::deny("no") })
        .permission_mode(PermissionMode::Plan)
        .session_id(ID)
        .include_partial_messages(true)
        .include_hook_events(true)
        .replay_user_messages(true)
        .mcp_server("s", StdioServer::new("/bin/true"))
        .mcp_server(
            "h",
            McpServerConfig::Http(RemoteServer::new("http://127.0.0.1:9/m")),
        )
        .strict_mcp_config(true)
        .max_turns(3)
        .max_budget_usd(1.5)
        .task_budget(30_000)
        .thinking(Thinking::Adaptive(Some(ThinkingDisplay::Summarized)))
        .effort(Effort::High)
        .betas([Beta::Context1m])
        .output_format(OutputFormat::JsonSchema(json!({ "type": "object" })))
        .settings(Settings::Inline(json!({ "model": "haiku" })))
        .managed_settings(json!({}))
        .setting_sources([SettingSource::User, SettingSource::Project])
        .skills(Skills::All)
        .plugins([
            Plugin::local(home),
            Plugin::local(home).skip_mcp_discovery(),
        ])
        .debug_file(home.join("debug.log"))
}

/// The program a variable of the test command names.
fn real(variable: &str, version: CliVersion) -> PathBuf {
    let Some(path) = std::env::var_os(variable) else {
        panic!(
            "{variable} must name a real CLI of version {version}; `cargo xtask test` installs it and sets it"
        );
    };
    Search::default()
        .explicit(path)
        .find()
        .unwrap_or_else(|error| panic!("{variable}: {error}"))
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Nothing of the user's, and no way out of this machine.
fn environment(home: &Path) -> Environment {
    Environment::clean()
        .set("HOME", home)
        .set("PATH", "/usr/bin:/bin")
        .set("ANTHROPIC_API_KEY", "fake")
        .set("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        .set("DISABLE_AUTOUPDATER", "1")
        .set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
}

/// Starts the CLI without input and waits for its end.
async fn run(cli: &Cli, options: Options, home: &Path) -> Output {
    let mut env = environment(home);
    env.changes.extend(options.process.env.changes.clone());
    let launch = options
        .cwd(home)
        .environment(env)
        .launch(cli)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut command = tokio::process::Command::from(launch.command());
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, command.output()).await;
    output.expect("it leaves in time").expect("it starts")
}

/// What the CLI says against its arguments, if anything.
fn complaint(output: &Output) -> Option<String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines = stderr
        .lines()
        .find(|line| line.starts_with("error:") || line.contains("argument"));
    lines.map(ToOwned::to_owned)
}
