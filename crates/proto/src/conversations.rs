//! App ↔ Pylon: threads of turns with the agent.
//!
//! ```text
//! app                                                 pylon
//!   │ ── conversation_create {workspaceId, name, ...} ─► │
//!   │ ◄──────────────────── conversation_create_result ─ │
//!   │ ── conversation_select ──────────────────────────► │  registers the app as a viewer
//!   │ ◄──────────────────── history_result, then what is pending
//!   │ ── conversation_rename | delete | fork | rewind ─► │
//!   │ ◄──────────── conversation_rename_result | ... ─── │  then workspace_list_result to all clients
//!   │ ◄──────────────── conversation_status (broadcast) ─│  whenever the state changes
//! ```
//!
//! An app views one conversation at a time; selecting another one ends the view. Deleting stops the run first.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace | `unknown_workspace` |
//! | there is no such conversation in it | `unknown_conversation` |
//! | `skillType` is not one of the known words | `invalid_message` |
//! | a fork from, or a rewind to, an entry that is no user message | `conflict` |
//! | a fork of a conversation that has a worktree | `conflict` |
//! | `worktree` cannot be made | as with `worktree_list` and its like |
//! | a rewind while the agent works or messages wait | `conflict`, to be tried again after a stop |

use crate::events::ActivityState;
use crate::ipc::ProcessStatus;
use crate::runs::ProcessPaused;
use crate::worktrees::WorktreeWish;
use crate::{
    Cause, ClaudeSessionId, ConversationId, DeviceId, Name, PathText, PermissionMode, Seq,
    Timestamp, WorkspaceId,
};

words! {
    /// What a conversation is for; decides the persona.
    pub enum SkillType {
        /// Anything.
        General = "general",
        /// Discusses and plans, writes tasks.
        Planner = "planner",
        /// Carries tasks out.
        Worker = "worker",
    }
}

words! {
    /// The coarse state of a conversation. `permission` means that a person is needed.
    pub enum ConversationStatus {
        /// Nothing runs and nothing waits.
        Idle = "idle",
        /// A turn or a background task is under way.
        Working = "working",
        /// A decision waits for a person; `waiting` is read as the same.
        Permission = "permission" | "waiting",
    }
}

data! {
    /// How the process of a conversation is when it is neither at work nor simply ready, and why.
    pub struct ProcessState {
        required {
            /// `error`, `stopped` or `suspect`.
            status: ProcessStatus,
        }
        optional {
            /// Why it was stopped, and whether the next message goes on where it was.
            paused: ProcessPaused,
            /// The exit code of a process that ended by itself.
            exit_code: i32,
            /// Why its turn failed.
            cause: Cause,
            /// What is known of it, in words: of an `error` what it said last, of a `suspect` which facts contradict each
            /// other.
            why: String,
        }
    }
}

data! {
    /// A conversation in the list.
    pub struct Conversation {
        required {
            /// Which conversation.
            conversation_id: ConversationId,
            /// Its name.
            name: Name,
            /// What it is for.
            skill_type: SkillType,
            /// Its state.
            status: ConversationStatus,
        }
        nullable {
            /// Claude's session, if one was started.
            claude_session_id: ClaudeSessionId,
        }
        optional {
            /// Whether something happened that this device has not seen.
            unread: bool,
            /// Its own permission mode; absent means the Pylon's default.
            permission_mode: PermissionMode,
            /// Its own model; absent means the agent's default.
            model: String,
            /// Whether it is the active one.
            is_active: bool,
            /// When it was made.
            created_at: Timestamp,
            /// When something last happened in it.
            updated_at: Timestamp,
            /// The folder in which the agent works, if that is not the one of the workspace.
            working_dir: PathText,
            /// The branch of its worktree, if it has one.
            branch: String,
            /// How its process is, where that is more than `status` says.
            process: ProcessState,
            /// What the agent is at, while it works.
            activity: ActivityState,
        }
    }
}

data! {
    /// A conversation as the result of making it.
    pub struct CreatedConversation {
        required {
            /// Which conversation.
            conversation_id: ConversationId,
            /// Its name.
            name: Name,
            /// What it is for.
            skill_type: SkillType,
        }
        optional {
            /// Its state.
            status: ConversationStatus,
            /// When it was made.
            created_at: Timestamp,
        }
    }
}

request! {
    /// Makes a conversation and selects it for the sender.
    pub struct ConversationCreate {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Its name.
            name: Name,
            /// What it is for.
            skill_type: SkillType,
        }
        optional {
            /// Its own model.
            model: String,
            /// Its own permission mode; needs the right `admin`, as changing it does.
            permission_mode: PermissionMode,
            /// Let it work in a worktree of its own.
            #[serde(deserialize_with = "crate::worktrees::read_wish")]
            worktree: WorktreeWish,
        }
    }
}

impl ConversationCreate {
    /// Whether the new conversation is to be judged in another way than the machine's own.
    pub fn has_own_mode(&self) -> bool {
        self.permission_mode.is_some()
    }
}

reply! {
    /// The new conversation; also the answer to `conversation_fork`.
    pub struct ConversationCreateResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The conversation; only on success.
            conversation: CreatedConversation,
        }
    }
}

request! {
    /// Makes a new conversation from an old one up to, and without, one of its user messages.
    pub struct ConversationFork {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The old conversation.
            conversation_id: ConversationId,
            /// The `seq` of a user message.
            before_seq: Seq,
        }
        optional {
            /// The name of the new one.
            name: Name,
        }
    }
}

request! {
    /// Lets a conversation go on from before one of its user messages. What came after it stays in the history, marked.
    pub struct ConversationRewind {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which one.
            conversation_id: ConversationId,
            /// The `seq` of a user message.
            before_seq: Seq,
        }
    }
}

reply! {
    /// Whether a conversation was rewound.
    pub struct ConversationRewindResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which one.
            conversation_id: ConversationId,
        }
    }
}

request! {
    /// Views a conversation; answered by `history_result`.
    pub struct ConversationSelect {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which one.
            conversation_id: ConversationId,
        }
    }
}

request! {
    /// Stops and deletes a conversation with its history.
    pub struct ConversationDelete {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which one.
            conversation_id: ConversationId,
        }
    }
}

reply! {
    /// Whether a conversation was deleted.
    pub struct ConversationDeleteResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which one.
            conversation_id: ConversationId,
        }
    }
}

request! {
    /// Renames a conversation.
    pub struct ConversationRename {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which one.
            conversation_id: ConversationId,
            /// Its new name.
            new_name: Name,
        }
    }
}

reply! {
    /// Whether a conversation was renamed.
    pub struct ConversationRenameResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which one.
            conversation_id: ConversationId,
        }
    }
}

data! {
    /// The state of a conversation changed. To all clients, viewing or not.
    pub struct ConversationStatusUpdate {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which conversation.
            conversation_id: ConversationId,
            /// Its state now.
            status: ConversationStatus,
        }
        optional {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Whether something happened that the addressee has not seen.
            unread: bool,
            /// The newest event the state takes into account.
            seq: Seq,
            /// How its process is, where that is more than `status` says.
            process: ProcessState,
            /// What the agent is at, while it works.
            activity: ActivityState,
        }
    }
}
