//! Cuts what an entry shows of a call, so that a page stays small. The whole is kept beside it.
//!
//! Inputs keep their shape: the strings in them are cut and long lists end early, so that an app can still show a path
//! or a command. The cuts are not marked one by one; the entry says that there are some.

use estelle_proto::Json;
use estelle_proto::limits::cut;
use serde_json::Value;

/// An input up to this many bytes is shown as it is.
const WHOLE_BYTES: usize = 2048;
/// What is left of a string, in Unicode scalar values.
const STRING_CHARS: usize = 300;
/// What is left of everything together, in Unicode scalar values; lists and objects end early when it is used up.
const ALL_CHARS: usize = 2048;
/// What a member costs beside its strings: a list of numbers ends, too.
const MEMBER_CHARS: usize = 8;
/// Lists within lists.
const DEPTH: usize = 5;

/// A shorter form of an input, or nothing if it is short enough.
pub(super) fn input(whole: &Json) -> Option<Json> {
    if whole.get().len() <= WHOLE_BYTES {
        return None;
    }
    let short = match whole.decode::<Value>() {
        Ok(value) => {
            let mut left = ALL_CHARS;
            shorter(value, DEPTH, &mut left)
        }
        // Nested deeper than anybody reads.
        Err(_) => Value::String(cut(whole.get(), STRING_CHARS).to_owned()),
    };
    // Writing out a plain value cannot fail; an empty object would still be true.
    Json::of(&short).or_else(|_| Json::parse("{}")).ok()
}

fn shorter(value: Value, depth: usize, left: &mut usize) -> Value {
    *left = left.saturating_sub(MEMBER_CHARS);
    match value {
        Value::String(text) => Value::String(shorter_text(&text, left)),
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::Null,
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *left == 0 {
                    break;
                }
                kept.push(shorter(item, depth - 1, left));
            }
            Value::Array(kept)
        }
        Value::Object(members) => {
            let mut kept = serde_json::Map::new();
            for (name, member) in members {
                if *left == 0 {
                    break;
                }
                let name = shorter_text(&name, left);
                kept.insert(name, shorter(member, depth - 1, left));
            }
            Value::Object(kept)
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

fn shorter_text(text: &str, left: &mut usize) -> String {
    let short = cut(text, STRING_CHARS.min(*left));
    *left = left.saturating_sub(short.chars().count());
    short.to_owned()
}

/// All strings in a JSON text, one per line.
pub(super) fn strings(json: &Json) -> String {
    fn collect(value: &Value, found: &mut String) {
        match value {
            Value::String(text) => {
                found.push_str(text);
                found.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(members) => members.values().for_each(|member| collect(member, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = String::new();
    if let Ok(value) = json.decode() {
        collect(&value, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_input_is_left_alone() {
        let json = Json::parse(r#"{ "file_path": "/a",  "z": 1, "a": 2 }"#).unwrap();
        assert_eq!(input(&json), None);
    }

    #[test]
    fn a_long_input_keeps_its_shape() {
        let text = format!(
            r#"{{"file_path":"/src/한글.rs","content":"{}","flags":[true,null,1.5]}}"#,
            "글".repeat(5000)
        );
        let short = input(&Json::parse(&text).unwrap()).unwrap();
        let value: Value = short.decode().unwrap();
        assert_eq!(value["file_path"], "/src/한글.rs");
        assert_eq!(value["content"], "글".repeat(300));
        assert_eq!(value["flags"], serde_json::json!([true, null, 1.5]));
    }

    #[test]
    fn nothing_makes_a_short_form_long() {
        let wide = Json::of(&vec![vec!["x".repeat(1000); 100]; 100]).unwrap();
        let deep = Json::parse(&format!("{}{}", "[".repeat(5000), "]".repeat(5000)));
        let inputs = [Some(wide), deep.ok()];
        for whole in inputs.into_iter().flatten() {
            let short = input(&whole).unwrap();
            assert!(short.get().len() < 10_000, "{}", short.get().len());
        }
    }
}
