//! Doctored logs and journals: whatever is changed on the disk, the report says so, and what is good stays proven.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;

use estelle_proto::events::{ClaudeEvent, ToolComplete};
use estelle_proto::{ClaudeSessionId, Epoch, Generation, OnBusy, Timestamp, ToolUseId};
use estelle_state::conversation::{
    Durable, Entry, Message, MessageId, Record, RunExit, Seen, Stretch,
};
use rustix::fs::{FallocateFlags, fallocate};

use super::*;
use crate::log::{Log, Sync};
use crate::run::lock::Heirs;

/// What the CLI printed, one line per stretch.
const LINES: [&str; 3] = [
    r#"{"type":"system","subtype":"init","uuid":"u-init"}"#,
    r#"{"type":"assistant","uuid":"u-answer"}"#,
    r#"{"type":"result","uuid":"u-result"}"#,
];

/// A data folder with one conversation whose run is over.
struct Place {
    folder: tempfile::TempDir,
    id: ConversationId,
}

impl Place {
    /// Everything as it should be.
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            id: ConversationId::parse("c1").unwrap(),
        };
        let run = place.run(1);
        fs::create_dir_all(&run).unwrap();
        fs::create_dir_all(place.path("work")).unwrap();
        let env = serde_json::json!({"HOME": place.path("home")});
        let launch = serde_json::json!({
            "program": "claude", "args": [], "env": env, "cwd": place.path("work"), "cliVersion": "2",
        });
        fs::write(run.join("launch.json"), launch.to_string()).unwrap();
        fs::write(run.join("exit.json"), r#"{"code":0}"#).unwrap();
        fs::write(run.join("out.jsonl"), journal()).unwrap();
        place.transcript(&["u-message", "u-answer"]);
        place.log(&entries(&place.id));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn conversation(&self) -> PathBuf {
        self.path("conversations").join(self.id.as_str())
    }

    fn run(&self, generation: u64) -> PathBuf {
        self.conversation()
            .join("runs")
            .join(generation.to_string())
    }

    fn log_file(&self) -> PathBuf {
        self.conversation().join("log.jsonl")
    }

    /// Writes the log anew.
    fn log(&self, entries: &[Entry]) {
        let _ = fs::remove_file(self.log_file());
        let mut log = Log::open(&self.log_file()).unwrap().log;
        for entry in entries {
            log.append(&serde_json::to_vec(entry).unwrap(), Sync::Later)
                .unwrap();
        }
    }

    fn transcript(&self, uuids: &[&str]) {
        let cwd = fs::canonicalize(self.path("work")).unwrap();
        let folder = self
            .path("home/.claude/projects")
            .join(estelle_claude::saved::folder_name(&cwd));
        fs::create_dir_all(&folder).unwrap();
        let mut file = fs::File::create(folder.join("s1.jsonl")).unwrap();
        writeln!(file, r#"{{"type":"user","uuid":"u-note","isMeta":true}}"#).unwrap();
        for uuid in uuids {
            writeln!(file, r#"{{"type":"assistant","uuid":"{uuid}"}}"#).unwrap();
        }
    }

    fn verify(&self) -> Report {
        verify(self.folder.path(), None).unwrap()
    }

    /// Kinds and counts of what was found.
    fn findings(&self) -> Vec<(FindingKind, u64)> {
        let report = self.verify();
        let found = &report.conversations[0].findings;
        found.iter().map(|one| (one.kind, one.count)).collect()
    }
}

fn journal() -> String {
    LINES.map(|line| format!("{line}\n")).concat()
}

/// Whole lines.
fn lines(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

fn entry(record: Record) -> Entry {
    Entry {
        at: Timestamp(1),
        record,
        events: Vec::new(),
    }
}

fn entries(id: &ConversationId) -> Vec<Entry> {
    let generation = Generation(1);
    let mut entries = vec![
        entry(Record::Began {
            conversation_id: id.clone(),
            epoch: Epoch(1),
            generation: Generation(0),
        }),
        entry(Record::Accepted(Message {
            id: MessageId("u-message".to_owned()),
            content: "hi".to_owned(),
            on_busy: OnBusy::Inject,
            client_message_id: None,
            device_id: None,
            author: None,
        })),
        entry(Record::Intended {
            generation,
            resume: None,
        }),
    ];
    let mut from = 0;
    for line in LINES {
        let line = format!("{line}\n");
        let to = from + line.len() as u64;
        let hash = blake3::hash(line.as_bytes()).to_hex()[..32].to_owned();
        let session = ClaudeSessionId::parse("s1").unwrap();
        entries.push(entry(Record::Read(Stretch {
            generation,
            from,
            to,
            hash,
            open_from: to,
            reader: 1,
            seen: vec![Seen::TurnBegan { session }],
        })));
        from = to;
    }
    entries.push(entry(Record::Ended {
        generation,
        exit: RunExit::Unknown,
        interrupted: Vec::new(),
        dropped: Vec::new(),
    }));
    entries
}

#[test]
fn a_good_conversation_is_proven() {
    let report = Place::new().verify();
    assert!(report.is_sound());
    let checked = &report.conversations[0];
    assert_eq!(checked.findings, []);
    assert_eq!(
        (
            checked.records,
            checked.runs,
            checked.journal_bytes,
            checked.transcript_messages
        ),
        (7, 1, journal().len() as u64, 2)
    );
}

#[test]
fn a_folder_without_a_log_is_a_loss_only_if_something_ran() {
    let place = Place::new();
    fs::remove_file(place.log_file()).unwrap();
    assert!(!place.verify().is_sound());
    fs::remove_dir_all(place.conversation().join("runs")).unwrap();
    let report = place.verify();
    assert!(report.is_sound());
    assert_eq!(report.count(FindingKind::Unproven), 1);
}

#[test]
fn a_log_cut_at_any_byte_is_noticed_and_what_is_before_stays_readable() {
    let place = Place::new();
    let whole = fs::read(place.log_file()).unwrap();
    for cut in 0..whole.len() {
        fs::write(place.log_file(), &whole[..cut]).unwrap();
        let report = place.verify();
        let checked = &report.conversations[0];
        assert!(!checked.findings.is_empty(), "cut at {cut} is silent");
        assert_eq!(checked.records, lines(&whole[..cut]), "cut at {cut}");
        let at_a_border = whole[..cut].last().is_none_or(|byte| *byte == b'\n');
        assert!(at_a_border || !report.is_sound(), "cut at {cut}");
    }
}

#[test]
fn any_flipped_bit_of_a_log_is_noticed_and_what_is_before_stays_readable() {
    let place = Place::new();
    let whole = fs::read(place.log_file()).unwrap();
    for at in 0..whole.len() {
        // All bits of some bytes, one bit of each: a hash does not care which.
        let bits = if at % 16 == 0 {
            0..8
        } else {
            at % 8..at % 8 + 1
        };
        for bit in bits {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            fs::write(place.log_file(), &bytes).unwrap();
            let report = place.verify();
            assert!(
                report.count(FindingKind::Damage) > 0,
                "byte {at}, bit {bit}"
            );
            assert_eq!(report.conversations[0].records, lines(&whole[..at]));
        }
    }
}

#[test]
fn any_flipped_bit_of_a_journal_is_noticed() {
    let place = Place::new();
    let path = place.run(1).join("out.jsonl");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        assert!(place.verify().count(FindingKind::Damage) > 0, "byte {at}");
    }
}

#[test]
fn a_journal_cut_at_any_byte_has_lost_what_is_missing() {
    let place = Place::new();
    let path = place.run(1).join("out.jsonl");
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(place.verify().count(FindingKind::Lost) > 0, "cut at {cut}");
    }
}

#[test]
fn a_stretch_that_is_missing_is_a_gap_and_one_too_many_is_a_duplicate() {
    let place = Place::new();
    let mut missing = entries(&place.id);
    missing.remove(4);
    place.log(&missing);
    let bytes = LINES[1].len() as u64 + 1;
    assert_eq!(place.findings(), [(FindingKind::Gap, bytes)]);
    let mut doubled = entries(&place.id);
    doubled.insert(5, doubled[4].clone());
    place.log(&doubled);
    assert_eq!(place.findings(), [(FindingKind::Duplicated, bytes)]);
}

#[test]
fn what_was_not_read_is_lost_when_the_run_is_over_and_unproven_before() {
    let place = Place::new();
    let mut entries = entries(&place.id);
    let last = entries.len() - 2;
    entries.remove(last);
    place.log(&entries);
    let bytes = LINES[2].len() as u64 + 1;
    assert_eq!(place.findings(), [(FindingKind::Lost, bytes)]);
    fs::remove_file(place.run(1).join("exit.json")).unwrap();
    entries.pop();
    place.log(&entries);
    assert_eq!(place.findings(), [(FindingKind::Unproven, bytes)]);
    assert!(place.verify().is_sound());
}

#[test]
fn bytes_that_were_given_back_are_unproven_and_not_wrong() {
    let place = Place::new();
    let path = place.run(1).join("out.jsonl");
    // A hole needs whole blocks.
    let long = format!("{}\n", "x".repeat((1 << 18) - 1));
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(long.as_bytes(), 0).unwrap();
    let mut entries = entries(&place.id);
    let session = ClaudeSessionId::parse("s1").unwrap();
    entries.splice(
        3..6,
        [entry(Record::Read(Stretch {
            generation: Generation(1),
            from: 0,
            to: 1 << 18,
            hash: blake3::hash(long.as_bytes()).to_hex()[..32].to_owned(),
            open_from: 1 << 18,
            reader: 1,
            seen: vec![Seen::TurnBegan { session }],
        }))],
    );
    place.log(&entries);
    fallocate(
        &file,
        FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
        0,
        1 << 17,
    )
    .unwrap();
    let unproven = [
        (FindingKind::Unproven, 1 << 18),
        // The answer of the transcript may have been in the hole.
        (FindingKind::Unproven, 1),
    ];
    assert_eq!(place.findings(), unproven);
    assert!(place.verify().is_sound());
}

#[test]
fn a_message_of_the_transcript_that_no_journal_has_is_lost() {
    let place = Place::new();
    place.transcript(&["u-message", "u-answer", "u-unseen"]);
    assert_eq!(place.findings(), [(FindingKind::Lost, 1)]);
    fs::remove_dir_all(place.path("home")).unwrap();
    assert_eq!(place.findings(), [(FindingKind::Unproven, 1)]);
}

#[test]
fn what_is_in_the_log_twice_is_a_duplicate() {
    let place = Place::new();
    let mut entries = entries(&place.id);
    let tool = ToolComplete {
        tool_use_id: ToolUseId::parse("toolu_1").ok(),
        ..ToolComplete::new("Bash".to_owned(), true, String::new())
    };
    let event = Durable::from(ClaudeEvent::ToolComplete(tool));
    entries[3].events = vec![event.clone(), event];
    entries.insert(2, entries[1].clone());
    place.log(&entries);
    let doubled = [(FindingKind::Duplicated, 1), (FindingKind::Duplicated, 1)];
    assert_eq!(place.findings(), doubled);
}

#[test]
fn a_tail_that_was_cut_off_is_unproven_for_ever_and_no_fault() {
    let place = Place::new();
    let mut entries = entries(&place.id);
    for cut in [7, 30] {
        entries.push(entry(Record::Repaired {
            what: "cut".to_owned(),
            journal: Some(0),
            cut: Some(cut),
        }));
    }
    place.log(&entries);
    let report = place.verify();
    assert!(report.is_sound());
    let checked = &report.conversations[0];
    assert_eq!((checked.cuts, checked.cut_bytes), (2, 37));
    assert_eq!(report.count(FindingKind::Unproven), 37);
    let what = &checked.findings[0].what;
    assert!(what.contains("cut off, 2 times"), "{what}");
}

#[test]
fn a_run_that_the_log_does_not_know_is_lost() {
    let place = Place::new();
    fs::create_dir_all(place.run(2)).unwrap();
    fs::write(place.run(2).join("out.jsonl"), "{}\n").unwrap();
    assert_eq!(place.findings(), [(FindingKind::Lost, 3)]);
}

#[test]
fn a_tail_that_a_host_may_be_writing_is_unproven() {
    let place = Place::new();
    let whole = fs::read(place.log_file()).unwrap();
    fs::write(place.log_file(), [&whole[..], b"half"].concat()).unwrap();
    assert_eq!(place.findings(), [(FindingKind::Damage, 4)]);
    let _host = Lock::take(&place.path("host.lock"), Heirs::None).unwrap();
    assert_eq!(place.findings(), [(FindingKind::Unproven, 4)]);
    let after = fs::read(place.log_file()).unwrap();
    assert_eq!(after.len(), whole.len() + 4, "verifying changes nothing");
}

#[test]
fn what_was_moved_aside_is_reported_and_an_unknown_conversation_is_an_error() {
    let place = Place::new();
    fs::write(place.conversation().join("log.damaged-1.jsonl"), "1234").unwrap();
    assert_eq!(place.findings(), [(FindingKind::Damage, 4)]);
    let unknown = ConversationId::parse("nobody").unwrap();
    let error = verify(place.folder.path(), Some(&unknown)).unwrap_err();
    assert!(error.to_string().contains("nobody"), "{error}");
}
