//! The SDKs we compare with, installed into the user's cache at the versions that `bench/` pins.
//!
//! An installation counts as there when it was made from the same pins, so raising a version in `bench/` is all
//! it takes to measure against the new one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::command::{self, Watch};
use crate::progress::Progress;
use crate::setup::Cache;
use crate::workspace;

/// A slow line needs a few minutes for a few hundred megabytes, and a slow machine as long to build a package.
pub(crate) const INSTALL_LIMIT: Duration = Duration::from_mins(15);

/// An SDK of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    TypeScript,
    Python,
}

/// Where the peers are, and which versions.
#[derive(Debug)]
pub(crate) struct Peers {
    /// Holds `node_modules` and the consumer.
    pub(crate) typescript: PathBuf,
    pub(crate) typescript_version: String,
    /// Holds the virtual environment.
    pub(crate) python: PathBuf,
    pub(crate) python_version: String,
}

impl Peer {
    /// The name that progress shows.
    fn name(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript-sdk",
            Self::Python => "python-sdk",
        }
    }

    /// The file in `bench/` that pins everything.
    fn pins(self) -> PathBuf {
        workspace::root().join(match self {
            Self::TypeScript => "bench/typescript/package-lock.json",
            Self::Python => "bench/python/requirements.txt",
        })
    }

    /// The version of the SDK itself, out of the pins.
    fn version(self) -> anyhow::Result<String> {
        let pins = self.pins();
        let text = std::fs::read_to_string(&pins)
            .with_context(|| format!("failed to read {}", pins.display()))?;
        let version = match self {
            Self::TypeScript => typescript_version(&text),
            Self::Python => python_version(&text),
        };
        version.with_context(|| format!("{} does not pin the SDK", pins.display()))
    }

    fn folder(self) -> anyhow::Result<String> {
        Ok(format!("bench-{}-{}", self.name(), self.version()?))
    }

    fn describe(self) -> anyhow::Result<String> {
        let version = self.version()?;
        Ok(match self {
            Self::TypeScript => {
                format!("TypeScript SDK {version} with its npm packages, 70 MB on disk")
            }
            Self::Python => {
                format!(
                    "Python SDK {version} with its PyPI packages in an environment of its own, 430 MB on disk"
                )
            }
        })
    }

    fn megabytes(self) -> u64 {
        match self {
            Self::TypeScript => 150,
            Self::Python => 700,
        }
    }

    fn find(self, cache: &Cache) -> anyhow::Result<Option<PathBuf>> {
        let folder = cache.folder(&self.folder()?);
        let pins = self.pins();
        let same = match (
            std::fs::read(&pins),
            pins.file_name()
                .map(|name| std::fs::read(folder.join(name))),
        ) {
            (Ok(ours), Some(Ok(theirs))) => ours == theirs,
            _ => false,
        };
        Ok(same.then_some(folder))
    }

    fn install(self, folder: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
        match self {
            Self::TypeScript => install_typescript(folder, watch),
            Self::Python => install_python(folder, &self.pins(), watch),
        }?;
        self.keep_pins(folder)
    }

    /// Last, because the copy says that everything it names is there.
    fn keep_pins(self, folder: &Path) -> anyhow::Result<()> {
        copy_into(&self.pins(), folder)
    }

    fn check(self, folder: &Path) -> anyhow::Result<()> {
        let mut probe = match self {
            Self::TypeScript => {
                let mut node = Command::new("node");
                node.current_dir(folder).args([
                    "--input-type=module",
                    "--eval",
                    "await import('@anthropic-ai/claude-agent-sdk')",
                ]);
                node
            }
            Self::Python => {
                let mut python = Command::new(python(folder));
                python.args(["-c", "import claude_agent_sdk"]);
                python
            }
        };
        command::probe(&mut probe).context("the new SDK cannot be loaded")?;
        Ok(())
    }
}

fn typescript_version(lock: &str) -> Option<String> {
    let lock: serde_json::Value = serde_json::from_str(lock).ok()?;
    let version = &lock["packages"]["node_modules/@anthropic-ai/claude-agent-sdk"]["version"];
    version.as_str().map(str::to_owned)
}

fn python_version(requirements: &str) -> Option<String> {
    let mut lines = requirements.lines();
    lines
        .find_map(|line| line.strip_prefix("claude-agent-sdk=="))
        .map(|version| version.trim().to_owned())
}

