//! Proves the conversations of a data folder from what is on the disk, and says what it cannot prove.
//!
//! For each conversation: the chain of its log; that the stretches in the log tile each journal from its first byte to
//! its last, with the hashes of the bytes that are there; that every message in the CLI's own transcript went through a
//! journal. Bytes that were given back to the disk can no longer be proven: they are *unproven*, which is neither good
//! nor bad. Nothing is changed, and a host may be at work meanwhile.
//!
//! The order of reading matters then: the log before the journals, so that what the log says is there already.

mod journal;
mod log;
mod published;
mod report;
mod transcript;

use std::io;
use std::path::{Path, PathBuf};

use estelle_proto::ConversationId;

use crate::run::lock::Lock;

pub use published::{Published, published};
pub use report::{Checked, Finding, FindingKind, Report};

/// Why nothing could be proven at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// There is no such conversation.
    #[error("there is no conversation {id} under {}", folder.display())]
    Unknown {
        /// Which.
        id: ConversationId,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A folder or file could not be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> VerifyError {
    let path = path.to_owned();
    move |source| VerifyError::Read { path, source }
}

/// Proves one conversation of a data folder, or all.
pub fn verify(data: &Path, only: Option<&ConversationId>) -> Result<Report, VerifyError> {
    let folder = data.join("conversations");
    let ids = match only {
        Some(id) if folder.join(id.as_str()).is_dir() => vec![id.clone()],
        Some(id) => {
            let id = id.clone();
            return Err(VerifyError::Unknown { id, folder });
        }
        None => conversations(&folder)?,
    };
    let lock = data.join("host.lock");
    let at_work = Lock::is_held(&lock).map_err(failed(&lock))?;
    let mut report = Report::default();
    for id in ids {
        let checked = verify_one(&folder.join(id.as_str()), &id, Host::new(at_work))?;
        report.conversations.push(checked);
    }
    Ok(report)
}

/// Whether a host may be writing while we read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Host {
    AtWork,
    Away,
}

impl Host {
    fn new(at_work: bool) -> Self {
        if at_work { Self::AtWork } else { Self::Away }
    }
}

fn conversations(folder: &Path) -> Result<Vec<ConversationId>, VerifyError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder)(error)),
    };
    let names = entries.flatten().filter(|entry| entry.path().is_dir());
    let mut ids: Vec<_> = names
        .filter_map(|entry| ConversationId::parse(entry.file_name().to_str()?).ok())
        .collect();
    ids.sort();
    Ok(ids)
}

fn verify_one(folder: &Path, id: &ConversationId, host: Host) -> Result<Checked, VerifyError> {
    let mut checked = Checked::new(id.clone());
    let entries = log::check(folder, host, &mut checked)?;
    let runs = journal::check(folder, &entries, host, &mut checked)?;
    transcript::check(&entries, &runs, &mut checked)?;
    Ok(checked)
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
