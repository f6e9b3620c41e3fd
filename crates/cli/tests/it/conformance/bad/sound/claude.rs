//! Talking to the agent, and what was said.

use serde_json::{Value, json};

use super::{Sound, Talk};

pub(super) fn sound(talk: &Talk, call: &Value) -> Sound {
    let with = |more: Value| talk.with(&more);
    vec![
        (
            "history_request",
            with(json!({"limit": 1, "offset": 0, "beforeSeq": 1, "afterSeq": 1, "epoch": 1})),
        ),
        ("history_search", with(json!({"query": "q", "limit": 1}))),
        (
            "history_export",
            json!({"conversationId": talk.id, "format": "json"}),
        ),
        (
            "tool_detail",
            json!({"conversationId": talk.id, "toolUseId": call}),
        ),
        (
            "claude_send",
            with(json!({"message": "m", "clientMessageId": "c", "onBusy": "queue"})),
        ),
        (
            "claude_permission",
            with(json!({"toolUseId": call, "decision": "allow", "message": "m", "inputHash": "h"})),
        ),
        (
            "claude_answer",
            with(json!({"toolUseId": call, "answer": "a", "inputHash": "h"})),
        ),
        (
            "claude_control",
            with(json!({"action": "stop", "clientMessageId": "c"})),
        ),
        (
            "claude_set_permission_mode",
            json!({"mode": "default", "conversationId": talk.id}),
        ),
        (
            "claude_set_model",
            json!({"conversationId": talk.id, "model": "m"}),
        ),
        ("continuation_set", with(json!({"enabled": true}))),
    ]
}
