//! Where the real CLIs are and how to run one cleanly against a stand-in.
//!
//! Tests take the binaries from the environment, so that no machine's paths are in the code. The environment handed to
//! a CLI is complete: nothing of the caller's own configuration, login or proxy reaches it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A real CLI of a known version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealCli {
    path: PathBuf,
    version: &'static str,
}

/// Why a real CLI cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum FindCliError {
    /// Nobody said where it is.
    #[error(
        "the real CLI {version} is not known: set {variable} to its `claude` binary, or run `cargo xtask test`, which installs it"
    )]
    Unset {
        /// The version wanted.
        version: &'static str,
        /// The variable to set.
        variable: &'static str,
    },
    /// The variable points to nothing.
    #[error("{variable} names {}, which is not a file", path.display())]
    Missing {
        /// The variable that was read.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
    },
}

impl RealCli {
    /// Version 2.1.197, from `ESTELLE_CLAUDE_197`.
    pub fn v197() -> Result<Self, FindCliError> {
        Self::find("2.1.197", "ESTELLE_CLAUDE_197")
    }

    /// Version 2.1.325, from `ESTELLE_CLAUDE_325`.
    pub fn v325() -> Result<Self, FindCliError> {
        Self::find("2.1.325", "ESTELLE_CLAUDE_325")
    }

    fn find(version: &'static str, variable: &'static str) -> Result<Self, FindCliError> {
        let value = std::env::var_os(variable).filter(|value| !value.is_empty());
        let path = PathBuf::from(value.ok_or(FindCliError::Unset { version, variable })?);
        if path.is_file() {
            Ok(Self { path, version })
        } else {
            Err(FindCliError::Missing { variable, path })
        }
    }

    /// The binary.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version it is taken for.
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// The whole environment for a run: a home of its own, the stand-in as its API, no traffic elsewhere.
    pub fn env(&self, home: &Path, api_url: &str) -> BTreeMap<String, String> {
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let home = home.to_string_lossy();
        [
            ("HOME", home.as_ref()),
            ("PATH", path.as_str()),
            ("ANTHROPIC_API_KEY", "fake"),
            ("ANTHROPIC_BASE_URL", api_url),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            // As root the CLI refuses to bypass permissions unless it is told that it is in a sandbox.
            ("IS_SANDBOX", "1"),
            ("NO_PROXY", "127.0.0.1,localhost"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }
}
