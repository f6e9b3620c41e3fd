//! What was wrong with a value that could not be read as its type.
//!
//! A diagnostic says where (a path such as `message.content[2].text`) and why. Diagnostics are collected while a message
//! is read; they never stop the reading. Paths are built on the way out, so a clean line pays nothing for them.

use thiserror::Error;

/// Why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Reason {
    /// The value has another shape.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A field that identifies the thing is not there.
    #[error("required field is missing")]
    Missing,
    /// The number does not fit the type without loss.
    #[error("number out of range")]
    Range,
    /// The value is nested too deeply to be read as a type.
    #[error("nested too deeply")]
    TooDeep,
    /// The text is not JSON.
    #[error("not valid JSON")]
    Syntax,
}

/// One value that could not be read as its type. Its raw JSON is kept beside it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}{reason}", .path, if .path.is_empty() { "" } else { ": " })]
pub struct Diagnostic {
    /// Where, from the top of the line: `message.content[2].text`.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

impl Diagnostic {
    /// A diagnostic for the value being read; callers further up prefix the path.
    pub(crate) const fn here(reason: Reason) -> Self {
        Self {
            path: String::new(),
            reason,
        }
    }

    /// A diagnostic for the field `name` of the value being read.
    pub(crate) fn at(name: &str, reason: Reason) -> Self {
        Self {
            path: name.to_owned(),
            reason,
        }
    }

    /// The field `name` is required and not there.
    pub(crate) fn missing(name: &str) -> Self {
        Self::at(name, Reason::Missing)
    }

    /// Puts a field name in front of the path.
    #[must_use]
    pub(crate) fn under(mut self, name: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }

    /// Puts an array index in front of the path.
    #[must_use]
    pub(crate) fn under_index(self, index: usize) -> Self {
        self.under(&format!("[{index}]"))
    }
}

/// Collects diagnostics while a line is read.
#[derive(Debug, Default)]
pub struct Diagnostics {
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// How many there are; a mark to come back to.
    pub(crate) const fn mark(&self) -> usize {
        self.found.len()
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Forgets what was found since the mark, because the value it belonged to is not used.
    pub(crate) fn forget(&mut self, mark: usize) {
        self.found.truncate(mark);
    }

    /// Puts a field name in front of what was found since the mark.
    pub(crate) fn under(&mut self, mark: usize, name: &str) {
        for diagnostic in self.found.iter_mut().skip(mark) {
            let inner = std::mem::replace(diagnostic, Diagnostic::here(Reason::Syntax));
            *diagnostic = inner.under(name);
        }
    }

    /// What was found.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.found
    }
}
