//! Lets the policy judge arbitrary command lines.
//!
//! Asserts what holds for every input: nothing panics or takes long; the same line gets the same verdict; a line that is
//! not allowed is not allowed behind a harmless one; and a line that is followed by one that must be refused
//! is never allowed, whatever stands in it. A panic inside the grammar's library is none of ours: the policy catches it and
//! calls the line unparsable, so it must not end the run here either.

#![no_main]

use estelle_state::policy::{Mode, Place, Policy, Verdict, judge};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// Refused or doubted in every mode when refusals come first.
const REFUSED: &str = "rm -rf /";

fuzz_target!(init: spare_caught_panics(), |data: &[u8]| {
    let Ok(line) = std::str::from_utf8(data) else {
        return;
    };
    let verdict = verdict(line);
    assert_eq!(verdict, self::verdict(line), "two verdicts for one line");
    let _ = format!("{:?}", verdict.reason());
    if !is_allowed(&verdict) {
        let behind = self::verdict(&format!("true\n{line}"));
        assert!(!is_allowed(&behind), "allowed behind a harmless line");
    }
    if is_allowed(&verdict) {
        // A line feed ends every whole line, so what follows is a command of its own, unless the line continues.
        let before = self::verdict(&format!("{line}\n\n{REFUSED}\n"));
        let hides = is_open_ended(line);
        assert!(
            hides || !is_allowed(&before),
            "allowed with a refused line behind it"
        );
    }
});

/// The fuzzer ends the process at every panic, before anybody could catch it. One of the grammar's library is let through to
/// the policy; should the policy not catch it, the fuzzer still does.
fn spare_caught_panics() {
    let abort = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_caught = panic
            .location()
            .is_some_and(|place| place.file().contains("brush-parser"));
        if !is_caught {
            abort(panic);
        }
    }));
}

/// Ends in the middle of a comment that continues nowhere, a backslash, or a here-document that would swallow what follows.
fn is_open_ended(line: &str) -> bool {
    line.trim_end_matches('\r').ends_with('\\') || line.contains("<<")
}

fn verdict(line: &str) -> Verdict {
    let policy = Policy {
        mode: Mode::AcceptEdits,
        deny_first: true,
        ..Policy::default()
    };
    let mut place = Place::at("/src/project");
    place.home = Some("/home/someone");
    place.data_folder = Some("/home/someone/.local/share/estelle");
    judge(&policy, place, "Bash", &json!({ "command": line }))
}

fn is_allowed(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Allow(_))
}
