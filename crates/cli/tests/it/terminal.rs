//! Conversations over a terminal, as a person would hold them.

use super::program::{Place, Talk};

/// Asks for permission in the default mode.
const REMOVE: &str =
    r#"SCRIPT:[{"tool":"Bash","input":{"command":"rm -rf build"}},{"say":"all done"}]"#;
/// Writes for about ten seconds if nobody stops it.
const SLOW: &str =
    r#"SCRIPT:[{"say":"0123456789 0123456789 0123456789 0123456789","chunks":40,"delay_ms":250}]"#;

/// Ends the conversation and gives the exit code and the session id.
fn leave(mut talk: Talk) -> (i32, String) {
    talk.ctrl('d');
    let found = talk.see_match("--resume [0-9a-f-]{36}");
    (talk.exit_code(), found.replace("--resume ", ""))
}

#[test]
fn an_answer_is_streamed_and_the_turn_is_summed_up() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line("say hello brave new world");
    talk.see("hello brave new world");
    talk.see_match(r"[0-9.]+ s .. [0-9]+ tokens in, [0-9]+ out .. \$[0-9.]+ .. claude");
    talk.see("› ");
    assert_eq!(leave(talk).0, 0);
}

#[test]
fn thinking_is_folded() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line("think deep thoughts about it");
    talk.see("∴ deep thoughts about it (4 words)");
    talk.see("I have thought about it.");
}

#[test]
fn a_permission_is_asked_with_the_command_and_yes_runs_it() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(REMOVE);
    talk.see("Bash  rm -rf build");
    talk.see("Claude asks to use Bash");
    talk.see("Allow? y/a/n");
    talk.line("what");
    talk.see("Type y for yes");
    talk.line("y");
    talk.see("Allowed once.");
    talk.see("completed with no output");
    talk.see("all done");
}

#[test]
fn no_with_a_reason_reaches_the_model_and_runs_nothing() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(REMOVE);
    talk.see("Allow? y/a/n");
    talk.line("n use the trash");
    talk.see("Refused.");
    let before = talk.see("use the trash");
    assert!(!before.contains("completed"), "{before}");
    talk.see("all done");
}

#[test]
fn always_is_not_asked_again() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(REMOVE);
    talk.see("Allow? y/a/n");
    talk.line("a");
    talk.see("Allowed for this conversation.");
    talk.see("all done");
    talk.see("› ");
    talk.line(REMOVE);
    let between = talk.see("all done");
    assert!(!between.contains("Allow?"), "{between}");
}

#[test]
fn a_question_is_answered_by_number() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line("ask");
    talk.see("? Which colour do you like best?");
    talk.see("2  Blue  cool");
    talk.see("Answer › ");
    talk.line("2");
    talk.see("✓ Blue");
    talk.see("Thank you");
}

#[test]
fn a_plan_is_approved() {
    let place = Place::new();
    let mut talk = place.talk(&["--permission-mode", "plan"]);
    talk.line("plan");
    talk.see("2. Do it");
    talk.see("? Claude asks to begin with this plan");
    talk.see("Approve? y/n");
    talk.line("y");
    talk.see("Approved.");
    talk.see("The plan is settled.");
}

#[test]
fn ctrl_c_stops_the_turn_and_the_conversation_goes_on() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(SLOW);
    talk.see("0123");
    talk.ctrl('c');
    talk.see("Interrupted.");
    talk.see("› ");
    talk.line("say still here");
    talk.see("still here");
    talk.see("tokens in");
    assert_eq!(leave(talk).0, 0);
}

#[test]
fn ctrl_c_at_a_question_withdraws_it() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(REMOVE);
    talk.see("Allow? y/a/n");
    talk.ctrl('c');
    let told = talk.see_match("(?s).*(withdrawn.*Interrupted|Interrupted.*withdrawn)");
    assert!(!told.contains("completed"), "{told}");
    talk.line("say still here");
    talk.see("still here");
}

#[test]
fn a_second_ctrl_c_leaves() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(SLOW);
    talk.see("0123");
    talk.ctrl('c');
    talk.see("Ctrl-C again leaves.");
    talk.ctrl('c');
    talk.see("--resume");
    // The first may have stopped the turn before the second arrived, which then leaves politely.
    assert!([0, 130].contains(&talk.exit_code()));
}

#[test]
fn ctrl_c_when_nothing_runs_leaves_politely_the_second_time() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.ctrl('c');
    talk.see("Ctrl-C again leaves; so does Ctrl-D.");
    talk.see("› ");
    talk.ctrl('c');
    assert_eq!(talk.exit_code(), 0);
}

#[test]
fn what_is_typed_during_a_turn_is_handed_in() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(r#"SCRIPT:[{"say":"0123456789","chunks":10,"delay_ms":100}]"#);
    talk.see("01");
    talk.line("say and this");
    talk.see("Handed in");
    talk.see("and this");
}

#[test]
fn a_conversation_is_taken_up_again() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line("say remember me");
    talk.see("tokens in");
    let (_, id) = leave(talk);

    let mut again = place.talk(&["--resume", &id]);
    again.line("say again");
    again.see("tokens in");
    again.line("/status");
    again.see(&id);
    assert_eq!(leave(again), (0, id.clone()));

    let mut newest = place.talk(&["--continue"]);
    newest.line("say once more");
    newest.see("tokens in");
    assert_eq!(leave(newest).1, id);
}

#[test]
fn model_and_mode_can_be_changed() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line("/mode acceptedits");
    talk.see("The permission mode is now acceptEdits.");
    talk.line("/model claude-haiku-9");
    talk.see("The model is now claude-haiku-9.");
    talk.line("say hello");
    talk.see("· claude-haiku-9");
}

#[test]
fn a_crash_tells_code_and_last_words_and_how_to_go_on() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line(r#"SCRIPT:[{"crash":3}]"#);
    talk.see("Claude Code ended unexpectedly, with exit code 3.");
    talk.see("--resume");
    assert_eq!(talk.exit_code(), 1);
}

#[test]
fn nothing_the_model_writes_reaches_the_terminal() {
    let evil = r#"SCRIPT:[{"say":"\u001b]52;c;QQ==\u0007\u001b[2Jred\rgone\u202e!","chunks":7},
        {"say":"after"}]"#;
    let place = Place::new();
    let mut talk = place.talk_with(&[], false);
    talk.line(&evil.replace('\n', ""));
    let screen = talk.see("tokens in");
    assert!(
        !screen.contains("\u{1b}]52") && !screen.contains("\u{1b}[2J"),
        "{screen:?}"
    );
    assert!(
        !screen.contains('\u{202e}') && !screen.contains("red\rgone"),
        "{screen:?}"
    );
    assert!(screen.contains("red␍gone"), "{screen:?}");
}

#[test]
fn what_is_pasted_in_one_go_is_one_message() {
    let place = Place::new();
    let mut talk = place.talk(&[]);
    talk.line("say first\nsecond\nthird");
    talk.see("first\r\nsecond\r\nthird");
    let summary = talk.see("tokens in");
    assert!(!summary.contains("Handed in"), "{summary}");
}
