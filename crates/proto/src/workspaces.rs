//! App ↔ Pylon: folders on a machine and the conversations in them.
//!
//! ```text
//! app                                          pylon
//!   │ ── workspace_list (broadcast: pylons) ────► │
//!   │ ◄───────────────── workspace_list_result ── │  to the asker; after every change to all clients
//!   │ ── workspace_create {name, workingDir} ───► │
//!   │ ◄─────────────── workspace_create_result ── │  the workspace and its first conversation, both active
//!   │ ── workspace_delete | rename | switch ────► │
//!   │ ◄──── workspace_delete_result | ... ─────── │  then workspace_list_result to all clients
//! ```
//!
//! Deleting stops the runs of the workspace first. Deleting the active workspace makes the first remaining one active,
//! or none. Switching to a conversation that is not there falls back to the first.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace | `unknown_workspace` |
//! | `workingDir` is relative, is no folder or lies outside the allowed roots | `bad_path` |
//! | `name` or `newName` is blank or too long | `invalid_message` |

use crate::{Conversation, ConversationId, DeviceId, Name, PathText, Timestamp, WorkspaceId};

request! {
    /// Asks for all workspaces.
    pub struct WorkspaceList {}
}

data! {
    /// The Pylon, as people see it.
    pub struct PylonInfo {
        required {
            /// Its name.
            name: String,
            /// Its icon, an emoji.
            icon: String,
        }
    }
}

words! {
    /// How far a task is.
    pub enum TaskStatus {
        /// Waits for the worker.
        Pending = "pending",
        /// The worker is at it.
        Running = "running",
        /// Finished.
        Done = "done",
        /// Given up; `error` says why.
        Failed = "failed",
    }
}

data! {
    /// A task of a workspace, without its text.
    pub struct TaskSummary {
        required {
            /// Which task.
            id: String,
            /// Its title.
            title: String,
            /// How far it is.
            status: TaskStatus,
        }
        optional {
            /// When it was written.
            created_at: String,
            /// When the worker began.
            started_at: String,
            /// When it was done or failed.
            completed_at: String,
            /// Why it failed.
            error: String,
            /// The name of its file in the folder `task`.
            file: String,
            /// Why the file is no task. It then stands as `failed`.
            problem: String,
            /// Where people are warned, in US dollars.
            soft_usd: f64,
            /// Where it is stopped and fails, in US dollars.
            hard_usd: f64,
        }
    }
}

data! {
    /// The task a worker is at.
    pub struct CurrentTask {
        required {
            /// Which task.
            id: String,
            /// Its title.
            title: String,
        }
        optional {
            /// When the worker began.
            started_at: String,
        }
    }
}

data! {
    /// Tasks of a workspace, counted.
    pub struct TaskQueue {
        required {
            /// Those that wait.
            pending: u32,
            /// All of them.
            total: u32,
        }
    }
}

words! {
    /// Why a worker rests, for programs.
    pub enum RestCause {
        /// A limit of the account is used up.
        UsageLimit = "usage_limit",
        /// A budget is used up.
        Budget = "budget",
        /// The agent is not logged in.
        Authentication = "authentication",
        /// The API cannot be reached, is overloaded or failed.
        Unavailable = "unavailable",
        /// The agent cannot be started.
        Agent = "agent",
        /// The files of the tasks cannot be read or written.
        Files = "files",
        /// Another worker has the folder.
        Taken = "taken",
        /// A person stopped the agent or deleted its conversation.
        Stopped = "stopped",
    }
}

data! {
    /// Why a worker does nothing, though there may be tasks.
    pub struct WorkerRest {
        required {
            /// Why, for programs.
            cause: RestCause,
            /// Why, for people.
            message: String,
        }
        optional {
            /// When it tries again; absent if it waits for a person.
            until: String,
        }
    }
}

data! {
    /// What the worker of a workspace does.
    pub struct WorkerStatus {
        required {
            /// Whether it is at a task.
            running: bool,
        }
        optional {
            /// Which workspace.
            workspace_id: WorkspaceId,
            /// `idle` or `running`.
            status: String,
            /// The task it is at.
            current_task: CurrentTask,
            /// What waits.
            queue: TaskQueue,
            /// Whether it goes on to the next task by itself.
            on: bool,
            /// The conversation in which it works.
            conversation_id: ConversationId,
            /// Why it does nothing.
            rest: WorkerRest,
            /// Whether each task gets a git worktree of its own, unless its file says otherwise.
            worktrees: bool,
        }
    }
}

data! {
    /// A folder on the machine with its conversations.
    pub struct Workspace {
        required {
            /// Which workspace.
            workspace_id: WorkspaceId,
            /// Its name.
            name: Name,
            /// The folder in which the agent works.
            working_dir: PathText,
            /// Its conversations, in the order in which they were made.
            conversations: Vec<Conversation>,
            /// Its tasks, newest first; `task_list` has more than the newest.
            tasks: Vec<TaskSummary>,
            /// What its worker does.
            worker_status: WorkerStatus,
        }
        optional {
            /// Whether it is the active one.
            is_active: bool,
            /// When it was made.
            created_at: Timestamp,
            /// When it was last used.
            last_used: Timestamp,
            /// So many of its conversations, those that rested longest, found no room in the frame. A search finds them.
            left_out: u32,
        }
    }
}

reply! {
    /// All workspaces of a Pylon. Sent to the asker, and to all clients after every change.
    pub struct WorkspaceListResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The Pylon, as people see it.
            device_info: PylonInfo,
            /// All of them, in the order in which they were made.
            workspaces: Vec<Workspace>,
        }
        success "crate::error::present"
        nullable {
            /// The active one, if there is one.
            active_workspace_id: WorkspaceId,
            /// The active conversation, if there is one.
            active_conversation_id: ConversationId,
        }
    }
}

request! {
    /// Makes a workspace with a first conversation and activates both.
    pub struct WorkspaceCreate {
        required {
            /// Its name.
            name: Name,
            /// The folder in which the agent will work: an absolute path that exists.
            working_dir: PathText,
        }
    }
}

reply! {
    /// The new workspace.
    pub struct WorkspaceCreateResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
        optional {
            /// The workspace; only on success.
            workspace: Box<Workspace>,
            /// Its first conversation; only on success.
            conversation: Conversation,
        }
    }
}

request! {
    /// Deletes a workspace with its conversations and their history. The folder stays.
    pub struct WorkspaceDelete {
        required {
            /// Which one.
            workspace_id: WorkspaceId,
        }
    }
}

reply! {
    /// Whether a workspace was deleted.
    pub struct WorkspaceDeleteResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
    }
}

request! {
    /// Renames a workspace.
    pub struct WorkspaceRename {
        required {
            /// Which one.
            workspace_id: WorkspaceId,
            /// Its new name.
            new_name: Name,
        }
    }
}

reply! {
    /// Whether a workspace was renamed.
    pub struct WorkspaceRenameResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
    }
}

request! {
    /// Makes a workspace and one of its conversations the active ones.
    pub struct WorkspaceSwitch {
        required {
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// Which conversation; the first one if absent or not there.
            conversation_id: ConversationId,
        }
    }
}

reply! {
    /// What is active now.
    pub struct WorkspaceSwitchResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// Which conversation, if the workspace has one.
            conversation_id: ConversationId,
        }
    }
}
