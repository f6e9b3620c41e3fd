//! JSON-RPC 2.0 as MCP uses it: telling requests, notifications and responses apart, and building answers.
//!
//! Works on values, since messages arrive inside a control request that is already parsed. Knows no MCP method.

use serde_json::{Value, json};

/// The message is not a JSON-RPC message.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// The method is not known.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters are missing something or ask for something that is not there.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The server failed to answer.
pub(super) const INTERNAL_ERROR: i32 = -32603;
/// The request was withdrawn before it was answered.
pub(super) const REQUEST_CANCELLED: i32 = -32800;

/// One message, by what it asks of its receiver.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// Must be answered under its id.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    /// Must not be answered.
    Notification { method: String, params: Value },
    /// Answers a request of ours.
    Response,
    /// None of these.
    Invalid,
}

impl Message {
    pub(super) fn read(message: Value) -> Self {
        let Value::Object(mut map) = message else {
            return Self::Invalid;
        };
        let params = map.remove("params").unwrap_or(Value::Null);
        match (map.remove("method"), map.remove("id")) {
            (Some(Value::String(method)), None) => Self::Notification { method, params },
            (Some(Value::String(method)), Some(id @ (Value::String(_) | Value::Number(_)))) => {
                Self::Request { id, method, params }
            }
            (None, _) if map.contains_key("result") || map.contains_key("error") => Self::Response,
            _ => Self::Invalid,
        }
    }
}

/// Whether the sender waits for an answer to `message`.
pub(super) fn wants_answer(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some_and(|id| !id.is_null())
}

pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(super) fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

pub(super) fn notification(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": method})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let request = |id: Value| Message::Request {
            id,
            method: "m".into(),
            params: Value::Null,
        };
        for (message, expected) in [
            (json!({"method": "m", "id": 0}), request(json!(0))),
            (json!({"method": "m", "id": "a"}), request(json!("a"))),
            (
                json!({"method": "m", "params": {"a": 1}}),
                Message::Notification {
                    method: "m".into(),
                    params: json!({"a": 1}),
                },
            ),
            (json!({"id": 1, "result": {}}), Message::Response),
            (json!({"id": 1, "error": {}}), Message::Response),
            (json!({"method": "m", "id": null}), Message::Invalid),
            (json!({"method": 3, "id": 1}), Message::Invalid),
            (json!({"id": 1}), Message::Invalid),
            (json!([1]), Message::Invalid),
        ] {
            assert_eq!(Message::read(message.clone()), expected, "{message}");
        }
    }
}
