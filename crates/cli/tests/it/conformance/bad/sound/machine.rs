//! What is about the machine, and not about conversations.

use serde_json::json;

use super::{Sound, Talk};

pub(super) fn sound(talk: &Talk) -> Sound {
    vec![
        ("rules_request", json!({"workspaceId": talk.workspace})),
        (
            "rule_change",
            json!({"rule": "Bash(ls)", "effect": "allow", "workspaceId": talk.workspace}),
        ),
        (
            "tool_revoke",
            json!({"conversationId": talk.id, "toolName": "Write"}),
        ),
        ("deploy_prepare", json!({"relayDeploy": true})),
        (
            "deploy_confirm",
            json!({"preApproved": true, "cancel": false}),
        ),
        ("deploy_go", json!({})),
        ("deploy_status_request", json!({})),
        ("version_check_request", json!({})),
        ("app_update_request", json!({})),
        (
            "bug_report",
            json!({"message": "m", "timestamp": "t", "conversationId": talk.id, "appVersion": "v"}),
        ),
    ]
}
