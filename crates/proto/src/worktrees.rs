//! App ↔ Pylon: working trees of git, each for one conversation.
//!
//! ```text
//! app                                                          pylon
//!   │ ── conversation_create {..., worktree: {branch?, base?}} ─► │  a branch and a folder of its own
//!   │ ◄───────────────────────────── conversation_create_result ─ │
//!   │ ── worktree_list {workspaceId?} ──────────────────────────► │
//!   │ ◄───────────────────────────────────── worktree_list_result │  with branch, changes and disk use
//!   │ ── worktree_merge | worktree_remove ──────────────────────► │
//!   │ ◄────────────────── worktree_merge_result | ..._remove_result
//! ```
//!
//! A worktree is named by the conversation it was made for, and outlives it: deleting the conversation leaves the folder.
//! Merging goes into the branch from which the worktree began, in the folder of the workspace, whole or not at all.
//! Removing takes the folder away, never under a running process, and never with work that is in no commit unless that is
//! asked for; a branch whose commits are not merged stays.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace, or no worktree of this conversation in it | `unknown_workspace`, `unknown_worktree` |
//! | the folder is in no git repository, or has no commit | `no_repository`, `conflict` |
//! | the branch is there already, or there is no `base` | `branch_taken`, `conflict` |
//! | `branch` or `base` is no name that git takes | `invalid_message` |
//! | changes are in no commit, in the worktree or where it is merged to | `uncommitted_work` |
//! | the agent or another process works in the folder | `conflict`, to be tried again after a stop |
//! | the branches do not merge by themselves | `conflict`; `conflicts` names the files |
//! | no room on the disk; nothing is half made or half merged | `disk_full`, to be tried again |
//! | git is missing, refuses, or takes too long | `git_failed` |

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};
use serde_json::{Map, Value};

use crate::{ConversationId, DeviceId, PathText, Timestamp, WorkspaceId};

words! {
    /// How a worktree is.
    pub enum WorktreeState {
        /// It is being made.
        Making = "making",
        /// It can be worked in.
        Ready = "ready",
        /// It is being removed.
        Removing = "removing",
        /// It was removed; its conversation cannot go on.
        Removed = "removed",
        /// Its folder is gone, and nobody asked for that; its branch may be there.
        Missing = "missing",
    }
}

data! {
    /// Asks for a worktree of its own.
    pub struct WorktreeWish {
        optional {
            /// The name of the new branch; absent means one made from the name of the conversation.
            branch: String,
            /// The commit or branch to begin from; absent means what the workspace has checked out.
            base: String,
        }
    }
}

/// Reads a wish. What may be empty must still be an object: an empty list would be taken for one otherwise.
pub(crate) fn read_wish<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<WorktreeWish>, D::Error> {
    let Some(wish) = Option::<Map<String, Value>>::deserialize(from)? else {
        return Ok(None);
    };
    let wish = WorktreeWish::deserialize(Value::Object(wish));
    wish.map(Some).map_err(D::Error::custom)
}

data! {
    /// A worktree.
    pub struct Worktree {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The conversation it was made for.
            conversation_id: ConversationId,
            /// Its folder.
            path: PathText,
            /// The branch that was made for it.
            branch: String,
            /// How it is.
            state: WorktreeState,
        }
        optional {
            /// The branch from which it began, and into which it is merged; absent if there was none.
            base_branch: String,
            /// The commit from which it began.
            base: String,
            /// Its last commit.
            head: String,
            /// Whether another branch than its own, or none, is checked out.
            detached: bool,
            /// Files with changes that are in no commit.
            uncommitted: u64,
            /// Commits that the branch it began from does not have.
            ahead: u64,
            /// Commits that came there since.
            behind: u64,
            /// Lines that came since it began, committed or not.
            insertions: u64,
            /// Lines that went.
            deletions: u64,
            /// Bytes on the disk, without git's own.
            disk_bytes: u64,
            /// When it was made.
            created_at: Timestamp,
            /// Why not all of this is known.
            problem: String,
        }
    }
}

request! {
    /// Asks for all worktrees.
    pub struct WorktreeList {
        optional {
            /// Only of this workspace, which may be gone.
            workspace_id: WorkspaceId,
            /// `nextCursor` of the page before.
            cursor: ConversationId,
        }
    }
}

reply! {
    /// Worktrees, in the order in which they were made.
    pub struct WorktreeListResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The worktrees of this page; at most 20.
            worktrees: Vec<Worktree>,
        }
        optional {
            /// Where the next page begins; absent at the end.
            next_cursor: ConversationId,
        }
    }
}

request! {
    /// Merges the branch of a worktree into the one it began from.
    pub struct WorktreeMerge {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The conversation it was made for.
            conversation_id: ConversationId,
        }
    }
}

reply! {
    /// Whether a worktree was merged.
    pub struct WorktreeMergeResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The conversation it was made for.
            conversation_id: ConversationId,
        }
        optional {
            /// The last commit of the branch it was merged into.
            head: String,
            /// Commits that came; none if it was merged before.
            commits: u64,
            /// Files that do not merge by themselves; only on failure, at most 100.
            conflicts: Vec<String>,
        }
    }
}

request! {
    /// Removes a worktree. Its conversation stays, and cannot go on.
    pub struct WorktreeRemove {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The conversation it was made for.
            conversation_id: ConversationId,
        }
        optional {
            /// Remove it even if changes in it are in no commit.
            discard: bool,
        }
    }
}

reply! {
    /// Whether a worktree was removed.
    pub struct WorktreeRemoveResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The conversation it was made for.
            conversation_id: ConversationId,
        }
        optional {
            /// Branches that stay because they have commits that are merged nowhere.
            kept_branches: Vec<String>,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::conversations::ConversationCreate;

    #[test]
    fn a_wish_is_an_object_or_nothing() {
        let read = |wish: &str| {
            let text = format!(
                r#"{{"workspaceId":"w","name":"N","skillType":"general","worktree":{wish}}}"#
            );
            serde_json::from_str::<ConversationCreate>(&text).map(|read| read.worktree)
        };
        assert_eq!(read("null").unwrap(), None);
        assert_eq!(read("{}").unwrap(), Some(super::WorktreeWish::default()));
        let branch = read(r#"{"branch":"b"}"#).unwrap().unwrap().branch;
        assert_eq!(branch.as_deref(), Some("b"));
        for wrong in ["[]", r#"["b"]"#, "true", r#""b""#, r#"{"branch":1}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
