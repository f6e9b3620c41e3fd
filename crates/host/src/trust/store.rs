//! The answers that people gave, by folder and content.
//!
//! `trust.json` in the data folder, owner only, written whole. What cannot be read counts as nothing trusted.

use std::io;
use std::path::{Path, PathBuf};

use estelle_proto::Timestamp;
use serde::{Deserialize, Serialize};

use super::contents::{ContentHash, FolderContents};
use crate::launch::FolderTrust;
use crate::run::{read_record, write_record};

/// The most answers that are kept; the oldest go first.
const MAX_ENTRIES: usize = 2000;
const FILE: &str = "trust.json";
const FORMAT: u32 = 1;

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Load it.
    Allowed,
    /// Leave it.
    Denied,
}

/// An answer, with who gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    /// What was said.
    pub verdict: Verdict,
    /// Who said it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    folder: PathBuf,
    hash: ContentHash,
    answer: Answered,
}

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    format: u32,
    entries: Vec<Entry>,
}

/// How a folder stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It brings nothing that could run.
    Nothing,
    /// Somebody has answered about these very contents.
    Answered(Answered),
    /// A person has to be asked.
    Ask,
    /// It cannot be trusted; [`FolderContents::problems`] says why.
    Untrustable,
}

impl Standing {
    /// Whether what the folder brings may be loaded now.
    pub fn trust(&self) -> FolderTrust {
        match self {
            Self::Nothing
            | Self::Answered(Answered {
                verdict: Verdict::Allowed,
                ..
            }) => FolderTrust::Granted,
            Self::Answered(_) | Self::Ask | Self::Untrustable => FolderTrust::Withheld,
        }
    }
}

/// Why earlier answers are not known.
#[derive(Debug, thiserror::Error)]
#[error("the answers about trust in {path:?} cannot be read, so every folder is asked about again")]
pub struct StoreWarning {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Why an answer is not taken.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It cannot be trusted.
    #[error("this folder cannot be trusted: {0}")]
    Untrustable(#[from] super::Problem),
    /// It could not be written down.
    #[error("failed to write down the answer about trust")]
    Write(#[from] io::Error),
}

/// The answers of a data folder.
#[derive(Debug)]
pub struct TrustStore {
    path: PathBuf,
    entries: Vec<Entry>,
}

impl TrustStore {
    /// Reads the answers. A file that cannot be read is put aside and counts as empty.
    pub fn load(data: &Path) -> (Self, Option<StoreWarning>) {
        let path = data.join(FILE);
        let (entries, warning) = match read_record::<Document>(&path) {
            Ok(Some(document)) if document.format == FORMAT => (document.entries, None),
            Ok(None) => (Vec::new(), None),
            Ok(Some(_)) => (Vec::new(), Some(io::ErrorKind::Unsupported.into())),
            Err(source) => (Vec::new(), Some(source)),
        };
        let warning = warning.map(|source| {
            // Kept for people to look at; a failed rename leaves it where it is, still unused.
            let _ = std::fs::rename(&path, path.with_extension("json.damaged"));
            StoreWarning {
                path: path.clone(),
                source,
            }
        });
        (Self { path, entries }, warning)
    }

    /// How a folder stands with its present contents.
    pub fn standing(&self, contents: &FolderContents) -> Standing {
        if contents.brings_nothing() {
            return Standing::Nothing;
        }
        if !contents.problems.is_empty() {
            return Standing::Untrustable;
        }
        let answers = self.entries.iter().rev();
        answers
            .into_iter()
            .find(|entry| entry.folder == contents.folder && entry.hash == contents.hash)
            .map_or(Standing::Ask, |entry| {
                Standing::Answered(entry.answer.clone())
            })
    }

    /// Writes an answer down about these very contents.
    pub fn record(
        &mut self,
        contents: &FolderContents,
        answer: Answered,
    ) -> Result<(), RecordError> {
        if let (Verdict::Allowed, Some(problem)) = (answer.verdict, contents.problems.first()) {
            return Err(problem.clone().into());
        }
        let mut entries: Vec<Entry> = self.entries.clone();
        entries.retain(|entry| entry.folder != contents.folder || entry.hash != contents.hash);
        entries.push(Entry {
            folder: contents.folder.clone(),
            hash: contents.hash.clone(),
            answer,
        });
        let surplus = entries.len().saturating_sub(MAX_ENTRIES);
        entries.drain(..surplus);
        self.store(entries)
    }

    /// Forgets refusals about a folder, so that it is asked about again. Without any nothing is written.
    pub fn forget_refusals(&mut self, folder: &Path) -> Result<(), RecordError> {
        let is_refusal =
            |entry: &Entry| entry.folder == folder && entry.answer.verdict == Verdict::Denied;
        if !self.entries.iter().any(is_refusal) {
            return Ok(());
        }
        let mut entries = self.entries.clone();
        entries.retain(|entry| !is_refusal(entry));
        self.store(entries)
    }

    /// **Invariant:** what is in memory is what is on the disk; a failed write changes neither.
    fn store(&mut self, entries: Vec<Entry>) -> Result<(), RecordError> {
        let document = Document {
            format: FORMAT,
            entries,
        };
        write_record(&self.path, &document)?;
        self.entries = document.entries;
        Ok(())
    }
}
