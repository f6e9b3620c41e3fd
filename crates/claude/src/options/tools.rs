//! Which tools and skills the model has, and which of them need no permission.
//!
//! Owns the tool lists and their value types. Who is asked when a tool does need permission is in
//! `permissions`.

use std::collections::BTreeMap;

use super::{Options, strings};

/// The tool part of [`Options`].
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolOptions {
    pub(crate) tools: Option<Tools>,
    pub(crate) allowed: Vec<String>,
    pub(crate) disallowed: Vec<String>,
    pub(crate) aliases: BTreeMap<String, String>,
    pub(crate) config: ToolConfig,
    pub(crate) skills: Option<Skills>,
}

/// The built-in tools the model has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tools {
    /// Only these; an empty list leaves none.
    List(Vec<String>),
    /// All of Claude Code's.
    Preset,
}

impl Tools {
    /// Only the named built-in tools.
    pub fn list<I, S>(names: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Self::List(strings(names))
    }
}

/// The skills of the main conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skills {
    /// Every skill the CLI finds.
    All,
    /// Only these, by directory name or `plugin:skill`.
    List(Vec<String>),
}

/// Settings of single built-in tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolConfig {
    /// Form of the previews that AskUserQuestion offers with its answers.
    pub question_preview: Option<QuestionPreview>,
}

/// Form of a preview in AskUserQuestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionPreview {
    /// Markdown text.
    Markdown,
    /// An HTML fragment.
    Html,
}

impl QuestionPreview {
    /// The word the CLI uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }
}

impl Options {
    /// Built-in tools the model has. Default: the CLI's own set.
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools.tools = Some(tools);
        self
    }

    /// Tools, or rules such as `Bash(ls:*)`, that run without asking. Does not limit what the model has.
    pub fn allowed_tools<I, S>(mut self, rules: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.tools.allowed = strings(rules);
        self
    }

    /// Tools, or rules, that are refused in any case; a whole tool named here is hidden from the model.
    pub fn disallowed_tools<I, S>(mut self, rules: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.tools.disallowed = strings(rules);
        self
    }

    /// When the model calls the tool `name`, runs `target` instead; one step, chains are not followed.
    pub fn tool_alias(mut self, name: impl Into<String>, target: impl Into<String>) -> Self {
        self.tools.aliases.insert(name.into(), target.into());
        self
    }

    /// All tool aliases at once; replaces those set before.
    pub fn tool_aliases<I, N, T>(mut self, aliases: I) -> Self
    where
        I: IntoIterator<Item = (N, T)>,
        N: Into<String>,
        T: Into<String>,
    {
        self.tools.aliases = aliases
            .into_iter()
            .map(|(name, target)| (name.into(), target.into()))
            .collect();
        self
    }

    /// Settings of single built-in tools.
    pub fn tool_config(mut self, config: ToolConfig) -> Self {
        self.tools.config = config;
        self
    }

    /// Skills of the main conversation; they also become allowed. Default: the CLI's own.
    pub fn skills(mut self, skills: Skills) -> Self {
        self.tools.skills = Some(skills);
        self
    }
}
