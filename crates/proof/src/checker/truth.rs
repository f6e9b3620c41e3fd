//! The log beside the truth: what the CLI printed and what became of it, run by run.

use std::collections::{BTreeMap, BTreeSet};

use estelle_state::conversation::{Record, Seen};

use super::rule::{Rule, Violation};
use crate::history::{Conversation, End, Fact, History, Witness, witness};

/// A process, by pid and start time.
type Key = (u32, u64);

pub(super) fn check(history: &History, conversation: &Conversation, found: &mut Vec<Violation>) {
    let Some(truth) = &conversation.truth else {
        return;
    };
    let logged = logged(conversation);
    let printed = printed(truth);
    let mut report = |rule, detail: String| {
        found.push(Violation::new(
            rule,
            format!("{}: {detail}", conversation.id),
        ));
    };
    let vain = vain(conversation);
    for (process, printed) in printed.iter().filter(|(one, _)| !vain.contains(one)) {
        let empty = Vec::new();
        let there = logged.get(process).unwrap_or(&empty);
        compare(history, *process, printed, there, &mut report);
    }
    for process in logged
        .keys()
        .filter(|process| !printed.contains_key(process))
    {
        report(
            Rule::TruthInvented,
            format!("events of process {process:?}, which printed nothing"),
        );
    }
}

fn compare(
    history: &History,
    process: Key,
    lines: &[Vec<Witness>],
    there: &[Witness],
    report: &mut impl FnMut(Rule, String),
) {
    let all: Vec<&Witness> = lines.iter().flatten().collect();
    let same = all.iter().zip(there).take_while(|(a, b)| **a == *b).count();
    if let Some(event) = there.get(same) {
        let expected = all.get(same);
        // The next but one in the place of the next: one was left out.
        let rule = if all.get(same + 1) == Some(&event) {
            Rule::TruthLost
        } else {
            Rule::TruthInvented
        };
        report(
            rule,
            format!("process {process:?}, event {same}: {event:?} instead of {expected:?}"),
        );
        return;
    }
    // A process that was killed may not have got its last line out.
    let torn = if history.killed.contains(&process.0) {
        lines.last().map_or(0, Vec::len)
    } else {
        0
    };
    let needed = all.len().saturating_sub(torn);
    if history.end == End::AtRest && same < needed {
        report(
            Rule::TruthLost,
            format!("process {process:?}: nothing of {:?}", all[same]),
        );
    }
}

fn logged(conversation: &Conversation) -> BTreeMap<Key, Vec<Witness>> {
    let mut logged: BTreeMap<Key, Vec<Witness>> = BTreeMap::new();
    for life in conversation.standing() {
        for entry in life.entries() {
            let Record::Read(stretch) = &entry.record else {
                continue;
            };
            let process = life.process(stretch.generation).unwrap_or_default();
            let events = entry.events.iter();
            let witnesses = events.filter_map(|durable| Witness::of(&durable.event));
            logged.entry(process).or_default().extend(witnesses);
        }
    }
    logged
}

/// Processes that were to take up a session which does not exist. Another one is begun in their place, and nobody is told
/// of what they printed.
fn vain(conversation: &Conversation) -> BTreeSet<Key> {
    let mut vain = BTreeSet::new();
    for life in conversation.standing() {
        for record in life.facts() {
            if let Record::Read(stretch) = record
                && stretch.seen.contains(&Seen::ResumeFailed)
            {
                vain.extend(life.process(stretch.generation));
            }
        }
    }
    vain
}

/// What each process printed, line by line.
fn printed(truth: &[Fact]) -> BTreeMap<Key, Vec<Vec<Witness>>> {
    let mut printed: BTreeMap<Key, Vec<Vec<Witness>>> = BTreeMap::new();
    let mut now = Key::default();
    for fact in truth {
        match fact {
            Fact::Began { pid, start_ticks } => now = (*pid, *start_ticks),
            Fact::Printed(line) => printed.entry(now).or_default().push(witness(line)),
            Fact::Read { .. }
            | Fact::Asked { .. }
            | Fact::Answered { .. }
            | Fact::Ran { .. }
            | Fact::RanAgain { .. }
            | Fact::Ended => {}
        }
    }
    printed
}
