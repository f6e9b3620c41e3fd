//! What a program may ask of a Claude Code process, and how that is told to it.
//!
//! [`Options`] is the whole list, with one setter per option. It owns the mapping to the three places where
//! the CLI takes its orders: command line and environment ([`Options::launch`]) and the `initialize` request
//! ([`Options::initialize`]). Both are pure. [`Options::prepare`] adds what needs the disk: it finds the CLI,
//! asks its version and looks whether the directories exist.
//!
//! This module starts no session and reads no output; it only runs `--version`.

mod agents;
mod arguments;
mod callbacks;
mod cli;
mod environment;
mod gates;
mod initialize;
mod launch;
mod model;
mod permissions;
mod prepare;
mod probe;
mod process;
mod prompt;
mod sandbox;
mod session;
mod settings;
mod stream;
mod tools;
mod validate;
mod version;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod real_tests;

pub use agents::{AgentDefinition, AgentMemory};
pub use callbacks::{
    CallContext, CanUseTool, HookCallback, HookFailure, HookMatcher, OnElicitation, OnStderr,
    OnUserDialog,
};
pub use cli::{Cli, FindError, Search};
pub use environment::Environment;
pub use gates::{GATES, Gate};
pub use launch::{Launch, LaunchEnv, LaunchError};
pub use model::{Beta, Effort, OutputFormat, Thinking, ThinkingDisplay};
pub use permissions::PermissionPrompts;
pub use prepare::PrepareError;
pub use probe::{ProbeError, probe};
pub use process::Runtime;
pub use prompt::{CustomPrompt, PresetPrompt, SYSTEM_PROMPT_DYNAMIC_BOUNDARY, SystemPrompt};
pub use sandbox::{SandboxFilesystem, SandboxNetwork, SandboxSettings};
pub use settings::{Plugin, PluginDelivery, SettingSource, Settings};
pub use tools::{QuestionPreview, Skills, ToolConfig, Tools};
pub use version::{CliVersion, MINIMUM_VERSION, ParseVersionError};

/// Everything a caller can decide about a Claude Code process before it starts.
///
/// A new value asks for nothing: the CLI then behaves as its own defaults say, except that the system prompt is
/// empty (see [`Options::system_prompt`]). Setters take and return the value, so calls chain. Contradictions are
/// reported by [`Options::launch`], not by the setters, so the order of calls never matters.
///
/// `Debug` shows which options are set but never the values of environment variables, nor MCP or settings
/// contents, which may hold secrets.
///
/// ```
/// use estelle_claude::options::{Effort, Options, SystemPrompt};
///
/// let options = Options::new()
///     .model("claude-sonnet-4-5")
///     .cwd("/srv/project")
///     .effort(Effort::High)
///     .system_prompt(SystemPrompt::preset().append("Answer in one sentence."))
///     .allowed_tools(["Read", "Bash(ls:*)"])
///     .include_partial_messages(true);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Options {
    pub(crate) model: model::ModelOptions,
    pub(crate) prompt: prompt::PromptOptions,
    pub(crate) agents: agents::AgentOptions,
    pub(crate) tools: tools::ToolOptions,
    pub(crate) permissions: permissions::PermissionOptions,
    pub(crate) session: session::SessionOptions,
    pub(crate) stream: stream::StreamOptions,
    pub(crate) settings: settings::SettingsOptions,
    pub(crate) process: process::ProcessOptions,
    pub(crate) callbacks: callbacks::Callbacks,
}

impl Options {
    /// Options that ask for nothing.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Turns anything string-like into owned strings; the setters of list options share it.
fn strings<I, S>(items: I) -> Vec<String>
where
    I: IntoIterator<Item = S>,
    S: Into<String>,
{
    items.into_iter().map(Into::into).collect()
}
