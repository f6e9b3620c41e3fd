//! What tools that write files did, from what they were called with. Pure.
//!
//! A call says what was replaced and by what, never where: hunks have no numbers of lines. It does not look at the disk.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

/// Lines around a change that stayed as they were.
const AROUND: usize = 3;
/// Bytes of the diff of one file.
const MOST_DIFF: usize = 64 * 1024;
/// Files of one turn.
const MOST_FILES: usize = 500;

/// Tools of which it is known that they change no file.
const READERS: [&str; 16] = [
    "Read",
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "TodoRead",
    "Task",
    "Agent",
    "TaskOutput",
    "ToolSearch",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
];

/// A call that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Which tool.
    pub tool: String,
    /// What it was called with, as JSON.
    pub input: String,
}

/// A file that was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edited {
    /// As the calls named it.
    pub path: String,
    /// How many calls.
    pub calls: u64,
    /// Lines that came.
    pub insertions: u64,
    /// Lines that went.
    pub deletions: u64,
    /// One hunk for each change.
    pub diff: String,
    /// Whether it was written whole.
    pub is_written: bool,
    /// Whether the diff is not whole.
    pub is_cut: bool,
}

/// What a turn did to files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    /// The files, in the order in which they were first changed.
    pub files: Vec<Edited>,
    /// Calls that may have changed more.
    pub others: u64,
    /// Whether there are more files.
    pub is_cut: bool,
}

/// A piece of text that took the place of another.
#[derive(Debug, Deserialize)]
struct Replaced {
    #[serde(default)]
    old_string: String,
    #[serde(default)]
    new_string: String,
}

impl Edits {
    /// What these calls did, in their order.
    pub fn of(calls: &[Call]) -> Self {
        let mut edits = Self::default();
        let mut places = HashMap::new();
        for call in calls {
            edits.add(call, &mut places);
        }
        edits
    }

    fn add(&mut self, call: &Call, places: &mut HashMap<String, usize>) {
        if READERS.contains(&call.tool.as_str()) {
            return;
        }
        let input: Value = serde_json::from_str(&call.input).unwrap_or_default();
        let Some((path, hunks)) = hunks(&call.tool, &input) else {
            self.others += 1;
            return;
        };
        let place = match places.get(path) {
            Some(place) => *place,
            None if self.files.len() == MOST_FILES => {
                self.is_cut = true;
                return;
            }
            None => {
                self.files.push(Edited {
                    path: path.to_owned(),
                    ..Edited::default()
                });
                places.insert(path.to_owned(), self.files.len() - 1);
                self.files.len() - 1
            }
        };
        let Some(file) = self.files.get_mut(place) else {
            return;
        };
        file.calls += 1;
        file.is_written |= call.tool == "Write";
        for hunk in hunks {
            file.add(&hunk);
        }
    }
}

/// One change, before it is written down.
#[derive(Debug)]
struct Hunk {
    /// What stands behind the `@@`.
    place: String,
    old: String,
    new: String,
}

/// The file of a call and its changes; nothing if it is not known what the tool does, or its input is not what it takes.
fn hunks<'a>(tool: &str, input: &'a Value) -> Option<(&'a str, Vec<Hunk>)> {
    let text = |name: &str| input[name].as_str();
    let replaced = |value: &Value| {
        let one = Replaced::deserialize(value).ok()?;
        let everywhere = value["replace_all"] == true;
        Some(Hunk {
            place: (if everywhere { " everywhere" } else { "" }).to_owned(),
            old: one.old_string,
            new: one.new_string,
        })
    };
    match tool {
        "Edit" => Some((text("file_path")?, vec![replaced(input)?])),
        "MultiEdit" => {
            let edits = input["edits"].as_array()?.iter();
            Some((text("file_path")?, edits.filter_map(replaced).collect()))
        }
        "Write" => {
            let hunk = Hunk {
                place: " written whole".to_owned(),
                old: String::new(),
                new: text("content")?.to_owned(),
            };
            Some((text("file_path")?, vec![hunk]))
        }
        "NotebookEdit" => {
            let mode = text("edit_mode").unwrap_or("replace");
            let cell = text("cell_id").unwrap_or_default();
            let place = format!(" cell {cell} {mode}").replace(['\n', '\r'], " ");
            let new = match mode {
                "delete" => String::new(),
                _ => text("new_source")?.to_owned(),
            };
            let old = String::new();
            Some((text("notebook_path")?, vec![Hunk { place, old, new }]))
        }
        _ => None,
    }
}

