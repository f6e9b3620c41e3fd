//! The comparison of two normalised runs, line by line and value by value.
//!
//! Lines are paired by part, kind and number, so that one line too many does not make all that follow differ. A difference is
//! told by the place where it is, without the values: this is what a row of `CONFORMANCE.md` names.

use std::collections::{BTreeMap, BTreeSet};

use super::normal::Told;
use super::tree::Tree;

/// These end a response and race with what its calls do; their order is compared within the stream.
const RACING: [&str; 3] = ["content_block_stop", "message_delta", "message_stop"];

/// The differences found: part, and what differs.
pub(super) type Found = BTreeSet<(String, String)>;

/// Compares what a real CLI printed with what the simulated one did.
pub(super) fn compare(version: &str, real: &[Told], sim: &[Told]) -> Found {
    let mut found = Found::new();
    let parts: BTreeSet<&str> = real.iter().chain(sim).map(|told| told.part).collect();
    for part in parts {
        let mut differ = Differences {
            at: format!("{version} {part}"),
            part,
            found: &mut found,
        };
        differ.order("order of lines", &all(real, part), &all(sim, part));
        differ.order(
            "order of the stream",
            &stream(real, part),
            &stream(sim, part),
        );
        let (real, sim) = (numbered(real, part), numbered(sim, part));
        for (key, line) in &real {
            if let Some(other) = sim.get(key) {
                differ.values(key.0, "", line, other);
            }
        }
    }
    found
}

fn all<'a>(run: &'a [Told], part: &str) -> Vec<&'a str> {
    let lines = run.iter().filter(|told| told.part == part);
    let words = lines.map(|told| told.word.as_str());
    words.filter(|word| !RACING.contains(word)).collect()
}

fn stream<'a>(run: &'a [Told], part: &str) -> Vec<&'a str> {
    let lines = run.iter().filter(|told| told.part == part);
    let streamed = lines.filter(|told| {
        let kind = told.line.get("type").text();
        matches!(kind, "stream_event" | "assistant" | "result")
    });
    streamed.map(|told| told.word.as_str()).collect()
}

fn numbered<'a>(run: &'a [Told], part: &str) -> BTreeMap<(&'a str, usize), &'a Tree> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let lines = run.iter().filter(|told| told.part == part);
    lines
        .map(|told| {
            let count = counts.entry(&told.word).or_default();
            *count += 1;
            ((told.word.as_str(), *count), &told.line)
        })
        .collect()
}

struct Differences<'a> {
    at: String,
    part: &'a str,
    found: &'a mut Found,
}

impl Differences<'_> {
    fn add(&mut self, what: String, real: &str, sim: &str) {
        let cut = |text: &str| text.chars().take(600).collect::<String>();
        eprintln!(
            "{}: {what}\n  real: {}\n   sim: {}",
            self.at,
            cut(real),
            cut(sim)
        );
        self.found.insert((self.part.to_owned(), what));
    }

    fn order(&mut self, what: &str, real: &[&str], sim: &[&str]) {
        if real != sim {
            self.add(what.to_owned(), &real.join(", "), &sim.join(", "));
        }
    }

    fn values(&mut self, word: &str, path: &str, real: &Tree, sim: &Tree) {
        match (real, sim) {
            (Tree::Object(_), Tree::Object(_)) => self.fields(word, path, real, sim),
            (Tree::List(theirs), Tree::List(ours)) => {
                if theirs.len() == ours.len() {
                    let path = format!("{path}[]");
                    for (theirs, ours) in theirs.iter().zip(ours) {
                        self.values(word, &path, theirs, ours);
                    }
                } else {
                    let what = format!("`{word}` `{path}` has another length");
                    self.add(what, &real.to_string(), &sim.to_string());
                }
            }
            _ if real == sim => {}
            _ => {
                let what = format!("`{word}` `{path}` differs");
                self.add(what, &real.to_string(), &sim.to_string());
            }
        }
    }

    fn fields(&mut self, word: &str, path: &str, real: &Tree, sim: &Tree) {
        let (theirs, ours) = (real.keys(), sim.keys());
        for key in theirs.iter().filter(|key| !ours.contains(key)) {
            let what = format!("`{word}` lacks `{path}.{key}`");
            self.add(what, &real.get(key).to_string(), "");
        }
        for key in ours.iter().filter(|key| !theirs.contains(key)) {
            let what = format!("`{word}` has `{path}.{key}`");
            self.add(what, "", &sim.get(key).to_string());
        }
        let both = |keys: &[&str], others: &[&str]| -> Vec<String> {
            let kept = keys.iter().filter(|key| others.contains(key));
            kept.map(|key| (*key).to_owned()).collect()
        };
        let (in_theirs, in_ours) = (both(&theirs, &ours), both(&ours, &theirs));
        if in_theirs != in_ours {
            let what = format!("`{word}` `{path}` has its fields in another order");
            self.add(what, &in_theirs.join(", "), &in_ours.join(", "));
        }
        for key in &in_theirs {
            let path = format!("{path}.{key}");
            self.values(word, &path, real.get(key), sim.get(key));
        }
    }
}
