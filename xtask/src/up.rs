//! `cargo xtask up`: from a fresh clone to something that runs.
//!
//! Today that is a conversation in the terminal. With a `claude` on PATH it is the real one; without, the
//! simulator answers, and that is said. The conversation replaces this process, so that keys and signals reach it
//! directly.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::command;
use crate::progress::Progress;
use crate::workspace;

const BUILD_LIMIT: Duration = Duration::from_mins(30);
/// Name of the simulated CLI among the programs of `crates/sim`.
const SIMULATOR: &str = "estelle-sim-claude";

/// Who answers in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The real CLI when there is one, the simulator otherwise.
    Best,
    /// The simulator in any case.
    Simulator,
}

/// Builds, then starts the conversation; returns only when that failed.
pub(crate) fn run(agent: Agent, chat_args: &[OsString]) -> anyhow::Result<()> {
    let real = match agent {
        Agent::Best => find_on_path("claude", &std::env::var_os("PATH").unwrap_or_default()),
        Agent::Simulator => None,
    };
    println!("Set-up: nothing to install but the Rust crates that the build fetches.");
    let mut progress = Progress::new(1);
    progress.step(
        "build",
        "the `estelle` program and the simulator",
        |watch| {
            let args = [
                "build",
                "--locked",
                "--package",
                "estelle",
                "--package",
                "estelle-sim",
                "--bins",
            ];
            command::run(&mut workspace::cargo(&args), BUILD_LIMIT, watch)
                .context("the build failed")?;
            Ok(())
        },
    );
    progress.finish()?;
    let mut chat = Command::new(workspace::built("estelle"));
    chat.arg("chat").args(chat_args);
    if let Some(claude) = real {
        println!("Conversation with {}.", claude.display());
    } else {
        let reason = match agent {
            Agent::Best => "There is no `claude` on PATH, so the simulator answers",
            Agent::Simulator => "The simulator answers",
        };
        println!("{reason}: no account, no network, and no real model.");
        chat.env("ESTELLE_SIM_CLAUDE", workspace::built(SIMULATOR));
        chat.arg("--sim");
    }
    let error = chat.exec();
    Err(error).with_context(|| format!("failed to start {}", workspace::built("estelle").display()))
}

fn find_on_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    let mut candidates = std::env::split_paths(path).map(|folder| folder.join(program));
    candidates.find(|candidate| is_executable(candidate))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_executable_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("claude"), "").unwrap();
        assert_eq!(find_on_path("claude", folder.path().as_os_str()), None);
        assert_eq!(
            find_on_path("sh", OsStr::new("/nowhere:/bin")),
            Some("/bin/sh".into())
        );
    }
}
