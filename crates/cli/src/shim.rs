//! The hidden roles of this program: two beside a running CLI, see `estelle_host::run::shim`, and the keeper of a
//! terminal, see `estelle_host::terminal`.
//!
//! They are started by the host, never by a person, and run before any runtime exists.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;
use estelle_host::run::{RunFolder, shim};
use estelle_host::terminal::{TerminalFolder, keeper};

/// Which run.
#[derive(Debug, Args)]
pub(crate) struct ShimArgs {
    /// The folder of the run.
    folder: PathBuf,
}

/// The parent of a CLI: waits for its end and writes it down.
pub(crate) fn run(args: ShimArgs) -> anyhow::Result<ExitCode> {
    let mut child = Command::new(std::env::current_exe()?);
    child.arg("shim-child").arg(&args.folder);
    shim::run(&RunFolder::open(args.folder), child)?;
    Ok(ExitCode::SUCCESS)
}

/// The child that becomes the CLI.
pub(crate) fn run_child(args: ShimArgs) -> anyhow::Result<ExitCode> {
    shim::become_cli(&RunFolder::open(args.folder))?;
    Ok(ExitCode::FAILURE)
}

/// Which terminal.
#[derive(Debug, Args)]
pub(crate) struct KeeperArgs {
    /// The folder of the terminal.
    folder: PathBuf,
}

/// Holds the PTY of a terminal.
pub(crate) fn run_keeper(args: &KeeperArgs) -> anyhow::Result<ExitCode> {
    keeper::run(&TerminalFolder::open(&args.folder), |line| {
        // A host that died meanwhile finds the terminal in its folder.
        let _ = writeln!(std::io::stdout(), "{line}");
        let _ = std::io::stdout().flush();
    })?;
    Ok(ExitCode::SUCCESS)
}
