//! What is shown on a terminal: no colours if nobody wants them, and no line longer than the terminal is wide.

use std::process::Command;

use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use serde_json::Value;

use crate::program::Place;

fn on_a_terminal(command: Command) -> PtySession {
    let options = Options::new()
        .timeout_ms(Some(60_000))
        .strip_ansi_escape_codes(false);
    spawn_with_options(command, options).unwrap()
}

/// What a relay shows on a terminal from its start to its end, with these variables.
fn relay(variables: &[(&str, &str)]) -> String {
    let place = Place::new();
    let serve = [
        "relay",
        "--registry",
        "relay.json",
        "serve",
        "--listen",
        "127.0.0.1:0",
    ];
    let mut command = place.command(&serve);
    command.envs(variables.iter().copied());
    let mut session = on_a_terminal(command);
    let before = session.exp_string("listening on ").unwrap();
    session.send_control('c').unwrap();
    before + &session.exp_eof().unwrap()
}

#[test]
fn logs_have_no_colours_if_nobody_wants_them() {
    let coloured = relay(&[]);
    assert!(coloured.contains("\u{1b}["), "{coloured:?}");
    let plain = relay(&[("NO_COLOR", "1")]);
    assert!(plain.contains("estelle_relay"), "{plain:?}");
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
}

#[test]
fn logs_are_json_if_they_are_wanted_so() {
    let shown = relay(&[("ESTELLE_LOG_FORMAT", "json")]);
    let lines = shown.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}")))
        .collect();
    let is_own = |line: &Value| {
        line["target"]
            .as_str()
            .unwrap()
            .starts_with("estelle_relay")
    };
    assert!(lines.iter().any(is_own), "{shown:?}");
    assert!(lines.iter().all(|line| line["level"].is_string()));
    let place = Place::new();
    let mut wrong = place.command(&["host"]);
    let wrong = wrong.env("ESTELLE_LOG_FORMAT", "xml").output().unwrap();
    let told = String::from_utf8(wrong.stderr).unwrap();
    assert!(told.contains("`log_format` (from the variable"), "{told}");
}

#[test]
fn a_table_is_no_wider_than_the_terminal() {
    let place = Place::new();
    let add = |id: &str| {
        let args = ["relay", "--registry", "relay.json", "add-pylon", "--id", id];
        let name = "a machine with a name that is much longer than it should be";
        let added = place.command(&args).args(["--name", name]).output();
        assert!(added.unwrap().status.success());
    };
    add("1");
    add("2");
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_estelle");
    let line = format!("stty cols 44 && exec {program} relay --registry relay.json pylons");
    command
        .args(["-c", &line])
        .current_dir(place.folder())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", place.folder());
    let shown = on_a_terminal(command).exp_eof().unwrap();
    // The library reads bytes as characters.
    let bytes: Vec<u8> = shown.chars().map(|c| u8::try_from(c).unwrap()).collect();
    let shown = String::from_utf8(bytes).unwrap();
    assert!(
        shown.contains("a machine") && shown.contains('…'),
        "{shown}"
    );
    for line in shown.lines() {
        assert!(line.chars().count() <= 44, "{line:?}");
    }
}
