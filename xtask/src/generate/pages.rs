//! The pages of the protocol: per boundary the exchange first, then messages and fields, then failures.
//!
//! Texts are the documentation comments of `crates/proto`; field types come from the schemas, examples from the fixtures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use estelle_proto::catalog::{self, Page, Row, Table};
use serde_json::{Map, Value};

use super::Made;
use super::schema::{kebab, sorted};

pub(super) const NOTICE: &str =
    "<!-- Made by `cargo xtask gen` from crates/proto. Do not edit. -->\n";

/// Everything the pages draw on.
struct Material<'a> {
    examples: &'a Path,
    tables: Vec<Table>,
    /// The schemas of all structs and enums by name, and the module of each.
    types: BTreeMap<String, Value>,
    modules: BTreeMap<&'static str, &'static str>,
}

pub(super) fn files(examples: &Path) -> anyhow::Result<Vec<Made>> {
    let tables = catalog::tables();
    let mut types = BTreeMap::new();
    for table in &tables {
        let definitions = table.schema.get("$defs").and_then(Value::as_object);
        types.extend(
            definitions
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), sorted(schema.clone()))),
        );
    }
    let declared = catalog::declarations().into_iter();
    let modules = declared
        .map(|declared| (declared.path.name, declared.path.module))
        .collect();
    let material = Material {
        examples,
        tables,
        types,
        modules,
    };
    let mut files = vec![index(&material)];
    for page in catalog::PAGES {
        files.push(Made {
            path: format!("docs/protocol/{}.md", page.module),
            text: material.page(page)?,
        });
    }
    Ok(files)
}

/// The module documentation of a source file: what comes before its failures, and the failures.
fn module_doc(source: &str) -> (String, Option<String>) {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<_> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let text = without_links(&lines.join("\n"));
    match text.split_once("# Failures\n") {
        Some((exchange, failures)) => {
            (exchange.trim().to_owned(), Some(failures.trim().to_owned()))
        }
        None => (text.trim().to_owned(), None),
    }
}

/// Links between items of the code lead nowhere on a page.
fn without_links(text: &str) -> String {
    text.replace("[`crate::", "[`")
        .replace("[`", "`")
        .replace("`]", "`")
}

fn index(material: &Material<'_>) -> Made {
    let mut text = format!(
        "{NOTICE}\n# The protocol\n\nOne page per boundary; each begins with who speaks first.\n\n"
    );
    for page in catalog::PAGES {
        let (exchange, _) = module_doc(page.source);
        let first = exchange.lines().next().unwrap_or_default();
        let _ = writeln!(text, "- [{0}]({0}.md): {first}", page.module);
    }
    text.push_str("\n[rights](rights.md) lists which right a device needs for which request.\n");
    text.push_str("\nJSON Schema, one file per direction:\n\n");
    for table in &material.tables {
        let file = kebab(table.path.name);
        let _ = writeln!(text, "- [{file}](schema/{file}.json): {}", table.direction);
    }
    text.push_str("\nA schema lists the kinds and words of this version. Receivers keep what they do not know and go on.\n");
    Made {
        path: "docs/protocol/README.md".to_owned(),
        text,
    }
}

impl Material<'_> {
    fn page(&self, page: Page) -> anyhow::Result<String> {
        let (exchange, failures) = module_doc(page.source);
        let mut text = format!("{NOTICE}\n# {}\n\n{exchange}\n", page.module);
        let mut shown = BTreeSet::new();
        let mut messages = String::new();
        for table in &self.tables {
            for row in table
                .rows
                .iter()
                .filter(|row| row.body.module == page.module)
            {
                shown.insert(row.body.name);
                messages.push_str(&self.message(table, row)?);
            }
        }
        if !messages.is_empty() {
            let _ = write!(text, "\n## Messages\n{messages}");
        }
        let unions: BTreeSet<_> = self.tables.iter().map(|table| table.path.name).collect();
        let mut others = String::new();
        for (name, schema) in &self.types {
            let is_here = self.modules.get(name.as_str()) == Some(&page.module);
            if is_here && !shown.contains(name.as_str()) && !unions.contains(name.as_str()) {
                let _ = write!(others, "\n### {name}\n\n{}", described(schema));
            }
        }
        if !others.is_empty() {
            let _ = write!(text, "\n## Types\n{others}");
        }
        if let Some(failures) = failures {
            let _ = write!(text, "\n## Failures\n\n{failures}\n");
        }
        Ok(text)
    }

    fn message(&self, table: &Table, row: &Row) -> anyhow::Result<String> {
        let schema = self
            .types
            .get(row.body.name)
            .with_context(|| format!("there is no schema of {}", row.body.name))?;
        let file = format!("{}{}.json", table.prefix, row.kind);
        let example = fs::read_to_string(self.examples.join(&file))
            .with_context(|| format!("the example {file} is missing"))?;
        Ok(format!(
            "\n### `{}` ({})\n\n{}\n```json\n{}\n```\n",
            row.kind,
            table.direction,
            described(schema),
            example.trim_end()
        ))
    }
}

