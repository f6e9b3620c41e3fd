//! What the table of options does not show: environment rules, combinations, and that nothing secret is printed.

use serde_json::json;

use super::super::{
    AgentDefinition, Environment, Plugin, Settings, Skills, Thinking, ThinkingDisplay,
};
use super::*;
use crate::mcp::{McpServerConfig, McpServers, RemoteServer, StdioServer};

const SECRET: &str = "hunter2";

fn launch(options: &Options) -> Launch {
    let cli = Cli::new("/opt/claude", CliVersion::new(2, 1, 325));
    options
        .launch(&cli)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The arguments behind the base.
fn args(options: &Options) -> Vec<String> {
    let args = launch(options).args;
    args.iter()
        .skip(5)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_caller_decides_about_every_variable() {
    let env = launch(&Options::new()).env;
    assert!(!env.clear);
    assert_eq!(env.remove, REMOVED.iter().map(OsString::from).collect());

    let own = Environment::clean()
        .set("CLAUDE_CODE_ENTRYPOINT", "mine")
        .set("DEBUG", "1")
        .remove("NODE_OPTIONS");
    let own = own.remove("CLAUDE_CODE_SDK_READS_SESSION_STATE");
    let env = launch(&Options::new().environment(own)).env;
    assert!(env.clear);
    assert_eq!(
        env.set.get(OsStr::new("CLAUDE_CODE_ENTRYPOINT")),
        Some(&"mine".into())
    );
    assert_eq!(env.set.get(OsStr::new("DEBUG")), Some(&"1".into()));
    assert!(
        !env.set
            .contains_key(OsStr::new("CLAUDE_CODE_SDK_READS_SESSION_STATE"))
    );
    assert!(!env.remove.contains(OsStr::new("DEBUG")));
}

#[test]
fn a_command_carries_the_changes() {
    let options = Options::new().env("A", "b").env_remove("C").cwd("/");
    let command = launch(&options).command();
    let envs: BTreeMap<_, _> = command.get_envs().collect();
    assert_eq!(envs.get(OsStr::new("A")), Some(&Some(OsStr::new("b"))));
    assert_eq!(envs.get(OsStr::new("C")), Some(&None));
    assert_eq!(command.get_program(), "/opt/claude");
    assert_eq!(command.get_current_dir(), Some(std::path::Path::new("/")));
}

#[test]
fn options_outside_the_table_have_their_arguments_too() {
    assert_eq!(
        args(&Options::new().replay_user_messages(true)),
        ["--replay-user-messages"]
    );
    assert_eq!(
        args(&Options::new().thinking(Thinking::Adaptive(Some(ThinkingDisplay::Summarized)))),
        ["--thinking=adaptive", "--thinking-display=summarized"]
    );
    let unbounded = Thinking::Enabled {
        budget_tokens: None,
        display: None,
    };
    assert_eq!(
        args(&Options::new().thinking(unbounded)),
        ["--thinking=adaptive"]
    );
    assert_eq!(
        args(&Options::new().plugins([Plugin::local("/p").skip_mcp_discovery()])),
        ["--plugin-dir-no-mcp=/p"]
    );
    let states = launch(&Options::new().session_state_events(true)).env;
    assert_eq!(
        states
            .set
            .get(OsStr::new("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")),
        Some(&"1".into())
    );
}

#[test]
fn combinations_follow_the_rules_of_the_single_options() {
    let both = Options::new()
        .max_thinking_tokens(7)
        .thinking(Thinking::Disabled);
    assert_eq!(
        args(&both),
        ["--thinking=disabled"],
        "thinking wins over the older option"
    );
    let skills = Skills::List(vec!["a".into(), "b".into()]);
    let skilled = Options::new()
        .allowed_tools(["Read", "Skill(a)"])
        .skills(skills);
    assert_eq!(
        args(&skilled),
        ["--allowedTools=Read,Skill(a),Skill(b)"],
        "no rule twice"
    );
    let files = Options::new().debug(true).debug_file("/d");
    assert_eq!(
        args(&files),
        ["--debug-file=/d"],
        "the file implies the flag"
    );
    let dashed = Options::new().extra_arg("foo", "-bar").extra_arg("n", "-");
    assert_eq!(
        args(&dashed),
        ["--foo=-bar", "--n", "-"],
        "a value is never taken for a flag"
    );
}

#[test]
fn hook_callbacks_have_the_ids_that_are_announced() {
    use super::super::HookMatcher;
    use crate::wire::{HookEvent, HookOutput};
    let hook = || HookMatcher::any().callback(|_, _, _| async { HookOutput::default() });
    let options = Options::new()
        .hook(HookEvent::Stop, hook())
        .hook(
            HookEvent::PreToolUse,
            hook().timeout(std::time::Duration::from_millis(1500)),
        )
        .hook(HookEvent::Stop, hook());
    let ids: Vec<_> = options
        .hook_callbacks()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(ids, ["hook_0", "hook_1", "hook_2"]);
    assert_eq!(
        serde_json::to_value(options.initialize()).expect("JSON")["hooks"],
        json!({
            "Stop": [{ "hookCallbackIds": ["hook_0"] }, { "hookCallbackIds": ["hook_1"] }],
            "PreToolUse": [{ "hookCallbackIds": ["hook_2"], "timeout": 1.5 }],
        })
    );
}

#[test]
fn debug_shows_no_secret() {
    let own = McpServers::from([(
        "s".to_owned(),
        StdioServer::new("x").env("T", SECRET).into(),
    )]);
    let agent = AgentDefinition::new("d", "p")
        .mcp_servers(&own)
        .mcp_server_named("h");
    let options = Options::new()
        .env("ANTHROPIC_API_KEY", SECRET)
        .settings(Settings::Inline(json!({ "env": { "T": SECRET } })))
        .managed_settings(json!({ "env": { "T": SECRET } }))
        .mcp_server(
            "h",
            McpServerConfig::Http(RemoteServer::new("http://h").header("Authorization", SECRET)),
        )
        .mcp_server("s", StdioServer::new("x").env("T", SECRET))
        .extra_arg("token", SECRET)
        .agent_definition("a", agent);
    let shown = format!("{options:?} {options:#?}");
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(
        shown.contains("ANTHROPIC_API_KEY"),
        "names are shown: {shown}"
    );
    let launch = launch(&options);
    assert!(
        launch
            .args
            .iter()
            .any(|arg| arg.to_string_lossy().contains(SECRET)),
        "but it is passed"
    );
    let shown = format!("{launch:?}");
    assert!(!shown.contains(SECRET), "{shown}");
}
