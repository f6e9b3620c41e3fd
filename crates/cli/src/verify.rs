//! `estelle verify`: proves the conversations of a data folder from what is on the disk.
//!
//! Prints what is lost, duplicated, missing in between or damaged, and what cannot be known. The exit code is 0 when
//! nothing is wrong and 1 otherwise; what is unproven is not wrong. Nothing is changed, and a host may be at work.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_host::verify::{Checked, FindingKind, Report, verify};
use estelle_proto::ConversationId;
use serde_json::json;

use crate::data::DataArgs;

/// The kinds in the order they are printed.
const KINDS: [FindingKind; 5] = [
    FindingKind::Lost,
    FindingKind::Duplicated,
    FindingKind::Gap,
    FindingKind::Damage,
    FindingKind::Unproven,
];

/// Prove the logs and journals of conversations.
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
    let report = verify(&args.data.folder()?, args.conversation.as_ref())?;
    let text = if args.json {
        to_json(&report)?
    } else {
        to_text(&report)
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .context("failed to print the report")?;
    Ok(if report.is_sound() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn to_json(report: &Report) -> anyhow::Result<String> {
    let mut object = json!({
        "sound": report.is_sound(),
        "conversations": &report.conversations,
    });
    for kind in KINDS {
        object[kind.to_string()] = report.count(kind).into();
    }
    Ok(serde_json::to_string(&object)? + "\n")
}

fn to_text(report: &Report) -> String {
    let mut text = String::new();
    for checked in &report.conversations {
        text += &one(checked);
    }
    let counts = KINDS.map(|kind| format!("{kind} {}", report.count(kind)));
    let verdict = if report.is_sound() {
        "nothing is wrong"
    } else {
        "something is wrong"
    };
    let number = counted(report.conversations.len() as u64, "conversation");
    text + &format!("{number}: {verdict} ({})\n", counts.join(", "))
}

/// A number with its noun.
fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
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
    let lines = findings.map(|one| format!("  {} ({}): {}\n", one.kind, one.count, one.what));
    std::iter::once(proven).chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_counted_as_one() {
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(0, "run"), "0 runs");
        assert_eq!(counted(2, "byte"), "2 bytes");
        assert!(to_text(&Report::default()).starts_with("0 conversations: nothing is wrong"));
    }
}
