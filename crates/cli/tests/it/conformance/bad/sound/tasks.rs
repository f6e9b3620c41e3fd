//! Tasks and who carries them out.

use serde_json::json;

use super::{Sound, Talk};

pub(super) fn sound(talk: &Talk) -> Sound {
    let workspace = &talk.workspace;
    vec![
        ("task_list", json!({"workspaceId": workspace})),
        ("task_get", json!({"workspaceId": workspace, "taskId": "t"})),
        (
            "task_create",
            json!({"workspaceId": workspace, "title": "T", "content": "c"}),
        ),
        (
            "task_status",
            json!({"workspaceId": workspace, "taskId": "t", "status": "failed", "error": "e"}),
        ),
        ("worker_status", json!({"workspaceId": workspace})),
        ("worker_start", json!({"workspaceId": workspace})),
        (
            "worker_stop",
            json!({"workspaceId": workspace, "afterTask": true}),
        ),
    ]
}
