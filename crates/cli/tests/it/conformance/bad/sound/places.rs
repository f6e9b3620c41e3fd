//! Workspaces and conversations.

use serde_json::{Value, json};

use super::{Sound, Talk};

pub(super) fn sound(talk: &Talk, folder: &Value) -> Sound {
    let here = |more: Value| {
        let mut payload = json!({"workspaceId": talk.workspace});
        let more = more.as_object().unwrap().clone();
        payload.as_object_mut().unwrap().extend(more);
        payload
    };
    let both = talk.with(&json!({}));
    let chosen =
        json!({"name": "N", "skillType": "general", "model": "m", "permissionMode": "default"});
    vec![
        ("workspace_list", json!({})),
        (
            "workspace_create",
            json!({"name": "N", "workingDir": folder}),
        ),
        ("workspace_delete", here(json!({}))),
        ("workspace_rename", here(json!({"newName": "N"}))),
        ("workspace_switch", both.clone()),
        ("conversation_create", here(chosen)),
        (
            "conversation_fork",
            talk.with(&json!({"beforeSeq": 1, "name": "N"})),
        ),
        ("conversation_rewind", talk.with(&json!({"beforeSeq": 1}))),
        ("conversation_select", both.clone()),
        ("conversation_delete", both),
        ("conversation_rename", talk.with(&json!({"newName": "N"}))),
        ("saved_list", here(json!({}))),
        ("saved_read", here(json!({"claudeSessionId": "s"}))),
        ("saved_continue", here(json!({"claudeSessionId": "s"}))),
    ]
}
