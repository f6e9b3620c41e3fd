//! The hidden role of this program beside a command of a deploy: nothing of the command outlives whoever started it.
//!
//! It starts the command and reads its own standard input, on which nothing ever comes. When that ends, because the Pylon
//! let go of it or was killed, everything that the command has started is killed. The same happens to what is left when
//! the command has ended by itself, so that nobody waits for an output that a forgotten process holds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

/// How often a program is tried that is busy.
const TRIES: u32 = 100;
/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Which command.
#[derive(Debug, Args)]
pub(crate) struct LeashArgs {
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<OsString>,
}

/// What this process waits for.
enum Ended {
    Command,
    Owner,
}

/// Runs the subcommand.
pub(crate) fn run(args: &LeashArgs) -> anyhow::Result<ExitCode> {
    // Whatever loses its parent is handed to us, so that it can be found.
    set_child_subreaper(Some(getpid())).context("failed to take care of orphans")?;
    let mut child = start(&args.words)?;
    let (tell, ended) = mpsc::sync_channel(2);
    let owner = tell.clone();
    std::thread::spawn(move || {
        // Nothing comes; the end does.
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        let _ = owner.send(Ended::Owner);
    });
    let waiting = std::thread::spawn(move || {
        let status = child.wait();
        let _ = tell.send(Ended::Command);
        status
    });
    let first = ended.recv();
    kill_all();
    if !matches!(first, Ok(Ended::Command)) {
        return Ok(ExitCode::FAILURE);
    }
    let status = waiting.join();
    let status = status.map_err(|_| anyhow::anyhow!("the command was lost"))??;
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal).unwrap_or(1);
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Starts the command. A program that was just written is busy for a moment if another process was started meanwhile,
/// which has inherited its file until it is a program of its own.
fn start(words: &[OsString]) -> anyhow::Result<Child> {
    let (program, args) = words.split_first().context("there is no command")?;
    let (_never, pause) = mpsc::channel::<()>();
    let mut tries = 0;
    loop {
        let mut command = Command::new(program);
        match command.args(args).stdin(Stdio::null()).spawn() {
            Err(error) if is_busy(&error) && tries < TRIES => {
                tries += 1;
                let _ = pause.recv_timeout(PAUSE);
            }
            started => {
                let shown = || format!("failed to start {}", program.display());
                return started.with_context(shown);
            }
        }
    }
}

fn is_busy(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(Errno::TXTBSY.raw_os_error())
}

/// Kills all that descends from us, until nothing is left or can be.
fn kill_all() {
    const ROUNDS: usize = 50;
    for _ in 0..ROUNDS {
        let found = descendants(getpid());
        if found.is_empty() {
            return;
        }
        for pid in found {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        // Whoever is dead stays visible until somebody asks for its end.
        while let Ok(Some(_)) = rustix::process::waitpid(None, rustix::process::WaitOptions::NOHANG)
        {
        }
    }
}

/// Everybody whose parent, or parent's parent, is this process.
fn descendants(of: Pid) -> Vec<Pid> {
    let mut parents = BTreeMap::new();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes {
        let pid = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let stat = std::fs::read_to_string(process.path().join("stat"));
        if let (Some(pid), Ok(stat)) = (pid, stat)
            && let Some(parent) = parent(&stat)
        {
            parents.insert(pid, parent);
        }
    }
    let of = of.as_raw_nonzero().get();
    let descends = |pid: i32| {
        let mut at = pid;
        let mut steps = 0;
        while let Some(parent) = parents.get(&at).filter(|_| steps < 64) {
            if *parent == of {
                return true;
            }
            at = *parent;
            steps += 1;
        }
        false
    };
    let found = parents.keys().copied().filter(|pid| descends(*pid));
    found.filter_map(Pid::from_raw).collect()
}

/// The parent in a line of `/proc/<pid>/stat`; nothing for one that is dead already. The name may hold anything.
fn parent(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let state = words.next()?;
    words.next()?.parse().ok().filter(|_| state != "Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_whatever_the_name_is() {
        assert_eq!(parent("12 (a) b) S 7 12 12"), Some(7));
        assert_eq!(parent("12 (sh) Z 7 12 12"), None);
        assert_eq!(parent("12"), None);
    }
}
