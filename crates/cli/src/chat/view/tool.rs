//! How tool calls and their results look.
//!
//! A call is shown as what exactly runs: the command, the path, the change to a file; whatever else the input holds
//! is listed by name, so that nothing of it stays hidden. The same pieces serve the record of the conversation,
//! where long inputs are cut short, and the question for permission, where they are not.

use estelle_claude::wire::Json;
use estelle_claude::wire::question::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use serde_json::{Map, Value};

use super::diff;
use crate::chat::clean;
use crate::chat::piece::{Piece, Tone};

/// Lines of a call that are shown in the record of the conversation.
pub(crate) const CALL_LINES: usize = 12;
/// Lines of a result that are shown.
const RESULT_LINES: usize = 6;
/// Characters of a line of a result that are shown.
const RESULT_COLUMNS: usize = 160;

/// How the CLI tells the model, at length, that the user stopped a call.
const NOT_WANTED: &str = "The user doesn't want to proceed with this tool use";

/// What a call does: a headline, and the lines under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// What it is about, in one line; may be empty.
    pub(crate) headline: String,
    /// Everything else of the input.
    pub(crate) body: Vec<Piece>,
}

/// Describes the call of a tool.
pub(crate) fn call(name: &str, input: &Json) -> Call {
    let Ok(Value::Object(mut input)) = input.value() else {
        return Call {
            headline: input.as_str().to_owned(),
            body: Vec::new(),
        };
    };
    let (headline, mut body) = match name {
        "Bash" => command(&mut input),
        "Edit" | "MultiEdit" => edit(&mut input),
        "Write" => write(&mut input),
        "Agent" | "Task" => agent(&mut input),
        EXIT_PLAN_MODE => plan(&mut input),
        _ => (headline(&mut input), Vec::new()),
    };
    body.extend(rest(&input));
    Call { headline, body }
}

/// At most `most` pieces, and how many are missing.
pub(crate) fn cut(mut pieces: Vec<Piece>, most: usize) -> (Vec<Piece>, usize) {
    // One line saying that one line is missing would save nothing.
    let missing = pieces.len().saturating_sub(most);
    if missing < 2 {
        return (pieces, 0);
    }
    pieces.truncate(most);
    (pieces, missing)
}

fn command(input: &mut Map<String, Value>) -> (String, Vec<Piece>) {
    let command = take(input, "command");
    let mut lines = command.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    (
        first,
        lines.map(|line| Piece::line(Tone::Strong, line)).collect(),
    )
}

fn edit(input: &mut Map<String, Value>) -> (String, Vec<Piece>) {
    let path = take(input, "file_path");
    let mut body = Vec::new();
    if input.contains_key("old_string") {
        body = diff::change(&take(input, "old_string"), &take(input, "new_string"));
    }
    if let Some(Value::Array(edits)) = input.remove("edits") {
        for edit in edits {
            let text = |name: &str| edit.get(name).and_then(Value::as_str).unwrap_or_default();
            body.extend(diff::change(text("old_string"), text("new_string")));
        }
    }
    (path, body)
}

fn write(input: &mut Map<String, Value>) -> (String, Vec<Piece>) {
    let path = take(input, "file_path");
    (path, diff::change("", &take(input, "content")))
}

fn agent(input: &mut Map<String, Value>) -> (String, Vec<Piece>) {
    let description = take(input, "description");
    let kind = take(input, "subagent_type");
    let headline = if kind.is_empty() {
        description
    } else {
        format!("{description} ({kind})")
    };
    let prompt = take(input, "prompt");
    (
        headline,
        prompt
            .lines()
            .map(|line| Piece::line(Tone::Dim, line))
            .collect(),
    )
}

fn plan(input: &mut Map<String, Value>) -> (String, Vec<Piece>) {
    let plan = take(input, "plan");
    let lines = plan
        .trim()
        .lines()
        .map(|line| Piece::line(Tone::Plain, line));
    (String::new(), lines.collect())
}

/// The one field that says most about the call of any other tool.
fn headline(input: &mut Map<String, Value>) -> String {
    let telling = [
        "file_path",
        "notebook_path",
        "path",
        "pattern",
        "url",
        "query",
        "skill",
        "task_id",
    ];
    let found = telling
        .iter()
        .find(|name| input.get(**name).is_some_and(Value::is_string));
    found.map(|name| take(input, name)).unwrap_or_default()
}

/// Takes a string out of the input; anything that is no string stays, to be listed.
fn take(input: &mut Map<String, Value>, name: &str) -> String {
    match input.remove(name) {
        Some(Value::String(text)) => text,
        Some(other) => {
            input.insert(name.to_owned(), other);
            String::new()
        }
        None => String::new(),
    }
}

