//! Programs that ask are proven, a launch that lets something pass is caught.

use estelle_claude::options::Cli;
use estelle_host::canary::{Canary, CanaryError, Trial};
use estelle_host::launch::CliMode;
use estelle_proto::ErrorCode;

use crate::stage::programs;

#[tokio::test]
async fn every_program_asks_for_everything_in_every_mode() {
    let data = tempfile::tempdir().unwrap();
    for cli in programs().await {
        for mode in CliMode::ALL {
            let trial = Trial::prepare(&cli, mode, data.path()).await.unwrap();
            let proven = trial.run().await;
            assert!(proven.is_ok(), "{cli:?} {mode:?}: {proven:?}");
        }
    }
    let left: Vec<_> = std::fs::read_dir(data.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The settings of the launch replaced by `settings`.
async fn doctored(cli: &Cli, settings: &str) -> Result<(), CanaryError> {
    let data = tempfile::tempdir().unwrap();
    let mut trial = Trial::prepare(cli, CliMode::Default, data.path())
        .await
        .unwrap();
    let at = trial.launch.args.iter().position(|arg| arg == "--settings");
    settings.clone_into(&mut trial.launch.args[at.unwrap() + 1]);
    trial.run().await
}

#[tokio::test]
async fn a_launch_without_ask_rules_is_caught() {
    for cli in programs().await {
        for settings in ["{}", r#"{"permissions":{"ask":["Bash"]}}"#] {
            let error = doctored(&cli, settings).await.unwrap_err();
            let caught = matches!(error, CanaryError::Unasked { .. });
            assert!(caught, "{cli:?} {settings}: {error:?}");
            assert_eq!(error.to_api().code, ErrorCode::AgentUnavailable);
        }
    }
}

#[tokio::test]
async fn a_tool_that_ran_unasked_and_failed_is_caught() {
    // Everything is asked about, except for fetching: and what is fetched is not there.
    let ask = [
        "Bash",
        "Read",
        "Edit",
        "Write",
        "Glob",
        "Grep",
        "mcp__canary__probe",
        "Agent",
        "CronList",
        "TaskList",
        "ToolSearch",
    ];
    let settings = serde_json::json!({ "permissions": { "allow": ["WebFetch"], "ask": ask } });
    for cli in programs().await {
        let error = doctored(&cli, &settings.to_string()).await.unwrap_err();
        let caught = matches!(&error, CanaryError::Unasked { tool } if tool == "WebFetch");
        assert!(caught, "{cli:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_proof_is_made_once_per_program_and_mode() {
    let data = tempfile::tempdir().unwrap();
    let copy = data.path().join("copy");
    std::fs::copy(crate::stage::simulator(), &copy).unwrap();
    let cli = Cli::new(&copy, "2.1.325".parse().unwrap());
    let canary = Canary::load(data.path());
    canary.ensure(&cli).await.unwrap();
    // A program of the same path, size and time that would fail every trial: only an earlier proof lets it pass.
    let stamp = std::fs::metadata(&copy).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&copy).unwrap();
    std::io::Write::write_all(&mut &file, b"not a program any more").unwrap();
    file.set_modified(stamp.modified().unwrap()).unwrap();
    drop(file);
    let again = Canary::load(data.path());
    again.ensure(&cli).await.unwrap();
    let file = std::fs::OpenOptions::new()
        .append(true)
        .open(&copy)
        .unwrap();
    std::io::Write::write_all(&mut &file, b"longer").unwrap();
    drop(file);
    assert!(again.ensure(&cli).await.is_err());
}

#[tokio::test]
async fn a_program_that_asks_in_one_mode_alone_is_refused() {
    let data = tempfile::tempdir().unwrap();
    for forgetful in CliMode::ALL {
        // It loses its ask rules in one of the modes.
        let forget = format!(
            r#"case "$*" in *--permission-mode[=\ ]{}*)
  left=$#
  while [ "$left" -gt 0 ]; do
    word=$1; shift; left=$((left - 1))
    if [ "$word" = --settings ]; then shift; left=$((left - 1)); else set -- "$@" "$word"; fi
  done;;
esac
exec {} "$@""#,
            forgetful.as_str(),
            crate::stage::simulator().display()
        );
        let cli = shell(data.path(), &forget);
        let canary = Canary::load(data.path());
        let error = canary.ensure(&cli).await.unwrap_err();
        let caught = matches!(error, CanaryError::Unasked { .. });
        assert!(caught, "{forgetful:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_program_that_fails_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let cli = Cli::new("/bin/true", "2.1.325".parse().unwrap());
    let error = Canary::load(data.path()).ensure(&cli).await.unwrap_err();
    assert!(matches!(error, CanaryError::Failed { .. }), "{error:?}");
}

/// A program of a few lines of shell that says it is the CLI.
fn shell(place: &std::path::Path, body: &str) -> Cli {
    use std::os::unix::fs::PermissionsExt as _;
    let path = place.join("program");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    Cli::new(&path, "2.1.325".parse().unwrap())
}

#[tokio::test]
async fn a_program_that_hangs_in_the_trial_of_a_dead_host_is_ended_by_the_next() {
    let data = tempfile::tempdir().unwrap();
    let cli = shell(
        data.path(),
        "trap '' TERM HUP; echo ready; while :; do sleep 600; done",
    );
    let trial = Trial::prepare(&cli, CliMode::Default, &data.path().join("canary"))
        .await
        .unwrap();
    let mut hanging = std::process::Command::new(&trial.launch.program)
        .env_clear()
        .envs(&trial.launch.env)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 5];
    std::io::Read::read_exact(hanging.stdout.as_mut().unwrap(), &mut line).unwrap();
    // The host dies: nothing of it is cleaned up.
    std::mem::forget(trial);
    Canary::load(data.path()).clean_up().await;
    hanging.wait().unwrap();
    let left: Vec<_> = std::fs::read_dir(data.path().join("canary"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_program_that_prints_without_end_is_refused() {
    let data = tempfile::tempdir().unwrap();
    // It answers the greeting, and then it never stops.
    let cli = shell(
        data.path(),
        r#"read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\n' "$id"
pad=$(printf 'x%.0s' $(seq 20000))
exec yes "{\"type\":\"system\",\"subtype\":\"note\",\"pad\":\"$pad\"}""#,
    );
    let trial = Trial::prepare(&cli, CliMode::Default, data.path())
        .await
        .unwrap();
    let error = trial.run().await.unwrap_err();
    assert!(matches!(error, CanaryError::TooMuch { .. }), "{error:?}");
}
