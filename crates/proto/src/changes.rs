//! App ↔ Pylon: what is not committed in the folder of a workspace.
//!
//! ```text
//! app                                                    pylon
//!   │ ── changes_request {workspaceId} ───────────────────► │
//!   │ ◄────────────────────────────────── changes_result ── │  branch, and every file that differs, in pages
//!   │ ── diff_request {workspaceId, path?, offset?} ──────► │
//!   │ ◄───────────────────────────────────── diff_result ── │  one chunk; `nextOffset` asks for the next
//! ```
//!
//! `since: "base"` compares with where the worktree of a conversation meets the branch it began from, instead of with the
//! last commit: that is what merging it would bring, and what is not committed yet.
//!
//! Paths are relative to the folder; of a repository that reaches beyond the folder only the part in it is shown. The
//! contents of files that hold secrets are withheld. Looking runs nothing of the repository: no hooks, filters, helpers,
//! external diffs or monitors, and nothing is fetched; what is in submodules is not looked at.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace, or conversation in it | `unknown_workspace`, `unknown_conversation` |
//! | the folder is in no git repository | `no_repository` |
//! | the folder is gone, or `path` leads out of it | `bad_path` |
//! | `since: "base"` where there is no worktree | `conflict` |
//! | git is missing, refuses, or takes too long | `git_failed` |
//! | the changes are others than those of the chunk before | `stale_cursor`: begin at the first chunk |

use crate::{ConversationId, DeviceId, PathText, WorkspaceId};

words! {
    /// How a file differs from the last commit.
    pub enum ChangeKind {
        /// Other contents or mode.
        Modified = "modified",
        /// New, and known to git.
        Added = "added",
        /// Gone.
        Deleted = "deleted",
        /// Has another name.
        Renamed = "renamed",
        /// A copy of another file.
        Copied = "copied",
        /// A file became a link, or the like.
        TypeChanged = "type_changed",
        /// New, and not known to git.
        Untracked = "untracked",
        /// A merge left it in conflict.
        Conflicted = "conflicted",
    }
}

words! {
    /// What a folder is compared with.
    pub enum Since {
        /// The last commit.
        Head = "head",
        /// Where the worktree of the conversation meets the branch it began from.
        Base = "base",
    }
}

data! {
    /// A file that differs from the last commit.
    pub struct ChangedFile {
        required {
            /// Which file, relative.
            path: PathText,
            /// How it differs.
            kind: ChangeKind,
            /// Whether something of it will be in the next commit.
            staged: bool,
            /// Whether something of it will not.
            unstaged: bool,
        }
        optional {
            /// The name it had.
            old_path: PathText,
            /// Lines that came; absent if not text or not counted.
            insertions: u64,
            /// Lines that went.
            deletions: u64,
            /// Whether it is no text.
            binary: bool,
            /// Whether its contents are not shown because it holds secrets.
            withheld: bool,
        }
    }
}

request! {
    /// Asks what is not committed.
    pub struct ChangesRequest {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// In the folder of this conversation; absent means the workspace's.
            conversation_id: ConversationId,
            /// The most files; at most 500.
            limit: u32,
            /// Files to leave out at the beginning: those of the pages before.
            offset: u32,
            /// What it is compared with; absent is the last commit.
            since: Since,
        }
    }
}

reply! {
    /// What is not committed, sorted by path.
    pub struct ChangesResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The files of this page.
            files: Vec<ChangedFile>,
        }
        optional {
            /// The branch; absent if none is checked out.
            branch: String,
            /// The last commit; absent if there is none.
            head: String,
            /// The branch it follows.
            upstream: String,
            /// Commits that the upstream does not have.
            ahead: u64,
            /// Commits that only the upstream has.
            behind: u64,
            /// All files that differ.
            total: u64,
            /// Lines that came, in all files that were counted.
            insertions: u64,
            /// Lines that went.
            deletions: u64,
            /// Whether there are more changes than are looked at.
            truncated: bool,
        }
    }
}

request! {
    /// Asks for the diff from the last commit to the folder.
    pub struct DiffRequest {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// In the folder of this conversation; absent means the workspace's.
            conversation_id: ConversationId,
            /// Only this file or folder, relative.
            path: PathText,
            /// Bytes to leave out at the beginning; `nextOffset` of the chunk before.
            offset: u64,
            /// `digest` of the chunk before, so that no two diffs are mixed.
            digest: String,
            /// What it is compared with; absent is the last commit.
            since: Since,
        }
    }
}

reply! {
    /// A chunk of a diff in git's unified form. Files that git does not know are in it as new ones.
    pub struct DiffResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The chunk, never cut inside a character. Bytes that are no text are shown as replacement characters.
            diff: String,
            /// Bytes of the diff before this chunk.
            offset: u64,
            /// Bytes of the whole diff.
            total_bytes: u64,
            /// Names the whole diff.
            digest: String,
            /// Where the next chunk begins; absent at the end.
            next_offset: u64,
            /// Files whose contents are left out because they hold secrets.
            withheld: u64,
            /// Whether the diff is larger than is made.
            truncated: bool,
        }
    }
}
