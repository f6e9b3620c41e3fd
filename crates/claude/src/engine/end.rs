//! How a CLI ended, and what that means for whoever wanted something from it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::transport::Exit;

/// How much of standard error an error text shows; the field has all that was kept.
const SHOWN_STDERR: usize = 2000;

/// How a CLI ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Its exit.
    pub exit: Exit,
    /// The last it printed on standard error.
    pub stderr: String,
}

impl End {
    pub(super) fn unknown() -> Self {
        Self {
            exit: Exit::Unknown,
            stderr: String::new(),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.exit)?;
        let stderr = self.stderr.trim();
        if stderr.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", last_lines(stderr))
    }
}

/// The end of a text within [`SHOWN_STDERR`], from the beginning of a line where there is one.
fn last_lines(text: &str) -> &str {
    let Some(excess) = text.len().checked_sub(SHOWN_STDERR) else {
        return text;
    };
    let start = text.ceil_char_boundary(excess);
    let tail = &text[start..];
    tail.split_once('\n').map_or(tail, |(_, lines)| lines)
}

/// Why a line could not be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The CLI is gone.
    #[error("failed to send to the CLI, which has ended with {0}")]
    Ended(Arc<End>),
    /// Its input was ended before, by us.
    #[error("failed to send to the CLI, whose input was already ended")]
    InputEnded,
    /// The line could not be written.
    #[error("failed to write to the CLI")]
    Write(#[source] io::Error),
    /// The message could not be turned into JSON.
    #[error("failed to encode the message")]
    Encode(#[source] serde_json::Error),
}

/// Why a control request brought no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// It could not be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The CLI refused it.
    #[error("the CLI refused `{subtype}`: {message}")]
    Refused {
        /// Which request.
        subtype: String,
        /// The CLI's own words.
        message: String,
        /// A machine-readable code, from newer versions.
        code: Option<String>,
    },
    /// No answer came in time.
    #[error("the CLI did not answer `{subtype}` within {limit:?}")]
    TimedOut {
        /// Which request.
        subtype: String,
        /// The time it had.
        limit: Duration,
    },
    /// The CLI ended before it answered.
    #[error("the CLI ended before it answered `{subtype}`, with {end}")]
    Ended {
        /// Which request.
        subtype: String,
        /// How it ended.
        end: Arc<End>,
    },
    /// The answer does not have the documented shape.
    #[error("failed to read the answer to `{subtype}`: {reason}")]
    Answer {
        /// Which request.
        subtype: String,
        /// What is wrong with it.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_on_standard_error_is_shown_by_its_last_lines() {
        let flood = "noise ä\n".repeat(5000) + "the reason";
        let end = End {
            exit: Exit::Code(1),
            stderr: flood.clone(),
        };
        let shown = end.to_string();
        assert!(
            shown.len() < 2100 && shown.ends_with("noise ä\nthe reason"),
            "{shown}"
        );
        assert!(shown.starts_with("exit code 1: noise ä\n"), "{shown}");
        assert_eq!(end.stderr, flood);
    }
}
