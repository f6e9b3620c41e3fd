//! The two releases of the real Claude Code CLI that tests run against.
//!
//! Both come from npm as ready-made programs, pinned to one version each, and are only ever started with an
//! environment of our own. The oldest release that is supported and the newest that is known stand here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::cache::{Cache, Lock};
use super::node;
use crate::command::{self, Watch};

/// One release of the CLI as npm has it.
#[derive(Debug)]
pub(crate) struct Release {
    /// What `claude --version` prints first.
    pub(crate) version: &'static str,
    /// Name of its folder in the cache.
    folder: &'static str,
    /// npm package to install; `{platform}` is filled in.
    package: &'static str,
    /// npm package that holds the program; `{platform}` is filled in.
    holder: &'static str,
    /// Environment variable that tells tests where the program is.
    pub(crate) variable: &'static str,
    /// Size on disk, in megabytes.
    pub(crate) megabytes: u64,
}

/// The oldest release that is supported.
pub(crate) const OLDEST: Release = Release {
    version: "2.1.197",
    folder: "claude-code-2.1.197",
    package: "@anthropic-ai/claude-code@2.1.197",
    holder: "@anthropic-ai/claude-code-{platform}",
    variable: "ESTELLE_CLAUDE_197",
    megabytes: 240,
};

/// The newest release that is known, from the package the TypeScript SDK takes it from.
pub(crate) const NEWEST: Release = Release {
    version: "2.1.325",
    folder: "claude-agent-sdk-0.3.325",
    package: "@anthropic-ai/claude-agent-sdk-{platform}@0.3.325",
    holder: "@anthropic-ai/claude-agent-sdk-{platform}",
    variable: "ESTELLE_CLAUDE_325",
    megabytes: 360,
};

impl Release {
    /// The npm package with its version, for this machine.
    pub(crate) fn package(&self) -> anyhow::Result<String> {
        Ok(self.package.replace("{platform}", platform()?))
    }

    /// Where the program is, if it is installed and runs.
    pub(crate) fn find(&self, cache: &Cache) -> anyhow::Result<Option<PathBuf>> {
        let folder = cache.folder(self.folder);
        Ok(match self.check(&folder) {
            Ok(()) => Some(self.program(&folder)?),
            Err(_) => None,
        })
    }

    /// Fetches the program and proves that it runs.
    pub(crate) fn install(
        &self,
        cache: &Cache,
        lock: &Lock,
        watch: Watch<'_>,
    ) -> anyhow::Result<PathBuf> {
        node::require()?;
        let package = self.package()?;
        let fill = |folder: &Path| node::install(&package, folder, watch);
        let folder = cache.install(lock, self.folder, fill, |folder| self.check(folder))?;
        self.program(&folder)
    }

    fn program(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let holder = self.holder.replace("{platform}", platform()?);
        Ok(folder.join("node_modules").join(holder).join("claude"))
    }

    /// Runs `--version` with an empty environment: the answer must be the pinned version.
    fn check(&self, folder: &Path) -> anyhow::Result<()> {
        let program = self.program(folder)?;
        let mut claude = Command::new(&program);
        claude.arg("--version").current_dir(folder).env_clear();
        claude.env("HOME", folder).env("DISABLE_AUTOUPDATER", "1");
        let answer = command::probe(&mut claude)
            .with_context(|| format!("{} does not run", program.display()))?;
        if answer.split_whitespace().next() != Some(self.version) {
            bail!(
                "{} should be version {} and says {:?}",
                program.display(),
                self.version,
                answer.trim()
            );
        }
        Ok(())
    }
}

/// The name npm packages give to this operating system and processor.
fn platform() -> anyhow::Result<&'static str> {
    Ok(match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", "x86_64") => "darwin-x64",
        (system, processor) => bail!(
            "there is no Claude Code CLI for {system} on {processor}; use Linux or macOS on x86-64 or arm64"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn stand_in(script: &str) -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned());
        let program = OLDEST.program(&cache.folder(OLDEST.folder)).unwrap();
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        (folder, cache)
    }

    #[test]
    fn an_installed_program_of_the_right_version_is_found() {
        let (_folder, cache) = stand_in("echo '2.1.197 (Claude Code)'");
        let program = OLDEST.find(&cache).unwrap().unwrap();
        assert!(program.ends_with("claude"));
    }

    #[test]
    fn another_version_counts_as_missing() {
        let (_folder, cache) = stand_in("echo '2.1.198 (Claude Code)'");
        assert_eq!(OLDEST.find(&cache).unwrap(), None);
    }

    #[test]
    fn a_program_that_does_not_run_counts_as_missing() {
        let (_folder, cache) = stand_in("exit 1");
        assert_eq!(OLDEST.find(&cache).unwrap(), None);
    }

    #[test]
    fn the_environment_of_the_developer_is_not_passed_on() {
        let (_folder, cache) = stand_in("test -z \"$CARGO_MANIFEST_DIR$USER\" && echo 2.1.197");
        assert!(OLDEST.find(&cache).unwrap().is_some());
    }
}