fn install_typescript(folder: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    for file in ["package.json", "package-lock.json"] {
        copy_into(
            &workspace::root().join("bench/typescript").join(file),
            folder,
        )?;
    }
    let mut npm = Command::new("npm");
    // The optional package is the CLI itself, which the replayer stands in for.
    npm.current_dir(folder)
        .args([
            "ci",
            "--omit=optional",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ])
        .args([
            "--fetch-retries=2",
            "--fetch-retry-mintimeout=1000",
            "--fetch-retry-maxtimeout=4000",
        ])
        .arg("--loglevel=warn");
    command::run(&mut npm, INSTALL_LIMIT, watch)
        .context("failed to install the TypeScript SDK with npm")?;
    Ok(())
}

fn install_python(folder: &Path, pins: &Path, watch: Watch<'_>) -> anyhow::Result<()> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(folder.join("venv"));
    command::run(&mut venv, INSTALL_LIMIT, watch).context(
        "failed to make a Python environment; install Python 3.10 or newer with its venv module (python3-venv)",
    )?;
    let mut pip = Command::new(python(folder));
    pip.args([
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--retries=2",
        "--no-deps",
        "--requirement",
    ])
    .arg(pins);
    command::run(&mut pip, INSTALL_LIMIT, watch)
        .context("failed to install the Python SDK with pip")?;
    Ok(())
}

/// The interpreter of the environment in `folder`.
pub(crate) fn python(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python")
}

pub(crate) fn copy_into(file: &Path, folder: &Path) -> anyhow::Result<()> {
    let Some(name) = file.file_name() else {
        bail!("{} has no name", file.display());
    };
    std::fs::copy(file, folder.join(name)).with_context(|| {
        format!(
            "failed to copy {} into {}",
            file.display(),
            folder.display()
        )
    })?;
    Ok(())
}

/// What is there and what has to be installed.
#[derive(Debug)]
pub(crate) struct Plan {
    cache: Cache,
    missing: Vec<Peer>,
}

impl Plan {
    /// Looks for the peers and tells what will be installed, before anything is.
    pub(crate) fn announce(cache: &Cache) -> anyhow::Result<Self> {
        let mut missing = Vec::new();
        for peer in [Peer::TypeScript, Peer::Python] {
            if peer.find(cache)?.is_none() {
                missing.push(peer);
            }
        }
        if missing.is_empty() {
            println!("Set-up: both SDKs are there, nothing to install.");
        } else {
            println!("Set-up will install into {}:", cache.root().display());
            for peer in &missing {
                println!("  - {}", peer.describe()?);
            }
        }
        Ok(Self {
            cache: cache.clone(),
            missing,
        })
    }

    /// How many steps `carry_out` will show.
    pub(crate) fn steps(&self) -> usize {
        self.missing.len()
    }

    /// Installs what is missing; nothing when a peer could not be installed.
    pub(crate) fn carry_out(self, progress: &mut Progress) -> anyhow::Result<Option<Peers>> {
        let cache = &self.cache;
        if !self.missing.is_empty() {
            let lock = cache.lock()?;
            cache.require_space(self.missing.iter().map(|peer| peer.megabytes()).sum())?;
            for peer in self.missing {
                let what = format!("install {}", peer.describe()?);
                progress.step(peer.name(), &what, |watch| match peer.find(cache)? {
                    // Another set-up may have installed it while we waited for the lock.
                    Some(folder) => Ok(folder),
                    None => cache.install(
                        &lock,
                        &peer.folder()?,
                        |folder| peer.install(folder, watch),
                        |folder| peer.check(folder),
                    ),
                });
            }
        }
        let (Some(typescript), Some(python)) =
            (Peer::TypeScript.find(cache)?, Peer::Python.find(cache)?)
        else {
            return Ok(None);
        };
        // Node looks for packages beside the script.
        copy_into(
            &workspace::root().join("bench/typescript/consume.mjs"),
            &typescript,
        )?;
        Ok(Some(Peers {
            typescript,
            typescript_version: Peer::TypeScript.version()?,
            python,
            python_version: Peer::Python.version()?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pins_name_the_versions() {
        assert_eq!(Peer::TypeScript.version().unwrap(), "0.3.325");
        assert_eq!(Peer::Python.version().unwrap(), "0.2.182");
    }

    #[test]
    fn an_installation_from_other_pins_does_not_count() {
        let scratch = tempfile::tempdir().unwrap();
        let cache = Cache::at(scratch.path().to_owned());
        let folder = cache.folder(&Peer::Python.folder().unwrap());
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(Peer::Python.find(&cache).unwrap(), None);
        std::fs::write(folder.join("requirements.txt"), "claude-agent-sdk==0.0.1\n").unwrap();
        assert_eq!(Peer::Python.find(&cache).unwrap(), None);
        Peer::Python.keep_pins(&folder).unwrap();
        assert_eq!(Peer::Python.find(&cache).unwrap(), Some(folder));
    }
}
