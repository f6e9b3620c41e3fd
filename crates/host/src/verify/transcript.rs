//! The CLI's own transcript: every message in it went through a journal of ours.
//!
//! The CLI writes the transcript for itself, so it is a witness that we have no hand in. Which lines of it must have
//! been printed is known for its messages alone: notes to the model, sub-agents' own files and summaries are not.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use estelle_state::conversation::{Entry, Record, Seen};
use serde::Deserialize;

use super::journal::Run;
use super::report::{Checked, FindingKind};
use super::{VerifyError, failed};
use crate::run::saved::transcript;

/// What a line of a journal or a transcript is known by.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the CLI marks its lines with them"
)]
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    uuid: Option<String>,
    is_meta: bool,
    is_sidechain: bool,
    is_compact_summary: bool,
    is_visible_in_transcript_only: bool,
}

/// Looks for the messages of the transcripts of all sessions.
pub(super) fn check(
    entries: &[Entry],
    runs: &[Run],
    checked: &mut Checked,
) -> Result<(), VerifyError> {
    let sessions = sessions(entries);
    if sessions.is_empty() {
        return Ok(());
    }
    let known = known(entries, runs)?;
    let whole = runs.iter().all(|run| run.whole);
    for session in sessions {
        let Some(path) = runs.iter().find_map(|run| find(run, &session)) else {
            let what = format!("session {session}: the CLI's transcript is not there");
            checked.find(FindingKind::Unproven, 1, what);
            continue;
        };
        let missing = messages(&path)?.into_iter().filter(|uuid| {
            let there = known.contains(uuid);
            checked.transcript_messages += u64::from(there);
            !there
        });
        let missing = missing.count() as u64;
        if missing == 0 {
            continue;
        }
        let (kind, why) = match (whole, is_taken_over(entries)) {
            (true, false) => (FindingKind::Lost, "are in no journal"),
            (false, _) => (
                FindingKind::Unproven,
                "may have been in what was given back to the disk",
            ),
            (true, true) => (
                FindingKind::Unproven,
                "may be from before the session was taken over",
            ),
        };
        let what = format!("session {session}: messages of the CLI's transcript {why}");
        checked.find(kind, missing, what);
    }
    Ok(())
}

/// The sessions that had turns here.
fn sessions(entries: &[Entry]) -> BTreeSet<String> {
    let stretches = entries.iter().filter_map(|entry| match &entry.record {
        Record::Read(stretch) => Some(stretch),
        _ => None,
    });
    let seen = stretches.flat_map(|stretch| &stretch.seen);
    seen.filter_map(|seen| match seen {
        Seen::TurnBegan { session } => Some(session.to_string()),
        _ => None,
    })
    .collect()
}

/// Whether a session was begun elsewhere or in an earlier life of the log, so that older messages are none of ours.
fn is_taken_over(entries: &[Entry]) -> bool {
    let mut first = true;
    entries.iter().any(|entry| match &entry.record {
        Record::Set(change) => change.session.is_some(),
        // The copy that it goes on with has the messages under ids of its own.
        Record::Rewound { session, .. } => session.is_some(),
        Record::Intended { resume, .. } => std::mem::take(&mut first) && resume.is_some(),
        _ => false,
    })
}

/// Every uuid that a journal has, or that we gave a message ourselves.
fn known(entries: &[Entry], runs: &[Run]) -> Result<BTreeSet<String>, VerifyError> {
    let mut known = BTreeSet::new();
    for entry in entries {
        if let Record::Accepted(message) = &entry.record {
            known.insert(message.id.0.clone());
        }
    }
    for run in runs {
        let path = run.folder.journal();
        each_line(&path, |line| known.extend(line.uuid))?;
    }
    Ok(known)
}

/// The uuids of the messages in a transcript.
fn messages(path: &Path) -> Result<Vec<String>, VerifyError> {
    let mut messages = Vec::new();
    each_line(path, |line| {
        let is_message = line.kind == "user" || line.kind == "assistant";
        let is_note = line.is_meta
            || line.is_sidechain
            || line.is_compact_summary
            || line.is_visible_in_transcript_only;
        if is_message && !is_note {
            messages.extend(line.uuid);
        }
    })?;
    Ok(messages)
}

fn each_line(path: &Path, mut take: impl FnMut(Line)) -> Result<(), VerifyError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(path)(error)),
    };
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(failed(path))?;
        // Zeros of what was given back, half lines and garbage have no uuid; the stretches tell of them.
        if let Ok(line) = serde_json::from_slice(&line) {
            take(line);
        }
    }
    Ok(())
}

/// Where the CLI of a run keeps the transcript of a session, if it is there.
fn find(run: &Run, session: &str) -> Option<PathBuf> {
    let launch = run.folder.load_launch().ok()??;
    transcript(&launch, session)
}