/// The fields nobody has shown yet.
fn rest(input: &Map<String, Value>) -> Vec<Piece> {
    let mut lines = Vec::new();
    for (name, value) in input {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), ToOwned::to_owned);
        let mut parts = text.lines();
        let first = parts.next().unwrap_or_default();
        lines.push(Piece::spans([
            (Tone::Dim, &format!("{name}: ")),
            (Tone::Plain, first),
        ]));
        lines.extend(parts.map(|part| Piece::line(Tone::Plain, format!("  {part}"))));
    }
    lines
}

/// What a tool gave, in short.
pub(crate) fn result(name: &str, text: &str, failed: bool) -> Vec<Piece> {
    let tone = if failed { Tone::Bad } else { Tone::Dim };
    let text = text.trim_end();
    if failed && text.starts_with(NOT_WANTED) {
        return vec![Piece::line(tone, "not run")];
    }
    if failed {
        return shortened(text.trim(), tone, RESULT_LINES);
    }
    match name {
        "Read" => vec![Piece::line(tone, count(text.lines().count(), "line"))],
        // The words are for the model; the change itself stands above.
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => vec![Piece::line(tone, "done")],
        // The answers were just given, the plan was just approved.
        ASK_USER_QUESTION | EXIT_PLAN_MODE => Vec::new(),
        // Written for the model; that the command runs on was just said.
        "Bash" if text.starts_with("Command running in background") => Vec::new(),
        _ if text.trim().is_empty() => vec![Piece::line(tone, "(no output)")],
        _ => shortened(text, tone, RESULT_LINES),
    }
}

fn shortened(text: &str, tone: Tone, most: usize) -> Vec<Piece> {
    let lines: Vec<&str> = text.lines().collect();
    let shown = if lines.len() <= most + 1 {
        lines.len()
    } else {
        most
    };
    let mut pieces: Vec<Piece> = lines[..shown]
        .iter()
        .map(|line| Piece::line(tone, clean::clip(line, RESULT_COLUMNS)))
        .collect();
    if shown < lines.len() {
        pieces.push(Piece::line(Tone::Dim, more(lines.len() - shown)));
    }
    pieces
}

/// How many lines are missing; never just one.
pub(crate) fn more(missing: usize) -> String {
    format!("… {missing} more lines")
}

/// A number and its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::piece::plain;

    fn shown(name: &str, input: &Value) -> String {
        let call = call(name, &Json::from(input.clone()));
        format!("{}\n{}", call.headline, plain(&call.body))
    }

    #[test]
    fn a_command_is_shown_whole_with_everything_that_changes_how_it_runs() {
        let input = serde_json::json!({"command": "make\nmake install", "run_in_background": true, "timeout": 5});
        assert_eq!(
            shown("Bash", &input),
            "make\nmake install\nrun_in_background: true\ntimeout: 5\n"
        );
    }

    #[test]
    fn an_edit_is_shown_as_a_change() {
        let input = serde_json::json!({"file_path": "/a.rs", "old_string": "x\ny", "new_string": "x\nz", "replace_all": true});
        assert_eq!(
            shown("Edit", &input),
            "/a.rs\n  x\n- y\n+ z\nreplace_all: true\n"
        );
        let input = serde_json::json!({"file_path": "/b", "content": "one\ntwo"});
        assert_eq!(shown("Write", &input), "/b\n+ one\n+ two\n");
    }

    #[test]
    fn an_unknown_tool_hides_nothing() {
        let input = serde_json::json!({"url": "http://a", "depth": {"n": 1}, "note": "two\nlines"});
        assert_eq!(
            shown("mcp__x__y", &input),
            "http://a\ndepth: {\"n\":1}\nnote: two\n  lines\n"
        );
        assert_eq!(
            shown("Bash", &serde_json::json!({"command": 7})),
            "\ncommand: 7\n"
        );
    }

    #[test]
    fn results_are_short_and_say_what_is_missing() {
        let long = (0..20)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(
            plain(&result("Bash", &long, false)),
            "0\n1\n2\n3\n4\n5\n… 14 more lines\n"
        );
        assert_eq!(
            plain(&result("Bash", "0\n1\n2\n3\n4\n5\n6", false)),
            "0\n1\n2\n3\n4\n5\n6\n"
        );
        assert_eq!(plain(&result("Read", "1\ta\n2\tb", false)), "2 lines\n");
        assert_eq!(
            plain(&result("Edit", "The file was updated", false)),
            "done\n"
        );
        assert_eq!(plain(&result("Bash", "", false)), "(no output)\n");
        assert_eq!(
            plain(&result("Read", "no such file", true)),
            "no such file\n"
        );
    }
}
