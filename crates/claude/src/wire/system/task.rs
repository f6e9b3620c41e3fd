//! System lines about background work: subagents, background commands, workflows.
//!
//! A task is started, may report progress and updates, and ends with a notification, which may begin a turn of its own.

use std::collections::BTreeMap;

use crate::wire::json::Json;

wire_struct! {
    /// A task began.
    pub struct TaskStarted("type" = "system", "subtype" = "task_started") {
        required { task_id: String }
        optional {
            run_id: String,
            tool_use_id: String,
            description: String,
            subagent_type: String,
            is_backgrounded: bool,
            spawn_depth: u64,
            parent_task_id: String,
            task_type: String,
            workflow_name: String,
            prompt: String,
            skip_transcript: bool,
            ambient: bool,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// Something about a task changed.
    pub struct TaskUpdated("type" = "system", "subtype" = "task_updated") {
        required { task_id: String, patch: TaskPatch }
        optional { run_id: String, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// What changed about a task.
    pub struct TaskPatch {
        optional {
            status: TaskStatus,
            description: String,
            /// Unix milliseconds.
            end_time: f64,
            total_paused_ms: f64,
            error: String,
            is_backgrounded: bool,
        }
    }
}

open_enum! {
    /// The state of a task.
    pub enum TaskStatus {
        "pending" => Pending,
        "running" => Running,
        "completed" => Completed,
        "failed" => Failed,
        "killed" => Killed,
        "paused" => Paused,
    }
}

wire_struct! {
    /// A task is at work.
    pub struct TaskProgress("type" = "system", "subtype" = "task_progress") {
        required { task_id: String }
        optional {
            run_id: String,
            tool_use_id: String,
            description: String,
            subagent_type: String,
            usage: TaskUsage,
            last_tool_name: String,
            summary: String,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// What a task has used.
    pub struct TaskUsage {
        optional { total_tokens: u64, tool_uses: u64, duration_ms: f64 }
    }
}

wire_struct! {
    /// A task ended.
    pub struct TaskNotification("type" = "system", "subtype" = "task_notification") {
        required { task_id: String, status: TaskNotificationStatus }
        optional {
            run_id: String,
            tool_use_id: String,
            reason: String,
            output_file: String,
            summary: String,
            usage: TaskUsage,
            resource_links: Vec<ResourceLink>,
            skip_transcript: bool,
            ambient: bool,
            uuid: String,
            session_id: String,
        }
    }
}

open_enum! {
    /// How a task ended.
    pub enum TaskNotificationStatus {
        "completed" => Completed,
        "failed" => Failed,
        "stopped" => Stopped,
    }
}

wire_struct! {
    /// A resource of an MCP server.
    pub struct ResourceLink {
        required { uri: String, name: String }
        optional {
            title: String,
            description: String,
            "mimeType" => mime_type: String,
            size: u64,
            annotations: BTreeMap<String, Json>,
        }
    }
}

wire_struct! {
    /// The list of background tasks changed.
    pub struct BackgroundTasksChanged("type" = "system", "subtype" = "background_tasks_changed") {
        required { tasks: Vec<BackgroundTask> }
        optional { uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A task in the background.
    pub struct BackgroundTask {
        required { task_id: String }
        optional {
            run_id: String,
            task_type: String,
            subagent_type: String,
            description: String,
            parent_task_id: String,
            ambient: bool,
        }
    }
}
