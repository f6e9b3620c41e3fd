//! No test sleeps: it waits for an event, or runs with paused time.

use super::source::Code;
use super::{Finding, SourceFile};

/// Calls that wait for the clock.
const CALLS: [&str; 4] = ["thread::sleep", "time::sleep(", "sleep_until(", "sleep_ms("];

/// Test code does not wait for the clock. This folder is left out: its tests spell out what is refused.
pub(super) fn no_sleep_in_tests(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() || file.path.starts_with("xtask/src/tidy/") {
        return Vec::new();
    }
    let sleeping = file
        .lines()
        .filter(|(_, line, code)| *code == Code::Test && sleeps(line));
    let message = "a test does not sleep; wait for an event or pause the time";
    sleeping
        .map(|(number, ..)| file.finding_at(number, message))
        .collect()
}

fn sleeps(line: &str) -> bool {
    let code = line.trim_start();
    if code.starts_with("//") {
        return false;
    }
    CALLS.iter().any(|call| code.contains(call)) || calls_imported_sleep(code)
}

/// `sleep(...)` after `use tokio::time::sleep`, and not the end of another name or a method.
fn calls_imported_sleep(code: &str) -> bool {
    let mut calls = code.match_indices("sleep(");
    calls.any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_.:\"'`".contains(c))
            && !code[..at].ends_with("fn ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaints;

    const PATH: &str = "crates/x/src/a.rs";

    fn check(path: &str, text: &str) -> Vec<usize> {
        complaints(no_sleep_in_tests, path, text)
    }

    #[test]
    fn sleeping_tests_are_refused() {
        let text = "fn a() { tokio::time::sleep(d).await; }\n#[cfg(test)]\nmod tests {\n    std::thread::sleep(d);\n    sleep(d).await;\n}\n";
        assert_eq!(check(PATH, text), [4, 5]);
        assert_eq!(
            check("crates/x/tests/it/a.rs", "tokio::time::sleep(d).await;\n"),
            [1]
        );
        assert_eq!(
            check(
                "crates/x/src/a_tests.rs",
                "tokio::time::sleep_until(d).await;\n"
            ),
            [1]
        );
    }

    #[test]
    fn product_code_comments_and_other_names_pass() {
        assert!(check(PATH, "tokio::time::sleep(d).await;\n").is_empty());
        assert!(
            check(
                "crates/x/tests/it/a.rs",
                "// thread::sleep(d) would race.\nno_sleep(d);\nbed.sleep(d);\n"
            )
            .is_empty()
        );
        assert!(check("crates/x/tests/it/a.rs", "let script = \"sleep 5\";\n").is_empty());
    }
}
