//! The programs under test: built by the workspace, found beside the program that runs now.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `estelle`.
    pub estelle: PathBuf,
    /// The simulated CLI.
    pub simulator: PathBuf,
}

impl Programs {
    /// Finds them in the folder of this build; one that nobody has built yet is built.
    pub fn find() -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("find this program")?;
        // A test lies in `deps`, an example in `examples`, a program beside the others.
        let is_beside = |folder: &Path| {
            let name = folder.file_name();
            name.is_some_and(|name| name != "deps" && name != "examples")
        };
        let mut folders = own.ancestors().skip(1);
        let folder = folders
            .find(|folder| is_beside(folder))
            .context("find the folder of this build")?;
        Ok(Self {
            estelle: built(folder, "estelle", "estelle")?,
            simulator: built(folder, "estelle-sim", "estelle-sim-claude")?,
        })
    }
}

fn built(folder: &Path, package: &str, program: &str) -> anyhow::Result<PathBuf> {
    let path = folder.join(program);
    if !path.is_file() {
        let target = folder.parent().context("find the target folder")?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--quiet", "--package", package, "--bin", program])
            .arg("--target-dir")
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .context("build the programs")?;
        ensure!(status.success(), "{program} could not be built");
    }
    Ok(path)
}
