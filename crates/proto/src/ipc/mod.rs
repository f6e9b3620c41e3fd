//! Pylon ↔ host: JSON lines on a Unix socket.
//!
//! ```text
//! pylon                                             host
//!   │ ── hello {protocol, build, capabilities} ──────► │  the first line of each side
//!   │ ◄──────────────────────────────────────── hello ─│
//!   │ ── pylon_reconnected ──────────────────────────► │
//!   │ ◄──────────────────────────── status_response ── │  all conversations
//!   │ ◄──────── permission_request | question_request ─│  one for each open decision
//!   │ ── subscribe {sessionId, epoch, seq, chainHash} ►│  a cursor for each conversation
//!   │ ◄─────────────────────────────────── subscribed ─│  where the replay begins; `fresh` if the cursor was void
//!   │ ◄───────────────────────── claude_event (replay) │  durable events after the cursor
//!   │ ◄───────────────────────────────────── snapshot ─│  open text, activity, open decisions
//!   │ ◄─────────────────────────── claude_event (live) │  without a gap
//!   │ ── send_message | stop_session | ... ──────────► │
//!   │ ◄───────────────────────────── request_result ── │  to the sender, with its requestId
//! ```
//!
//! `sessionId` is the conversation id. Several clients may be connected at once. One that reads too slowly is told
//! so by `cut_off`, with its cursors, and disconnected; it comes back with `subscribe`.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | a line that is no message, or longer than 8 MiB | `error` with `invalid_message` or `too_large`; nothing changes |
//! | a protocol version the host does not speak | `error` with `protocol_mismatch`, then a close |
//! | a cursor of another epoch, or whose hash does not fit | `subscribed` with `fresh: true` and a replay from the start |
//! | an answer to an unknown, answered or void decision | `request_result` with `unknown_decision`, `already_answered` or `decision_void` |
//! | `resume_session` of a conversation whose process runs | `request_result` with `conflict` |
//! | an unknown conversation | `request_result` with `unknown_conversation` |
//! | a `workingDir` that is missing, relative or gone | `request_result` with `bad_path` |
//! | an unknown terminal | `request_result` with `unknown_terminal` |
//! | a message to a conversation that a terminal holds | `request_result` with `conflict` |
//! | the agent's program missing, not executable or too old | `request_result` with `agent_unavailable` |

mod commands;
mod grants;
mod reports;
mod rules;
mod saved;
mod terminals;
mod tools;

pub use commands::*;
pub use grants::*;
pub use reports::*;
pub use rules::*;
pub use saved::{CopySaved, ListSaved, ReadSaved};
pub use terminals::*;
pub use tools::*;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{DecodeError, EncodeError, limits};

data! {
    /// The first line of each side. Each goes on with the highest version both speak.
    pub struct Hello {
        required {
            /// The highest protocol version the speaker knows.
            protocol: u32,
            /// The build, for people and logs.
            build: String,
            /// What the speaker can do beyond the version, by name.
            capabilities: Vec<String>,
        }
        optional {
            /// The lowest protocol version the speaker knows; absent means `protocol` alone.
            oldest: u32,
        }
    }
}

impl Hello {
    /// What this build says first.
    pub fn of_this_build(build: String, capabilities: Vec<String>) -> Self {
        Self {
            oldest: Some(limits::IPC_OLDEST_PROTOCOL),
            ..Self::new(limits::IPC_PROTOCOL, build, capabilities)
        }
    }

    /// The highest version that both speak, if there is one.
    pub fn common(&self, other: &Self) -> Option<u32> {
        let oldest = |hello: &Self| hello.oldest.unwrap_or(hello.protocol);
        let version = self.protocol.min(other.protocol);
        (version >= oldest(self).max(oldest(other))).then_some(version)
    }
}

/// Reads a line, without its newline.
pub fn parse_line<T: DeserializeOwned>(line: &str) -> Result<T, DecodeError> {
    let (length, limit) = (line.len(), limits::MAX_IPC_LINE_BYTES);
    if length > limit {
        return Err(DecodeError::TooLarge { length, limit });
    }
    serde_json::from_str(line).map_err(|source| DecodeError::Line { source })
}

/// Reads a line of a client, which is not trusted to have written good JSON: a name that stands twice in an object is
/// refused, because readers differ in which one they take, and so is what is nested too deeply.
pub fn parse_command(line: &str) -> Result<crate::PylonToHost, DecodeError> {
    let (length, limit) = (line.len(), limits::MAX_IPC_LINE_BYTES);
    if length > limit {
        return Err(DecodeError::TooLarge { length, limit });
    }
    crate::json::check_strictly(line).map_err(|source| DecodeError::Line { source })?;
    parse_line(line)
}

/// Writes a line, with its newline and no other: JSON escapes line feeds in strings, and those between values, which
/// carried JSON may have, become spaces.
pub fn to_line<T: Serialize>(message: &T) -> Result<String, EncodeError> {
    let mut line = serde_json::to_string(message)?;
    if line.contains('\n') {
        line = line.replace('\n', " ");
    }
    line.push('\n');
    Ok(line)
}
