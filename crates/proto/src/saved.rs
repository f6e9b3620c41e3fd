//! App ↔ Pylon: sessions that Claude Code has saved for the folder of a workspace, also those made without Estelle.
//!
//! ```text
//! app                                                            pylon
//!   │ ── saved_list {workspaceId, offset?} ───────────────────────► │
//!   │ ◄───────────────────────────────────────── saved_list_result │  newest first
//!   │ ── saved_read {workspaceId, claudeSessionId, offset?} ──────► │
//!   │ ◄───────────────────────────────────────── saved_read_result │  as history, a page
//!   │ ── saved_continue {workspaceId, claudeSessionId, name?} ────► │
//!   │ ◄────────────────────────────── conversation_create_result ── │  a conversation that goes on from a copy
//! ```
//!
//! What is saved is never written to: to go on, the session is copied, and the copy is the conversation's own. So a CLI that
//! still runs in some terminal and Estelle never write to one file.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace | `unknown_workspace` |
//! | `claudeSessionId` is no session of this folder, or has no messages | `unknown_session` |
//! | the host is away, or too old for this | `host_unavailable`, `unknown_type` |
//! | the disk is full | `disk_full` |

use crate::history::HistoryMessage;
use crate::{ClaudeSessionId, ConversationId, DeviceId, Name, Timestamp, WorkspaceId};

data! {
    /// A session that the agent has saved.
    pub struct SavedSession {
        required {
            /// Which.
            claude_session_id: ClaudeSessionId,
            /// When something was last said in it.
            updated_at: Timestamp,
            /// Its size on the disk.
            bytes: u64,
        }
        optional {
            /// What to call it: its title, or what was asked.
            title: String,
            /// What was asked first.
            first_prompt: String,
            /// When it began.
            created_at: Timestamp,
            /// The branch that was checked out last.
            branch: String,
            /// Whether a program began it, and not a person in a terminal.
            programmatic: bool,
            /// The conversation of Estelle that it belongs to.
            conversation_id: ConversationId,
        }
    }
}

request! {
    /// Asks for the saved sessions of a folder.
    pub struct SavedList {
        required {
            /// Of which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The most sessions; at most 100.
            limit: u32,
            /// Sessions to leave out at the beginning: those of the pages before.
            offset: u32,
        }
    }
}

reply! {
    /// Saved sessions, newest first.
    pub struct SavedListResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Of which workspace.
            workspace_id: WorkspaceId,
            /// The sessions of this page.
            sessions: Vec<SavedSession>,
        }
        optional {
            /// Where the next page begins; absent at the end.
            next_offset: u32,
        }
    }
}

request! {
    /// Asks what was said in a saved session.
    pub struct SavedRead {
        required {
            /// Of which workspace.
            workspace_id: WorkspaceId,
            /// Which session.
            claude_session_id: ClaudeSessionId,
        }
        optional {
            /// Messages to leave out at the beginning: those of the pages before.
            offset: u32,
        }
    }
}

reply! {
    /// What was said, from the beginning or the last time it was made shorter. Long texts are cut.
    pub struct SavedReadResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Of which workspace.
            workspace_id: WorkspaceId,
            /// Which session.
            claude_session_id: ClaudeSessionId,
            /// The entries of this page.
            messages: Vec<HistoryMessage>,
        }
        optional {
            /// Where the next page begins; absent at the end.
            next_offset: u32,
        }
    }
}

request! {
    /// Makes a conversation that goes on from a copy of a saved session; answered by `conversation_create_result`.
    pub struct SavedContinue {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which session.
            claude_session_id: ClaudeSessionId,
        }
        optional {
            /// The name of the conversation; absent means the title of the session.
            name: Name,
        }
    }
}
