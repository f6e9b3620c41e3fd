//! Asking a CLI for its version.
//!
//! Runs `--version` once per file: the answer is kept in memory as long as path, modification time and size stay
//! the same, because a start of the CLI costs a noticeable part of a second. The child is killed when the caller
//! gives up.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use super::cli::{command, is_script};
use super::{CliVersion, Environment, Launch, Options, Runtime};

/// Longest time for `--version`. The real CLI takes about 0.1 s; a loaded machine or a cold disk may take much
/// longer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(20);

/// Most bytes read of each stream; a version is one line.
const PROBE_OUTPUT_BYTES: u64 = 4096;

/// Most characters of a wrong answer that an error repeats.
const SHOWN_CHARACTERS: usize = 80;

/// Why the version is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The program could not be started.
    #[error(
        "cannot run {program:?} to ask its version: check that the file is complete and made for this machine"
    )]
    Spawn {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Its output could not be read.
    #[error("cannot read what {program:?} answers to --version")]
    Read {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It did not answer in time.
    #[error("{program:?} has not answered --version within {} s: run it by hand to see why", after.as_secs())]
    TimedOut {
        /// The program.
        program: PathBuf,
        /// The limit.
        after: Duration,
    },
    /// It failed.
    #[error("{program:?} --version failed ({status}): {stderr}")]
    Failed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The beginning of what it wrote to standard error.
        stderr: String,
    },
    /// It answered something else.
    #[error(
        "{program:?} answers --version with {output:?}, so it is not Claude Code: name the right program"
    )]
    NotAVersion {
        /// The program.
        program: PathBuf,
        /// The beginning of the first line it printed.
        output: String,
    },
}

/// What tells whether a file is still the one that was asked.
type Stamp = (SystemTime, u64);

/// Known versions. One entry per path, so it grows only with the number of programs named.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, (Stamp, CliVersion)>>> =
    LazyLock::new(Mutex::default);

/// The version of the CLI at `path`, from memory or by running it. A script is run with Node.
pub async fn probe(path: &Path) -> Result<CliVersion, ProbeError> {
    probe_as(path, None, &[], &Environment::inherited()).await
}

/// Like [`probe`], with the runtime and environment the CLI will later have.
pub(crate) async fn probe_as(
    path: &Path,
    runtime: Option<Runtime>,
    runtime_args: &[String],
    environment: &Environment,
) -> Result<CliVersion, ProbeError> {
    let stamp = stamp(path);
    if let Some(version) = stamp.and_then(|stamp| known(path, stamp)) {
        return Ok(version);
    }
    // Arguments of a runtime are needed to run the script; those of a binary belong to the session.
    let runtime_args = if is_script(path) { runtime_args } else { &[] };
    let (program, mut args) = command(path, runtime, runtime_args);
    args.push("--version".into());
    let env = Options::new()
        .environment(environment.clone())
        .environment_changes();
    let version = ask(
        Launch {
            program,
            args,
            env,
            cwd: None,
        },
        PROBE_TIMEOUT,
    )
    .await?;
    if let Some(stamp) = stamp {
        KNOWN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_owned(), (stamp, version));
    }
    Ok(version)
}

fn known(path: &Path, stamp: Stamp) -> Option<CliVersion> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .get(path)
        .filter(|(of, _)| *of == stamp)
        .map(|(_, version)| *version)
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

async fn ask(launch: Launch, limit: Duration) -> Result<CliVersion, ProbeError> {
    let mut command = Command::from(launch.command());
    let program = launch.program;
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let child = command.spawn().map_err(|source| ProbeError::Spawn {
        program: program.clone(),
        source,
    })?;
    let answer = tokio::time::timeout(limit, answer_of(child)).await;
    let (status, stdout, stderr) = answer
        .map_err(|_| ProbeError::TimedOut {
            program: program.clone(),
            after: limit,
        })?
        .map_err(|source| ProbeError::Read {
            program: program.clone(),
            source,
        })?;
    if !status.success() {
        return Err(ProbeError::Failed {
            program,
            status,
            stderr: stderr.trim().to_owned(),
        });
    }
    stdout.parse().map_err(|_| ProbeError::NotAVersion {
        program,
        output: first_line(&stdout),
    })
}

/// Enough of what a wrong program printed to recognise it.
fn first_line(output: &str) -> String {
    let line = output.trim().lines().next().unwrap_or_default();
    line.chars().take(SHOWN_CHARACTERS).collect()
}

async fn answer_of(mut child: Child) -> io::Result<(ExitStatus, String, String)> {
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    // Both streams at once: a child that fills the one we do not read would never end.
    let (stdout, stderr) =
        futures_util::future::try_join(beginning(stdout), beginning(stderr)).await?;
    Ok((child.wait().await?, stdout, stderr))
}

/// The first bytes of a stream; the rest is cut off by closing it.
async fn beginning(stream: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream
            .take(PROBE_OUTPUT_BYTES)
            .read_to_end(&mut bytes)
            .await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
