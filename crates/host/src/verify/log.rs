//! The log of a conversation: its chain, its beginning, and nothing in it twice.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use estelle_proto::events::ClaudeEvent;
use estelle_state::conversation::{Cuts, Entry, Record};

use super::report::{Checked, FindingKind};
use super::{Host, VerifyError, failed};
use crate::conversation::{DAMAGED, LOG};
use crate::log::{Damage, inspect};

/// Proves the log and gives its entries.
pub(super) fn check(
    folder: &Path,
    host: Host,
    checked: &mut Checked,
) -> Result<Vec<Entry>, VerifyError> {
    let path = folder.join(LOG);
    let inspected = match inspect(&path) {
        Ok(inspected) => inspected,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if folder.join("runs").exists() {
                checked.find(FindingKind::Lost, 1, "the log is not there");
            } else {
                checked.find(
                    FindingKind::Unproven,
                    1,
                    "there is neither a log nor a run: it was never begun, or everything was removed",
                );
            }
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(&path)(error)),
    };
    if let Some(damage) = inspected.damage {
        report_damage(damage, host, checked);
    }
    let mut entries = Vec::new();
    for (number, record) in inspected.records.iter().enumerate() {
        match serde_json::from_slice::<Entry>(&record.payload) {
            Ok(entry) => entries.push(entry),
            Err(error) => checked.find(
                FindingKind::Unproven,
                1,
                format!("record {number} is of a kind that this version does not know: {error}"),
            ),
        }
    }
    checked.records = inspected.records.len() as u64;
    let mut cuts = Cuts::default();
    for entry in &entries {
        cuts.note(&entry.record);
    }
    (checked.cuts, checked.cut_bytes) = (cuts.times, cuts.bytes);
    checked.events = entries.iter().map(|entry| entry.events.len() as u64).sum();
    beginning(&entries, checked);
    cut_off(&entries, checked);
    shortened(&entries, checked);
    doubles(&entries, checked);
    moved_aside(folder, checked)?;
    Ok(entries)
}

fn report_damage(damage: Damage, host: Host, checked: &mut Checked) {
    let (range, what) = match damage {
        Damage::TornTail(range) if host == Host::AtWork => {
            let what = format!("the log behind byte {} is being written", range.start);
            checked.find(FindingKind::Unproven, range.end - range.start, what);
            return;
        }
        Damage::TornTail(range) => (range, "the last append did not finish"),
        Damage::Broken(range) => (range, "a record does not match its hash"),
    };
    let what = format!("log, bytes {} to {}: {what}", range.start, range.end);
    checked.find(FindingKind::Damage, range.end - range.start, what);
}

fn beginning(entries: &[Entry], checked: &mut Checked) {
    let own = match entries.first().map(|entry| &entry.record) {
        Some(Record::Began {
            conversation_id, ..
        }) => *conversation_id == checked.conversation,
        Some(_) => false,
        // An empty log is that of a conversation that was about to begin.
        None => true,
    };
    if !own {
        let what = "the log does not begin with this conversation";
        checked.find(FindingKind::Damage, 1, what);
    }
}

/// An append that did not finish was acknowledged to nobody; a record that was damaged may have been. What was cut off is gone,
/// so nobody can tell which it was.
fn cut_off(entries: &[Entry], checked: &mut Checked) {
    let cuts = entries.iter().filter_map(|entry| match &entry.record {
        Record::Repaired { cut, .. } => *cut,
        _ => None,
    });
    let cuts: Vec<u64> = cuts.collect();
    if !cuts.is_empty() {
        let what = format!(
            "the end of the log was cut off, {} so far: an append had not finished, or a record was damaged",
            times(cuts.len())
        );
        checked.find(FindingKind::Unproven, cuts.iter().sum(), what);
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        many => format!("{many} times"),
    }
}

/// A log that was cut in the middle says so for ever.
fn shortened(entries: &[Entry], checked: &mut Checked) {
    let cuts = entries.iter();
    let cuts = cuts.filter(|entry| matches!(entry.record, Record::Shortened { .. }));
    let count = cuts.count() as u64;
    if count > 0 {
        let what = "the log was damaged and cut; what stood there is not in it";
        checked.find(FindingKind::Gap, count, what);
    }
}

/// Messages and calls have ids; each is accepted, called and finished once.
fn doubles(entries: &[Entry], checked: &mut Checked) {
    let mut seen = BTreeSet::new();
    for entry in entries {
        if let Record::Accepted(message) = &entry.record
            && !seen.insert(("the message", message.id.0.clone()))
        {
            let what = format!("the message {} was taken twice", message.id.0);
            checked.find(FindingKind::Duplicated, 1, what);
        }
        for durable in &entry.events {
            let (what, call) = match &durable.event {
                ClaudeEvent::ToolInfo(tool) => ("the call", &tool.tool_use_id),
                ClaudeEvent::ToolComplete(tool) => ("the result of", &tool.tool_use_id),
                _ => continue,
            };
            let Some(call) = call else { continue };
            if !seen.insert((what, call.to_string())) {
                let what = format!("{what} {call} is there twice");
                checked.find(FindingKind::Duplicated, 1, what);
            }
        }
    }
}

/// What once stood behind damage was moved aside and is not part of the log.
fn moved_aside(folder: &Path, checked: &mut Checked) -> Result<(), VerifyError> {
    for entry in std::fs::read_dir(folder).map_err(failed(folder))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(DAMAGED) {
            let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
            let what = format!("{name} holds what stood behind damage in the log");
            checked.find(FindingKind::Damage, bytes, what);
        }
    }
    Ok(())
}
