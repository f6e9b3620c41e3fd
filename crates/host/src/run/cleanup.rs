//! Ending what a run leaves behind: processes that outlive the CLI, in sessions and groups of their own.
//!
//! Two nets. The run's control group ([`super::cgroup`]), where there is one, ends as a whole. And every process that
//! carries the run's mark in its environment is looked for and ended: first asked, then by force, until there is none.
//! A process that drops both its environment and its group escapes; the shim catches it if it lived to see its parent
//! die.
//!
//! A start that hangs has neither yet; it is known by the lock that it keeps.
//!
//! **Invariant:** a signal goes to the very process whose mark or lock was seen. Its descriptor is opened before the reading
//! and checked after it, so a number that was given to another meanwhile is never hit.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};

use super::cgroup;
use super::folder::RunFolder;
use crate::launch::RUN_VARIABLE;

/// How long what was asked to end may take before it is forced.
const GRACE: Duration = Duration::from_secs(2);
/// How long everything may take: only what hangs in the kernel needs longer, and nobody can hurry that.
const LIMIT: Duration = Duration::from_secs(6);
/// How often new ones are looked for: what is being ended may still start others.
const ROUNDS: usize = 5;
/// Most bytes read of an environment; Linux allows no more by default.
const MAX_ENVIRONMENT_BYTES: u64 = 6 * 1024 * 1024;

/// What came of a clean-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Processes that were ended.
    pub ended: usize,
    /// Processes that are still there.
    pub left: usize,
}

/// Ends everything that belongs to a run. `marker` is [`crate::launch::run_marker`].
///
/// Only for a run that is over or shall be: the CLI itself carries the mark. Waits on a thread of its own.
pub async fn clean_up(folder: &RunFolder, marker: &str) -> Cleaned {
    let (folder, marker) = (folder.clone(), marker.to_owned());
    let cleaned = tokio::task::spawn_blocking(move || clean_up_here(&folder, &marker)).await;
    // The task is never cancelled; should it fail, nothing is known to have been ended.
    cleaned.unwrap_or_default()
}

fn clean_up_here(folder: &RunFolder, marker: &str) -> Cleaned {
    cgroup::end(folder);
    let mut cleaned = Cleaned::default();
    let deadline = Instant::now() + LIMIT;
    for round in 0..ROUNDS {
        let found = left_behind(marker);
        cleaned.left = 0;
        if found.is_empty() {
            break;
        }
        let patience = if round == 0 { GRACE } else { Duration::ZERO };
        let count = found.len();
        let asked = signal_all(found, Signal::TERM, Instant::now() + patience);
        cleaned.left = signal_all(asked, Signal::KILL, deadline).len();
        cleaned.ended += count - cleaned.left;
    }
    // By now the group is empty and can go.
    cgroup::end(folder);
    cleaned
}

/// Kills whoever keeps the lock of a run that has no CLI yet: a shim that is held, or hangs, on the way to it.
///
/// Only for a run that shall not begin. Waits on a thread of its own.
pub async fn end_start(folder: &RunFolder) {
    let lock = folder.lock();
    let end = move || {
        let keepers = with_open(&lock);
        signal_all(keepers, Signal::KILL, Instant::now() + GRACE);
    };
    // Whoever is left is found by the next look.
    let _ = tokio::task::spawn_blocking(end).await;
}

/// Processes of this user that carry the mark of a run, this one excepted.
fn left_behind(marker: &str) -> Vec<OwnedFd> {
    let entry = format!("{RUN_VARIABLE}={marker}");
    processes_that(|place| is_marked(place, entry.as_bytes()))
}

/// Processes of this user that have a file open, this one excepted.
fn with_open(file: &Path) -> Vec<OwnedFd> {
    let Ok(file) = fs::metadata(file) else {
        return Vec::new();
    };
    processes_that(|place| {
        let open = fs::read_dir(place.join("fd")).ok()?.flatten();
        let mut open = open.filter_map(|entry| fs::metadata(entry.path()).ok());
        Some(open.any(|one| (one.dev(), one.ino()) == (file.dev(), file.ino())))
    })
}

/// Descriptors of the processes of this user that are alive and as wanted, this one excepted.
fn processes_that(is_wanted: impl Fn(&Path) -> Option<bool>) -> Vec<OwnedFd> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = std::process::id();
    let user = geteuid().as_raw();
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != own)
        .filter_map(|pid| {
            let place = PathBuf::from(format!("/proc/{pid}"));
            if fs::metadata(&place).ok()?.uid() != user {
                return None;
            }
            let raw = Pid::from_raw(i32::try_from(pid).ok()?)?;
            let process = pidfd_open(raw, PidfdFlags::empty()).ok()?;
            (is_wanted(&place)? && !has_ended(&process)).then_some(process)
        })
        .collect()
}

/// Whether the environment of a process has this entry.
fn is_marked(place: &Path, entry: &[u8]) -> Option<bool> {
    let mut environment = Vec::new();
    File::open(place.join("environ"))
        .ok()?
        .take(MAX_ENVIRONMENT_BYTES)
        .read_to_end(&mut environment)
        .ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    Some(variables.any(|variable| variable == entry))
}

fn has_ended(process: &OwnedFd) -> bool {
    ends_within(process, Duration::ZERO)
}

/// Sends a signal to all and waits for their ends; those that are left come back.
fn signal_all(processes: Vec<OwnedFd>, signal: Signal, deadline: Instant) -> Vec<OwnedFd> {
    for process in &processes {
        // One that ended meanwhile is what was wanted.
        let _ = pidfd_send_signal(process, signal);
    }
    let lasts = |process: &OwnedFd| {
        let rest = deadline.saturating_duration_since(Instant::now());
        !ends_within(process, rest)
    };
    processes.into_iter().filter(lasts).collect()
}

/// Waits for the end of a process. One that cannot be asked counts as ended.
fn ends_within(process: &OwnedFd, patience: Duration) -> bool {
    let mut fds = [PollFd::new(process, PollFlags::IN)];
    let limit = Timespec::try_from(patience).unwrap_or_default();
    match poll(&mut fds, Some(&limit)) {
        Ok(ready) => ready > 0,
        // An interrupted wait only shortens the patience.
        Err(Errno::INTR) => false,
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn sleeper(marker: &str, script: &str) -> Child {
        Command::new("sh")
            .args(["-c", script])
            .env(RUN_VARIABLE, marker)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Waits until the script has said that it is ready.
    fn ready(child: &mut Child) {
        let mut byte = [0];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut byte)
            .unwrap();
    }

    #[tokio::test]
    async fn what_carries_the_mark_is_ended_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(place.path());
        let marker = format!("conv-cleanup-{}/1", std::process::id());
        let mut stubborn = sleeper(&marker, "trap '' TERM; echo; while :; do sleep 600; done");
        let mut alone = sleeper(&marker, "echo; exec setsid sleep 600");
        let mut other = sleeper(&format!("{marker}0"), "echo; exec sleep 600");
        for child in [&mut stubborn, &mut alone, &mut other] {
            ready(child);
        }
        let cleaned = clean_up(&folder, &marker).await;
        assert!(cleaned.ended >= 2, "{cleaned:?}");
        assert_eq!(cleaned.left, 0);
        stubborn.wait().unwrap();
        alone.wait().unwrap();
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(clean_up(&folder, &marker).await, Cleaned::default());
    }
}
