//! The logs of a conversation in themselves: the chain, the beginning, the stretches, the order of runs.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeMap;

use estelle_host::log::ChainHash;
use estelle_proto::Generation;
use estelle_state::conversation::{Control, Entry, Record, Stretch};

use super::rule::{Rule, Violation};
use crate::history::{Conversation, Life};

pub(super) fn check(conversation: &Conversation, found: &mut Vec<Violation>) {
    let mut last = Generation(0);
    let mut epoch = None;
    for life in &conversation.lives {
        let mut report = |rule, detail: String| {
            found.push(Violation::new(
                rule,
                format!("{}: {detail}", conversation.id),
            ));
        };
        chain(life, &mut report);
        beginning(conversation, life, &mut report);
        if epoch.is_some() && life.epoch() <= epoch {
            report(Rule::LogBroken, "the epoch did not grow".to_owned());
        }
        epoch = life.epoch();
        stretches(life, &mut report);
        let highest = runs(life, last, &mut report);
        // The one that takes its place begins the same runs.
        if !life.replaced {
            last = highest;
        }
    }
}

/// The hashes are those that result from writing the entries.
fn chain(life: &Life, report: &mut impl FnMut(Rule, String)) {
    if let Some(damage) = &life.damage {
        report(Rule::LogBroken, damage.clone());
    }
    let mut hash = ChainHash::EMPTY;
    for (index, record) in life.records.iter().enumerate() {
        hash = hash.next(&record.payload);
        let read: Option<Entry> = serde_json::from_slice(&record.payload).ok();
        if hash.to_string() != record.hash || read.as_ref() != Some(&record.entry) {
            report(
                Rule::LogBroken,
                format!("record {index} does not fit the chain"),
            );
            return;
        }
    }
}

fn beginning(conversation: &Conversation, life: &Life, report: &mut impl FnMut(Rule, String)) {
    let begins = |record: &Record| matches!(record, Record::Began { .. });
    match life.facts().next() {
        Some(Record::Began {
            conversation_id, ..
        }) if *conversation_id == conversation.id => {}
        Some(_) | None => report(
            Rule::LogBroken,
            "the log does not begin with its own conversation".to_owned(),
        ),
    }
    if life.facts().skip(1).any(begins) {
        report(Rule::LogBroken, "the log begins twice".to_owned());
    }
    let numbered = life
        .events()
        .into_iter()
        .find(|event| event.event.is_passing());
    if let Some(event) = numbered {
        report(
            Rule::Misnumbered,
            format!("a passing event is kept as {}", event.seq),
        );
    }
}

fn stretches(life: &Life, report: &mut impl FnMut(Rule, String)) {
    let mut ends: BTreeMap<Generation, u64> = BTreeMap::new();
    for stretch in life.facts().filter_map(read) {
        let end = ends.entry(stretch.generation).or_default();
        let place = format!(
            "run {}: {}..{} after {end}",
            stretch.generation, stretch.from, stretch.to
        );
        if stretch.from > *end {
            report(Rule::StretchGap, place);
        } else if stretch.from < *end || stretch.to < stretch.from {
            report(Rule::StretchOverlap, place);
        }
        *end = stretch.to.max(*end);
    }
}

fn read(record: &Record) -> Option<&Stretch> {
    match record {
        Record::Read(stretch) => Some(stretch),
        _ => None,
    }
}

/// One run at a time, and no number twice. Returns the highest.
fn runs(life: &Life, before: Generation, report: &mut impl FnMut(Rule, String)) -> Generation {
    let mut last = before;
    let mut living: Option<Generation> = None;
    let mut greeted: Option<Generation> = None;
    for record in life.facts() {
        match record {
            Record::Requested {
                generation,
                control: Control::Initialize,
                ..
            } => greeted = Some(*generation),
            Record::Handed { generation, .. } if greeted != Some(*generation) => {
                report(Rule::NotGreeted, format!("run {generation}"));
            }
            Record::Intended { generation, .. } => {
                if let Some(other) = living.replace(*generation) {
                    report(
                        Rule::TwoOwners,
                        format!("run {generation} was begun while run {other} was not over"),
                    );
                }
                if *generation <= last {
                    report(
                        Rule::StartedTwice,
                        format!("run {generation} was begun again after run {last}"),
                    );
                }
                last = (*generation).max(last);
            }
            Record::Started { generation, .. } if living != Some(*generation) => report(
                Rule::StartedTwice,
                format!("run {generation} was started and nobody had intended it"),
            ),
            Record::Ended { generation, .. } if living == Some(*generation) => living = None,
            _ => {}
        }
    }
    last
}
