//! The browser that the web app is tried in: Chromium, from PATH or from the system's packages.
//!
//! The one thing that set-up takes from the system, because a browser of our own would be a second package manager.
//! It is installed with `apt-get` where that is there and we may use it; elsewhere set-up says how.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::command::{self, Watch};

/// Size on disk, in megabytes.
pub(crate) const MEGABYTES: u64 = 400;
const PROGRAMS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
/// About a hundred megabytes, over a slow line.
const INSTALL_LIMIT: Duration = Duration::from_mins(15);

/// The first of the known programs on PATH that runs.
pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    PROGRAMS
        .iter()
        .flat_map(|program| folders.iter().map(move |folder| folder.join(program)))
        .filter(|program| program.is_file())
        .find(|program| runs(program))
}

/// Installs Debian's package.
pub(crate) fn install(watch: Watch<'_>) -> anyhow::Result<PathBuf> {
    let package = ["install", "--yes", "--no-install-recommends", "chromium"];
    if apt(&package, watch).is_err() {
        // The lists of a fresh machine are empty or too old to fetch by.
        apt(&["update"], watch)?;
        apt(&package, watch)?;
    }
    find().context("chromium was installed and does not run")
}

fn apt(args: &[&str], watch: Watch<'_>) -> anyhow::Result<()> {
    let mut command = if rustix::process::geteuid().is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["--non-interactive", "apt-get"]);
        sudo
    };
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    match command::run(&mut command, INSTALL_LIMIT, watch) {
        Ok(_) => Ok(()),
        Err(failure) => bail!(
            "failed to install Chromium with apt-get ({failure}); install it by hand and put it on PATH"
        ),
    }
}

fn runs(program: &Path) -> bool {
    command::probe(Command::new(program).args(["--version", "--no-sandbox"])).is_ok()
}
