//! App ↔ Pylon: a whole conversation as a document.
//!
//! ```text
//! app                                                     pylon
//!   │ ── history_export {conversationId, format} ──────────► │  the document begins, as the conversation is now
//!   │ ◄───────────────────────────── history_export_result ─ │  a piece of its text, and where the next begins
//!   │ ── history_export {…, cursor} ───────────────────────► │
//!   │ ◄───────────────────────────── history_export_result ─ │  without `nextCursor`: the end
//! ```
//!
//! The pieces, one after another, are the document. Nothing in it is cut: calls have their whole input and output. What
//! happens in the conversation meanwhile is not part of it. The Pylon remembers nothing between two pieces, so that one
//! may be asked for again after a connection broke.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such conversation | `unknown_conversation` |
//! | `format` or `cursor` is none that there is | `invalid_message` |
//! | the history began anew or was taken back since the first piece | `stale_cursor` |

use crate::{ConversationId, DeviceId};

words! {
    /// The form of a document.
    pub enum ExportFormat {
        /// For people.
        Markdown = "markdown",
        /// For programs: one object with the conversation and its `messages`.
        Json = "json",
    }
}

request! {
    /// Asks for a piece of a conversation as a document.
    pub struct HistoryExport {
        required {
            /// Which conversation.
            conversation_id: ConversationId,
            /// In which form.
            format: ExportFormat,
        }
        optional {
            /// `nextCursor` of the piece before; the beginning if absent.
            cursor: String,
        }
    }
}

reply! {
    /// A piece of the document.
    pub struct HistoryExportResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which conversation.
            conversation_id: ConversationId,
        }
        optional {
            /// Its text: at most 128 KiB, never cut inside a character.
            text: String,
            /// Entries in the whole document.
            total_count: u64,
            /// Where the next piece begins; absent at the end.
            next_cursor: String,
        }
    }
}
