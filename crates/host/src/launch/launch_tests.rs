//! What a run is started with, and what is refused.

use std::ffi::OsString;
use std::path::Path;

use estelle_claude::options::{Cli, CliVersion};
use estelle_proto::{ClaudeSessionId, ConversationId, ErrorCode, Generation, Json, PermissionMode};

use super::*;

const SECRET: &str = "s3cret-value";

fn wish(folder: &Path) -> LaunchWish {
    LaunchWish {
        conversation: ConversationId::parse("conv-1").unwrap(),
        generation: Generation(3),
        run_folder: folder.join("runs/3"),
        working_dir: folder.to_owned(),
        resume: None,
        mode: PermissionMode::Default,
        model: None,
        append_system_prompt: None,
        mcp_config: None,
        servers: None,
        tool_server: None,
        trust: FolderTrust::Withheld,
        hooks: Hooks::None,
        frozen: None,
    }
}

fn cli() -> Cli {
    Cli::new("/opt/claude", CliVersion::new(2, 1, 325))
}

fn prepared(wish: &LaunchWish) -> Prepared {
    prepare(wish, &cli(), []).unwrap()
}

/// The value behind a flag, in either form.
fn value<'a>(prepared: &'a Prepared, flag: &str) -> Option<&'a str> {
    let args = &prepared.launch.args;
    let joined = args
        .iter()
        .find_map(|arg| arg.strip_prefix(flag)?.strip_prefix('='));
    joined.or_else(|| {
        let at = args.iter().position(|arg| arg == flag)?;
        args.get(at + 1).map(String::as_str)
    })
}

#[test]
fn every_run_asks_for_every_tool_whatever_the_mode() {
    let place = tempfile::tempdir().unwrap();
    for (mode, told) in [
        (PermissionMode::Default, "default"),
        (PermissionMode::AcceptEdits, "default"),
        (PermissionMode::BypassPermissions, "default"),
        (PermissionMode::Plan, "plan"),
    ] {
        let prepared = prepared(&LaunchWish {
            mode,
            ..wish(place.path())
        });
        assert_eq!(value(&prepared, "--permission-mode"), Some(told));
        assert_eq!(value(&prepared, "--permission-prompt-tool"), Some("stdio"));
        let settings: serde_json::Value =
            serde_json::from_str(value(&prepared, "--settings").unwrap()).unwrap();
        assert_eq!(settings["permissions"]["ask"], serde_json::json!(["*"]));
        assert_eq!(settings["disableAllHooks"], true);
        for flag in [
            "--replay-user-messages",
            "--include-partial-messages",
            "--strict-mcp-config",
        ] {
            assert!(prepared.launch.args.iter().any(|arg| arg == flag), "{flag}");
        }
        assert!(
            !prepared
                .launch
                .args
                .iter()
                .any(|arg| arg.contains("dangerously"))
        );
    }
}

/// A callback that nobody answers rejects the call, or ends the process.
#[test]
fn a_run_is_greeted_without_hooks_of_ours() {
    let place = tempfile::tempdir().unwrap();
    let greeting = greeting(&wish(place.path()));
    let greeting = serde_json::to_value(greeting).unwrap();
    let hooks = greeting.get("hooks");
    assert!(hooks.is_none_or(serde_json::Value::is_null), "{greeting}");
}

