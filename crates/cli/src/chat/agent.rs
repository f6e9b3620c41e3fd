//! Who answers: the Claude Code of this machine, or the simulator.
//!
//! A program that somebody named is never replaced by another one. Only when nobody named any and none is found
//! does the simulator answer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use estelle_claude::options::{FindError, Search};

use super::args::ChatArgs;
use crate::SIMULATOR;

/// Names the simulator.
const SIMULATOR_VARIABLE: &str = "ESTELLE_SIM_CLAUDE";

/// The program that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What the program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The real Claude Code.
    Claude,
    /// The simulator, because it was asked for.
    Simulator,
    /// The simulator, because there is nothing else.
    Substitute,
}

/// Who is to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The simulator, whatever else there is.
    Simulator,
    /// Claude Code: this program, or the one that is found.
    Claude(Option<PathBuf>),
}

impl Agent {
    /// Finds the program for these arguments.
    pub(crate) fn find(args: &ChatArgs) -> anyhow::Result<Self> {
        let wanted = if args.simulate {
            Wanted::Simulator
        } else {
            Wanted::Claude(args.claude.clone())
        };
        Self::of(wanted)
    }

    /// Finds who is to answer.
    pub(crate) fn of(wanted: Wanted) -> anyhow::Result<Self> {
        let named = match wanted {
            Wanted::Simulator => {
                return Ok(Self {
                    path: simulator()?,
                    kind: Kind::Simulator,
                });
            }
            Wanted::Claude(named) => named,
        };
        let mut search = Search::from_environment();
        if let Some(path) = named {
            search = search.named(path, "--claude (or CLAUDE_CODE_PATH)");
        }
        match search.find() {
            Ok(path) => Ok(Self {
                path,
                kind: Kind::Claude,
            }),
            Err(missing @ FindError::NotFound { .. }) => {
                let path = simulator().map_err(|_| anyhow::anyhow!("{missing}"))?;
                let kind = Kind::Substitute;
                Ok(Self { path, kind })
            }
            // The SDK names its option; here it is an argument.
            Err(other) => bail!(
                "{}",
                other
                    .to_string()
                    .replace("the option path_to_claude_code_executable", "--claude")
            ),
        }
    }

    /// Whether a simulator answers.
    pub(crate) fn is_simulated(&self) -> bool {
        self.kind != Kind::Claude
    }
}

fn simulator() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os(SIMULATOR_VARIABLE).filter(|path| !path.is_empty());
    let own = std::env::current_exe().context("failed to find out where this program is")?;
    simulator_in(named, &own)
}

fn simulator_in(named: Option<OsString>, own: &Path) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        let path = PathBuf::from(named);
        if path.is_file() {
            return Ok(path);
        }
        bail!(
            "there is no file {}, which the variable {SIMULATOR_VARIABLE} names: correct it",
            path.display()
        );
    }
    // Test programs lie one folder below the others.
    let folders = own.ancestors().skip(1).take(2);
    let mut candidates = folders.map(|folder| folder.join(SIMULATOR));
    candidates.find(|candidate| candidate.is_file()).with_context(|| {
        format!(
            "the simulator is not there: build it with `cargo build --package estelle-sim --bin {SIMULATOR}`, or name \
             it with the variable {SIMULATOR_VARIABLE}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_is_found_beside_the_program_or_one_folder_up() {
        let folder = tempfile::tempdir().unwrap();
        let simulator = folder.path().join(SIMULATOR);
        let own = folder.path().join("estelle");
        assert!(
            simulator_in(None, &own)
                .unwrap_err()
                .to_string()
                .contains("cargo build")
        );
        std::fs::write(&simulator, "").unwrap();
        assert_eq!(simulator_in(None, &own).unwrap(), simulator);
        assert_eq!(
            simulator_in(None, &folder.path().join("deps/estelle")).unwrap(),
            simulator
        );
    }

    #[test]
    fn a_named_simulator_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SIMULATOR), "").unwrap();
        let missing = folder.path().join("elsewhere");
        let error = simulator_in(Some(missing.into()), &folder.path().join("estelle")).unwrap_err();
        assert!(error.to_string().contains("ESTELLE_SIM_CLAUDE"), "{error}");
    }
}
