//! Where log lines of the parts go: to standard error, or to a file in the data folder.

use std::fs::{File, OpenOptions};
use std::io::IsTerminal as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

/// A log that has grown beyond this is put aside when the next program begins to write to it.
const LONGEST: u64 = 8 * 1024 * 1024;

/// Logs to standard error.
pub(crate) fn to_stderr(filter: &str) {
    // Somebody else may log already; then it is theirs.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .try_init();
}

/// Logs to a file, which is opened for appending.
pub(crate) fn to_file(filter: &str, path: &Path) -> anyhow::Result<()> {
    let file = open(path)?;
    let _ = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(false)
        .with_writer(Arc::new(file))
        .try_init();
    Ok(())
}

/// Opens a log for appending, readable by its user alone. One that is too long is put aside first.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    let is_long = path.metadata().is_ok_and(|data| data.len() > LONGEST);
    if is_long {
        let mut aside = path.as_os_str().to_owned();
        aside.push(".old");
        // Without it the log only gets longer.
        let _ = std::fs::rename(path, PathBuf::from(aside));
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options
        .open(path)
        .with_context(|| format!("failed to open {}", path.display()))
}
