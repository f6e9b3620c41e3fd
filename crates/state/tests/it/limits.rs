//! S25: lines made to exhaust the guard are answered at once, and never with an allowance.

use std::time::{Duration, Instant};

use estelle_state::policy::{Mode, judge};
use serde_json::json;

use crate::policy::{bash, place, policy};

/// Generous, because tests run unoptimised on busy machines; the aim for the product is 50 ms.
const LIMIT: Duration = Duration::from_secs(3);

fn check(name: &str, line: &str) {
    let start = Instant::now();
    let verdict = bash(&policy(Mode::BypassPermissions, true), line);
    assert!(start.elapsed() < LIMIT, "{name}: {:?}", start.elapsed());
    assert_ne!(verdict.word(), "allow", "{name}");
}

#[test]
fn s25_ten_megabytes() {
    check("one word", &"a".repeat(10_000_000));
    check("many commands", &"ls;".repeat(3_000_000));
    let start = Instant::now();
    let long = json!({ "file_path": "a/".repeat(5_000_000) });
    let strict = policy(Mode::BypassPermissions, true);
    assert_eq!(judge(&strict, place(), "Edit", &long).word(), "ask");
    assert!(start.elapsed() < LIMIT, "a path: {:?}", start.elapsed());
}

#[test]
fn s25_deep_nesting() {
    for depth in [30, 1_000, 100_000] {
        check(
            "substitutions",
            &format!("echo {}{}", "$(".repeat(depth), ")".repeat(depth)),
        );
        check("open substitutions", &"$(".repeat(depth));
        check("backquotes", &"`".repeat(depth + 1));
        check("parameters", &"${a:-".repeat(depth));
        check("arithmetic", &"$((".repeat(depth));
        check("parentheses", &"(".repeat(depth));
        check(
            "closed parentheses",
            &format!("{}ls{}", "(".repeat(depth), ")".repeat(depth)),
        );
        check(
            "broken parentheses",
            &format!("{}ls{}", "( ".repeat(depth), ") x ".repeat(depth)),
        );
        check("conditions", &"if ".repeat(depth));
        check("groups", &"{ ".repeat(depth));
        check("double brackets", &format!("[[ {}", "( ".repeat(depth)));
        check("quotes in substitutions", &"\"$(".repeat(depth));
    }
}

#[test]
fn s25_just_below_the_limits() {
    // The stack of a test thread is as small as that of a worker: what is let through must fit.
    for depth in [5, 9, 40, 75, 149] {
        let line = format!("echo {}id{}", "$(echo ".repeat(depth), ")".repeat(depth));
        bash(&policy(Mode::Default, true), &line);
        bash(
            &policy(Mode::Default, true),
            &format!(
                "{}ls;{}",
                "if true; then ".repeat(depth),
                " fi;".repeat(depth)
            ),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("{}ls;{}", "{ ".repeat(depth), " };".repeat(depth)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("{}ls;{}", "f() { ".repeat(depth), " };".repeat(depth)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("echo {}x{}", "${a:-".repeat(depth), "}".repeat(depth)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("echo {}x{}", "\"${a:-".repeat(depth), "}\"".repeat(depth)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("echo {}x{}", "$((1+".repeat(depth), "))".repeat(depth)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("[[ {}-n x{} ]]", "( ".repeat(depth), " )".repeat(depth)),
        );
        bash(&policy(Mode::Default, true), &"! ".repeat(depth));
        bash(&policy(Mode::Default, true), &"sudo ".repeat(depth));
        bash(
            &policy(Mode::Default, true),
            &format!("[[ {}-n x ]]", "! ".repeat(depth)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("[[ {}-n x ]]", "-n x && ".repeat(depth * 8)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("{}ls", "ls && ".repeat(depth * 8)),
        );
        bash(
            &policy(Mode::Default, true),
            &format!("{}ls", "ls | ".repeat(depth * 8)),
        );
    }
}
