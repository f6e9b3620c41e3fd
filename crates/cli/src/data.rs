//! Where the data of this machine is: what is said on the command line, in `ESTELLE_DATA`, or the usual place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

/// The name of the folder.
const REAL: &str = "estelle";
/// Its name when a simulated agent answers.
const DEMO: &str = "estelle-demo";

/// Which data folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataArgs {
    /// The data folder; ~/.local/share/estelle if nothing else is said.
    #[arg(long, value_name = "FOLDER", env = "ESTELLE_DATA", global = true)]
    pub(crate) data: Option<PathBuf>,
}

impl DataArgs {
    /// The folder, as an absolute path.
    pub(crate) fn folder(&self) -> anyhow::Result<PathBuf> {
        self.named(REAL)
    }

    /// The folder for a simulated agent: another one, unless somebody named it.
    pub(crate) fn demo_folder(&self) -> anyhow::Result<PathBuf> {
        self.named(DEMO)
    }

    /// Where to look for something that runs: the folder that was named, or both usual ones.
    pub(crate) fn folders(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut folders = vec![self.folder()?, self.demo_folder()?];
        folders.dedup();
        Ok(folders)
    }

    /// The folder that something was done in: the one that was named, else the first usual one that is there.
    pub(crate) fn used_folder(&self) -> anyhow::Result<PathBuf> {
        let folders = self.folders()?;
        let used = folders.into_iter().find(|folder| folder.is_dir());
        used.map_or_else(|| self.folder(), Ok)
    }

    fn named(&self, name: &str) -> anyhow::Result<PathBuf> {
        let given = self
            .data
            .clone()
            .filter(|path| !path.as_os_str().is_empty());
        let folder = match given {
            Some(folder) => folder,
            None => usual(|name| std::env::var_os(name))
                .context(
                    "cannot tell where data belongs: HOME is not set; name a folder with --data",
                )?
                .join(name),
        };
        let folder = std::path::absolute(&folder)
            .with_context(|| format!("failed to find {}", folder.display()))?;
        anyhow::ensure!(
            folder.is_dir() || !folder.exists(),
            "{} is not a folder: name a folder for the data with --data, or one that does not exist yet",
            folder.display()
        );
        Ok(folder)
    }
}

/// The place that the XDG rules give: a relative path there is to be ignored.
fn usual(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let data = absolute("XDG_DATA_HOME");
    data.or_else(|| absolute("HOME").map(|home| home.join(Path::new(".local/share"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_place_follows_the_environment() {
        let place = |xdg: Option<&str>, home: Option<&str>| {
            usual(|name| match name {
                "XDG_DATA_HOME" => xdg.map(OsString::from),
                _ => home.map(OsString::from),
            })
        };
        assert_eq!(place(Some("/x"), Some("/h")), Some("/x".into()));
        assert_eq!(place(Some("x"), Some("/h")), Some("/h/.local/share".into()));
        assert_eq!(place(None, None), None);
    }
}
