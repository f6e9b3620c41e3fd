//! Which processes belong to which run: by the records of the runs and by the mark in their environment.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use estelle_host::run::{RunFolder, RunRecord};
use estelle_proto::ConversationId;
use rustix::process::Signal;

use super::host::signal;
use super::viewer::PATIENCE;
use crate::history::{Process, Role};

/// How often a process is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// The variable that every process of a run has.
const MARK: &str = "ESTELLE_RUN=";

/// The runs of a conversation, oldest first, with the records of those that have a process.
pub fn run_records(data: &Path, id: &ConversationId) -> Vec<(u64, RunFolder, Option<RunRecord>)> {
    let runs = data.join("conversations").join(id.as_str()).join("runs");
    let folders = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let mut records: Vec<_> = folders
        .filter_map(|folder| {
            let number = folder.file_name().to_str()?.parse().ok()?;
            let folder = RunFolder::open(folder.path());
            let record = folder.load_run().ok().flatten();
            Some((number, folder, record))
        })
        .collect();
    records.sort_by_key(|(number, ..)| *number);
    records
}

/// Waits until the newest run of a conversation has a process that lives.
pub(super) async fn await_run(data: &Path, id: &ConversationId) -> anyhow::Result<RunRecord> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while tokio::time::Instant::now() < deadline {
        if let Some((_, folder, Some(record))) = run_records(data, id).pop()
            && folder.is_alive().unwrap_or_default()
        {
            return Ok(record);
        }
        tokio::time::sleep(LOOK).await;
    }
    bail!("{id} has no process")
}

/// Waits until one of these files holds a text so many times.
pub(super) async fn await_text(files: &[PathBuf], text: &str, times: usize) -> anyhow::Result<()> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while tokio::time::Instant::now() < deadline {
        let holds = |file: &PathBuf| {
            let bytes = std::fs::read(file).unwrap_or_default();
            String::from_utf8_lossy(&bytes).matches(text).count() >= times
        };
        if files.iter().any(holds) {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    bail!("{text} never appeared in {files:?}")
}

/// Whether no process has this pid, or only what is left of one.
pub fn is_gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

/// All processes that belong to runs of a conversation.
pub(super) fn processes(data: &Path, id: &ConversationId) -> Vec<Process> {
    let records = run_records(data, id);
    let role = |pid: u32| {
        let is = |of: fn(&RunRecord) -> u32| {
            records
                .iter()
                .any(|(.., record)| record.as_ref().is_some_and(|record| of(record) == pid))
        };
        if is(|record| record.pid) {
            Role::Cli
        } else if is(|record| record.shim_pid) {
            Role::Shim
        } else {
            Role::Child
        }
    };
    let mut found: Vec<Process> = marked(id)
        .map(|(pid, generation)| Process {
            pid,
            conversation: id.to_string(),
            generation,
            role: role(pid),
        })
        .collect();
    // A shim need not bear the mark.
    for (generation, folder, record) in &records {
        let Some(pid) = record.as_ref().map(|record| record.shim_pid) else {
            continue;
        };
        let known = found.iter().any(|process| process.pid == pid);
        if !known && !is_gone(pid) && is_shim_of(pid, folder.path()) {
            found.push(Process {
                pid,
                conversation: id.to_string(),
                generation: *generation,
                role: Role::Shim,
            });
        }
    }
    found
}

fn is_shim_of(pid: u32, folder: &Path) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let folder = folder.to_string_lossy();
    String::from_utf8_lossy(&line).contains(folder.as_ref())
}

/// Processes with the mark of a conversation, and the run they name.
fn marked(id: &ConversationId) -> impl Iterator<Item = (u32, u64)> {
    let mark = format!("{MARK}{id}/");
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(move |folder| {
        let pid: u32 = folder.file_name().to_str()?.parse().ok()?;
        let environment = std::fs::read(folder.path().join("environ")).ok()?;
        let run = environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| std::str::from_utf8(variable).ok())
            .find_map(|variable| {
                let run = variable.strip_prefix(&mark)?;
                run.split('/').next()?.parse().ok()
            })?;
        (!is_gone(pid)).then_some((pid, run))
    })
}

/// Ends everything that still belongs to a conversation.
pub(super) fn end_all(id: &ConversationId) {
    for (pid, _) in marked(id) {
        // One that ended meanwhile is what was wanted.
        let _ = signal(pid, Signal::CONT);
        let _ = signal(pid, Signal::KILL);
    }
}
