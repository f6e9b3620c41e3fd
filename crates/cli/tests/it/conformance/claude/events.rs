//! The shapes of events.

use serde_json::{Value, json};

use super::super::shape::check;

/// The shape of each event of the specification; others are ours.
pub(super) fn check_event(frame: &Value) {
    let wrapped = json!({
        "workspaceId": "id", "conversationId": "id", "event": "any", "deviceId?": "count",
        "seq?": "count", "epoch?": "count", "timestamp?": "ms",
    });
    check(&frame["payload"], &wrapped);
    let event = &frame["payload"]["event"];
    let Some(kind) = event["type"].as_str() else {
        panic!("{frame}");
    };
    let states = "idle|working|permission";
    let usage = json!({
        "inputTokens": "count", "outputTokens": "count", "cacheReadInputTokens": "count",
        "cacheCreationInputTokens": "count",
    });
    let option = json!({"label": "id", "description": "string"});
    let question =
        json!({"question": "id", "header": "string", "options": [option], "multiSelect": "bool"});
    let author = json!({"deviceKey": "id", "name": "id"});
    let why = json!({
        "code": "id", "source": "id", "rule?": "id", "scope?": "id", "subject?": "id", "doubt?": "id",
    });
    let mut shape = match kind {
        "userMessage" => {
            json!({"content": "id", "timestamp": "ms", "clientMessageId?": "id", "deviceId?": "count", "author?": author})
        }
        "init" => json!({
            "session_id": "id", "model": "id", "tools": ["id"], "generation?": "count", "slashCommands?": ["id"],
        }),
        "stateUpdate" => json!({
            "state": {"type": "thinking|responding|tool", "toolName?": "id"}, "partialText": "string",
            "parentToolUseId?": "id", "open?": "any",
        }),
        "text" => json!({
            "content": "id", "generation?": "count", "block?": "count", "at?": "count", "parentToolUseId?": "id",
        }),
        "textComplete" => json!({"text": "id", "parentToolUseId?": "id"}),
        "toolInfo" => {
            json!({"toolName": "id", "input": "any", "toolUseId?": "id", "parentToolUseId?": "id"})
        }
        "toolComplete" => json!({
            "toolName": "id", "success": "bool", "result": "string", "error?": "id", "toolUseId?": "id",
            "parentToolUseId?": "id", "truncated?": "bool",
        }),
        "permission_request" => json!({
            "toolName": "id", "toolInput": "any", "toolUseId": "id", "kind?": "id", "inputHash?": "id",
            "reason?": "id", "parentToolUseId?": "id", "why?": why,
        }),
        "askQuestion" => {
            json!({"toolUseId": "id", "questions": [question], "inputHash?": "id", "parentToolUseId?": "id"})
        }
        "state" => json!({"state": states}),
        "result" => json!({
            "subtype": "id", "duration_ms": "count", "total_cost_usd": "number", "num_turns": "count",
            "usage": usage, "stop_reason?": "id", "generation?": "count",
            "cause?": "id", "apiStatus?": "count",
            "models?": [{"model": "id", "costUsd": "number", "usage": usage}],
        }),
        "error" => json!({
            "error": "id", "errorCode?": "id", "exitCode?": "number", "cause?": "id", "apiStatus?": "count",
        }),
        "limits" => json!({"limits": [{
            "window": "id", "status": "id", "resetsAt?": "ms", "utilization?": "number", "overageStatus?": "id",
            "overageResetsAt?": "ms", "isUsingOverage?": "bool", "toldAt?": "ms",
        }]}),
        "apiRetry" => json!({
            "attempt": "count", "cause": "id", "maxRetries?": "count", "delayMs?": "count", "apiStatus?": "count",
        }),
        _ => return,
    };
    shape["type"] = json!(kind);
    check(event, &shape);
}
