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

/// Does what the host started this process for, if it did: there is one such process for each agent, and none of them
/// needs to know the other commands.
pub(crate) fn role() -> Option<anyhow::Result<ExitCode>> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [role, folder] = words.as_slice() else {
        return None;
    };
    // A folder has a whole path; anything else was typed by a person.
    let folder = PathBuf::from(folder);
    if !folder.is_absolute() {
        return None;
    }
    match role.to_str()? {
        "shim" => Some(run(ShimArgs { folder })),
        "shim-child" => Some(run_child(ShimArgs { folder })),
        "keeper" => Some(run_keeper(&KeeperArgs { folder })),
        _ => None,
    }
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
