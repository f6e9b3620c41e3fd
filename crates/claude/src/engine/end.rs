//! How a CLI ended, and what that means for whoever wanted something from it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::transport::Exit;

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
        write!(f, ": {stderr}")
    }
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
