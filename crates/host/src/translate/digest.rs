//! Digests of JSON that do not depend on how it is written: two texts of the same value have the same digest.

use estelle_claude::wire::Json;
use serde_json::Value;

/// The digest of a value.
pub(super) fn digest(json: &Json) -> String {
    // Text that cannot be read as a value has the digest of its bytes.
    match json.value() {
        Ok(value) => short(&canonical(&value)),
        Err(_) => short(json.as_str()),
    }
}

/// What binds an answer to the input that was shown.
pub(super) fn hash_of(input: &Json) -> String {
    digest(input)
}

/// The digest of an answer of ours, as the CLI will repeat it.
pub fn digest_of_answer(line: &str) -> String {
    let line: Value = serde_json::from_str(line).unwrap_or_default();
    match line.pointer("/response/response") {
        Some(response) => short(&canonical(response)),
        None => String::new(),
    }
}

fn short(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    hash[..32].to_owned()
}

/// The value with the keys of its objects in order.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let members: Vec<_> = members
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_and_the_spacing_do_not_matter() {
        let one = Json::parse(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#).expect("JSON");
        let other = Json::parse(r#"{ "b": {"d":null, "c":[1, 2]}, "a":1 }"#).expect("JSON");
        assert_eq!(digest(&one), digest(&other));
    }

    #[test]
    fn another_value_has_another_digest() {
        let one = Json::parse(r#"{"a":[1,2]}"#).expect("JSON");
        let other = Json::parse(r#"{"a":[2,1]}"#).expect("JSON");
        assert_ne!(digest(&one), digest(&other));
    }
}
