//! Without a terminal: lines in, plain text out, and an exit code one can rely on.

use std::path::Path;

use super::program::{Place, stderr, stdout};

const REMOVE: &str =
    r#"SCRIPT:[{"tool":"Bash","input":{"command":"rm -rf build"}},{"say":"all done"}]"#;
const SIMULATE: [&str; 2] = ["chat", "--simulate"];

#[test]
fn each_line_is_a_message_and_the_output_is_plain() {
    let output = Place::new().run(&SIMULATE, "say one\n\nsay two\n");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{}", stderr(&output));
    assert!(text.contains("› say one\n\none\n\n— "), "{text}");
    assert!(text.contains("› say two\n\ntwo\n\n— "), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(
        text.contains("/estelle chat --resume ") && text.trim_end().ends_with(" --simulate"),
        "{text}"
    );
}

#[test]
fn a_question_takes_the_next_line_if_it_is_an_answer() {
    let output = Place::new().run(&SIMULATE, &format!("{REMOVE}\ny\nsay then this\n"));
    let text = stdout(&output);
    assert!(
        text.contains("Allow? y/a/n › y\n✓ Allowed once.\n  (Bash completed with no output)"),
        "{text}"
    );
    assert!(text.contains("› say then this\n\nthen this\n"), "{text}");
}

#[test]
fn a_line_that_is_no_answer_refuses_and_stays_a_message() {
    let output = Place::new().run(&SIMULATE, &format!("{REMOVE}\nsay then this\n"));
    let text = stdout(&output);
    assert!(
        text.contains("✗ Bash: that is no answer, so it is refused.\n"),
        "{text}"
    );
    assert!(!text.contains("completed"), "{text}");
    assert!(text.contains("\nthen this\n"), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn at_the_end_of_the_input_a_question_is_refused() {
    let output = Place::new().run(&SIMULATE, &format!("{REMOVE}\n"));
    let text = stdout(&output);
    assert!(
        text.contains("✗ Bash: nobody is there to ask, so it is refused.\n"),
        "{text}"
    );
    assert!(!text.contains("completed"), "{text}");
    assert!(text.contains("all done"), "{text}");
}

#[test]
fn an_empty_input_ends_at_once() {
    let output = Place::new().run(&SIMULATE, "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_failed_turn_makes_the_exit_code_and_says_what_to_do() {
    let refused = r#"SCRIPT:[{"http":403,"etype":"permission_error","msg":"forbidden"}]"#;
    let output = Place::new().run(&SIMULATE, &format!("{refused}\n"));
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("✗ The turn failed: ") && text.contains("/login"),
        "{text}"
    );
}

#[test]
fn a_crash_makes_the_exit_code() {
    let output = Place::new().run(&SIMULATE, "SCRIPT:[{\"crash\":\"SIGKILL\"}]\n");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("Claude Code ended unexpectedly, with signal 9."),
        "{text}"
    );
}

#[test]
fn work_in_the_background_is_waited_for() {
    let script = r#"SCRIPT:[{"tool":"Bash","input":{"command":"sleep 1; echo done","run_in_background":true}},{"say":"started"}]"#;
    let output = Place::new().run(&SIMULATE, &format!("{script}\n"));
    let text = stdout(&output);
    assert!(text.contains("⧗ Background work finished: "), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn print_gives_the_final_text_and_nothing_else() {
    let output = Place::new().run(&["chat", "--simulate", "-p", "say just this"], "");
    assert_eq!(stdout(&output), "just this\n");
    assert!(
        stderr(&output).contains("A simulator answers."),
        "{}",
        stderr(&output)
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn print_refuses_what_needs_permission_and_says_so() {
    let output = Place::new().run(&["chat", "--simulate", "--print", REMOVE], "");
    assert_eq!(stdout(&output), "all done\n");
    assert!(
        stderr(&output).contains("Bash was refused: with --print nobody is asked"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn print_fails_with_the_turn() {
    let refused = r#"SCRIPT:[{"http":403,"etype":"permission_error","msg":"forbidden"}]"#;
    let output = Place::new().run(&["chat", "--simulate", "-p", refused], "");
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), ""));
    assert!(stderr(&output).contains("403"), "{}", stderr(&output));
    let output = Place::new().run(&["chat", "--simulate", "-p", r#"SCRIPT:[{"crash":7}]"#], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("exit code 7"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_unknown_conversation_says_where_to_look() {
    let id = "11111111-1111-4111-8111-111111111111";
    let output = Place::new().run(&["chat", "--simulate", "--resume", id], "say hello\n");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains(&format!("No conversation found with session ID: {id}")),
        "{text}"
    );
    assert!(text.contains("--cwd"), "{text}");
}

#[test]
fn a_named_program_that_is_not_there_is_an_error() {
    let output = Place::new().run(&["chat", "--claude", "nowhere/claude"], "say hello\n");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("there is no file \"nowhere/claude\", which --claude"),
        "{text}"
    );
}

#[test]
fn a_folder_that_is_not_there_is_refused_before_the_greeting() {
    let output = Place::new().run(&["chat", "--simulate", "--cwd", "/nowhere"], "hello\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    assert!(
        text.contains("there is no folder \"/nowhere\", which --cwd names"),
        "{text}"
    );
}

#[test]
fn without_any_claude_the_simulator_steps_in_and_says_so() {
    let places = [
        "/usr/local/bin/claude",
        "/opt/homebrew/bin/claude",
        "/usr/bin/claude",
        "/bin/claude",
    ];
    if places.iter().any(|place| Path::new(place).exists()) {
        return;
    }
    let place = Place::new();
    let output = place.run(&["chat"], "say hello\n");
    assert!(
        stdout(&output).contains("There is no `claude` on this machine, so a simulator answers.")
    );
    assert!(stdout(&output).contains("\nhello\n"));
    let mut without = place.command(&["chat", "-p", "hello"]);
    let output = without
        .env("ESTELLE_SIM_CLAUDE", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("npm install -g @anthropic-ai/claude-code"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_folder_can_be_chosen() {
    let place = Place::new();
    let folder = place.folder().join("inside");
    let output = place.run(
        &["chat", "--simulate", "--cwd", "inside", "-p", "say hello"],
        "",
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("inside"), "{}", stderr(&output));
    std::fs::create_dir(&folder).unwrap();
    let output = place.run(
        &["chat", "--simulate", "--cwd", "inside", "-p", "say hello"],
        "",
    );
    assert_eq!(stdout(&output), "hello\n");
}

#[test]
fn the_help_names_every_rule_of_the_pipe() {
    let output = Place::new().run(&["chat", "--help"], "");
    assert!(stdout(&output).contains("When standard input is not a terminal:"));
    let output = Place::new().run(&["--version"], "");
    assert_eq!(
        stdout(&output),
        concat!("estelle ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