#[test]
fn a_folder_that_is_not_trusted_brings_nothing() {
    let place = tempfile::tempdir().unwrap();
    let servers = r#"{"mcpServers":{"mine":{"command":"run-me","cwd":"./mcp"}}}"#;
    std::fs::write(place.path().join(".mcp.json"), servers).unwrap();
    let looked_at = LaunchWish {
        servers: crate::trust::scan(place.path(), None).unwrap().servers(),
        ..wish(place.path())
    };
    let withheld = prepared(&looked_at);
    assert_eq!(value(&withheld, "--setting-sources"), Some("user"));
    assert_eq!(withheld.files, []);
    // What was looked at counts, whatever the folder holds by now.
    std::fs::write(
        place.path().join(".mcp.json"),
        servers.replace("run-me", "planted"),
    )
    .unwrap();
    let granted = prepared(&LaunchWish {
        trust: FolderTrust::Granted,
        hooks: Hooks::Run,
        ..looked_at.clone()
    });
    assert_eq!(
        value(&granted, "--setting-sources"),
        Some("user,project,local")
    );
    let contents = &granted.files[0].contents;
    let cwd = place.path().join("mcp");
    assert!(contents.contains("run-me"), "{contents}");
    assert!(contents.contains(cwd.to_str().unwrap()), "{contents}");
}

#[test]
fn given_servers_go_into_a_file_and_no_secret_into_an_argument() {
    let place = tempfile::tempdir().unwrap();
    for text in [
        r#"{"mcpServers":{"a":{"command":"x","env":{"TOKEN":"s3cret-value"}}}}"#,
        r#"{"a":{"command":"x","env":{"TOKEN":"s3cret-value"}}}"#,
    ] {
        let prepared = prepared(&LaunchWish {
            mcp_config: Some(Json::parse(text).unwrap()),
            ..wish(place.path())
        });
        let file = place.path().join("runs/3/mcp.json");
        assert_eq!(value(&prepared, "--mcp-config"), file.to_str());
        assert!(prepared.files[0].contents.contains(SECRET));
        assert!(!prepared.launch.args.iter().any(|arg| arg.contains(SECRET)));
        assert!(!format!("{prepared:?}").contains(SECRET));
    }
}

#[test]
fn a_broken_configuration_costs_its_servers_only() {
    let place = tempfile::tempdir().unwrap();
    let broken = prepared(&LaunchWish {
        trust: FolderTrust::Granted,
        servers: Some(FolderServers(b"{ nonsense".to_vec())),
        ..wish(place.path())
    });
    assert!(matches!(broken.warnings[..], [ServerWarning::File(_)]));
    assert_eq!(value(&broken, "--mcp-config"), None);
    let given = r#"{"mcpServers":{"good":{"command":"x"},"bad":{"command":7}}}"#;
    let half = prepared(&LaunchWish {
        mcp_config: Some(Json::parse(given).unwrap()),
        ..wish(place.path())
    });
    assert!(matches!(half.warnings[..], [ServerWarning::Entry(_)]));
    assert!(half.files[0].contents.contains("good"));
    let nonsense = prepared(&LaunchWish {
        mcp_config: Some(Json::parse("7").unwrap()),
        ..wish(place.path())
    });
    assert!(matches!(nonsense.warnings[..], [ServerWarning::Given(_)]));
}

#[test]
fn a_bad_folder_is_refused_with_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (folder, words) in [
        (Path::new(""), "say in which folder"),
        (Path::new("relative/path"), "from the root on"),
        (&place.path().join("gone"), "create it again"),
        (&file, "not a folder"),
        (&file.join("below"), "not a folder"),
    ] {
        let wish = LaunchWish {
            working_dir: folder.to_owned(),
            ..wish(place.path())
        };
        let error = prepare(&wish, &cli(), []).unwrap_err().to_api();
        assert_eq!(error.code, ErrorCode::BadPath, "{folder:?}");
        assert!(error.message.contains(words), "{}", error.message);
    }
}

