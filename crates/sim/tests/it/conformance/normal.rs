//! What may differ is made equal: ids get the name of the place where they first appeared, times and costs become marks,
//! the folders of a run become words, and the pieces of a text that was streamed become one.
//!
//! An id that is used where another was before keeps its own name, so that which id is repeated where is compared too.

use std::collections::BTreeMap;

use super::host::Seen;
use super::tree::Tree;

/// Fields whose whole text is an id, also when it does not look like one.
const ID_FIELDS: [&str; 10] = [
    "harnessSectionHash",
    "task_id",
    "agent_id",
    "agentId",
    "run_id",
    "request_id",
    "backgroundTaskId",
    "prompt_id",
    "message_id",
    "turn_id",
];
/// How ids begin that the API made.
const ID_STARTS: [&str; 2] = ["toolu_", "msg_"];
/// Numbers that depend on time, money or the machine.
const MEASURED: [&str; 8] = [
    // How much of an answer a sub-agent's figures hold depends on when they are taken.
    "total_tokens",
    "total_cost_usd",
    "costUSD",
    "pid",
    "start_time",
    "end_time",
    "startTime",
    "endTime",
];

/// A line of a run, normalised.
#[derive(Debug)]
pub(super) struct Told {
    /// The part of the scenario in which it came.
    pub(super) part: &'static str,
    /// What kind of line it is.
    pub(super) word: String,
    pub(super) line: Tree,
}

/// Normalises a whole run.
pub(super) fn normalise(seen: Vec<Seen>) -> Vec<Told> {
    let mut names = Names::default();
    let mut counts: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
    let mut told = Vec::new();
    for mut one in merge(seen) {
        let word = word(&one.line);
        let count = counts.entry((one.part, word.clone())).or_default();
        *count += 1;
        let place = format!("{}/{word}{count}", one.part);
        names.learn(&place, "", "", &one.line);
        names.apply("", &mut one.line, &one.folders);
        told.push(Told {
            part: one.part,
            word,
            line: one.line,
        });
    }
    told
}

/// The kind of a line.
pub(super) fn word(line: &Tree) -> String {
    match line.get("type").text() {
        "stream_event" => line.get("event").get("type").text().to_owned(),
        "system" => line.get("subtype").text().to_owned(),
        "result" => format!("result/{}", line.get("subtype").text()),
        "control_request" => format!("asks {}", line.get("request").get("subtype").text()),
        "control_response" => format!("answers {}", line.get("response").get("subtype").text()),
        "command_lifecycle" => format!("lifecycle {}", line.get("state").text()),
        "user" if *line.get("isReplay") == Tree::Bool(true) => "echo".to_owned(),
        other => other.to_owned(),
    }
}

/// Joins deltas that follow each other: into how many pieces a text is cut is the network's doing.
fn merge(seen: Vec<Seen>) -> Vec<Seen> {
    let mut merged: Vec<Seen> = Vec::new();
    for one in seen {
        if let Some(last) = merged.last_mut()
            && last.part == one.part
            && last.line.keys() == one.line.keys()
            && join(&mut last.line, &one.line)
        {
            continue;
        }
        merged.push(one);
    }
    merged
}

fn join(first: &mut Tree, next: &Tree) -> bool {
    let delta = next.get("event").get("delta");
    let kind = delta.get("type");
    let Some(event) = first.get_mut("event") else {
        return false;
    };
    let same = event.get("index") == next.get("event").get("index");
    if *kind == Tree::Null || !same || event.get("delta").get("type") != kind {
        return false;
    }
    for key in ["text", "thinking", "partial_json"] {
        let more = delta.get(key).text();
        let known = event.get_mut("delta").and_then(|delta| delta.get_mut(key));
        if let Some(Tree::Text(text)) = known {
            text.push_str(more);
            return true;
        }
    }
    false
}

/// The ids that were seen, and what they are called.
#[derive(Default)]
struct Names {
    known: Vec<(String, String)>,
}

