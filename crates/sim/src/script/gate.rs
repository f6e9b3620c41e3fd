//! Gates: a step waits until a file appears, so that a test can act in mid-stream without sleeping.
//!
//! A gate is a file name in one directory, given by configuration or by [`GATES_ENV`]; opening a gate creates the file.
//! That works the same in one process and between processes. Nothing here removes the files: the directory belongs to
//! whoever made it.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The environment variable that names the directory of gate files.
pub const GATES_ENV: &str = "ESTELLE_SIM_GATES";
/// How often a waiting step looks for its file.
const POLL: Duration = Duration::from_millis(2);
/// Longest gate name.
const MAX_NAME: usize = 64;

/// A place in a response where it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The file name that opens it: letters, digits, `-` and `_`, at most 64.
    pub name: String,
    /// The text delta (from 0) before which it stands; past the last it stands before the end of the text. A response
    /// without a text waits before its content, one that is not streamed as a whole.
    pub at: usize,
}

/// The directory of gate files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gates {
    dir: PathBuf,
}

/// Why a gate could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The name would not be a plain file name.
    #[error("gate name {0:?} is not 1 to 64 letters, digits, '-' or '_'")]
    Name(String),
    /// The file could not be made.
    #[error("open gate {name:?}")]
    Create {
        /// The gate.
        name: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl Gate {
    /// Whether a name can be a gate.
    pub fn is_name(name: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(plain)
    }
}

impl Gates {
    /// Gates in a directory, which must exist before one is opened.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The gates named by the environment, if any.
    pub fn from_env() -> Option<Self> {
        std::env::var_os(GATES_ENV)
            .filter(|dir| !dir.is_empty())
            .map(Self::new)
    }

    /// The directory, for the environment of a child process.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Opens a gate for good.
    pub fn open(&self, name: &str) -> Result<(), GateError> {
        if !Gate::is_name(name) {
            return Err(GateError::Name(name.to_owned()));
        }
        std::fs::write(self.dir.join(name), b"").map_err(|source| GateError::Create {
            name: name.to_owned(),
            source,
        })
    }

    /// Whether a gate is open.
    pub fn is_open(&self, name: &str) -> bool {
        Gate::is_name(name) && self.dir.join(name).exists()
    }

    /// Waits until a gate is open; for ever if nobody opens it.
    pub async fn wait(&self, name: &str) {
        // A poll of two milliseconds is below what a test can notice, and needs no watch that might miss an early open.
        while !self.is_open(name) {
            tokio::time::sleep(POLL).await;
        }
    }
}
