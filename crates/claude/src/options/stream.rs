//! What the process reports besides the messages it always sends.
//!
//! Every option here adds lines or fields to the stream and changes nothing else, except
//! `per_task_stop_affordance`, which changes what an interrupt stops.

use super::Options;

/// The stream part of [`Options`].
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one independent switch of the CLI, none excludes another"
)]
pub(crate) struct StreamOptions {
    pub(crate) partial_messages: bool,
    pub(crate) hook_events: bool,
    pub(crate) subagent_text: bool,
    pub(crate) verbatim_prompts: bool,
    pub(crate) replay_user_messages: bool,
    pub(crate) prompt_suggestions: bool,
    pub(crate) agent_progress_summaries: bool,
    pub(crate) session_state_events: bool,
    pub(crate) per_task_stop_affordance: bool,
}

impl Options {
    /// Reports the answer piece by piece as `stream_event` messages.
    pub fn include_partial_messages(mut self, include: bool) -> Self {
        self.stream.partial_messages = include;
        self
    }

    /// Reports the life of every hook as `system` messages.
    pub fn include_hook_events(mut self, include: bool) -> Self {
        self.stream.hook_events = include;
        self
    }

    /// Reports the texts and thoughts of sub-agents, not only their tool calls.
    pub fn forward_subagent_text(mut self, forward: bool) -> Self {
        self.stream.subagent_text = forward;
        self
    }

    /// Marks every user message as composed by a program: no `@path` expansion, no slash commands. The mark is
    /// `client_composed` on each message; a CLI older than 2.1.248 ignores it.
    pub fn verbatim_prompts(mut self, verbatim: bool) -> Self {
        self.stream.verbatim_prompts = verbatim;
        self
    }

    /// Echoes each user message on the stream when the CLI has taken it (`--replay-user-messages`).
    pub fn replay_user_messages(mut self, replay: bool) -> Self {
        self.stream.replay_user_messages = replay;
        self
    }

    /// Suggests a next prompt after each turn, as a `prompt_suggestion` message behind the result.
    pub fn prompt_suggestions(mut self, suggest: bool) -> Self {
        self.stream.prompt_suggestions = suggest;
        self
    }

    /// Sums up now and then what running sub-agents do, in `task_progress`.
    pub fn agent_progress_summaries(mut self, summarize: bool) -> Self {
        self.stream.agent_progress_summaries = summarize;
        self
    }

    /// Reports idle, running and waiting-for-the-user as `session_state_changed` messages
    /// (`CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1`).
    pub fn session_state_events(mut self, emit: bool) -> Self {
        self.stream.session_state_events = emit;
        self
    }

    /// Declares that the user can stop single background tasks here, so that an interrupt ends only the turn
    /// and spares them.
    pub fn per_task_stop_affordance(mut self, offered: bool) -> Self {
        self.stream.per_task_stop_affordance = offered;
        self
    }
}
