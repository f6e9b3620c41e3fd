//! Node and npm, which must already be on the machine: found, checked for age, used to fetch packages.
//!
//! Set-up never installs Node itself; it says how to.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::command::{self, Watch};

/// Oldest major version of Node that everything fetched here accepts.
const OLDEST_MAJOR: u32 = 20;
/// A slow line needs a few minutes for a few hundred megabytes.
const INSTALL_LIMIT: Duration = Duration::from_mins(15);

/// Refuses with advice when Node or npm is missing or too old.
pub(crate) fn require() -> anyhow::Result<()> {
    let version =
        command::probe(Command::new("node").arg("--version")).context("Node is needed for npm")?;
    check_version(&version)?;
    command::probe(Command::new("npm").arg("--version"))
        .context("npm is needed, it comes with Node")?;
    Ok(())
}

fn check_version(text: &str) -> anyhow::Result<()> {
    let text = text.trim();
    let major = text.trim_start_matches('v').split('.').next();
    let Some(major) = major.and_then(|major| major.parse::<u32>().ok()) else {
        bail!(
            "`node --version` printed {text:?}; install Node {OLDEST_MAJOR} or newer and put it first on PATH"
        );
    };
    if major < OLDEST_MAJOR {
        bail!(
            "Node {text} is too old; install Node {OLDEST_MAJOR} or newer and put it first on PATH"
        );
    }
    Ok(())
}

/// Installs one package with a fixed version into `folder/node_modules`, running no script of it.
pub(crate) fn install(package: &str, folder: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    // Without a manifest of its own npm would climb to the next one above and install there.
    std::fs::write(folder.join("package.json"), "{ \"private\": true }\n")
        .with_context(|| format!("failed to write into {}", folder.display()))?;
    npm(&["install", "--save-exact", package], folder, watch)
        .with_context(|| format!("failed to install {package} with npm"))
}

/// Installs what the lock file in `folder` says, into `folder/node_modules`, running no script of it.
pub(crate) fn install_locked(folder: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    npm(&["ci"], folder, watch).context("failed to install the locked packages with npm")
}

fn npm(args: &[&str], folder: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .args(args)
        .args(["--ignore-scripts", "--no-audit", "--no-fund"])
        // The usual retries wait more than a minute before they say that there is no network.
        .args([
            "--fetch-retries=2",
            "--fetch-retry-mintimeout=1000",
            "--fetch-retry-maxtimeout=4000",
        ])
        .arg("--loglevel=warn");
    command::run(&mut npm, INSTALL_LIMIT, watch)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_enough() {
        check_version("v20.20.2\n").unwrap();
        check_version("v26.0.0").unwrap();
    }

    #[test]
    fn too_old_or_not_a_version() {
        let old = check_version("v18.19.0\n").unwrap_err().to_string();
        assert_eq!(
            old,
            "Node v18.19.0 is too old; install Node 20 or newer and put it first on PATH"
        );
        let odd = check_version("hello").unwrap_err().to_string();
        assert!(odd.contains("install Node 20 or newer"), "{odd}");
    }
}
