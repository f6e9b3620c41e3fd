//! The test runner: taken from PATH when it is there, built into the cache otherwise.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::cache::{Cache, Lock};
use crate::command::{self, Watch};

/// The release that is built when none is on PATH.
pub(crate) const VERSION: &str = "0.9.143";
/// Space the build needs for a while, in megabytes.
pub(crate) const MEGABYTES: u64 = 900;
const FOLDER: &str = "cargo-nextest-0.9.143";
/// Some three hundred crates on a machine with few cores.
const BUILD_LIMIT: Duration = Duration::from_mins(30);

/// The program, from PATH or from the cache.
pub(crate) fn find(cache: &Cache) -> Option<PathBuf> {
    let cached = program(&cache.folder(FOLDER));
    [PathBuf::from("cargo-nextest"), cached]
        .into_iter()
        .find(|candidate| runs(candidate))
}

/// Builds the runner without its self-update part.
pub(crate) fn install(cache: &Cache, lock: &Lock, watch: Watch<'_>) -> anyhow::Result<PathBuf> {
    let fill = |folder: &Path| {
        let mut cargo = Command::new("cargo");
        // An unoptimised build takes a third of the time and starts tests just as fast.
        cargo
            .args([
                "install",
                "cargo-nextest",
                "--version",
                VERSION,
                "--locked",
                "--debug",
            ])
            .args([
                "--no-default-features",
                "--features",
                "default-no-update",
                "--root",
            ])
            .arg(folder);
        command::run(&mut cargo, BUILD_LIMIT, watch).context("failed to build cargo-nextest")?;
        Ok(())
    };
    let check = |folder: &Path| {
        command::probe(Command::new(program(folder)).args(["nextest", "--version"]))
            .context("the new cargo-nextest does not run")?;
        Ok(())
    };
    let folder = cache.install(lock, FOLDER, fill, check)?;
    Ok(program(&folder))
}

fn program(folder: &Path) -> PathBuf {
    folder.join("bin").join("cargo-nextest")
}

fn runs(program: &Path) -> bool {
    command::probe(Command::new(program).args(["nextest", "--version"])).is_ok()
}