/// A type in words: its documentation, then its fields or words.
fn described(schema: &Value) -> String {
    let mut text = String::new();
    if let Some(about) = doc(schema) {
        let _ = writeln!(text, "{about}");
    }
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        text.push_str(&field_table(schema, fields));
    } else if let Some(words) = schema.get("oneOf").and_then(Value::as_array) {
        text.push_str("\n| word | meaning |\n|---|---|\n");
        for word in words {
            let name = word.get("const").and_then(Value::as_str).unwrap_or("?");
            let _ = writeln!(text, "| `{name}` | {} |", doc(word).unwrap_or_default());
        }
    } else {
        let _ = writeln!(text, "\nOn the wire: {}.", type_text(schema));
    }
    text
}

fn field_table(schema: &Value, fields: &Map<String, Value>) -> String {
    let required: BTreeSet<_> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut text = "\n| field | type | meaning |\n|---|---|---|\n".to_owned();
    for (name, field) in fields {
        let is_nullable = field.get("x-nullable").is_some();
        let mark = if required.contains(name.as_str()) || is_nullable {
            ""
        } else {
            "?"
        };
        let null = if is_nullable { " \\| null" } else { "" };
        let about = doc(field).unwrap_or_default();
        let _ = writeln!(
            text,
            "| `{name}`{mark} | {}{null} | {about} |",
            type_text(field)
        );
    }
    text
}

fn doc(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?;
    Some(without_links(&text.replace('\n', " ")))
}

/// A type in a few characters. `null` is left out: an absent field and `null` mean the same.
fn type_text(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or(name).to_owned();
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let names = choices.iter().map(type_text).filter(|name| name != "null");
        return names.collect::<Vec<_>>().join(" \\| ");
    }
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.as_str(),
        Some(Value::Array(names)) => names.first().and_then(Value::as_str).unwrap_or("any"),
        _ => "any",
    };
    match (
        name,
        schema.get("items"),
        schema.get("additionalProperties"),
    ) {
        ("array", Some(items), _) => format!("{}[]", type_text(items)),
        ("object", _, Some(values)) => format!("object of {}", type_text(values)),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exchange_comes_before_the_failures() {
        let source = "//! A ↔ B.\n//!\n//! ```text\n//!   a\n//! ```\n//!\n//! # Failures\n//!\n//! None.\n\nuse x;\n";
        let (exchange, failures) = module_doc(source);
        assert_eq!(exchange, "A ↔ B.\n\n```text\n  a\n```");
        assert_eq!(failures.as_deref(), Some("None."));
    }

    #[test]
    fn types_are_said_shortly() {
        let list =
            serde_json::json!({"type": ["array", "null"], "items": {"$ref": "#/$defs/Question"}});
        assert_eq!(type_text(&list), "Question[]");
        let maybe = serde_json::json!({"anyOf": [{"$ref": "#/$defs/Seq"}, {"type": "null"}]});
        assert_eq!(type_text(&maybe), "Seq");
        assert_eq!(type_text(&Value::Bool(true)), "any");
    }

    #[test]
    fn every_message_has_a_page() {
        let pages: BTreeSet<_> = catalog::PAGES.iter().map(|page| page.module).collect();
        let tables = catalog::tables();
        let rows = tables.iter().flat_map(|table| &table.rows);
        let without: BTreeSet<_> = rows
            .map(|row| row.body.module)
            .filter(|module| !pages.contains(module))
            .collect();
        assert_eq!(
            without,
            BTreeSet::new(),
            "modules to add to `catalog::PAGES`"
        );
    }
}
