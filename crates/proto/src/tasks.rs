//! App ↔ Pylon: the tasks of a workspace.
//!
//! ```text
//! app                                          pylon
//!   │ ── task_list {workspaceId} ───────────────► │
//!   │ ◄──────────────────────── task_list_result ── │  to the asker; after every change to all clients
//!   │ ── task_get {workspaceId, taskId} ────────► │
//!   │ ◄───────────────────────── task_get_result ── │  with the text
//!   │ ── task_create {title, content} ──────────► │
//!   │ ◄────────────────────── task_create_result ── │  then task_list_result to all clients
//!   │ ── task_status {taskId, status, error?} ──► │
//!   │ ◄────────────────────── task_status_result ── │  then task_list_result to all clients
//!   │ ── worker_status {workspaceId} ───────────► │
//!   │ ◄──────────────────── worker_status_result ── │
//!   │ ── worker_start {workspaceId} ────────────► │  goes on where it was, also after a stop or a rest
//!   │ ◄───────────────────── worker_start_result ── │  then task_list_result to all clients after every task
//!   │ ── worker_stop {workspaceId, afterTask?} ─► │
//!   │ ◄────────────────────── worker_stop_result ── │
//! ```
//!
//! A task is a Markdown file in the folder `task` of the workspace, with front matter. The files are the truth: what people
//! write into them by hand counts, and whatever else stands in them is kept. A file that cannot be read as a task is
//! listed with its `problem` and as `failed`, and is never changed. `taskId` is the `id` of a task, or the name of its
//! file, with which each task can be meant even if two have the same id.
//!
//! A workspace has one worker. It carries out the tasks that wait, one after another, the first written first, each as a turn
//! of its conversation, and marks them by how the turn ended. When none is left it is off. `worker_stop` ends the turn and
//! puts its task back, or lets it end with `afterTask`. What is not the fault of a task makes the worker rest.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace | `unknown_workspace` |
//! | there is no such task | `unknown_task` |
//! | two tasks have the id; the text names their files | `conflict` |
//! | the file is damaged, or changes while it is being written | `conflict` |
//! | the worker is at the task whose status is to be set | `conflict` |
//! | the worker runs already or is being stopped, no task waits, or another worker has the folder | `conflict` |
//! | the worker is to start and the host is away | `host_unavailable` |
//! | the folder `task` leads out of the workspace, or is no folder | `bad_path` |
//! | the folder cannot be read or written | `forbidden` |
//! | the disk is full | `disk_full` |
//! | the title is blank, or a text is too long | `invalid_message` |

use crate::workspaces::{TaskStatus, TaskSummary, WorkerStatus};
use crate::{DeviceId, Name, TaskId, TaskText, WorkspaceId};

request! {
    /// Asks for the tasks of a workspace, without their texts.
    pub struct TaskList {
        required {
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
    }
}

reply! {
    /// The tasks of a workspace, newest first. Sent to the asker, and to all clients after every change.
    pub struct TaskListResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
            /// The tasks; at most 500.
            tasks: Vec<TaskSummary>,
        }
        optional {
            /// Whether there were more.
            truncated: bool,
            /// What the worker does.
            worker_status: Box<WorkerStatus>,
        }
    }
}

request! {
    /// Asks for one task with its text.
    pub struct TaskGet {
        required {
            /// Which workspace.
            workspace_id: WorkspaceId,
            /// Which task.
            task_id: TaskId,
        }
    }
}

data! {
    /// A task with its text.
    pub struct Task {
        required {
            /// Which task.
            id: String,
            /// Its title.
            title: String,
            /// How far it is.
            status: TaskStatus,
            /// What stands behind the front matter; all of the file if that is damaged.
            content: String,
        }
        optional {
            /// Whether the text was cut, at 10 000 characters.
            truncated: bool,
            /// When it was written.
            created_at: String,
            /// When work on it began.
            started_at: String,
            /// When it was done or failed.
            completed_at: String,
            /// Why it failed.
            error: String,
            /// The name of its file in the folder `task`.
            file: String,
            /// Why the file is no task.
            problem: String,
        }
    }
}

reply! {
    /// One task.
    pub struct TaskGetResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The task; only on success.
            task: Box<Task>,
        }
    }
}

request! {
    /// Writes a new task, which waits.
    pub struct TaskCreate {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Its title, of which the name of its file is made.
            title: Name,
            /// What is to be done, in Markdown.
            content: TaskText,
        }
        optional {
            /// Where people are warned, in US dollars.
            soft_usd: f64,
            /// Where it is stopped and fails, in US dollars.
            hard_usd: f64,
        }
    }
}

reply! {
    /// The new task.
    pub struct TaskCreateResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The task; only on success.
            task: Box<TaskSummary>,
        }
    }
}

request! {
    /// Says how far a task is. `running` sets when it began, once; `done` and `failed` set when it ended.
    pub struct TaskStatusChange {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which task.
            task_id: TaskId,
            /// How far it is.
            status: TaskStatus,
        }
        optional {
            /// Why it failed; only with `failed`.
            error: String,
        }
    }
}

reply! {
    /// Whether a task has another status.
    pub struct TaskStatusResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The task as it is now; only on success.
            task: Box<TaskSummary>,
        }
    }
}

request! {
    /// Asks what the worker does.
    pub struct WorkerStatusRequest {
        required {
            /// Of which workspace.
            workspace_id: WorkspaceId,
        }
    }
}

reply! {
    /// What the worker does.
    pub struct WorkerStatusResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// What it does; only on success.
            worker_status: Box<WorkerStatus>,
        }
    }
}

request! {
    /// Lets the worker carry out the tasks that wait.
    pub struct WorkerStart {
        required {
            /// Of which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// Whether each task gets a git worktree and a conversation of its own from now on, unless its file says
            /// otherwise; absent means as before.
            worktrees: bool,
        }
    }
}

reply! {
    /// Whether the worker goes on.
    pub struct WorkerStartResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The task it is at.
            task_id: String,
            /// Its title.
            task_title: String,
            /// What it does; only on success.
            worker_status: Box<WorkerStatus>,
        }
    }
}

request! {
    /// Stops the worker.
    pub struct WorkerStop {
        required {
            /// Of which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// Lets it finish the task it is at. Absent means that the task is broken off and waits again.
            after_task: bool,
        }
    }
}

reply! {
    /// Whether the worker stops.
    pub struct WorkerStopResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// What it does now; only on success.
            worker_status: Box<WorkerStatus>,
        }
    }
}
