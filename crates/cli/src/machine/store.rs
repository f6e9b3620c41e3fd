//! What somebody at the machine may ask of the Pylon's store while it runs.
//!
//! Such a request is a line of its own at the door, and its answer is the one line that says how it went. It never
//! reaches the relay.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::socket;

/// Copying a large database takes a while.
const PATIENCE: Duration = Duration::from_mins(30);

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "machine", rename_all = "snake_case")]
pub(crate) enum StoreRequest {
    /// Write a copy to this new file.
    Backup {
        /// Where.
        to: PathBuf,
    },
    /// Replace the database by this copy.
    Restore {
        /// Which.
        from: PathBuf,
    },
    /// Put everything back that is in this folder.
    RestoreAll {
        /// Which.
        from: PathBuf,
    },
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoreAnswer {
    /// Why not, if it did not.
    pub(super) failed: Option<String>,
    /// What was put back.
    #[serde(default)]
    pub(super) done: Vec<String>,
}

impl StoreAnswer {
    fn of(outcome: &anyhow::Result<Vec<String>>) -> Self {
        match outcome {
            Ok(done) => Self {
                failed: None,
                done: done.clone(),
            },
            Err(error) => Self {
                failed: Some(format!("{error:#}")),
                done: Vec::new(),
            },
        }
    }
}

/// Tells whoever asked how it went. If they are gone nobody needs to know.
pub(crate) async fn tell(visitor: &mut UnixStream, outcome: &anyhow::Result<Vec<String>>) {
    if let Ok(text) = serde_json::to_string(&StoreAnswer::of(outcome)) {
        let _ = visitor.write_all(format!("{text}\n").as_bytes()).await;
    }
}

/// The folder on which `estelle up` runs, or the first that is there.
pub(crate) async fn find(folders: &[PathBuf]) -> anyhow::Result<PathBuf> {
    for folder in folders {
        if super::is_open(folder).await {
            return Ok(folder.clone());
        }
    }
    let there = folders.iter().find(|folder| folder.is_dir());
    let chosen = there.or_else(|| folders.first());
    chosen.cloned().context("no data folder is named")
}

/// Asks at the door of a folder. Gives what was put back.
pub(crate) async fn ask_store(data: &Path, request: &StoreRequest) -> anyhow::Result<Vec<String>> {
    let stream = UnixStream::connect(socket(data)).await;
    let (from, mut to) = stream.context("`estelle up` has ended")?.into_split();
    let line = serde_json::to_string(request)? + "\n";
    to.write_all(line.as_bytes()).await?;
    let mut lines = BufReader::new(from).lines();
    let answering = async {
        // Other visitors are told things as well.
        while let Some(line) = lines.next_line().await? {
            if let Ok(answer) = serde_json::from_str::<StoreAnswer>(&line) {
                return Ok(answer);
            }
        }
        bail!("`estelle up` has ended in the middle of it")
    };
    let answer = tokio::time::timeout(PATIENCE, answering).await;
    let answer = answer.context("`estelle up` does not answer")??;
    match answer.failed {
        None => Ok(answer.done),
        Some(error) => bail!("{error}"),
    }
}
