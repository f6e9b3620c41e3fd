//! The host as a process: started, stopped in its tracks, killed.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::agent::Prepared;
use super::programs::Programs;

/// Longest wait for a host to listen.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// What shall go wrong in a host.
#[derive(Debug, Clone, Default)]
pub struct HostOptions {
    /// The failpoint at which it dies, as in `ESTELLE_FAILPOINT`.
    pub failpoint: Option<String>,
    /// The most descriptors it may have.
    pub descriptors: Option<u64>,
    /// How wrong its clock is.
    pub clock_skew_ms: Option<i64>,
    /// More arguments.
    pub args: &'static [&'static str],
}

/// A program that may open only so many files. The limit is set by the shell, which then becomes the program.
pub(super) fn limited(program: &Path, descriptors: Option<u64>) -> Command {
    let Some(limit) = descriptors else {
        return Command::new(program);
    };
    let mut shell = Command::new("/bin/sh");
    shell
        .arg("-c")
        .arg(format!("ulimit -n {limit}; exec \"$0\" \"$@\""))
        .arg(program);
    shell
}

/// A host.
#[derive(Debug)]
pub struct HostProcess {
    child: Child,
}

impl HostProcess {
    pub(super) fn spawn(
        programs: &Programs,
        agent: &Prepared,
        place: &Path,
        data: &Path,
        options: &HostOptions,
    ) -> anyhow::Result<Self> {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(place.join("host.log"))?;
        let mut command = limited(&programs.estelle, options.descriptors);
        command
            .args(["host", "--data"])
            .arg(data)
            .arg("--claude")
            .arg(&agent.program)
            .args(options.args)
            .env_clear()
            .envs(&agent.env)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Its own group, so that a signal to the terminal of a test does not reach it.
            .process_group(0);
        if let Some(failpoint) = &options.failpoint {
            command.env("ESTELLE_FAILPOINT", failpoint);
        }
        if let Some(skew) = options.clock_skew_ms {
            command.env("ESTELLE_CLOCK_SKEW_MS", skew.to_string());
        }
        let child = command.spawn().context("start the host")?;
        Ok(Self { child })
    }

    /// Its pid.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it with -9 and waits until it is gone.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Whether it has died by itself.
    pub fn has_died(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until it has died by itself.
    pub async fn await_death(&mut self) -> anyhow::Result<ExitStatus> {
        let deadline = tokio::time::Instant::now() + START_LIMIT;
        while tokio::time::Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("the host did not die")
    }

    /// Holds it, or lets it go on.
    pub fn signal(&self, what: Signal) -> anyhow::Result<()> {
        signal(self.pid(), what)
    }
}

/// Sends a signal to a process that the rig knows.
pub(super) fn signal(pid: u32, what: Signal) -> anyhow::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    kill_process(pid.context("no such pid")?, what).context("send a signal")
}

/// Waits until this host listens.
///
/// One that was killed while it started a process may seem to listen a moment longer, so the lock must name the new one.
pub(super) async fn await_socket(data: &Path, pid: u32) -> anyhow::Result<()> {
    let lock = data.join("host.lock");
    let is_ours =
        || std::fs::read_to_string(&lock).is_ok_and(|text| text.trim() == pid.to_string());
    let socket = data.join("host.sock");
    let deadline = tokio::time::Instant::now() + START_LIMIT;
    while tokio::time::Instant::now() < deadline {
        if is_ours() && tokio::net::UnixStream::connect(&socket).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    bail!("no host listens on {}", socket.display())
}
