//! The npm packages that ours is measured beside, in the user's cache at the versions that `bench/` pins.
//!
//! An installation counts as there when it was made from the same pins, so raising a version in `bench/` is all it takes
//! to measure against the new one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use super::peers::{INSTALL_LIMIT, copy_into};
use crate::command::{self, Watch};
use crate::progress::Progress;
use crate::setup::Cache;
use crate::workspace;

/// A package with what is run on it.
#[derive(Debug)]
pub(crate) struct Package {
    name: &'static str,
    /// Below `bench/`.
    folder: &'static str,
    script: &'static str,
    scripts: Scripts,
    megabytes: u64,
}

/// What the package itself may run while it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scripts {
    None,
    /// Its own build, from the source that npm has: nothing is fetched from elsewhere but the headers of Node, and those
    /// only where npm's `nodedir` does not say where they are.
    Build,
}

/// The WebSocket library that most relays on Node use.
pub(crate) const WS: Package = Package {
    name: "ws",
    folder: "relay",
    script: "relay.mjs",
    scripts: Scripts::None,
    megabytes: 5,
};

/// The SQLite library that most programs on Node use.
pub(crate) const BETTER_SQLITE3: Package = Package {
    name: "better-sqlite3",
    folder: "history",
    script: "history.mjs",
    scripts: Scripts::Build,
    megabytes: 150,
};

impl Package {
    fn source(&self) -> PathBuf {
        workspace::root().join("bench").join(self.folder)
    }

    /// The pinned version.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let pins = self.source().join("package-lock.json");
        let text = std::fs::read_to_string(&pins)
            .with_context(|| format!("failed to read {}", pins.display()))?;
        let lock: serde_json::Value = serde_json::from_str(&text)?;
        let version = lock["packages"][format!("node_modules/{}", self.name)]["version"].as_str();
        let version = version.with_context(|| format!("{} pins nothing", pins.display()))?;
        Ok(version.to_owned())
    }

    fn name_in_cache(&self) -> anyhow::Result<String> {
        Ok(format!("bench-{}-{}", self.name, self.version()?))
    }

    /// Where it is, if it was installed from these pins.
    pub(crate) fn find(&self, cache: &Cache) -> anyhow::Result<Option<PathBuf>> {
        let folder = cache.folder(&self.name_in_cache()?);
        let pins = "package-lock.json";
        let ours = std::fs::read(self.source().join(pins))?;
        let is_same = std::fs::read(folder.join(pins)).is_ok_and(|theirs| theirs == ours);
        Ok(is_same.then_some(folder))
    }

    /// Installs it if it is missing, in one step. Gives the script beside it; nothing when that failed.
    pub(crate) fn script(
        &self,
        cache: &Cache,
        progress: &mut Progress,
    ) -> anyhow::Result<Option<PathBuf>> {
        let what = format!("{} {} from npm", self.name, self.version()?);
        let folder = progress.step("package", &what, |watch| {
            if let Some(folder) = self.find(cache)? {
                return Ok(folder);
            }
            let lock = cache.lock()?;
            cache.require_space(self.megabytes)?;
            let name = self.name_in_cache()?;
            let install = |folder: &Path| self.install(folder, watch);
            cache.install(&lock, &name, install, |folder| self.check(folder))
        });
        let Some(folder) = folder else {
            return Ok(None);
        };
        // Node looks for packages beside the script.
        copy_into(&self.source().join(self.script), &folder)?;
        Ok(Some(folder.join(self.script)))
    }

    fn install(&self, folder: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
        copy_into(&self.source().join("package.json"), folder)?;
        copy_into(&self.source().join("package-lock.json"), folder)?;
        let mut npm = Command::new("npm");
        npm.current_dir(folder)
            .args(["ci", "--no-audit", "--no-fund", "--loglevel=warn"])
            .args(["--fetch-retries=2", "--fetch-retry-maxtimeout=4000"]);
        match self.scripts {
            Scripts::None => npm.arg("--ignore-scripts"),
            Scripts::Build => npm.env("npm_config_build_from_source", "true"),
        };
        command::run(&mut npm, INSTALL_LIMIT, watch)
            .with_context(|| format!("failed to install {} with npm", self.name))?;
        Ok(())
    }

    fn check(&self, folder: &Path) -> anyhow::Result<()> {
        let load = format!("await import('{}')", self.name);
        let mut node = Command::new("node");
        node.current_dir(folder);
        node.args(["--input-type=module", "--eval", &load]);
        command::probe(&mut node).context("the new package cannot be loaded")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pins_name_the_versions() {
        assert_eq!(WS.version().unwrap(), "8.22.2");
        assert_eq!(BETTER_SQLITE3.version().unwrap(), "12.11.1");
    }

    #[test]
    fn an_installation_from_other_pins_does_not_count() {
        let scratch = tempfile::tempdir().unwrap();
        let cache = Cache::at(scratch.path().to_owned());
        let folder = cache.folder(&WS.name_in_cache().unwrap());
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(WS.find(&cache).unwrap(), None);
        std::fs::write(folder.join("package-lock.json"), "{}").unwrap();
        assert_eq!(WS.find(&cache).unwrap(), None);
        copy_into(&WS.source().join("package-lock.json"), &folder).unwrap();
        assert_eq!(WS.find(&cache).unwrap(), Some(folder));
    }
}
