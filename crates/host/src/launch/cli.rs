//! Finding the CLI and pinning it.

use std::io;
use std::path::PathBuf;

use estelle_claude::options::{
    Cli, CliVersion, FindError, MINIMUM_VERSION, ProbeError, Search, probe,
};
use estelle_proto::{ApiError, ErrorCode, Retry};

/// Why there is no CLI to run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindCliError {
    /// There is none, or what was named is no program.
    #[error(transparent)]
    Missing(#[from] FindError),
    /// The path leads nowhere.
    #[error(
        "the path {path:?} of the agent's program cannot be resolved: install Claude Code again"
    )]
    Path {
        /// The path found.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It does not tell its version.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// It is too old.
    #[error(
        "Claude Code {found} is too old, {MINIMUM_VERSION} or newer is needed: run `claude update`"
    )]
    TooOld {
        /// The installed version.
        found: CliVersion,
    },
}

impl FindCliError {
    /// The same for the wire.
    pub fn to_api(&self) -> ApiError {
        ApiError::new(ErrorCode::AgentUnavailable, self.to_string(), Retry::Later)
    }
}

/// Finds the CLI, follows links to the real file and asks its version.
///
/// The real path is what runs: an update that moves the link does not change a run that is being started, and the
/// canary's proof is about this very file.
pub async fn find_cli(search: &Search) -> Result<Cli, FindCliError> {
    let found = search.find()?;
    let path = match std::fs::canonicalize(&found) {
        Ok(path) => path,
        Err(source) => {
            return Err(FindCliError::Path {
                path: found,
                source,
            });
        }
    };
    let version = probe(&path).await?;
    if version < MINIMUM_VERSION {
        return Err(FindCliError::TooOld { found: version });
    }
    Ok(Cli::new(path, version))
}
