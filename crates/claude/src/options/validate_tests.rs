//! What a caller reads when options cannot work, word for word.

use serde_json::json;

use super::super::*;
use crate::wire::{HookEvent, PermissionMode, PermissionResult};

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// The error of these options with a CLI of this version.
fn error(options: &Options, version: CliVersion) -> String {
    match options.launch(&Cli::new("/opt/claude", version)) {
        Ok(launch) => panic!("no error: {launch:?}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(options: &Options, text: &str) {
    assert_eq!(error(options, CliVersion::new(2, 1, 325)), text);
}

fn denying() -> Options {
    Options::new().can_use_tool(|_, _| async { PermissionResult::deny("no") })
}

#[test]
fn permissions_must_have_one_clear_answerer() {
    check(
        &Options::new().permission_mode(PermissionMode::BypassPermissions),
        "the option `permission_mode(BypassPermissions)` needs `allow_dangerously_skip_permissions`: say that \
         running without any permission check is meant, or choose another mode",
    );
    check(
        &denying().permission_prompt_tool_name("mcp__x__ask"),
        "the options `can_use_tool` and `permission_prompt_tool_name` exclude each other: only one of them can \
         answer permission prompts",
    );
    check(
        &denying().permission_prompts(PermissionPrompts::None),
        "the options `permission_prompts(None)` and `can_use_tool` exclude each other: with nobody to answer \
         prompts the callback would never be called",
    );
    check(
        &Options::new()
            .permission_prompts(PermissionPrompts::None)
            .permission_prompt_tool_name("mcp__x__ask"),
        "the options `permission_prompts(None)` and `permission_prompt_tool_name` exclude each other: with nobody \
         to answer prompts the tool would never be called",
    );
    check(
        &Options::new().permission_prompts(PermissionPrompts::Host),
        "the option `permission_prompts(Host)` needs `can_use_tool`: somebody must answer the prompts; \
         `permission_prompt_tool_name` will do as well",
    );
}

#[test]
fn resuming_names_one_conversation() {
    check(
        &Options::new().resume(ID).continue_(true),
        "the options `resume` and `continue_` exclude each other: one names the conversation to take up, the \
         other takes the newest",
    );
    check(
        &Options::new().fork_session(true),
        "the option `fork_session` needs `resume`: only a conversation that is taken up can be forked; \
         `continue_` will do as well",
    );
    check(
        &Options::new().continue_(true).resume_session_at(ID),
        "the option `resume_session_at` needs `resume`: name the conversation the message belongs to",
    );
    check(
        &Options::new().resume(ID).resume_drops_turn(ID),
        "the option `resume_drops_turn` needs `resume_session_at`: name the message behind which the turn is \
         dropped",
    );
    check(
        &Options::new().resume(ID).session_id(ID),
        "the options `session_id` and `resume` exclude each other: a conversation that is taken up keeps its id \
         unless `fork_session` is set",
    );
    let fork = Options::new()
        .continue_(true)
        .fork_session(true)
        .session_id(ID);
    assert!(
        fork.launch(&Cli::new("/opt/claude", MINIMUM_VERSION))
            .is_ok()
    );
}

#[test]
fn ids_and_paths_are_checked() {
    for bad in ["nonsense", "11111111111141118111111111111111", ""] {
        check(
            &Options::new().session_id(bad),
            &format!("the option `session_id` cannot be {bad:?}: it must be a UUID with hyphens"),
        );
    }
    check(
        &Options::new().resume(ID).resume_session_at("m1"),
        "the option `resume_session_at` cannot be \"m1\": it must be a UUID with hyphens",
    );
    check(
        &Options::new().resume(" "),
        "the option `resume` cannot be \" \": it must be the id or title of a conversation",
    );
    check(
        &Options::new().cwd("src"),
        "the option `cwd` cannot be \"src\": it must be an absolute path",
    );
    check(
        &Options::new().additional_directories(["/a", "b"]),
        "the option `additional_directories` cannot be \"b\": it must be an absolute path",
    );
    check(
        &Options::new().project_config_root("."),
        "the option `project_config_root` cannot be \".\": it must be an absolute path",
    );
}

#[test]
fn limits_must_leave_room() {
    check(
        &Options::new().max_turns(0),
        "the option `max_turns` cannot be 0: it must be at least 1",
    );
    check(
        &Options::new().task_budget(0),
        "the option `task_budget` cannot be 0: it must be at least 1 token",
    );
    for (amount, shown) in [(0.0, "0"), (-1.5, "-1.5"), (f64::NAN, "NaN")] {
        check(
            &Options::new().max_budget_usd(amount),
            &format!("the option `max_budget_usd` cannot be {shown}: it must be a positive amount"),
        );
    }
    check(
        &Options::new().model("haiku").fallback_model("haiku"),
        "the option `fallback_model` cannot be \"haiku\": it must differ from `model`",
    );
}

#[test]
fn settings_are_objects_and_come_from_one_place() {
    check(
        &Options::new().settings(Settings::Inline(json!("secret"))),
        "the option `settings` cannot be a string: settings are an object",
    );
    check(
        &Options::new().managed_settings(json!([])),
        "the option `managed_settings` cannot be a list: settings are an object",
    );
    check(
        &Options::new().output_format(OutputFormat::JsonSchema(json!(true))),
        "the option `output_format` cannot be a boolean: a JSON schema is an object here",
    );
    check(
        &Options::new()
            .settings(Settings::Path("/s.json".into()))
            .sandbox(SandboxSettings::default()),
        "the options `settings(Path)` and `sandbox` exclude each other: put the sandbox into the settings file, \
         or give the settings inline",
    );
    check(
        &Options::new()
            .sandbox(SandboxSettings::default())
            .extra_arg("settings", "{}"),
        "the options `extra_arg(settings)` and `settings` exclude each other: the CLI takes only one; put \
         everything into `settings`",
    );
}

#[test]
fn callbacks_names_and_extra_arguments_are_checked() {
    check(
        &Options::new().supported_dialog_kinds(["k"]),
        "the option `supported_dialog_kinds` needs `on_user_dialog`: a dialog that nobody shows would hold up the \
         conversation",
    );
    check(
        &Options::new().hook(HookEvent::Stop, HookMatcher::any()),
        "the option `hook` cannot be a matcher without callbacks: add one with `HookMatcher::callback`",
    );
    for bad in ["", " a", "a(b)", "a,b", "a\nb"] {
        check(
            &Options::new().skills(Skills::List(vec!["fine".into(), bad.into()])),
            &format!(
                "the option `skills` cannot be {bad:?}: a name has no parentheses, commas, control characters or \
                 spaces around it"
            ),
        );
    }
    for bad in ["", "--foo", "foo=bar", "foo bar"] {
        check(
            &Options::new().extra_flag(bad),
            &format!(
                "the option `extra_arg` cannot be {bad:?}: the name goes without dashes, spaces and value: `foo` \
                 for `--foo`"
            ),
        );
    }
}

#[test]
fn what_the_system_would_refuse_names_the_argument() {
    check(
        &Options::new().model("a\0b"),
        "the argument `--model` cannot be passed: no argument can hold a zero byte",
    );
    let settings = json!({ "env": { "A": "x".repeat(128 * 1024) } });
    check(
        &Options::new().settings(Settings::Inline(settings)),
        "the argument `--settings` cannot be passed: an argument must be shorter than 128 KiB; use a file where \
         one will do",
    );
}

#[test]
fn an_older_cli_is_told_apart_before_it_exits() {
    let gated = [
        (
            "permission_prompts",
            Options::new().permission_prompts(PermissionPrompts::None),
        ),
        (
            "plugin_delivery",
            Options::new().plugin_delivery(PluginDelivery::Initialize),
        ),
        (
            "project_config_root",
            Options::new().project_config_root("/"),
        ),
        (
            "resume_drops_turn",
            Options::new()
                .resume(ID)
                .resume_session_at(ID)
                .resume_drops_turn(ID),
        ),
    ];
    assert_eq!(gated.len(), GATES.len());
    for ((option, options), gate) in gated.iter().zip(&GATES) {
        assert_eq!(
            error(options, gate.known_bad),
            format!(
                "the option `{option}` needs Claude Code {} or newer, but 2.1.197 is installed and would exit at \
                 once over `{}`: run `claude update`, or leave the option out",
                gate.known_good, gate.flag
            )
        );
        let launch = options.launch(&Cli::new("/opt/claude", gate.known_good));
        let launch = launch.unwrap_or_else(|error| panic!("{option}: {error}"));
        assert!(
            launch
                .args
                .iter()
                .any(|arg| arg.to_string_lossy().starts_with(gate.flag)),
            "{option} is passed as {}",
            gate.flag
        );
    }
    assert_eq!(
        error(&Options::new(), CliVersion::new(2, 1, 196)),
        "Claude Code 2.1.196 is too old, 2.1.197 or newer is needed: run `claude update`, or `npm install -g \
         @anthropic-ai/claude-code@latest` if it came from npm"
    );
}
