//! What the command line accepts and refuses.

use super::{Args, ArgsError};
use crate::cli::version::Version;

fn read(version: Version, words: &[&str]) -> Result<Args, ArgsError> {
    let argv: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    Args::read(version, &argv)
}

#[test]
fn both_spellings_of_a_value_count() {
    let args = read(
        Version::V325,
        &[
            "--model=haiku",
            "--permission-prompt-tool",
            "stdio",
            "--allowedTools=Read,Bash(git log:*)",
            "--add-dir",
            "/a",
            "/b",
            "--resume",
            "--include-partial-messages",
        ],
    )
    .unwrap();
    assert_eq!(args.model.as_deref(), Some("haiku"));
    assert_eq!(args.permissions.prompt_tool.as_deref(), Some("stdio"));
    assert_eq!(args.permissions.allowed, ["Read", "Bash(git log:*)"]);
    assert_eq!(args.add_dirs, ["/a", "/b"]);
    assert_eq!(args.session.resume, None);
    assert!(args.partial);
}

#[test]
fn what_the_older_one_refuses() {
    for flag in [
        "--permission-prompts",
        "--await-initialize",
        "--project-config-root",
        "--resume-drops-turn",
    ] {
        let error = read(Version::V197, &[flag, "x"]).unwrap_err();
        assert_eq!(error.to_string(), format!("error: unknown option '{flag}'"));
        assert!(read(Version::V325, &[flag, "x"]).is_ok());
    }
}

#[test]
fn unknown_and_incomplete_flags() {
    let unknown = read(Version::V325, &["--foo=1"]).unwrap_err();
    assert_eq!(unknown.to_string(), "error: unknown option '--foo=1'");
    let missing = read(Version::V325, &["--model"]).unwrap_err();
    assert_eq!(missing, ArgsError::Missing("model".to_owned()));
    let bad = read(Version::V325, &["--session-id", "bad"]).unwrap_err();
    assert_eq!(bad, ArgsError::SessionId);
}

#[test]
fn settings_hold_the_rules() {
    let args = read(
        Version::V197,
        &["--settings", r#"{"permissions":{"ask":["Bash"]}}"#],
    )
    .unwrap();
    let asked = args.permissions.settings.get("ask").unwrap();
    assert_eq!(asked.items()[0].as_text(), Some("Bash"));
}
