//! The canary: proof that a program asks before every tool, made before it is let near any work.
//!
//! For each program (path, size, time, version), mode and set of launch arguments a [`Trial`] runs it with the very
//! arguments of a run, in a home of its own whose settings allow everything, against a tiny Messages API of our own that
//! makes it call tools. Each call must come to us; nothing may have run. A proof is remembered in `canary.json`; a
//! failure is not, and refuses the start. The prompt also carries the simulator's script, so that the simulated CLI is
//! proven in the same way.

mod api;
mod leftover;
mod plan;
mod trial;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use estelle_claude::options::Cli;
use estelle_proto::{ApiError, ErrorCode, Retry};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::launch::{CliMode, LaunchRefused};
use crate::run::{read_record, write_record};

pub use trial::Trial;

/// Raised when the trial itself asks for more, so that older proofs are void.
const EDITION: u32 = 1;
const FILE: &str = "canary.json";
/// The folder in which trials take place.
const PLACES: &str = "canary";
/// The most proofs that are kept; the oldest go first.
const MAX_PROOFS: usize = 100;

/// Why a program is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CanaryError {
    /// The place of the trial cannot be made.
    #[error("failed to prepare the trial of the agent's program")]
    Place(#[from] io::Error),
    /// The arguments cannot be made.
    #[error(transparent)]
    Launch(#[from] LaunchRefused),
    /// It ended or failed before the trial was over.
    #[error("the agent's program failed in its trial: {reason}")]
    Failed {
        /// What it said.
        reason: String,
    },
    /// It prints without end.
    #[error(
        "the agent's program printed more than {limit} bytes in its trial: run it by hand to see why"
    )]
    TooMuch {
        /// How much is listened to.
        limit: usize,
    },
    /// It did not finish.
    #[error(
        "the agent's program did not finish its trial: try again, or run it by hand to see why"
    )]
    TimedOut,
    /// A tool ran, or would have run, without anybody being asked.
    #[error(
        "the agent's program called {tool} without asking, so its permissions cannot be enforced: install another \
         version of Claude Code"
    )]
    Unasked {
        /// Which tool.
        tool: String,
    },
    /// A tool of the trial was never called, so nothing is known about it.
    #[error(
        "the agent's program did not call {tool} in its trial, so nothing is proven: install another version of Claude Code"
    )]
    NotCalled {
        /// Which tool.
        tool: String,
    },
}

impl CanaryError {
    /// The same for the wire.
    pub fn to_api(&self) -> ApiError {
        let retry = match self {
            Self::Place(_) | Self::TimedOut | Self::Failed { .. } => Retry::Later,
            Self::Launch(_)
            | Self::TooMuch { .. }
            | Self::Unasked { .. }
            | Self::NotCalled { .. } => Retry::Never,
        };
        ApiError::new(ErrorCode::AgentUnavailable, self.to_string(), retry)
    }
}

/// What a proof is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Proof {
    edition: u32,
    program: PathBuf,
    size: u64,
    modified_s: i64,
    modified_ns: i64,
    version: String,
    mode: String,
    /// The arguments that matter, hashed.
    arguments: String,
}

/// The proofs of a data folder.
#[derive(Debug)]
pub struct Canary {
    data: PathBuf,
    proven: Mutex<Vec<Proof>>,
    /// One program at a time: conversations that start together wait for the same proofs.
    turn: Semaphore,
    is_on_trial: AtomicBool,
}

impl Canary {
    /// Reads the proofs; what cannot be read is proven again.
    pub fn load(data: &Path) -> Self {
        let proofs = read_record(&data.join(FILE)).ok().flatten();
        Self {
            data: data.to_owned(),
            proven: Mutex::new(proofs.unwrap_or_default()),
            turn: Semaphore::new(1),
            is_on_trial: AtomicBool::new(false),
        }
    }

    /// What is found where trials take place: all of it was left by hosts that died, if this is asked before the first.
    ///
    /// The future ends their processes and removes the places.
    pub fn clean_up(&self) -> impl Future<Output = ()> + Send + use<> {
        leftover::clean_up(&self.data.join(PLACES))
    }

    /// What a run that is being prepared waits for, in words.
    pub(crate) fn what_goes_on(&self) -> &'static str {
        if self.is_on_trial.load(Ordering::Relaxed) {
            "the agent's program is on trial: it must show that it asks before every tool"
        } else {
            "its process is about to be started"
        }
    }

    /// Makes sure that this program asks for everything in every mode that a run of it can come to be in, by earlier proofs
    /// or new ones. A run changes its mode while it lives, told by us or because a plan was approved, so the mode of its
    /// start alone proves nothing.
    pub async fn ensure(&self, cli: &Cli) -> Result<(), CanaryError> {
        if self.is_proven_in_all(cli)? {
            return Ok(());
        }
        // The semaphore is never closed.
        let _turn = self.turn.acquire().await;
        if self.is_proven_in_all(cli)? {
            return Ok(());
        }
        let _on_trial = OnTrial::begin(&self.is_on_trial);
        // Both at once, because somebody waits for the start.
        tokio::try_join!(
            self.prove(cli, CliMode::Default),
            self.prove(cli, CliMode::Plan)
        )?;
        Ok(())
    }

    fn is_proven_in_all(&self, cli: &Cli) -> io::Result<bool> {
        for mode in CliMode::ALL {
            if !self.is_proven(&proof(cli, mode)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn prove(&self, cli: &Cli, mode: CliMode) -> Result<(), CanaryError> {
        let wanted = proof(cli, mode)?;
        if self.is_proven(&wanted) {
            return Ok(());
        }
        let trial = Trial::prepare(cli, mode, &self.data.join(PLACES)).await?;
        trial.run().await?;
        // A program that was replaced during its trial has proven nothing.
        if proof(cli, mode)? != wanted {
            let reason = "it was replaced meanwhile".to_owned();
            return Err(CanaryError::Failed { reason });
        }
        self.remember(wanted);
        Ok(())
    }

    fn is_proven(&self, wanted: &Proof) -> bool {
        self.proofs().contains(wanted)
    }

    fn remember(&self, proof: Proof) {
        let mut proofs = self.proofs();
        proofs.push(proof);
        let surplus = proofs.len().saturating_sub(MAX_PROOFS);
        proofs.drain(..surplus);
        if let Err(error) = write_record(&self.data.join(FILE), &*proofs) {
            tracing::warn!(%error, "the proof could not be written down and will be made again");
        }
    }

    fn proofs(&self) -> std::sync::MutexGuard<'_, Vec<Proof>> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As long as it is there, a trial goes on.
struct OnTrial<'a>(&'a AtomicBool);

impl<'a> OnTrial<'a> {
    fn begin(flag: &'a AtomicBool) -> Self {
        flag.store(true, Ordering::Relaxed);
        Self(flag)
    }
}

impl Drop for OnTrial<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

fn proof(cli: &Cli, mode: CliMode) -> io::Result<Proof> {
    let metadata = fs::metadata(cli.path())?;
    Ok(Proof {
        edition: EDITION,
        program: cli.path().to_owned(),
        size: metadata.size(),
        modified_s: metadata.mtime(),
        modified_ns: metadata.mtime_nsec(),
        version: cli.version().to_string(),
        mode: mode.as_str().to_owned(),
        arguments: trial::arguments_hash(cli, mode),
    })
}
