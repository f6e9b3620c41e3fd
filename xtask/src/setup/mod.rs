//! Set-up: finds what a command needs, says what is missing before it installs it, installs it.
//!
//! Everything but the browser lands in one folder of the user's cache (`cache.rs`), never in the repository or the
//! system.
//! The Rust toolchain itself comes from rustup and `rust-toolchain.toml`; Node has to be there already.

use std::path::PathBuf;
use std::time::Duration;

use crate::progress::Progress;

mod browser;
mod cache;
mod claude_cli;
mod nextest;
mod node;
pub(crate) mod schemathesis;
pub(crate) mod web;

pub(crate) use cache::Cache;

/// The version of the newest CLI that is known.
pub(crate) const NEWEST_CLI: &str = claude_cli::NEWEST.version;

/// Something that set-up can find or install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    OldestClaude,
    NewestClaude,
    Nextest,
    WebPackages,
    Browser,
    Schemathesis,
}

/// Where the tools are that a run asked for.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    found: Vec<(Tool, PathBuf)>,
}

impl Tools {
    pub(crate) fn get(&self, tool: Tool) -> Option<&PathBuf> {
        let mut found = self.found.iter();
        found
            .find(|(known, _)| *known == tool)
            .map(|(_, path)| path)
    }

    /// The environment variables that tell tests where the real CLIs are.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        self.found
            .iter()
            .filter_map(|(tool, path)| Some((tool.variable()?, path)))
    }
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::OldestClaude => "claude-197",
            Self::NewestClaude => "claude-325",
            Self::Nextest => "get-nextest",
            Self::WebPackages => "web-packages",
            Self::Browser => "browser",
            Self::Schemathesis => "schemathesis",
        }
    }

    fn variable(self) -> Option<&'static str> {
        self.release().map(|release| release.variable)
    }

    fn release(self) -> Option<&'static claude_cli::Release> {
        match self {
            Self::OldestClaude => Some(&claude_cli::OLDEST),
            Self::NewestClaude => Some(&claude_cli::NEWEST),
            Self::Nextest | Self::WebPackages | Self::Browser | Self::Schemathesis => None,
        }
    }

    /// What is installed, from where, and what it costs.
    fn describe(self) -> anyhow::Result<String> {
        Ok(match (self, self.release()) {
            (_, Some(release)) => format!(
                "Claude Code CLI {}, npm package {}, {} MB on disk",
                release.version,
                release.package()?,
                release.megabytes
            ),
            (Self::WebPackages, None) => format!(
                "npm packages of the web app, as its lock file says, {} MB on disk",
                web::MEGABYTES
            ),
            (Self::Browser, None) => format!(
                "Chromium, the system's package, {} MB on disk",
                browser::MEGABYTES
            ),
            (Self::Schemathesis, None) => format!(
                "schemathesis {}, Python packages, {} MB on disk",
                schemathesis::VERSION,
                schemathesis::MEGABYTES
            ),
            (_, None) => format!(
                "cargo-nextest {}, built from source with cargo, some minutes",
                nextest::VERSION
            ),
        })
    }

    fn megabytes(self) -> u64 {
        match (self, self.release()) {
            // npm keeps a packed copy while it unpacks.
            (_, Some(release)) => release.megabytes * 3 / 2,
            (Self::WebPackages, None) => web::MEGABYTES * 3 / 2,
            (Self::Browser, None) => browser::MEGABYTES,
            (Self::Schemathesis, None) => schemathesis::MEGABYTES * 3 / 2,
            (_, None) => nextest::MEGABYTES,
        }
    }

    fn find(self, cache: &Cache) -> anyhow::Result<Option<PathBuf>> {
        match (self, self.release()) {
            (_, Some(release)) => release.find(cache),
            (Self::WebPackages, None) => web::find(cache),
            (Self::Browser, None) => Ok(browser::find()),
            (Self::Schemathesis, None) => Ok(schemathesis::find(cache)),
            (_, None) => Ok(nextest::find(cache)),
        }
    }

    fn install(
        self,
        cache: &Cache,
        lock: &cache::Lock,
        watch: &mut dyn FnMut(Duration, &str),
    ) -> anyhow::Result<PathBuf> {
        match (self, self.release()) {
            (_, Some(release)) => release.install(cache, lock, watch),
            (Self::WebPackages, None) => web::install(cache, lock, watch),
            (Self::Browser, None) => browser::install(watch),
            (Self::Schemathesis, None) => schemathesis::install(cache, lock, watch),
            (_, None) => nextest::install(cache, lock, watch),
        }
    }
}

/// What is there and what has to be installed.
#[derive(Debug)]
pub(crate) struct Plan {
    cache: Cache,
    tools: Tools,
    missing: Vec<Tool>,
}

impl Plan {
    /// Looks for the tools and tells what will be installed, before anything is.
    pub(crate) fn announce(cache: &Cache, needs: &[Tool]) -> anyhow::Result<Self> {
        let mut plan = Self {
            cache: cache.clone(),
            tools: Tools::default(),
            missing: Vec::new(),
        };
        for &tool in needs {
            match tool.find(cache)? {
                Some(path) => plan.tools.found.push((tool, path)),
                None => plan.missing.push(tool),
            }
        }
        match (needs, plan.missing.as_slice()) {
            ([], _) => {}
            (_, []) => println!("Set-up: all tools are there, nothing to install."),
            (_, missing) => {
                println!("Set-up will install into {}:", cache.root().display());
                for tool in missing {
                    println!("  - {}", tool.describe()?);
                }
            }
        }
        Ok(plan)
    }

    /// How many steps `carry_out` will show.
    pub(crate) fn steps(&self) -> usize {
        self.missing.len()
    }

    /// Installs what is missing. A tool that could not be installed is absent from the answer.
    pub(crate) fn carry_out(mut self, progress: &mut Progress) -> anyhow::Result<Tools> {
        if self.missing.is_empty() {
            return Ok(self.tools);
        }
        let lock = self.cache.lock()?;
        self.cache.sweep(&lock)?;
        self.cache
            .require_space(self.missing.iter().map(|tool| tool.megabytes()).sum())?;
        let mut is_failed = false;
        for tool in self.missing {
            if is_failed {
                // What stopped the first would stop the others as well; saying it once is enough.
                progress.skip(tool.name(), "because of the failure above");
                continue;
            }
            let what = format!("install {}", tool.describe()?);
            let path = progress.step(tool.name(), &what, |watch| {
                // Another set-up may have installed it while we waited for the lock.
                match tool.find(&self.cache)? {
                    Some(path) => Ok(path),
                    None => tool.install(&self.cache, &lock, watch),
                }
            });
            is_failed = path.is_none();
            self.tools.found.extend(path.map(|path| (tool, path)));
        }
        Ok(self.tools)
    }
}
