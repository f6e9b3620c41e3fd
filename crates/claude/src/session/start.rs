//! From options to a connected CLI.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::handle::Handle;
use super::respond::Callbacks;
use crate::engine::{Connection, ConnectionConfig, ControlError};
use crate::options::{Options, PrepareError};
use crate::transport::Link;
use crate::transport::pipes::{self, PipesConfig};

/// Why a session could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The options, or the CLI found, will not do; nothing was started.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The process could not be started.
    #[error("failed to start {}", program.display())]
    Spawn {
        /// What was to be run.
        program: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// It started and did not become ready.
    #[error("the CLI started but did not become ready")]
    Initialize(#[source] Arc<ControlError>),
}

/// Finds and starts the CLI on child pipes.
pub(super) async fn start(options: &Options) -> Result<Handle, StartError> {
    let launch = options.prepare().await?;
    let config = PipesConfig {
        stderr: options.callbacks.stderr.clone(),
        ..PipesConfig::default()
    };
    let link = pipes::spawn(launch.command(), config).map_err(|source| StartError::Spawn {
        program: launch.program.clone(),
        source,
    })?;
    Ok(connect(link, options))
}

/// Connects to a CLI that somebody else has started, and introduces us.
pub(super) fn connect(link: Link, options: &Options) -> Handle {
    let (callbacks, outbound) = Callbacks::of(options);
    let callbacks = Arc::new(callbacks);
    let config = ConnectionConfig {
        grace: options.process.grace,
        ..ConnectionConfig::default()
    };
    let connection = Connection::open(link, callbacks.clone(), config);
    Handle::introduce(connection, callbacks, outbound, options)
}