#[test]
fn the_environment_is_inherited_without_marks_and_secrets_of_ours() {
    let place = tempfile::tempdir().unwrap();
    let inherited = [
        ("PATH", "/usr/bin"),
        ("ANTHROPIC_API_KEY", "key"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CLAUDE_AGENT_SDK_VERSION", "9"),
        ("CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "1"),
        ("NODE_OPTIONS", "--inspect"),
        ("ESTELLE_TOKEN", SECRET),
        ("ESTELLE_RUN", "other/1"),
        ("ESTELLE_SIM_PLAIN", "1"),
    ]
    .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let env = prepare(&wish(place.path()), &cli(), inherited)
        .unwrap()
        .launch
        .env;
    let of = |name: &str| env.get(name).map(String::as_str);
    assert_eq!(of("PATH"), Some("/usr/bin"));
    assert_eq!(of("ANTHROPIC_API_KEY"), Some("key"));
    let marker = of("ESTELLE_RUN").unwrap();
    assert!(marker.starts_with("conv-1/3/"), "{marker}");
    assert_eq!(of("ESTELLE_SIM_PLAIN"), Some("1"));
    assert_eq!(of("DISABLE_AUTOUPDATER"), Some("1"));
    for name in [
        "CLAUDECODE",
        "CLAUDE_CODE_RESUME_INTERRUPTED_TURN",
        "NODE_OPTIONS",
        "ESTELLE_TOKEN",
    ] {
        assert_eq!(of(name), None, "{name}");
    }
    assert_eq!(of("CLAUDE_CODE_ENTRYPOINT"), Some("sdk-rs"));
}

#[test]
fn what_was_asked_for_is_passed_on() {
    let place = tempfile::tempdir().unwrap();
    let wish = LaunchWish {
        resume: Some(ClaudeSessionId::parse("6a2f41a3-c54c-4f3c-8d2e-000000000001").unwrap()),
        model: Some("haiku".to_owned()),
        append_system_prompt: Some("Be brief.".to_owned()),
        ..wish(place.path())
    };
    let asked = prepared(&wish);
    assert_eq!(
        value(&asked, "--resume"),
        Some("6a2f41a3-c54c-4f3c-8d2e-000000000001")
    );
    assert_eq!(value(&asked, "--model"), Some("haiku"));
    assert_eq!(
        asked.initialize.append_system_prompt.as_deref(),
        Some("Be brief.")
    );
    assert_eq!(asked.launch.cli_version, "2.1.325");
    let auto = prepared(&LaunchWish {
        model: Some("auto".to_owned()),
        ..wish
    });
    assert_eq!(value(&auto, "--model"), None);
}

#[test]
fn m13_a_model_that_looks_like_an_option_stays_a_model() {
    let place = tempfile::tempdir().unwrap();
    let asked = prepared(&LaunchWish {
        model: Some("--dangerously-skip-permissions".to_owned()),
        ..wish(place.path())
    });
    let args = &asked.launch.args;
    let joined = "--model=--dangerously-skip-permissions";
    assert!(args.iter().any(|arg| arg == joined), "{args:?}");
    let smuggled = args.iter().find(|arg| arg.starts_with("--dangerously"));
    assert_eq!(smuggled, None, "{args:?}");
}

#[test]
fn hooks_that_answer_for_us_are_switched_off() {
    assert_eq!(Hooks::decide([]), Hooks::None);
    assert_eq!(Hooks::decide(["PreToolUse", "Stop"]), Hooks::Run);
    assert_eq!(Hooks::decide(["Stop", "plugin"]), Hooks::SwitchedOff);
    assert_eq!(
        Hooks::decide(["PreToolUse", "PermissionRequest"]),
        Hooks::SwitchedOff
    );
}

#[tokio::test]
async fn a_program_that_is_no_cli_is_refused_with_what_to_do() {
    use estelle_claude::options::Search;
    let place = tempfile::tempdir().unwrap();
    let plain = place.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    for (path, words) in [
        (place.path().join("gone"), "there is no file"),
        (plain, "chmod +x"),
        ("/bin/true".into(), "not Claude Code"),
    ] {
        let error = find_cli(&Search::default().explicit(path))
            .await
            .unwrap_err();
        let error = error.to_api();
        assert_eq!(error.code, ErrorCode::AgentUnavailable);
        assert!(error.message.contains(words), "{}", error.message);
    }
}
