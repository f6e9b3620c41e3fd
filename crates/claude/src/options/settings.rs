//! Settings, plugins and MCP servers: configuration that the CLI would otherwise take from files.
//!
//! Owns the value types and setters. How inline settings and the sandbox option become one argument is in
//! `sandbox`; MCP configurations themselves are the `mcp` module's.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::{Options, SandboxSettings};
use crate::mcp::McpServerConfig;
use crate::wire::control::PluginConfig;

/// The configuration part of [`Options`].
#[derive(Clone, Default)]
pub(crate) struct SettingsOptions {
    pub(crate) settings: Option<Settings>,
    pub(crate) managed: Option<Value>,
    pub(crate) sources: Option<Vec<SettingSource>>,
    pub(crate) sandbox: Option<SandboxSettings>,
    pub(crate) plugins: Vec<Plugin>,
    pub(crate) plugin_delivery: PluginDelivery,
    pub(crate) mcp_servers: BTreeMap<String, McpServerConfig>,
    pub(crate) strict_mcp_config: bool,
}

impl fmt::Debug for SettingsOptions {
    /// Leaves out contents: settings may carry `env`, MCP configurations headers and tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsOptions")
            .field("settings", &self.settings)
            .field("managed", &self.managed.is_some())
            .field("sources", &self.sources)
            .field("sandbox", &self.sandbox)
            .field("plugins", &self.plugins)
            .field("plugin_delivery", &self.plugin_delivery)
            .field("mcp_servers", &self.mcp_servers.keys().collect::<Vec<_>>())
            .field("strict_mcp_config", &self.strict_mcp_config)
            .finish()
    }
}

/// Settings that win over the user's, project's and local files.
#[derive(Clone, PartialEq)]
pub enum Settings {
    /// A settings object.
    Inline(Value),
    /// A settings file.
    Path(PathBuf),
}

impl fmt::Debug for Settings {
    /// Shows the keys of an object only: `env` in settings may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(value) => {
                let keys = value
                    .as_object()
                    .map(|object| object.keys().collect::<Vec<_>>());
                f.debug_tuple("Inline")
                    .field(&keys.unwrap_or_default())
                    .finish()
            }
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
        }
    }
}

/// A settings file the CLI may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    /// `~/.claude/settings.json`.
    User,
    /// `.claude/settings.json` of the project; also needed for its CLAUDE.md.
    Project,
    /// `.claude/settings.local.json` of the project.
    Local,
}

impl SettingSource {
    /// The word the CLI uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// A plugin in a directory on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Plugin {
    pub(crate) path: PathBuf,
    pub(crate) skip_mcp_discovery: bool,
}

impl Plugin {
    /// The plugin in this directory.
    pub fn local(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            skip_mcp_discovery: false,
        }
    }

    /// Loads the plugin without its MCP servers.
    pub fn skip_mcp_discovery(mut self) -> Self {
        self.skip_mcp_discovery = true;
        self
    }

    /// The form in which the `initialize` request carries it.
    pub(crate) fn to_wire(&self) -> PluginConfig {
        let mut plugin = PluginConfig::new(self.path.to_string_lossy());
        plugin.skip_mcp_discovery = self.skip_mcp_discovery.then_some(true);
        plugin
    }
}

/// How plugins reach the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PluginDelivery {
    /// One argument each; every CLI knows it.
    #[default]
    Argv,
    /// In the `initialize` request, for long lists. Needs a CLI that knows it, see [`super::GATES`].
    Initialize,
}

impl Options {
    /// Settings that win over all files.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings.settings = Some(settings);
        self
    }

    /// Policy settings, an object; the CLI keeps only what restricts.
    pub fn managed_settings(mut self, settings: Value) -> Self {
        self.settings.managed = Some(settings);
        self
    }

    /// Settings files to read. Default: all; an empty list reads none.
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.settings.sources = Some(sources.into_iter().collect());
        self
    }

    /// Runs commands in a sandbox. Goes into inline [`Options::settings`], so it cannot be combined with a
    /// settings file.
    pub fn sandbox(mut self, sandbox: SandboxSettings) -> Self {
        self.settings.sandbox = Some(sandbox);
        self
    }

    /// Plugins to load; replaces an earlier list.
    pub fn plugins(mut self, plugins: impl IntoIterator<Item = Plugin>) -> Self {
        self.settings.plugins = plugins.into_iter().collect();
        self
    }

    /// How plugins reach the process.
    pub fn plugin_delivery(mut self, delivery: PluginDelivery) -> Self {
        self.settings.plugin_delivery = delivery;
        self
    }

    /// Adds an MCP server under this name.
    ///
    /// Servers that are not in this process are described on the command line, which other users of the machine
    /// can read. Write a secret as `${NAME}` and put its value into the environment with [`Options::env`]: the
    /// CLI fills it in.
    pub fn mcp_server(
        mut self,
        name: impl Into<String>,
        server: impl Into<McpServerConfig>,
    ) -> Self {
        self.settings.mcp_servers.insert(name.into(), server.into());
        self
    }

    /// All MCP servers at once; replaces those added before.
    pub fn mcp_servers<I, S>(mut self, servers: I) -> Self
    where
        I: IntoIterator<Item = (S, McpServerConfig)>,
        S: Into<String>,
    {
        self.settings.mcp_servers = servers
            .into_iter()
            .map(|(name, server)| (name.into(), server))
            .collect();
        self
    }

    /// Uses only the MCP servers given here and ignores those of files and plugins.
    pub fn strict_mcp_config(mut self, strict: bool) -> Self {
        self.settings.strict_mcp_config = strict;
        self
    }
}
