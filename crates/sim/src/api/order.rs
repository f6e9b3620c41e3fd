//! The order of fields in what the API sends: the real one names the kind of a thing before its parts.
//!
//! `serde_json` sorts them, and the CLI hands events on as they are, so that the order shows in its output.

use serde_json::{Map, Value};

/// Fields that come first, in this order; the others follow as they are.
const FIRST: [&str; 17] = [
    "type",
    "index",
    "message",
    "content_block",
    "id",
    "role",
    "model",
    "name",
    "thinking",
    "text",
    "content",
    "delta",
    "stop_reason",
    "stop_sequence",
    "usage",
    "input_tokens",
    "output_tokens",
];

/// The text of a value with its fields in the order of the real API.
pub(super) fn print(value: &Value) -> String {
    match value {
        Value::Object(fields) => object(fields),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(print).collect();
            format!("[{}]", items.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn object(fields: &Map<String, Value>) -> String {
    let mut keys: Vec<&String> = fields.keys().collect();
    let is_message = fields.contains_key("role");
    keys.sort_by_key(|key| {
        let rank = FIRST.iter().position(|first| first == key);
        // A message has its id in front of its type.
        let leads = is_message && key.as_str() == "id";
        (!leads, rank.unwrap_or(FIRST.len()))
    });
    let one = |key: &String| {
        let value = &fields[key];
        // What a tool is given is not the API's to order.
        let text = if key == "input" {
            value.to_string()
        } else {
            print(value)
        };
        format!("{}:{text}", Value::from(key.as_str()))
    };
    let parts: Vec<String> = keys.into_iter().map(one).collect();
    format!("{{{}}}", parts.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn the_kind_comes_first_and_the_id_before_the_kind_of_a_message() {
        let block =
            json!({ "type": "tool_use", "id": "1", "name": "X", "input": { "type": 1, "a": 2 } });
        let text = r#"{"type":"tool_use","id":"1","name":"X","input":{"a":2,"type":1}}"#;
        assert_eq!(super::print(&block), text);
        let message = json!({ "type": "message", "role": "assistant", "id": "m", "content": [] });
        let text = r#"{"id":"m","type":"message","role":"assistant","content":[]}"#;
        assert_eq!(super::print(&message), text);
    }
}
