//! App ↔ Pylon: looking into the folder of a workspace.
//!
//! ```text
//! app                                                    pylon
//!   │ ── file_list {workspaceId, path?, cursor?} ─────────► │
//!   │ ◄──────────────────────────────── file_list_result ── │  one page; `nextCursor` asks for the next
//!   │ ── file_read {workspaceId, path, offset?} ──────────► │
//!   │ ◄──────────────────────────────── file_read_result ── │  one chunk; `nextOffset` asks for the next
//! ```
//!
//! A path is relative to the folder of the workspace, or of the conversation if one is named. Links are followed, and
//! what they lead to must lie in that folder as well. Nothing is executed, and nothing is waited for: pipes, devices and
//! sockets are told by their kind alone. Files that hold secrets, by the same lists that guard them against the agent, and
//! the inside of `.git` are not shown.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace, or conversation in it | `unknown_workspace`, `unknown_conversation` |
//! | the path is absolute, leads out of the folder, is not there, or is no folder or no file | `bad_path` |
//! | the file holds secrets, is git's own, or the Pylon may not read it | `forbidden` |

use crate::{ConversationId, DeviceId, PathText, Timestamp, WorkspaceId};

words! {
    /// What a name in a folder stands for.
    pub enum FileKind {
        /// A file with contents.
        File = "file",
        /// A folder.
        Folder = "folder",
        /// A symbolic link.
        Link = "link",
        /// A pipe, a socket or a device, which is never opened.
        Other = "other",
    }
}

words! {
    /// How the contents of a file are written in a message.
    pub enum FileEncoding {
        /// As they are.
        Text = "text",
        /// In Base64, whatever they are.
        Base64 = "base64",
    }
}

data! {
    /// A name in a folder.
    pub struct FileEntry {
        required {
            /// The name.
            name: String,
            /// What it is.
            kind: FileKind,
        }
        optional {
            /// Bytes; only of files.
            size: u64,
            /// When it was last changed.
            modified_at: Timestamp,
            /// What a link leads to; absent if that is not there or lies outside.
            target_kind: FileKind,
        }
    }
}

request! {
    /// Asks what is in a folder of a workspace.
    pub struct FileList {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// In the folder of this conversation; absent means the workspace's.
            conversation_id: ConversationId,
            /// Which folder, relative; absent means the whole.
            path: PathText,
            /// The most entries; at most 500.
            limit: u32,
            /// `nextCursor` of the page before.
            cursor: String,
        }
    }
}

reply! {
    /// What is in a folder, sorted by name.
    pub struct FileListResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The entries of this page.
            entries: Vec<FileEntry>,
        }
        optional {
            /// Which folder, relative, with links resolved; absent means the whole.
            path: PathText,
            /// Entries of the folder, on all pages.
            total: u64,
            /// Names that are left out because they are no text.
            unnamed: u64,
            /// Whether the folder has more names than are looked at.
            truncated: bool,
            /// Where the next page begins; absent at the end.
            next_cursor: String,
        }
    }
}

request! {
    /// Asks for the contents of a file of a workspace.
    pub struct FileRead {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which file, relative.
            path: PathText,
        }
        optional {
            /// In the folder of this conversation; absent means the workspace's.
            conversation_id: ConversationId,
            /// Bytes to leave out at the beginning; `nextOffset` of the chunk before.
            offset: u64,
            /// The most bytes; at most 128 KiB.
            limit: u32,
            /// How the contents are to be written; absent means as text, if they are text.
            encoding: FileEncoding,
        }
    }
}

reply! {
    /// A chunk of a file.
    pub struct FileReadResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which file, relative; on success with links resolved.
            path: PathText,
        }
        optional {
            /// Bytes of the whole file.
            size: u64,
            /// When it was last changed.
            modified_at: Timestamp,
            /// Whether it is no text; then there are contents only if they were asked for in Base64.
            binary: bool,
            /// How `content` is written.
            encoding: FileEncoding,
            /// The chunk; text is never cut inside a character.
            content: String,
            /// Bytes of the file before this chunk.
            offset: u64,
            /// Where the next chunk begins; absent at the end.
            next_offset: u64,
        }
    }
}
