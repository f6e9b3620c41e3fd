//! Laws that hold for every call, tried with generated ones.

use std::collections::BTreeSet;

use estelle_state::policy::{Effect, Mode, Policy, Rule, Scope, Verdict, judge};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::policy::{bash, place, policy};

const MODES: [Mode; 4] = [
    Mode::Default,
    Mode::AcceptEdits,
    Mode::BypassPermissions,
    Mode::Plan,
];
const TOOLS: [&str; 10] = [
    "Bash",
    "Read",
    "Edit",
    "Write",
    "NotebookEdit",
    "Grep",
    "WebFetch",
    "AskUserQuestion",
    "mcp__fs__write",
    "Other",
];
const RULES: [&str; 8] = [
    "Bash",
    "Bash(ls:*)",
    "Bash(rm *)",
    "Edit(src/**)",
    "Read(.env)",
    "mcp__fs__*",
    "WebFetch(domain:example.com)",
    "Other",
];

const PIECES: [&str; 76] = [
    "ls",
    "rm",
    "-rf",
    "/",
    "~",
    ".env",
    "cat",
    "echo",
    "'",
    "\"",
    "$X",
    "$(",
    ")",
    "`",
    "|",
    "&&",
    ";",
    "&",
    ">",
    "<",
    "<<EOF\n",
    "EOF\n",
    "{",
    "}",
    "(",
    "((",
    "))",
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "case",
    "esac",
    "\\",
    "\n",
    " ",
    "  ",
    "\t",
    "#",
    "*",
    "?",
    "[",
    "]",
    "[[",
    "]]",
    "=",
    "A=1",
    "${",
    "${x:-",
    "$'\\x41'",
    "~9999999999999999999999",
    "{1..99999999999999999999}",
    "$((",
    "sudo",
    "xargs",
    "find",
    "-exec",
    "\\;",
    "eval",
    "bash",
    "-c",
    "git",
    "push",
    "f()",
    "function",
    "é",
    "\u{200b}",
    "\u{ffff}",
    "\r",
    "\0",
    "coproc",
    "!",
    "time",
];

/// Pieces from which lines are put together that are often, but not always, valid.
fn line() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES.to_vec());
    prop_oneof![
        prop::collection::vec(piece.clone(), 0..14).prop_map(|pieces| pieces.join(" ")),
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]
}

fn input() -> impl Strategy<Value = Value> {
    prop_oneof![
        line().prop_map(|text| json!({ "command": text })),
        line().prop_map(|text| json!({ "file_path": text, "notebook_path": text, "path": text })),
        line().prop_map(
            |text| json!({ "url": text, "dangerouslyDisableSandbox": true, "command": text })
        ),
        line().prop_map(Value::String),
        Just(Value::Null),
        Just(json!([1, { "path": "/etc" }])),
    ]
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let effects = prop::sample::select(vec![Effect::Allow, Effect::Deny, Effect::Ask]);
    let rules = prop::collection::vec((prop::sample::select(RULES.to_vec()), effects), 0..4);
    let remembered = prop::collection::btree_set(prop::sample::select(TOOLS.to_vec()), 0..3);
    (
        prop::sample::select(MODES.to_vec()),
        any::<bool>(),
        rules,
        remembered,
    )
        .prop_map(|(mode, deny_first, rules, remembered)| {
            let rules = rules
                .iter()
                .filter_map(|(text, effect)| Rule::parse(text, *effect, Scope::Workspace).ok());
            Policy {
                mode,
                deny_first,
                rules: rules.collect(),
                remembered: remembered.into_iter().map(str::to_owned).collect(),
                ..Policy::default()
            }
        })
}

fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Allow(_) => 0,
        Verdict::Ask(_) => 1,
        Verdict::Deny(_) => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_gets_a_verdict(policy in any_policy(), tool in prop::sample::select(TOOLS.to_vec()), input in input()) {
        let verdict = judge(&policy, place(), tool, &input);
        prop_assert!(!verdict.reason().to_string().is_empty());
        prop_assert!(!verdict.reason().to_string().contains(['\u{200b}', '\r', '\0']), "reasons show what is hidden");
    }

    #[test]
    fn refusals_first_is_never_more_permissive(policy in any_policy(), tool in prop::sample::select(TOOLS.to_vec()), input in input()) {
        let strict = Policy { deny_first: true, ..policy.clone() };
        let plain = Policy { deny_first: false, ..policy };
        let strict = judge(&strict, place(), tool, &input);
        let plain = judge(&plain, place(), tool, &input);
        prop_assert!(strictness(&strict) >= strictness(&plain), "{strict:?} {plain:?}");
    }

    #[test]
    fn questions_are_never_answered_for_the_user(policy in any_policy(), input in input()) {
        for tool in ["AskUserQuestion", "ExitPlanMode"] {
            prop_assert_eq!(judge(&policy, place(), tool, &input).word(), "ask");
        }
    }

    #[test]
    fn remembering_never_lifts_a_refusal(policy in any_policy(), tool in prop::sample::select(TOOLS.to_vec()), input in input()) {
        // What refuses without remembered tools and rules of the user is the lists, and they stay.
        let bare = Policy { remembered: BTreeSet::new(), rules: Vec::new(), ..policy.clone() };
        let mut trusting = bare.clone();
        trusting.remembered.insert(tool.to_owned());
        if judge(&bare, place(), tool, &input).word() == "deny" {
            prop_assert_eq!(judge(&trusting, place(), tool, &input).word(), "deny");
        }
    }

    #[test]
    fn blanks_and_comments_change_nothing(line in line(), mode in prop::sample::select(MODES.to_vec()), deny_first: bool) {
        let policy = policy(mode, deny_first);
        // Only of a whole line is it clear where it ends.
        let verdict = bash(&policy, &line);
        let is_whole = !matches!(verdict.reason(), estelle_state::policy::Reason::Unclear { .. })
            && !line.contains("<<") && !line.ends_with('\\');
        if is_whole {
            for other in [format!("  {line}"), format!("{line}  "), format!("\n{line}\n"), format!("{line}\n# a comment"), format!("# a comment\n{line}")] {
                prop_assert_eq!(bash(&policy, &other).word(), verdict.word(), "{:?}", other);
            }
        }
    }

    #[test]
    fn a_refused_command_is_refused_inside_anything(
        before in prop::sample::select(vec!["", "ls; ", "ls && ", "(", "{ ", "sudo ", "env A=1 ", "! ", "time ", "nohup ", "ls | "]),
        command in prop::sample::select(vec!["rm -rf /", "shutdown now", "mkfs.ext4 /dev/sda1", "echo x > .env"]),
    ) {
        let after = match before { "(" => ")", "{ " => "; }", _ => "" };
        let line = format!("{before}{command}{after}");
        prop_assert_eq!(bash(&policy(Mode::BypassPermissions, true), &line).word(), "deny", "{}", line);
    }
}
