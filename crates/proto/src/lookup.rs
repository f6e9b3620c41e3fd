//! App ↔ Pylon: finding a place in history, and the whole of a call that history shows cut.
//!
//! ```text
//! app                                                     pylon
//!   │ ── tool_detail {conversationId, toolUseId} ──────────► │  the whole input and output of a call
//!   │ ◄──────────────────── tool_detail_result (one or more) │  in chunks; `last` ends it. With `cursor`: one
//!   │ ── history_search {query} ───────────────────────────► │
//!   │ ◄───────────────────────────── history_search_result ─ │
//! ```
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such conversation | `unknown_conversation` |
//! | there is no such call in it, or it gave no such picture | `unknown_tool_use` |
//! | `cursor` is not one that was given | `invalid_message` |

use crate::{ConversationId, DeviceId, QueryText, Seq, Timestamp, ToolUseId, WorkspaceId};

words! {
    /// Which side of a call.
    pub enum ToolPart {
        /// What it was called with, as JSON.
        Input = "input",
        /// What it gave, cut behind 1,048,576 characters.
        Output = "output",
        /// A picture that it gave, in Base64.
        Image = "image",
    }
}

request! {
    /// Asks for the whole input of a call, and for its output up to 1,048,576 characters. What a tool gave beyond that is
    /// kept by nobody but the agent itself.
    pub struct ToolDetail {
        required {
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
        }
        optional {
            /// Asks for one chunk alone: empty for the first, then `nextCursor` of the one before. Whoever reads slowly asks
            /// so; without it all chunks come one after another.
            cursor: String,
            /// Asks for this picture of the output alone, from 0, in the order of `images`; chunks of it come as `image`.
            image: u32,
        }
    }
}

reply! {
    /// A chunk of the input or output of a call. Chunks of a part come in order; the input comes first.
    pub struct ToolDetailResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
        }
        optional {
            /// Which side.
            part: ToolPart,
            /// At most 64 KiB, never cut inside a character.
            chunk: String,
            /// Bytes of the part before this chunk.
            offset: u64,
            /// Bytes of the whole part.
            total_bytes: u64,
            /// Whether nothing follows, of either part.
            last: bool,
            /// Where the next chunk is, if they are asked for one by one and one follows.
            next_cursor: String,
        }
    }
}

request! {
    /// Searches the history of all conversations.
    pub struct HistorySearch {
        required {
            /// The words.
            query: QueryText,
        }
        optional {
            /// Only in this workspace.
            workspace_id: WorkspaceId,
            /// Only in this conversation.
            conversation_id: ConversationId,
            /// The most hits; at most 100.
            limit: u32,
            /// `nextCursor` of the page before.
            cursor: String,
        }
    }
}

data! {
    /// A place where the words were found.
    pub struct SearchHit {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// At which entry.
            seq: Seq,
            /// The text around the words.
            snippet: String,
            /// When it was said.
            timestamp: Timestamp,
        }
        optional {
            /// Whether it was taken back by a rewind.
            rewound: bool,
        }
    }
}

reply! {
    /// Where the words were found: whole words before beginnings of words, the newest first.
    pub struct HistorySearchResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The hits of this page.
            hits: Vec<SearchHit>,
        }
        optional {
            /// Where the next page begins; absent at the end.
            next_cursor: String,
        }
    }
}
