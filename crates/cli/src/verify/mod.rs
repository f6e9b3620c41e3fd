//! `estelle verify`: proves the conversations of a data folder from what is on the disk.
//!
//! Two witnesses are held against the logs: what the agents printed and saved, and the Pylon's database. Prints what is lost, duplicated, missing in between or damaged, and what cannot be known. The exit code is 0 when
//! nothing is wrong and 1 otherwise; what is unproven is not wrong. Nothing is changed, and a host may be at work.

mod memory;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_host::verify::{Checked, Finding, FindingKind, Report, verify};
use estelle_proto::ConversationId;
use serde_json::json;

use crate::data::DataArgs;
use crate::pylon::STORE;
use memory::{Asked, Memory};

/// The kinds in the order they are printed.
const KINDS: [FindingKind; 5] = [
    FindingKind::Lost,
    FindingKind::Duplicated,
    FindingKind::Gap,
    FindingKind::Damage,
    FindingKind::Unproven,
];

/// Prove the logs and journals of conversations, and the history that is kept of them.
///
/// Nothing is changed, and everything may run meanwhile. What cannot be known is called unproven, which is neither good nor
/// bad.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The conversation; all of them if none is given.
    conversation: Option<ConversationId>,
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
#[expect(
    clippy::needless_pass_by_value,
    reason = "every subcommand takes its arguments"
)]
pub(crate) fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let data = args.data.used_folder()?;
    // Before the logs: whatever the database knows is in a log by then.
    let asked = Asked::open(&data.join(STORE))?;
    let only = args.conversation.as_ref();
    let mut report = verify(&data, only)?;
    let memory = match asked {
        Some(asked) => Some(asked.compare(&data, only, &mut report)?),
        None => None,
    };
    let proven = Proven { report, memory };
    let text = if args.json {
        proven.to_json()?
    } else {
        proven.to_text()
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("failed to print the report")?;
    Ok(if proven.is_sound() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What was found out.
#[derive(Debug, Default)]
struct Proven {
    report: Report,
    /// About the database of the Pylon, if there is one.
    memory: Option<Memory>,
}

impl Proven {
    fn is_sound(&self) -> bool {
        self.report.is_sound() && self.memory.as_ref().is_none_or(Memory::is_sound)
    }

    fn count(&self, kind: FindingKind) -> u64 {
        let memory = self.memory.as_ref();
        self.report.count(kind) + memory.map_or(0, |memory| memory.count(kind))
    }

    fn to_json(&self) -> anyhow::Result<String> {
        let mut object = json!({
            "sound": self.is_sound(),
            "conversations": &self.report.conversations,
            "database": &self.memory,
        });
        for kind in KINDS {
            object[kind.to_string()] = self.count(kind).into();
        }
        Ok(serde_json::to_string(&object)? + "\n")
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        for checked in &self.report.conversations {
            text += &one(checked);
        }
        if let Some(memory) = &self.memory {
            let entries = counted(memory.entries, "entry");
            text.push_str("history: proven: ");
            text.push_str(&entries);
            text.push_str(" of the Pylon's database\n");
            text.extend(memory.findings.iter().map(line));
        }
        let counts = KINDS.map(|kind| format!("{kind} {}", self.count(kind)));
        let verdict = if self.is_sound() {
            "nothing is wrong"
        } else {
            "something is wrong"
        };
        let number = counted(self.report.conversations.len() as u64, "conversation");
        text + &format!("{number}: {verdict} ({})\n", counts.join(", "))
    }
}

/// A number with its noun.
fn counted(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("{number} {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

fn one(checked: &Checked) -> String {
    let proven = format!(
        "{}: proven: {} with {}; {} of the journals of {}; {} of transcripts\n",
        checked.conversation,
        counted(checked.records, "record"),
        counted(checked.events, "event"),
        counted(checked.journal_bytes, "byte"),
        counted(checked.runs, "run"),
        counted(checked.transcript_messages, "message"),
    );
    let findings = checked.findings.iter();
    std::iter::once(proven).chain(findings.map(line)).collect()
}

fn line(finding: &Finding) -> String {
    format!("  {} ({}): {}\n", finding.kind, finding.count, finding.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_counted_as_one() {
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(2, "byte"), "2 bytes");
        assert_eq!(counted(3, "entry"), "3 entries");
        let nothing = Proven::default().to_text();
        assert!(nothing.starts_with("0 conversations: nothing is wrong"));
    }
}
