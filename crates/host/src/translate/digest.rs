//! Digests of JSON that do not depend on how it is written: two texts of the same value have the same digest.

use std::collections::BTreeMap;

use estelle_claude::wire::Json;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The digest of a value.
pub(super) fn digest(json: &Json) -> String {
    digest_of_text(json.as_str())
}

fn digest_of_text(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(value) => short(&canonical(&value)),
        // Half a character, or nested more deeply than a tree is read: still JSON, which others read and write again.
        Err(_) => outlined(text),
    }
}

/// What binds an answer to the input that was shown.
pub(super) fn hash_of(input: &Json) -> String {
    digest(input)
}

/// The digest of an answer of ours, as the CLI will repeat it.
pub fn digest_of_answer(line: &str) -> String {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        response: Outer<'a>,
    }
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        response: &'a RawValue,
    }
    serde_json::from_str(line)
        .map(|line: Line<'_>| digest_of_text(line.response.response.get()))
        .unwrap_or_default()
}

/// The digest of JSON that is read as text alone, piece by piece, because no tree can be made of it. Every list and
/// object counts with its own digest, so that the depth costs nothing.
fn outlined(text: &str) -> String {
    let mut open = vec![Open::default()];
    let mut rest = text;
    while let Some(symbol) = rest.chars().next() {
        let token = match symbol {
            '"' => string_end(rest),
            _ if symbol.is_ascii_whitespace() || "{}[],:".contains(symbol) => symbol.len_utf8(),
            _ => rest
                .find(|symbol: char| symbol.is_ascii_whitespace() || "{}[],:\"".contains(symbol))
                .unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(token);
        rest = behind;
        let mut done = None;
        match token {
            "{" | "[" => open.push(Open::default()),
            "}" | "]" => done = open.pop().map(|closed| closed.digest(token)),
            ":" => {
                if let Some(top) = open.last_mut() {
                    top.key = top.items.pop();
                }
            }
            "," => {}
            _ if symbol.is_ascii_whitespace() => {}
            _ if symbol == '"' => done = Some(spelled(token)),
            _ => done = Some(token.to_owned()),
        }
        if let (Some(done), Some(top)) = (done, open.last_mut()) {
            top.take(done);
        }
    }
    let whole = open.into_iter().next_back().unwrap_or_default();
    short(&whole.items.concat())
}

/// A list or an object that has not ended yet.
#[derive(Default)]
struct Open {
    items: Vec<String>,
    /// The name of the value that comes next.
    key: Option<String>,
    /// Of one name the last value counts, as for everybody who reads it.
    members: BTreeMap<String, String>,
}

impl Open {
    fn take(&mut self, item: String) {
        match self.key.take() {
            Some(key) => drop(self.members.insert(key, item)),
            None => self.items.push(item),
        }
    }

    fn digest(self, end: &str) -> String {
        let members = self.members.into_iter();
        let members: Vec<_> = members
            .map(|(key, value)| format!("{key}:{value}"))
            .collect();
        short(&format!(
            "{}{end}{}",
            members.join(","),
            self.items.join(",")
        ))
    }
}

/// Where a string ends that begins here.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, symbol) in text.char_indices().skip(1) {
        match symbol {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// A string in one spelling, whatever of it was written with escapes. Half a character stays one.
fn spelled(string: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(string) {
        return Value::from(text).to_string();
    }
    let mut units = Vec::new();
    let inside = string.strip_prefix('"').unwrap_or(string);
    let mut symbols = inside.strip_suffix('"').unwrap_or(inside).chars();
    while let Some(symbol) = symbols.next() {
        if symbol != '\\' {
            units.extend(symbol.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        let escape = symbols.next().unwrap_or_default();
        if escape == 'u' {
            let digits: String = symbols.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).unwrap_or_default());
            continue;
        }
        let meant = match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            other => other,
        };
        units.extend(meant.encode_utf16(&mut [0; 2]).iter());
    }
    let units: Vec<_> = units.iter().map(|unit| format!("{unit:x}")).collect();
    format!("\"{}", units.join(" "))
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

    fn of(text: &str) -> String {
        digest(&Json::parse(text).expect("JSON"))
    }

    /// An answer of ours with this input, and what the CLI repeats of it in a spelling of its own.
    fn is_the_same(ours: &str, repeated: &str) -> bool {
        let line = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"1","response":{ours}}}}}"#
        );
        digest_of_answer(&line) == of(repeated)
    }

    #[test]
    fn an_answer_that_no_tree_can_be_made_of_is_known_again() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for (ours, repeated) in [
            (r#"{"a":"\ud83d"}"#, r#"{ "a" : "\uD83D" }"#),
            (
                r#"{"a":"x\ud83d\u0041","b":[1,{"c":null}]}"#,
                r#"{"b":[1, {"c":null}],"a":"x\ud83dA"}"#,
            ),
            (
                r#"{"a":"\ud83d\/\n\"","b":"\u00e9"}"#,
                r#"{"b":"é","a":"\ud83d/\u000a\u0022"}"#,
            ),
            (
                &format!(r#"{{"a":{deep},"b":2}}"#),
                &format!(r#"{{"b":2, "a": {deep}}}"#),
            ),
        ] {
            assert!(is_the_same(ours, repeated), "{ours}");
            assert_eq!(of(ours).len(), 32);
        }
        let other = format!("{}2{}", "[".repeat(200), "]".repeat(200));
        for (ours, repeated) in [
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ud83e"}"#),
            (r#"{"a":"\ud83d"}"#, r#"{"b":"\ud83d"}"#),
            (r#"{"a":"\ud83d"}"#, r#"{"a":"d83d"}"#),
            (r#"{"a":"\ud83d","b":[1,2]}"#, r#"{"a":"\ud83d","b":[2,1]}"#),
            (r#"{"a":"\ud83d","b":{}}"#, r#"{"a":"\ud83d","b":[]}"#),
            (r#"{"a":"\ud83d","b":"1"}"#, r#"{"a":"\ud83d","b":1}"#),
            (r#"["\ud83d","a:1"]"#, r#"["\ud83d",{"a":1}]"#),
            (&deep, &other),
        ] {
            assert!(!is_the_same(ours, repeated), "{ours} {repeated}");
        }
    }

    #[test]
    fn depth_costs_no_stack_and_no_time() {
        let count = 100_000;
        let deep = format!("{}{}", "[".repeat(count), "]".repeat(count));
        assert_eq!(digest_of_text(&deep).len(), 32);
    }

    #[test]
    fn another_value_has_another_digest() {
        let one = Json::parse(r#"{"a":[1,2]}"#).expect("JSON");
        let other = Json::parse(r#"{"a":[2,1]}"#).expect("JSON");
        assert_ne!(digest(&one), digest(&other));
    }
}
