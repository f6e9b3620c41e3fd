//! The format of the log: `fixtures/log/v1.jsonl` has every kind of record, and is read and written byte for byte.
//!
//! Logs outlive builds. A line here may be added, never changed: a change means that no older log can be read.

use std::collections::BTreeSet;
use std::path::Path;

use estelle_state::conversation::{
    Control, Conversation, Entry, Record, RunExit, Seen, StopReason,
};
use estelle_state::decisions::Fact;

fn lines() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/log/v1.jsonl");
    let text = std::fs::read_to_string(file).expect("the example of a log is there");
    text.lines().map(str::to_owned).collect()
}

fn entry(line: &str) -> Entry {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}

#[test]
fn a_log_is_read_and_written_again_byte_for_byte() {
    for line in lines() {
        let written = serde_json::to_string(&entry(&line)).expect("JSON");
        assert_eq!(written, line);
    }
}

#[test]
fn a_log_of_the_first_format_can_be_folded() {
    let entries: Vec<_> = lines().iter().map(|line| entry(line)).collect();
    let events: usize = entries.iter().map(|entry| entry.events.len()).sum();
    let conversation = Conversation::replay(entries).expect("it begins");
    assert_eq!(conversation.seq().0, events as u64);
    assert_eq!(conversation.last_generation().0, 5);
    assert_eq!(conversation.settings().model.as_deref(), Some("sonnet"));
    assert!(conversation.run().is_none());
}

#[test]
fn the_example_of_a_log_has_every_kind() {
    let mut found = BTreeSet::new();
    for line in lines() {
        name(&entry(&line).record, &mut found);
    }
    let missing: Vec<_> = KINDS.iter().filter(|kind| !found.contains(*kind)).collect();
    assert!(missing.is_empty(), "no example of {missing:?}");
    assert_eq!(found.len(), KINDS.len(), "a kind that is not in the list");
}

const KINDS: [&str; 58] = [
    "accepted",
    "answered",
    "asked",
    "began",
    "called",
    "cancel",
    "code",
    "control mode",
    "copied",
    "decided",
    "delivered",
    "disobeyed",
    "dropped",
    "end",
    "ended",
    "forgotten",
    "handed",
    "initialize",
    "intended",
    "interrupt",
    "interrupted",
    "mode",
    "model",
    "neverStarted",
    "newSession",
    "opened",
    "paused",
    "read",
    "reconfigured",
    "released",
    "repaired",
    "requested",
    "response",
    "resumeFailed",
    "revoked",
    "rewinding",
    "rewound",
    "seen asked",
    "seen called",
    "seen unknown",
    "set",
    "settled",
    "shortened",
    "shown",
    "signal",
    "started",
    "stopping",
    "stopTask",
    "taken",
    "tampered",
    "trusted",
    "turnBegan",
    "turnEnded",
    "unknown",
    "voided",
    "wanted",
    "withdrawn",
    "withdrew",
];

/// The names of a record and of what is in it. A kind that is added here must be added to the list and to the example.
fn name(record: &Record, found: &mut BTreeSet<&'static str>) {
    let name = match record {
        Record::Began { .. } => "began",
        Record::Copied(_) => "copied",
        Record::Set(_) => "set",
        Record::Accepted(_) => "accepted",
        Record::Withdrawn { .. } => "withdrawn",
        Record::Released => "released",
        Record::Wanted => "wanted",
        Record::Intended { .. } => "intended",
        Record::Started { .. } => "started",
        Record::Handed { .. } => "handed",
        Record::Requested { control, .. } => {
            found.insert(control_name(control));
            "requested"
        }
        Record::Read(stretch) => {
            found.extend(stretch.seen.iter().map(seen_name));
            "read"
        }
        Record::Shown { .. } => "shown",
        Record::Asked(_) => "asked",
        Record::Decided { fact, .. } => {
            found.insert(fact_name(fact));
            "decided"
        }
        Record::Called { .. } => "called",
        Record::Revoked { .. } => "revoked",
        Record::Interrupted { .. } => "interrupted",
        Record::Stopping { why, .. } => {
            found.insert(reason_name(why));
            "stopping"
        }
        Record::Ended { exit, .. } => {
            found.insert(exit_name(exit));
            "ended"
        }
        Record::Forgotten => "forgotten",
        Record::Rewound { .. } => "rewound",
        Record::Shortened { .. } => "shortened",
        Record::Repaired { .. } => "repaired",
    };
    found.insert(name);
}

fn control_name(control: &Control) -> &'static str {
    match control {
        Control::Initialize => "initialize",
        Control::Interrupt => "interrupt",
        Control::Cancel { .. } => "cancel",
        Control::Mode { .. } => "control mode",
        Control::Model { .. } => "model",
        Control::StopTask { .. } => "stopTask",
        Control::End => "end",
    }
}

fn seen_name(seen: &Seen) -> &'static str {
    match seen {
        Seen::TurnBegan { .. } => "turnBegan",
        Seen::TurnEnded { .. } => "turnEnded",
        Seen::Taken { .. } => "taken",
        Seen::Dropped { .. } => "dropped",
        Seen::Asked(_) => "seen asked",
        Seen::Withdrew { .. } => "withdrew",
        Seen::Response { .. } => "response",
        Seen::Called { .. } => "seen called",
        Seen::Unknown { .. } => "seen unknown",
        Seen::Mode { .. } => "mode",
        Seen::ResumeFailed => "resumeFailed",
    }
}

fn fact_name(fact: &Fact) -> &'static str {
    match fact {
        Fact::Opened(_) => "opened",
        Fact::Answered(_) => "answered",
        Fact::Delivered(_) => "delivered",
        Fact::Settled(_) => "settled",
        Fact::Voided(_) => "voided",
    }
}

fn reason_name(why: &StopReason) -> &'static str {
    match why {
        StopReason::Paused { .. } => "paused",
        StopReason::NewSession => "newSession",
        StopReason::Rewinding => "rewinding",
        StopReason::Disobeyed => "disobeyed",
        StopReason::Tampered { .. } => "tampered",
        StopReason::Trusted => "trusted",
        StopReason::Reconfigured { .. } => "reconfigured",
    }
}

fn exit_name(exit: &RunExit) -> &'static str {
    match exit {
        RunExit::NeverStarted { .. } => "neverStarted",
        RunExit::Code { .. } => "code",
        RunExit::Signal { .. } => "signal",
        RunExit::Unknown => "unknown",
    }
}
