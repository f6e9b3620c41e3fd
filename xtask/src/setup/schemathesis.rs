//! The tester of the HTTP interface: a Python package, with everything it needs, in versions that are written down.
//!
//! It is installed into a folder of its own and run from there, so no environment of Python is touched.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::cache::{Cache, Lock};
use crate::command::{self, Watch};

/// The release, which the list of versions names as well.
pub(crate) const VERSION: &str = "4.32.5";
/// Space on the disk, in megabytes.
pub(crate) const MEGABYTES: u64 = 70;
const FOLDER: &str = "schemathesis-4.32.5";
const VERSIONS: &str = include_str!("schemathesis.txt");
/// Some thirty packages over a slow line.
const INSTALL_LIMIT: Duration = Duration::from_mins(10);

/// The folder of the packages, if they run.
pub(crate) fn find(cache: &Cache) -> Option<PathBuf> {
    let folder = cache.folder(FOLDER);
    runs(&folder).ok().map(|()| folder)
}

/// Installs the packages.
pub(crate) fn install(cache: &Cache, lock: &Lock, watch: Watch<'_>) -> anyhow::Result<PathBuf> {
    let fill = |folder: &Path| {
        let list = folder.join("versions.txt");
        std::fs::write(&list, VERSIONS)
            .with_context(|| format!("failed to write {}", list.display()))?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--no-deps"])
            .args(["--disable-pip-version-check", "--only-binary", ":all:"])
            .arg("--requirement")
            .arg(&list)
            .arg("--target")
            .arg(folder);
        command::run(&mut pip, INSTALL_LIMIT, watch)
            .context("failed to install schemathesis; Python 3.11 with pip is needed")?;
        Ok(())
    };
    cache.install(lock, FOLDER, fill, runs)
}

/// The program of a folder.
pub(crate) fn program(folder: &Path) -> Command {
    let mut python = Command::new("python3");
    python
        .env("PYTHONPATH", folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "schemathesis.cli"]);
    python
}

fn runs(folder: &Path) -> anyhow::Result<()> {
    command::probe(program(folder).arg("--version")).context("schemathesis does not run")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_one_version() {
        assert!(VERSIONS.contains(&format!("schemathesis=={VERSION}\n")));
        assert!(FOLDER.ends_with(VERSION));
        for line in VERSIONS.lines() {
            assert_eq!(line.matches("==").count(), 1, "{line}");
        }
    }
}
