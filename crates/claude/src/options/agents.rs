//! Sub-agents defined by the program itself.
//!
//! Owns [`AgentDefinition`], which builds the wire's type of the same name for the `initialize` request. Agents from
//! files on disk are not known here.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::{Effort, Options, strings};
use crate::mcp::{McpServers, set_servers_value};
use crate::wire::{PermissionMode, control as wire};

/// The agent part of [`Options`].
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentOptions {
    pub(crate) agent: Option<String>,
    pub(crate) agents: BTreeMap<String, AgentDefinition>,
}

/// A sub-agent the model may call, or the main conversation may become ([`Options::agent`]).
///
/// ```
/// use estelle_claude::options::{AgentDefinition, Options};
///
/// let reviewer = AgentDefinition::new("Reviews a diff", "You review code.").tools(["Read", "Grep"]);
/// let options = Options::new().agent_definition("reviewer", reviewer);
/// # let _ = options;
/// ```
#[derive(Clone, PartialEq)]
#[must_use]
pub struct AgentDefinition(wire::AgentDefinition);

impl fmt::Debug for AgentDefinition {
    /// Leaves out the prompt for its length and the MCP servers for their secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentDefinition")
            .field("description", &self.0.description)
            .field("tools", &self.0.tools)
            .field("model", &self.0.model)
            .finish_non_exhaustive()
    }
}

/// Where a sub-agent keeps what it learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentMemory {
    /// In the user's directory.
    User,
    /// In the project, shared.
    Project,
    /// In the project, not shared.
    Local,
}

impl AgentMemory {
    /// The word the CLI uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

impl AgentDefinition {
    /// An agent with a description (when the model should call it) and a system prompt.
    pub fn new(description: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self(wire::AgentDefinition::new(description, prompt))
    }

    /// Tools it has. Default: those of the main conversation.
    pub fn tools<I, S>(mut self, tools: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.0.tools = Some(strings(tools));
        self
    }

    /// Tools it has not.
    pub fn disallowed_tools<I, S>(mut self, tools: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.0.disallowed_tools = Some(strings(tools));
        self
    }

    /// Its model: `sonnet`, `opus`, `haiku`, `inherit` or a full name.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.0.model = Some(model.into());
        self
    }

    /// Gives it an MCP server of the main conversation, by name.
    pub fn mcp_server_named(self, name: impl Into<String>) -> Self {
        self.push_server(Value::from(name.into()))
    }

    /// Gives it MCP servers of its own. Servers in this process belong to the main conversation and are given by
    /// name.
    pub fn mcp_servers(self, servers: &McpServers) -> Self {
        self.push_server(set_servers_value(servers))
    }

    fn push_server(mut self, server: Value) -> Self {
        self.0
            .mcp_servers
            .get_or_insert_default()
            .push(server.into());
        self
    }

    /// Skills loaded when it starts.
    pub fn skills<I, S>(mut self, skills: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.0.skills = Some(strings(skills));
        self
    }

    /// First user message when it is the main agent.
    pub fn initial_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.0.initial_prompt = Some(prompt.into());
        self
    }

    /// Most turns it may take.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.0.max_turns = Some(turns.into());
        self
    }

    /// Tokens at which its conversation is compacted.
    pub fn auto_compact_window(mut self, tokens: u64) -> Self {
        self.0.auto_compact_window = Some(tokens);
        self
    }

    /// Whether it always runs in the background.
    pub fn background(mut self, background: bool) -> Self {
        self.0.background = Some(background);
        self
    }

    /// Whether it does without the project's CLAUDE.md.
    pub fn omit_claude_md(mut self, omit: bool) -> Self {
        self.0.omit_claude_md = Some(omit);
        self
    }

    /// Where it keeps what it learns.
    pub fn memory(mut self, memory: AgentMemory) -> Self {
        self.0.memory = Some(memory.as_str().to_owned());
        self
    }

    /// How much effort it makes.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.0.effort = Some(Value::from(effort.as_str()).into());
        self
    }

    /// Its permission mode.
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.0.permission_mode = Some(mode);
        self
    }

    /// Another agent that watches it, and what that one is told.
    pub fn observer(mut self, agent: impl Into<String>, message: impl Into<String>) -> Self {
        self.0.observer = Some(agent.into());
        self.0.observer_message = Some(message.into());
        self
    }

    /// A reminder repeated to it; experimental in the CLI.
    pub fn critical_system_reminder(mut self, text: impl Into<String>) -> Self {
        self.0.critical_system_reminder = Some(text.into());
        self
    }

    /// The form in which the `initialize` request carries it.
    pub(crate) fn to_wire(&self) -> wire::AgentDefinition {
        self.0.clone()
    }
}

impl Options {
    /// Agent whose prompt, tools and model the main conversation takes; defined here or in the settings.
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agents.agent = Some(name.into());
        self
    }

    /// Defines one sub-agent.
    pub fn agent_definition(mut self, name: impl Into<String>, agent: AgentDefinition) -> Self {
        self.agents.agents.insert(name.into(), agent);
        self
    }

    /// All sub-agents at once; replaces those defined before.
    pub fn agents<I, S>(mut self, agents: I) -> Self
    where
        I: IntoIterator<Item = (S, AgentDefinition)>,
        S: Into<String>,
    {
        self.agents.agents = agents
            .into_iter()
            .map(|(name, agent)| (name.into(), agent))
            .collect();
        self
    }
}
