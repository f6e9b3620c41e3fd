//! The folder of a run: its files, their names and their shapes.
//!
//! Folders are 0700 and files 0600. Small records are written beside their place, synced and renamed, so a
//! reader sees the whole record or none.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use estelle_proto::Generation;
use rustix::fs::{CWD, Mode, mkfifoat};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lock::Lock;

/// What to execute; in a file, because an argument list can be read by everybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchRecord {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// The version the CLI said it has.
    pub cli_version: String,
}

/// A process that was started; written before it becomes the CLI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The pid of the CLI.
    pub pid: u32,
    /// Its start time in clock ticks after boot, which with the pid names a process for good.
    pub start_ticks: u64,
    /// The pid of the shim.
    pub shim_pid: u32,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The version the CLI said it has.
    pub cli_version: String,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExitRecord {
    /// The CLI returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a generation with a fresh FIFO and what to execute, all synced.
    pub fn create(runs: &Path, generation: Generation, launch: &LaunchRecord) -> io::Result<Self> {
        let folder = Self {
            path: runs.join(generation.0.to_string()),
        };
        DirBuilder::new().recursive(true).mode(0o700).create(runs)?;
        DirBuilder::new().mode(0o700).create(&folder.path)?;
        mkfifoat(CWD, folder.fifo(), Mode::RUSR | Mode::WUSR)?;
        write_record(&folder.launch(), launch)?;
        sync_folder(runs)?;
        Ok(folder)
    }

    /// A folder that exists.
    pub fn open(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locked for as long as the shim or the CLI lives.
    pub fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// The CLI's standard input.
    pub fn fifo(&self) -> PathBuf {
        self.path.join("in.fifo")
    }

    /// The CLI's standard output.
    pub fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// The CLI's standard error.
    pub fn stderr(&self) -> PathBuf {
        self.path.join("err.log")
    }

    /// What to execute.
    pub fn launch(&self) -> PathBuf {
        self.path.join("launch.json")
    }

    /// What was to be executed, if that can be read.
    pub fn load_launch(&self) -> io::Result<Option<LaunchRecord>> {
        read_record(&self.launch())
    }

    /// The process that runs, once there is one.
    pub fn load_run(&self) -> io::Result<Option<RunRecord>> {
        read_record(&self.path.join(RUN))
    }

    /// How it ended, once the shim has said so.
    pub fn load_exit(&self) -> io::Result<Option<ExitRecord>> {
        read_record(&self.path.join(EXIT))
    }

    /// Whether the CLI may still run: its end was not written down and the lock is held.
    pub fn is_alive(&self) -> io::Result<bool> {
        Ok(!self.path.join(EXIT).exists() && Lock::is_held(&self.lock())?)
    }

    /// Whether this generation was given up; nothing revives it.
    pub fn is_tombstoned(&self) -> bool {
        self.path.join(TOMBSTONE).exists()
    }

    /// Puts a file into the folder, whole or not at all.
    pub fn store_file(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        write_file(&self.path.join(name), contents)
    }

    pub(super) fn store_run(&self, run: &RunRecord) -> io::Result<()> {
        write_record(&self.path.join(RUN), run)
    }

    pub(super) fn store_exit(&self, exit: ExitRecord) -> io::Result<()> {
        write_record(&self.path.join(EXIT), &exit)
    }

    /// **Invariant:** only under the run's lock.
    pub(super) fn store_tombstone(&self, reason: &str) -> io::Result<()> {
        write_record(&self.path.join(TOMBSTONE), &reason)
    }
}

const JOURNAL: &str = "out.jsonl";
const EXIT: &str = "exit.json";
const RUN: &str = "run.json";
const TOMBSTONE: &str = "tombstone";

/// Reads a record, or nothing when it is not there.
pub(crate) fn read_record<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a record, whole or not at all.
pub(crate) fn write_record(path: &Path, record: &impl Serialize) -> io::Result<()> {
    write_file(path, &serde_json::to_vec(record)?)
}

fn write_file(path: &Path, contents: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(contents)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
