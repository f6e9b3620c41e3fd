//! Starting a run so that it is started once or never.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::folder::RunFolder;
use super::lock::{Heirs, Lock};

/// How to run our own program as a shim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShimCommand {
    /// The program.
    pub program: PathBuf,
    /// What comes before the folder.
    pub args: Vec<String>,
}

/// Why a run could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The shim could not be started.
    #[error("failed to start the shim {}", program.display())]
    Spawn {
        /// What was to be run.
        program: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

/// Starts the shim of a prepared run. The caller reaps the returned process; its death means nothing.
pub fn start(folder: &RunFolder, shim: &ShimCommand) -> Result<Child, StartError> {
    Command::new(&shim.program)
        .args(&shim.args)
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| StartError::Spawn {
            program: shim.program.clone(),
            source,
        })
}

/// Starts the shim of a prepared run and lets go of it: the runtime reaps it, and its death means nothing.
pub fn start_detached(folder: &RunFolder, shim: &ShimCommand) -> Result<(), StartError> {
    tokio::process::Command::new(&shim.program)
        .args(&shim.args)
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(false)
        .spawn()
        .map(drop)
        .map_err(|source| StartError::Spawn {
            program: shim.program.clone(),
            source,
        })
}

/// What came of the attempt to give a generation up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tombstoned {
    /// It will never run again.
    Yes,
    /// It runs; end it first.
    Alive,
}

/// Gives a generation up for good, unless it lives.
///
/// **Invariant:** the tombstone is written under the lock and the shim looks for it under the lock, so a late shim
/// finds it and starts nothing.
pub fn tombstone(folder: &RunFolder, reason: &str) -> io::Result<Tombstoned> {
    let Some(_lock) = Lock::try_take(&folder.lock(), Heirs::None)? else {
        return Ok(Tombstoned::Alive);
    };
    folder.store_tombstone(reason)?;
    Ok(Tombstoned::Yes)
}
