//! The system prompt of the main conversation and the prompt-like texts beside it.
//!
//! The CLI has two kinds: a prompt of the caller's own, and Claude Code's with an optional text behind it. They
//! are sent in the `initialize` request, never on the command line.

use super::Options;

/// A block of this text in a custom prompt separates what may be cached across sessions (before it) from what
/// is particular to one session (behind it).
pub const SYSTEM_PROMPT_DYNAMIC_BOUNDARY: &str = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__";

/// The prompt part of [`Options`].
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptOptions {
    pub(crate) system_prompt: Option<SystemPrompt>,
    pub(crate) plan_mode_instructions: Option<String>,
}

/// What the model is told before the conversation.
///
/// ```
/// use estelle_claude::options::SystemPrompt;
///
/// let own: SystemPrompt = "You are a release bot.".into();
/// let claude_code = SystemPrompt::preset().append("Prefer small commits.");
/// # let _ = (own, claude_code);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// The caller's own text instead of Claude Code's.
    Custom(CustomPrompt),
    /// Claude Code's prompt.
    Preset(PresetPrompt),
}

/// A system prompt of the caller's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct CustomPrompt {
    pub(crate) blocks: Vec<String>,
    pub(crate) snapshot: Option<bool>,
}

/// Claude Code's system prompt, with changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct PresetPrompt {
    pub(crate) append: Option<String>,
    pub(crate) exclude_dynamic_sections: Option<bool>,
    pub(crate) snapshot: Option<bool>,
}

impl SystemPrompt {
    /// Claude Code's own prompt, to which [`PresetPrompt::append`] adds.
    pub fn preset() -> PresetPrompt {
        PresetPrompt::default()
    }

    /// A prompt made of these blocks; see [`SYSTEM_PROMPT_DYNAMIC_BOUNDARY`].
    pub fn custom<I, S>(blocks: I) -> CustomPrompt
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        CustomPrompt {
            blocks: super::strings(blocks),
            snapshot: None,
        }
    }
}

impl CustomPrompt {
    /// Whether the prompt is recorded at the first request and reused word for word later, even when a resume
    /// gives another text. Default: the CLI's choice, which is to record.
    pub fn snapshot(mut self, snapshot: bool) -> Self {
        self.snapshot = Some(snapshot);
        self
    }
}

impl PresetPrompt {
    /// Text put behind Claude Code's prompt.
    pub fn append(mut self, text: impl Into<String>) -> Self {
        self.append = Some(text.into());
        self
    }

    /// Moves what differs between users (directory, memory, git status) out of the prompt into the first user
    /// message, so that the prompt can be cached across users.
    pub fn exclude_dynamic_sections(mut self, exclude: bool) -> Self {
        self.exclude_dynamic_sections = Some(exclude);
        self
    }

    /// See [`CustomPrompt::snapshot`].
    pub fn snapshot(mut self, snapshot: bool) -> Self {
        self.snapshot = Some(snapshot);
        self
    }
}

impl From<CustomPrompt> for SystemPrompt {
    fn from(prompt: CustomPrompt) -> Self {
        Self::Custom(prompt)
    }
}

impl From<PresetPrompt> for SystemPrompt {
    fn from(prompt: PresetPrompt) -> Self {
        Self::Preset(prompt)
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::custom([text]).into()
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::custom([text]).into()
    }
}

impl From<Vec<String>> for SystemPrompt {
    fn from(blocks: Vec<String>) -> Self {
        Self::custom(blocks).into()
    }
}

impl Options {
    /// The system prompt. Default: an empty one; [`SystemPrompt::preset`] gives Claude Code's.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.prompt.system_prompt = Some(prompt.into());
        self
    }

    /// Replaces the workflow text of plan mode; the CLI keeps its read-only rules around it.
    pub fn plan_mode_instructions(mut self, text: impl Into<String>) -> Self {
        self.prompt.plan_mode_instructions = Some(text.into());
        self
    }
}
