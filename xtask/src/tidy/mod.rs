//! Rules about the source tree that the compiler does not check.
//!
//! Each rule is a pure function over one file; this module reads the tree, runs all rules and prints what they
//! found. It is also a test, so `cargo nextest run` guards the rules without any extra step. What a rule refuses
//! is said in its own module; the reasons are in ARCHITECTURE.md and CONTRIBUTING.md.

use std::fmt;

use anyhow::bail;

use crate::workspace;

mod attacks;
mod docs;
mod edges;
mod names;
mod size;
mod sleeps;
mod source;
mod words;

use source::SourceFile;

/// A breach of a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// From 1; nothing when the whole file is meant.
    line: Option<usize>,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

impl SourceFile {
    fn finding(&self, message: impl Into<String>) -> Finding {
        Finding {
            path: self.path.clone(),
            line: None,
            message: message.into(),
        }
    }

    fn finding_at(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            line: Some(line),
            ..self.finding(message)
        }
    }
}

/// One rule: what is wrong with this file.
type Rule = fn(&SourceFile) -> Vec<Finding>;

const RULES: [Rule; 9] = [
    docs::module_docs,
    docs::no_logic_in_lib,
    docs::document_length,
    edges::crate_edges,
    names::banned_names,
    names::one_integration_binary,
    size::file_size,
    sleeps::no_sleep_in_tests,
    words::banned_words,
];

/// Checks the repository; the error lists every breach.
pub(crate) fn run() -> anyhow::Result<()> {
    let files = source::read_tree(&workspace::root())?;
    let mut findings: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| files.iter().flat_map(rule))
        .collect();
    findings.extend(size::stale_exceptions(&files));
    findings.extend(docs::missing_documents(&files));
    findings.extend(attacks::attack_cases(&files));
    if findings.is_empty() {
        return Ok(());
    }
    let list: Vec<_> = findings.iter().map(ToString::to_string).collect();
    bail!("tidy refuses:\n{}", list.join("\n"))
}

#[cfg(test)]
fn file(path: &str, text: &str) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// The lines at which a rule complains; 0 stands for the whole file.
#[cfg(test)]
fn complaints(rule: Rule, path: &str, text: &str) -> Vec<usize> {
    let findings = rule(&file(path, text));
    findings
        .into_iter()
        .map(|finding| finding.line.unwrap_or(0))
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tree_is_tidy() {
        if let Err(error) = super::run() {
            panic!("{error}");
        }
    }
}
