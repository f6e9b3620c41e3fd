//! The order of fields that the CLI gives to what it was handed: inputs of tools and content of servers are read with a schema
//! and come out in its order, whatever order they came in.

use super::json::Json;

const OPTION: [&str; 3] = ["label", "description", "preview"];
const QUESTION: [&str; 4] = ["question", "header", "options", "multiSelect"];

/// The fields of a tool's input in the order of its schema.
fn fields_of(tool: &str) -> &'static [&'static str] {
    match tool {
        "Write" => &["file_path", "content"],
        "Edit" => &["replace_all", "file_path", "old_string", "new_string"],
        "Read" => &["file_path", "offset", "limit", "pages"],
        "Bash" => &["command", "timeout", "description", "run_in_background"],
        _ => &[],
    }
}

/// An input as the call shows it.
pub(crate) fn ordered(tool: &str, input: Json) -> Json {
    arranged(input, fields_of(tool))
}

/// The input of `AskUserQuestion` as it is asked; its call still shows it as it came.
pub(crate) fn ordered_questions(input: Json) -> Json {
    each(input, "questions", |question| {
        let question = arranged(question, &QUESTION);
        each(question, "options", |option| arranged(option, &OPTION))
    })
}

/// The content of a server's result.
pub(crate) fn ordered_blocks(content: &Json) -> Json {
    let blocks = content.items().iter().cloned();
    Json::List(
        blocks
            .map(|block| arranged(block, &["type", "text"]))
            .collect(),
    )
}

fn each(mut value: Json, key: &str, change: impl Fn(Json) -> Json) -> Json {
    let changed = value.get(key).map(|list| {
        let items = list.items().iter().cloned();
        Json::List(items.map(change).collect())
    });
    if let Some(changed) = changed {
        value.set(key, changed);
    }
    value
}

fn arranged(value: Json, first: &[&str]) -> Json {
    if !value.is_object() {
        return value;
    }
    let mut fields = value.into_fields();
    let rank = |key: &str| first.iter().position(|name| *name == key);
    fields.sort_by_key(|(key, _)| rank(key).unwrap_or(first.len()));
    Json::Object(fields)
}
