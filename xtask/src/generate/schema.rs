//! JSON Schema of every table of messages, one file each, for validators and other languages.

use std::collections::BTreeMap;

use anyhow::Context as _;
use estelle_proto::catalog::{self, Table};
use serde_json::Value;

use super::Made;

pub(super) fn files() -> anyhow::Result<Vec<Made>> {
    catalog::tables().iter().map(file).collect()
}

fn file(table: &Table) -> anyhow::Result<Made> {
    let schema = sorted(table.schema.as_value().clone());
    let mut text = serde_json::to_string_pretty(&schema).context("write a schema")?;
    text.push('\n');
    let path = format!("docs/protocol/schema/{}.json", kebab(table.path.name));
    Ok(Made { path, text })
}

/// With the keys of every object in order, whatever a feature of the JSON library makes of it in a larger build.
pub(super) fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let members = map.into_iter().map(|(key, value)| (key, sorted(value)));
            let ordered: BTreeMap<_, _> = members.collect();
            Value::Object(ordered.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// `PylonToApp` as `pylon-to-app`.
pub(super) fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            kebab.push('-');
        }
        kebab.extend(letter.to_lowercase());
    }
    kebab
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_types_become_names_of_files() {
        assert_eq!(super::kebab("PylonToApp"), "pylon-to-app");
    }
}
