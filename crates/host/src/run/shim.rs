//! The shim: the resident parent of one CLI, because nobody else could tell its exit code after a crash.
//!
//! It takes the lock, starts the child, waits, writes down how it ended, ends what the CLI left behind, exits. It
//! never touches FIFO or journal once the child has them, never listens, restarts or logs, and has no runtime. A
//! request to end does not end it: it ends with its CLI. Killed, it takes nothing with it.
//!
//! The child is this same program in another role ([`become_cli`]): it makes a session of its own, writes down its
//! pid, and then becomes the CLI. That needs no code between fork and exec.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, getppid, pidfd_open,
    pidfd_send_signal, set_child_subreaper, setsid, wait, waitpid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::folder::{ExitRecord, LaunchRecord, RunFolder, RunRecord, read_record};
use super::lock::{Heirs, Lock};

/// How long what the CLI left behind has to end after it was asked to.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// How often what is left is killed: once for each generation of processes that only a kill ends.
const ROUNDS: usize = 32;

/// Runs the shim of a run to its end. `child` is the program and arguments of the other role.
pub fn run(folder: &RunFolder, mut child: Command) -> io::Result<()> {
    // A shim that already leads a session is as good.
    let _ = setsid();
    withstand_requests_to_end()?;
    let lock = Lock::take(&folder.lock(), Heirs::Children)?;
    if folder.is_tombstoned() || folder.load_run()?.is_some() {
        return Ok(());
    }
    set_child_subreaper(Some(getpid()))?;
    child
        .stdin(open_fifo(folder)?)
        .stdout(append(&folder.journal())?)
        .stderr(append(&folder.stderr())?);
    let spawned = child.spawn()?;
    // With the command go our descriptors of FIFO and journal.
    drop(child);
    let exit = wait_for(spawned.id())?;
    folder.store_exit(exit)?;
    end_orphans();
    drop(lock);
    Ok(())
}

/// The child's role: a session of its own, a record of the pid, then the CLI in its place. Returns only on failure.
pub fn become_cli(folder: &RunFolder) -> io::Result<()> {
    // A child that already leads a session is as good.
    let _ = setsid();
    let launch: LaunchRecord = read_record(&folder.launch())?
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the run has no launch record"))?;
    folder.store_run(&RunRecord {
        pid: std::process::id(),
        start_ticks: start_ticks(std::process::id())?,
        shim_pid: getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs()),
        argv: std::iter::once(launch.program.to_string_lossy().into_owned())
            .chain(launch.args.iter().cloned())
            .collect(),
        cli_version: launch.cli_version,
    })?;
    super::cgroup::enter(folder);
    let error = Command::new(&launch.program)
        .args(&launch.args)
        .env_clear()
        .envs(&launch.env)
        .current_dir(&launch.cwd)
        .exec();
    Err(error)
}

/// What a process has in the foreground of its terminal: the eighth field of its line.
pub(crate) fn foreground_of(pid: u32) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let group: i32 = fields.split_whitespace().nth(5)?.parse().ok()?;
    // Of a process without a terminal it is -1.
    (group > 0).then(|| Pid::from_raw(group)).flatten()
}

/// When a process began, in clock ticks after boot.
pub fn start_ticks(pid: u32) -> io::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the process may hold spaces and brackets; what follows it does not.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    // Field 22 of the whole line is the 20th behind the name.
    let ticks = fields
        .split_whitespace()
        .nth(19)
        .and_then(|ticks| ticks.parse().ok());
    ticks.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "unexpected form of /proc/pid/stat",
        )
    })
}

/// Handlers instead of ignoring: they do not survive the child's exec, ignoring would.
fn withstand_requests_to_end() -> io::Result<()> {
    for signal in [SIGTERM, SIGHUP, SIGINT] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Open for reading and writing, so that the CLI's input never ends because a writer went away.
fn open_fifo(folder: &RunFolder) -> io::Result<Stdio> {
    let fifo = OpenOptions::new()
        .read(true)
        .write(true)
        .open(folder.fifo())?;
    Ok(OwnedFd::from(fifo).into())
}

fn append(path: &Path) -> io::Result<Stdio> {
    let file: File = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    Ok(OwnedFd::from(file).into())
}

/// Waits for the child, reaping on the way whatever was adopted.
fn wait_for(pid: u32) -> io::Result<ExitRecord> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if raw(ended) == pid => return Ok(exit_of(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn exit_of(status: WaitStatus) -> ExitRecord {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitRecord::Code(code),
        (None, signal) => ExitRecord::Signal(signal.unwrap_or(0)),
    }
}

/// Takes note of the end of adopted processes, and of no other child.
pub(crate) fn reap_adopted(own: Option<u32>) {
    for pid in children().into_iter().filter(|pid| Some(raw(*pid)) != own) {
        // One that lives is left alone.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Ends what the CLI started and left: first asked, then by force, until there is none.
pub(crate) fn end_orphans() {
    // What a killed one had started comes to us with its end, so it takes several rounds.
    let rounds = std::iter::once(Signal::TERM).chain(std::iter::repeat_n(Signal::KILL, ROUNDS));
    for signal in rounds {
        let orphans: Vec<OwnedFd> = children().into_iter().filter_map(open_pidfd).collect();
        for orphan in &orphans {
            // One that ended meanwhile is what was wanted.
            let _ = pidfd_send_signal(orphan, signal);
        }
        for orphan in &orphans {
            await_end(orphan);
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if children().is_empty() {
            return;
        }
    }
}

fn open_pidfd(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn await_end(pidfd: &OwnedFd) {
    let limit = Timespec::try_from(ORPHAN_GRACE).ok();
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    // An interrupted or failed wait only shortens the grace.
    let _ = poll(&mut fds, limit.as_ref());
}

/// The children of this single-threaded process.
fn children() -> Vec<Pid> {
    let own = std::process::id();
    let list =
        std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    list.split_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

fn raw(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().unsigned_abs()
}