impl Names {
    fn learn(&mut self, place: &str, path: &str, key: &str, tree: &Tree) {
        match tree {
            Tree::Text(text) => {
                if ID_FIELDS.contains(&key) && text.len() > 6 {
                    self.add(text, format!("<{place}{path}>"));
                }
                for found in ids_in(text) {
                    self.add(found, format!("<{place}{path}>"));
                }
            }
            Tree::List(items) => {
                for item in items {
                    self.learn(place, &format!("{path}[]"), key, item);
                }
            }
            Tree::Object(fields) => {
                for (key, value) in fields {
                    self.learn(place, &format!("{path}.{key}"), key, value);
                }
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }

    fn add(&mut self, id: &str, name: String) {
        if !self.known.iter().any(|(known, _)| known == id) {
            self.known.push((id.to_owned(), name));
        }
    }

    fn apply(&self, key: &str, tree: &mut Tree, folders: &[(String, String)]) {
        match tree {
            Tree::Text(text) => *text = self.plain(text, folders),
            Tree::Number(text) if key.ends_with("_ms") || key.ends_with("Ms") => {
                "<ms>".clone_into(text);
            }
            Tree::Number(text) if MEASURED.contains(&key) => "<measured>".clone_into(text),
            Tree::List(items) => {
                for item in items {
                    self.apply(key, item, folders);
                }
            }
            Tree::Object(fields) => {
                for (key, value) in fields {
                    *key = self.plain(key, folders);
                    self.apply(key, value, folders);
                }
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }

    fn plain(&self, text: &str, folders: &[(String, String)]) -> String {
        let mut text = text.to_owned();
        for (id, name) in &self.known {
            if text.contains(id) {
                text = text.replace(id, name);
            }
        }
        for (folder, name) in folders {
            text = text.replace(folder, name);
        }
        if is_stamps(&text) {
            return "<stamps>".to_owned();
        }
        for (before, after) in [
            ("duration_ms: ", "</usage>"),
            ("Total duration (API):  ", "\n"),
            ("Total duration (wall): ", "\n"),
            // The name of a plan is made up.
            ("/.claude/plans/", ".md"),
        ] {
            text = hide_between(&text, before, after);
        }
        hide_times(&text)
    }
}

/// The ids that can be told by their form.
fn ids_in(text: &str) -> Vec<&str> {
    let is_part = |at: char| at.is_ascii_alphanumeric() || at == '_';
    let tokens = text.split(|at: char| !is_part(at));
    let made = tokens.filter(|token| ID_STARTS.iter().any(|start| token.starts_with(start)));
    let dashes = text.match_indices('-').map(|(at, _)| at);
    let uuids = dashes.filter_map(|dash| {
        let start = dash.checked_sub(8)?;
        text.get(start..start + 36).filter(|token| is_uuid(token))
    });
    made.chain(uuids).collect()
}

fn is_uuid(token: &str) -> bool {
    token.char_indices().all(|(at, letter)| {
        if matches!(at, 8 | 13 | 18 | 23) {
            letter == '-'
        } else {
            letter.is_ascii_hexdigit()
        }
    })
}

/// Stamped deltas: a number and a time each.
fn is_stamps(text: &str) -> bool {
    let is_stamp = |token: &str| {
        token.split_once(':').is_some_and(|(at, time)| {
            at.parse::<u32>().is_ok() && time.len() > 12 && time.parse::<u64>().is_ok()
        })
    };
    !text.trim().is_empty() && text.split_whitespace().all(is_stamp)
}

/// Replaces what stands between two texts.
fn hide_between(text: &str, before: &str, after: &str) -> String {
    let found = text.split_once(before).and_then(|(start, rest)| {
        let (_, end) = rest.split_once(after)?;
        Some(format!("{start}{before}<hidden>{after}{end}"))
    });
    found.unwrap_or_else(|| text.to_owned())
}

/// Replaces every moment of the form `2026-01-02T03:04:05.678Z`.
fn hide_times(text: &str) -> String {
    const FORM: &[u8] = b"dddd-dd-ddTdd:dd:dd.dddZ";
    let fits = |bytes: &[u8]| {
        bytes.len() == FORM.len()
            && bytes.iter().zip(FORM).all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                form => byte == form,
            })
    };
    let bytes = text.as_bytes();
    let found = (0..bytes.len()).find(|at| bytes.get(*at..*at + FORM.len()).is_some_and(fits));
    found.map_or(text.to_owned(), |at| {
        let rest = hide_times(&text[at + FORM.len()..]);
        format!("{}<time>{rest}", &text[..at])
    })
}
