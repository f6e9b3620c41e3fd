//! Copies of a machine's memory, and making it anew: `estelle backup`, `restore` and `rebuild`.
//!
//! ```text
//!   backup/   backup.json   what it is, and of when
//!             pylon.db      workspaces, names, settings, history, usage: one moment of it
//!             relay.json    realms and devices, with the hashes of their secrets
//!             conversations/  the host's logs and what the agents printed
//!             rules.json, trust.json, defaults.json, deny.json   what people allowed, trusted and forbade, as far as they did
//!             uploads/      what people attached to messages
//! ```
//!
//! Left out are secrets in the clear, the environment of runs, and the list of what was revoked: a device that was shut
//! out stays so, whichever copy of the registry is put back. Claude Code's own transcripts are its own.

mod backup;
mod rebuild;
mod restore;

pub(crate) use backup::{BackupArgs, run as backup};
pub(crate) use rebuild::{RebuildArgs, run as rebuild};
pub(crate) use restore::{RestoreArgs, at_rest, run as restore};

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

const MANIFEST: &str = "backup.json";
const DATABASE: &str = "pylon.db";
const REGISTRY: &str = "relay.json";
const CONVERSATIONS: &str = "conversations";
const UPLOADS: &str = "uploads";
/// What people have set for the host; each may be missing.
const SETTINGS: [&str; 4] = ["rules.json", "trust.json", "defaults.json", "deny.json"];
/// The format of a backup.
const FORMAT: u32 = 1;

/// What a backup says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    format: u32,
    build: String,
    at: String,
    conversations: usize,
    /// The settings of the host that there were; an older backup has none and does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<Vec<String>>,
}

/// A folder that its user alone can open.
fn make_folder(path: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    made.with_context(|| format!("failed to make {}", path.display()))
}

/// Files of a conversation that are not copied: they are of this machine and this moment, or hold an environment.
fn is_left_out(name: &str) -> bool {
    matches!(name, "launch.json" | "lock" | "log.new")
}

/// Copies the regular files of a folder and the folders in it.
fn copy_tree(from: &Path, to: &Path) -> anyhow::Result<()> {
    make_folder(to)?;
    let failed = || format!("failed to read {}", from.display());
    for entry in fs::read_dir(from).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let name = entry.file_name();
        let kind = entry.file_type().with_context(failed)?;
        let (source, copy) = (entry.path(), to.join(&name));
        if kind.is_dir() {
            copy_tree(&source, &copy)?;
        } else if kind.is_file() && !is_left_out(&name.to_string_lossy()) {
            copy_file(&source, &copy)?;
        }
    }
    sync_folder(to)
}

/// The names in a folder are on the disk as well.
fn sync_folder(folder: &Path) -> anyhow::Result<()> {
    let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("failed to write {}", folder.display()))
}

/// Copies a file; one that is gone meanwhile is none.
fn copy_file(from: &Path, to: &Path) -> anyhow::Result<()> {
    match fs::copy(from, to).and_then(|_| fs::File::open(to)?.sync_all()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("failed to copy {}", from.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A name beside another: `backup.part`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
