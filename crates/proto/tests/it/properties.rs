//! Laws that hold for any input: reading never panics, and what was read once reads the same for ever.

use proptest::prelude::*;
use serde_json::Value;

use crate::golden::{Table, examples, owners, tables};

/// If it can be read, writing and reading it again gives the same text.
fn is_stable(table: &Table, text: &str) {
    let Ok(once) = (table.trip)(text) else {
        return;
    };
    let twice = (table.trip)(&once)
        .unwrap_or_else(|error| panic!("{}: {once} cannot be read again: {error}", table.name));
    assert_eq!(once, twice, "{}: {text}", table.name);
}

/// Every value below a JSON value, as paths.
fn paths(value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    found.push(at.clone());
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(list) => {
            let numbered = list.iter().enumerate();
            numbered
                .map(|(index, value)| (index.to_string(), value))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (key, child) in children {
        at.push(key);
        paths(child, at, found);
        at.pop();
    }
}

fn pointer(path: &[String]) -> String {
    let escaped = path
        .iter()
        .map(|part| part.replace('~', "~0").replace('/', "~1"));
    escaped.flat_map(|part| ["/".to_owned(), part]).collect()
}

fn replaced(value: &Value, path: &[String], with: &Value) -> Value {
    let mut changed = value.clone();
    *changed
        .pointer_mut(&pointer(path))
        .expect("the path is in the value") = with.clone();
    changed
}

#[test]
fn a_wrong_value_in_any_place_is_refused_or_kept_but_never_mangled() {
    // Longer than any id, name or path may be.
    let huge = "x".repeat(5000);
    let wrong = [
        Value::Null,
        Value::Bool(true),
        Value::from(-1),
        Value::from(1.5),
        Value::from(""),
        Value::from("unheard-of"),
        Value::from(huge),
        Value::Array(Vec::new()),
        Value::Object(serde_json::Map::new()),
    ];
    for (name, text) in examples() {
        let example: Value = serde_json::from_str(&text).unwrap();
        let mut found = Vec::new();
        paths(&example, &mut Vec::new(), &mut found);
        for table in owners(&name) {
            for path in found.iter().filter(|path| !path.is_empty()) {
                for with in &wrong {
                    is_stable(&table, &replaced(&example, path, with).to_string());
                }
            }
        }
    }
}

#[test]
fn a_missing_member_is_refused_or_optional() {
    for (name, text) in examples() {
        let example: Value = serde_json::from_str(&text).unwrap();
        let mut found = Vec::new();
        paths(&example, &mut Vec::new(), &mut found);
        for path in found.iter().filter(|path| !path.is_empty()) {
            let (last, parents) = path.split_last().unwrap();
            let mut changed = example.clone();
            let Some(Value::Object(parent)) = changed.pointer_mut(&pointer(parents)) else {
                continue;
            };
            parent.remove(last);
            for table in owners(&name) {
                is_stable(&table, &changed.to_string());
            }
        }
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("(type|to|from|payload|event|answer|.{0,4})", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_makes_reading_panic(text in ".{0,200}") {
        for table in tables() {
            is_stable(&table, &text);
        }
    }

    #[test]
    fn no_json_makes_reading_panic(value in json(), pick in any::<prop::sample::Index>()) {
        for table in tables() {
            let kind = table.kinds[pick.index(table.kinds.len())];
            is_stable(&table, &serde_json::json!({"type": kind, "payload": &value, "to": &value}).to_string());
            let mut flat = value.clone();
            if let Value::Object(map) = &mut flat {
                map.insert("type".to_owned(), Value::from(kind));
            }
            is_stable(&table, &flat.to_string());
        }
    }

    #[test]
    fn no_damage_to_an_example_makes_reading_panic(
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        with in any::<char>(),
        cut in any::<bool>(),
    ) {
        let examples: Vec<_> = examples().into_iter().collect();
        let (name, text) = &examples[pick.index(examples.len())];
        let mut chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        chars[at] = with;
        if cut {
            chars.truncate(at);
        }
        let damaged: String = chars.into_iter().collect();
        for table in owners(name) {
            is_stable(&table, &damaged);
        }
    }
}
