//! `estelle bugs`: what people reported to the Pylon of this machine.
//!
//! The reports are read from the data folder, so that they can be seen while nothing runs.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_pylon::bugs::{self, Bug};

use crate::chat::clean;
use crate::data::DataArgs;

/// Show the bug reports that were sent to this machine, oldest first.
#[derive(Debug, Args)]
pub(crate) struct BugsArgs {
    #[command(flatten)]
    data: DataArgs,
    /// How many reports, from the end.
    #[arg(
        long = "limit",
        short = 'n',
        value_name = "NUMBER",
        default_value_t = 20
    )]
    limit: usize,
    /// All reports.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Print each report as a line of JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &BugsArgs) -> anyhow::Result<ExitCode> {
    let folders = args.data.folders()?;
    let mut files = folders.iter().map(|folder| folder.join(bugs::FILE));
    let file = files.find(|file| file.exists());
    let reports = match &file {
        Some(file) => bugs::list(file)
            .with_context(|| format!("failed to read the reports in {}", file.display()))?,
        None => Vec::new(),
    };
    if reports.is_empty() && !args.json {
        anstream::println!("Nobody has reported a bug to this machine.");
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = if args.all { usize::MAX } else { args.limit };
    let from = reports.len().saturating_sub(wanted);
    let mut out = anstream::stdout().lock();
    for report in &reports[from..] {
        let shown = if args.json {
            serde_json::to_string(report)?
        } else {
            text(report)
        };
        match writeln!(out, "{shown}") {
            // Whoever reads our output has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break,
            written => written?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A report for people: where it came from in one line, then what it says.
fn text(bug: &Bug) -> String {
    let received = bug.received_at.as_str();
    let minute = received.get(..16).unwrap_or(received).replace('T', " ");
    let device = bug.device_name.as_deref().unwrap_or("this machine");
    let app = bug.app_version.as_deref();
    let app = app.map_or_else(String::new, |app| format!(" ({app})"));
    let about = bug.conversation_id.as_ref();
    let about = about.map_or_else(String::new, |id| format!(", conversation {id}"));
    let head = format!("{minute}  {device}{app}{about}, build {}", bug.version);
    let body = clean::text(bug.message.as_str());
    let body: Vec<String> = body.lines().map(|line| format!("  {line}")).collect();
    format!("{}\n{}", clean::line(&head), body.join("\n"))
}
