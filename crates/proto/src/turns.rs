//! App ↔ Pylon: what the tools of a turn changed.
//!
//! ```text
//! app                                                          pylon
//!   │ ── turn_changes {workspaceId, conversationId, seq} ──────► │  `seq` of any entry of the turn
//!   │ ◄──────────────────────────────────── turn_changes_result │
//! ```
//!
//! It is read from what the tools that write files were called with, and from whether they worked, so that it is the same
//! however the folder looks by now. Commands of a shell and tools of others are counted alone: what they did to the folder is
//! seen in `changes_request`. A file that is written whole is shown as it was written; what stood there before is not known.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace, or conversation in it | `unknown_workspace`, `unknown_conversation` |
//! | nothing of the history has this `seq` or an earlier one | `invalid_message` |

use crate::{ConversationId, DeviceId, PathText, Seq, WorkspaceId};

data! {
    /// A file that the tools of a turn changed.
    pub struct TurnFile {
        required {
            /// Which file: relative to the folder of the conversation, absolute outside of it.
            path: PathText,
            /// Calls that changed it.
            calls: u64,
            /// Lines that came.
            insertions: u64,
            /// Lines that went.
            deletions: u64,
        }
        optional {
            /// What changed, one hunk for each change in the order of the calls; without numbers of lines, which are not known.
            diff: String,
            /// Whether it was written whole, at least once.
            written: bool,
            /// Whether the diff is cut.
            truncated: bool,
            /// Whether the diff is left out because the file holds secrets.
            withheld: bool,
        }
    }
}

request! {
    /// Asks what the tools of a turn changed.
    pub struct TurnChanges {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Of which conversation.
            conversation_id: ConversationId,
            /// Of the turn that has this event.
            seq: Seq,
        }
    }
}

reply! {
    /// What the tools of a turn changed, in the order in which the files were first changed.
    pub struct TurnChangesResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Of which conversation.
            conversation_id: ConversationId,
            /// The files.
            files: Vec<TurnFile>,
        }
        optional {
            /// The first entry of the turn.
            from_seq: Seq,
            /// Its last entry so far.
            to_seq: Seq,
            /// Whether the turn goes on, so that there may be more.
            running: bool,
            /// Calls that may have changed files in ways that are not seen here.
            other_calls: u64,
            /// Whether there was more than is looked at.
            truncated: bool,
        }
    }
}
