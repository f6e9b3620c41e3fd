//! Which model answers, how hard it thinks and when it must stop.
//!
//! Owns the options that end up as model-related arguments and their value types. The prompt itself is in
//! `prompt`, sub-agents are in `agents`.

use std::fmt;

use serde_json::Value;

use super::Options;

/// The model-related part of [`Options`].
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelOptions {
    pub(crate) model: Option<String>,
    pub(crate) fallback_model: Option<String>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) task_budget: Option<u64>,
    pub(crate) max_thinking_tokens: Option<u32>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    pub(crate) betas: Vec<Beta>,
    pub(crate) output_format: Option<OutputFormat>,
}

/// How the model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// The model decides when and how much to think.
    Adaptive(Option<ThinkingDisplay>),
    /// A fixed budget in tokens; without one the CLI treats this as adaptive.
    Enabled {
        /// Tokens the model may spend on thinking in one response.
        budget_tokens: Option<u32>,
        /// What of the thinking is shown.
        display: Option<ThinkingDisplay>,
    },
    /// No extended thinking.
    Disabled,
}

impl Thinking {
    /// Adaptive thinking with the CLI's own choice of display.
    pub const fn adaptive() -> Self {
        Self::Adaptive(None)
    }

    /// Thinking with a fixed budget of `budget_tokens` tokens.
    pub const fn budget(budget_tokens: u32) -> Self {
        Self::Enabled {
            budget_tokens: Some(budget_tokens),
            display: None,
        }
    }

    /// The display this value asks for, if any.
    pub(crate) const fn display(self) -> Option<ThinkingDisplay> {
        match self {
            Self::Adaptive(display) | Self::Enabled { display, .. } => display,
            Self::Disabled => None,
        }
    }
}

/// What of the model's thinking the CLI passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Nothing.
    Omitted,
}

impl fmt::Display for ThinkingDisplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Summarized => "summarized",
            Self::Omitted => "omitted",
        })
    }
}

/// How much effort the model puts into its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// The least.
    Low,
    /// Between low and high.
    Medium,
    /// Thorough.
    High,
    /// More than high.
    XHigh,
    /// As much as the model can.
    Max,
}

impl Effort {
    /// The word the CLI uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// An API feature that must be asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beta {
    /// `context-1m-2025-08-07`: a context window of one million tokens on models that offer it.
    Context1m,
    /// Any other beta header.
    Other(String),
}

impl Beta {
    /// The header value.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Context1m => "context-1m-2025-08-07",
            Self::Other(name) => name,
        }
    }
}

/// The form in which the answer is wanted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// JSON that matches this JSON schema; it arrives as `structured_output` of the result.
    JsonSchema(Value),
}

impl Options {
    /// Model to use: an alias such as `sonnet` or a full name. Default: the CLI's own.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model.model = Some(model.into());
        self
    }

    /// Model to fall back to when the first is overloaded; a comma-separated list is tried in order.
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.model.fallback_model = Some(model.into());
        self
    }

    /// Ends the query with `error_max_turns` after this many turns. At least 1.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.model.max_turns = Some(turns);
        self
    }

    /// Ends the query with `error_max_budget_usd` when it has cost this much, in US dollars.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.model.max_budget_usd = Some(dollars);
        self
    }

    /// Token budget the model is told about, so that it can pace itself.
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.model.task_budget = Some(tokens);
        self
    }

    /// Older way to bound thinking; 0 switches it off. [`Options::thinking`] wins over it.
    pub fn max_thinking_tokens(mut self, tokens: u32) -> Self {
        self.model.max_thinking_tokens = Some(tokens);
        self
    }

    /// How the model thinks. Default: the CLI's choice for the model.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.model.thinking = Some(thinking);
        self
    }

    /// How much effort the model makes. Default: the CLI's choice.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.model.effort = Some(effort);
        self
    }

    /// API betas to switch on; replaces an earlier list.
    pub fn betas(mut self, betas: impl IntoIterator<Item = Beta>) -> Self {
        self.model.betas = betas.into_iter().collect();
        self
    }

    /// Asks for an answer in a fixed form.
    pub fn output_format(mut self, format: OutputFormat) -> Self {
        self.model.output_format = Some(format);
        self
    }
}