impl Edited {
    /// Writes a change down: what stayed at either end is shown around it.
    fn add(&mut self, hunk: &Hunk) {
        let old: Vec<&str> = hunk.old.lines().collect();
        let new: Vec<&str> = hunk.new.lines().collect();
        let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
        let before = old.iter().zip(&new).take_while(same).count();
        let most = old.len().min(new.len()) - before;
        let after = old.iter().rev().zip(new.iter().rev());
        let after = after.take(most).take_while(same).count();
        let (gone, come) = (
            &old[before..old.len() - after],
            &new[before..new.len() - after],
        );
        self.deletions += gone.len() as u64;
        self.insertions += come.len() as u64;
        self.put(&format!("@@{} @@", hunk.place));
        let around = [
            (" ", &old[before.saturating_sub(AROUND)..before]),
            ("-", gone),
            ("+", come),
            (
                " ",
                &old[old.len() - after..(old.len() - after + AROUND).min(old.len())],
            ),
        ];
        for (mark, lines) in around {
            for line in lines {
                self.put(&format!("{mark}{line}"));
            }
        }
    }

    fn put(&mut self, line: &str) {
        if self.is_cut || self.diff.len() + line.len() >= MOST_DIFF {
            self.is_cut = true;
            return;
        }
        self.diff.push_str(line);
        self.diff.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, input: &Value) -> Call {
        Call {
            tool: tool.to_owned(),
            input: input.to_string(),
        }
    }

    #[test]
    fn an_edit_shows_what_went_and_came_with_what_stayed_around_it() {
        let old = "a\nb\nc\nd\nsame\nold line\ntail";
        let new = "a\nb\nc\nd\nsame\nnew line\nand another\ntail";
        let input = json!({"file_path": "/w/a.rs", "old_string": old, "new_string": new});
        let edits = Edits::of(&[call("Edit", &input)]);
        let file = &edits.files[0];
        let expected = "@@ @@\n c\n d\n same\n-old line\n+new line\n+and another\n tail\n";
        assert_eq!(file.diff, expected);
        assert_eq!((file.insertions, file.deletions, file.calls), (2, 1, 1));
        assert!(!file.is_written && !file.is_cut && edits.others == 0);
    }

    #[test]
    fn changes_of_one_file_are_together_in_their_order() {
        let write = json!({"file_path": "/w/a", "content": "one\ntwo\n"});
        let edits = json!([{"old_string": "one", "new_string": "1"},
                           {"old_string": "two", "new_string": "", "replace_all": true}]);
        let calls = [
            call("Write", &write),
            call(
                "Edit",
                &json!({"file_path": "/w/b", "old_string": "", "new_string": "x"}),
            ),
            call("MultiEdit", &json!({"file_path": "/w/a", "edits": edits})),
            call(
                "NotebookEdit",
                &json!({"notebook_path": "/w/n.ipynb", "cell_id": "c1", "new_source": "1 + 1"}),
            ),
        ];
        let edits = Edits::of(&calls);
        let names: Vec<_> = edits.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["/w/a", "/w/b", "/w/n.ipynb"]);
        let first = &edits.files[0];
        let expected = "@@ written whole @@\n+one\n+two\n@@ @@\n-one\n+1\n@@ everywhere @@\n-two\n";
        assert_eq!((first.diff.as_str(), first.calls), (expected, 2));
        assert!(first.is_written);
        assert_eq!(edits.files[2].diff, "@@ cell c1 replace @@\n+1 + 1\n");
    }

    #[test]
    fn what_is_not_known_is_counted_and_what_only_reads_is_not() {
        let calls = [
            call("Bash", &json!({"command": "sed -i s/a/b/ x"})),
            call("mcp__files__write", &json!({"path": "x"})),
            call("Read", &json!({"file_path": "/w/a"})),
            call("Edit", &json!({"file_path": 7})),
            call("Write", &json!({"file_path": "/w/a"})),
        ];
        let edits = Edits::of(&calls);
        assert_eq!((edits.files.len(), edits.others), (0, 4));
    }

    #[test]
    fn a_long_change_is_cut_at_a_line_and_still_counted() {
        let content = "line\n".repeat(MOST_DIFF);
        let input = json!({"file_path": "/w/a", "content": content});
        let edits = Edits::of(&[call("Write", &input)]);
        let file = &edits.files[0];
        assert!(file.is_cut && file.diff.len() <= MOST_DIFF);
        assert!(file.diff.ends_with("+line\n"));
        assert_eq!(file.insertions, MOST_DIFF as u64);
    }
}
