//! Files stay small enough to be read at one sitting.
//!
//! The list of exceptions may only shrink: a listed file may not grow, and its figure is lowered as soon as the
//! file gets shorter.

use super::source::Code;
use super::{Finding, SourceFile};

/// Most lines of a Rust file, without its tests.
const LIMIT: usize = 600;

/// Files above the limit, with the lines they have now and no more.
const EXCEPTIONS: [(&str, usize); 0] = [];

/// A Rust file is not longer than the limit or its listed exception.
pub(super) fn file_size(file: &SourceFile) -> Vec<Finding> {
    if !file.is_rust() || file.is_test_file() {
        return Vec::new();
    }
    let allowed = exception(&EXCEPTIONS, &file.path).unwrap_or(LIMIT);
    let lines = product_lines(file);
    if lines <= allowed {
        return Vec::new();
    }
    vec![file.finding(format!(
        "{lines} lines without tests, at most {allowed}: split it by concern"
    ))]
}

/// Exceptions that are no longer needed, or allow more than the file needs.
pub(super) fn stale_exceptions(files: &[SourceFile]) -> Vec<Finding> {
    stale(&EXCEPTIONS, files)
}

fn stale(exceptions: &[(&str, usize)], files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, allowed) in exceptions {
        let lines = files
            .iter()
            .find(|file| file.path == *path)
            .map_or(0, product_lines);
        let message = match lines {
            0..=LIMIT => {
                "is within the limit now; remove it from the exceptions of xtask/src/tidy/size.rs"
                    .to_owned()
            }
            lines if lines < *allowed => {
                format!("has {lines} lines now; lower its figure in xtask/src/tidy/size.rs")
            }
            _ => continue,
        };
        findings.push(Finding {
            path: (*path).to_owned(),
            line: None,
            message,
        });
    }
    findings
}

fn exception(exceptions: &[(&str, usize)], path: &str) -> Option<usize> {
    exceptions
        .iter()
        .find(|(known, _)| *known == path)
        .map(|(_, lines)| *lines)
}

fn product_lines(file: &SourceFile) -> usize {
    file.lines()
        .filter(|(.., code)| *code == Code::Product)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{complaints, file};

    #[test]
    fn a_long_file_is_refused_and_tests_do_not_count() {
        let product = "fn a() {}\n".repeat(LIMIT);
        let tests = format!(
            "#[cfg(test)]\nmod tests {{\n{}}}\n",
            "    fn b() {}\n".repeat(500)
        );
        assert!(
            complaints(file_size, "crates/x/src/a.rs", &format!("{product}{tests}")).is_empty()
        );
        assert_eq!(
            complaints(
                file_size,
                "crates/x/src/a.rs",
                &format!("{product}\n{tests}")
            ),
            [0]
        );
        assert!(complaints(file_size, "crates/x/src/a_tests.rs", &product.repeat(2)).is_empty());
    }

    #[test]
    fn exceptions_may_only_shrink() {
        let long = file("a.rs", &"x\n".repeat(700));
        let short = file("b.rs", "x\n");
        assert!(stale(&[("a.rs", 700)], &[long]).is_empty());
        let long = file("a.rs", &"x\n".repeat(700));
        let messages: Vec<_> = stale(
            &[("a.rs", 710), ("b.rs", 650), ("gone.rs", 650)],
            &[long, short],
        )
        .into_iter()
        .map(|finding| finding.to_string())
        .collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert!(messages[0].contains("lower its figure"));
        assert!(messages[2].contains("remove it"));
    }
}
