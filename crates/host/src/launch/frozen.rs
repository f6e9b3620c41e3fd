//! A folder's configuration as it was when it was looked at, for a CLI that would take in changes as they happen.
//!
//! Measured on both versions: a settings file that appears or changes in mid-session is read at once, its variables are
//! set and the programs it names run (`apiKeyHelper`), so an agent could give itself what nobody has trusted. With
//! `--project-config-root` 2.1.325 takes settings, agents, skills and commands from another folder, and only the
//! instructions from the working folder. So settings, agents and commands are copied into the run's folder as they were
//! looked at. What consists of several files, skills above all, is linked.
//! 2.1.197 does not know the option: there hooks are kept from appearing (`Hooks::None` in `gate`), and a process is ended
//! when the settings of its folder are found to have changed (`conversation::watching`).
//!
//! Hooks and helpers would run in that other folder and not find their scripts, so a trusted folder that brings such
//! programs is not frozen.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use estelle_claude::options::CliVersion;

use crate::run::RunFolder;

/// The first version known to have the option.
const SINCE: CliVersion = CliVersion::new(2, 1, 325);

/// The folder in the run's folder.
const ROOT: &str = "project";

/// What a folder brings, detached from it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FrozenProject {
    /// Settings, agents and commands: the path in `.claude`, and their bytes.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Skills and the like: the path in `.claude`, and where it really is.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
}

impl std::fmt::Debug for FrozenProject {
    /// Leaves out contents: settings may carry `env`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.files.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("FrozenProject")
            .field("files", &names)
            .field("links", &self.links.len())
            .finish()
    }
}

impl FrozenProject {
    /// Whether this version can be given it.
    pub(super) fn suits(version: CliVersion) -> bool {
        version >= SINCE
    }

    /// Where it goes.
    pub(super) fn root(run_folder: &Path) -> PathBuf {
        run_folder.join(ROOT)
    }

    /// Writes it into the run's folder.
    pub(super) fn store(&self, folder: &RunFolder) -> io::Result<()> {
        let claude = Self::root(folder.path()).join(".claude");
        let make = |path: &Path| DirBuilder::new().recursive(true).mode(0o700).create(path);
        make(&claude)?;
        for (name, bytes) in &self.files {
            claude.join(name).parent().map_or(Ok(()), make)?;
            folder.store_file(&format!("{ROOT}/.claude/{name}"), bytes)?;
        }
        for (name, target) in &self.links {
            let link = claude.join(name);
            link.parent().map_or(Ok(()), make)?;
            // Left by an earlier attempt of the same run.
            let _ = fs::remove_file(&link);
            symlink(target, &link)?;
        }
        Ok(())
    }
}
