//! What history shows of an event: one entry or none. Pure.
//!
//! Entries are for people who read a conversation later: what was said, which tools ran, what came of it. States,
//! progress and the mechanics of decisions have their own messages and make no entry.

use estelle_proto::decisions::{DecisionState, PermissionDecision};
use estelle_proto::events::{
    ClaudeAborted, ClaudeEvent, DecisionAnswered, ErrorEvent, PermissionAsked, QuestionAsked,
    TextComplete, ToolComplete, ToolInfo, TurnResult, UserMessage,
};
use estelle_proto::history::{
    HistoryAborted, HistoryError, HistoryMessage, HistorySystem, HistoryText, HistoryThinking,
    HistoryToolComplete, HistoryToolStart, HistoryTurnResult, HistoryUsage, HistoryUserResponse,
    Role,
};
use estelle_proto::limits::{LIVE_ERROR_CHARS, LIVE_RESULT_CHARS, cut};
use estelle_proto::runs::{JournalDamage, PauseReason, ProcessPaused, ProcessResumed, TaskUpdate};
use estelle_proto::writing::ThinkingComplete;
use estelle_proto::{Json, Seq, Timestamp, ToolImage, ToolUseId};

use super::shorten;

/// The tool whose calls are asked as questions.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// Whether the call that a decision is about has an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// It has.
    Shown,
    /// It has none, or the event is no decision.
    Unseen,
}

/// What comes with an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside<'a> {
    /// Whether the call that a decision is about has an entry.
    pub(super) call: Call,
    /// The whole of what a tool gave, if the event has it cut.
    pub(super) full_result: Option<&'a str>,
    /// The pictures that the event names.
    pub(super) full_images: &'a [String],
}

/// A row to be: the entry, and the part of a call that it shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) message: HistoryMessage,
    pub(super) part: Option<(ToolUseId, Part)>,
}

/// One side of a call; the whole text, if the entry shows it cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Input {
        whole: Option<String>,
    },
    Output {
        whole: Option<String>,
        images: Vec<String>,
    },
}

impl Entry {
    fn plain(message: impl Into<HistoryMessage>) -> Self {
        let message = message.into();
        Self {
            message,
            part: None,
        }
    }

    /// What a search finds the entry by.
    pub(super) fn text(&self) -> String {
        text(&self.message)
    }
}

/// What a search finds an entry by, and shows of it.
pub(super) fn text(message: &HistoryMessage) -> String {
    match message {
        HistoryMessage::Text(said) => said.content.clone(),
        HistoryMessage::ToolStart(call) => {
            format!("{}\n{}", call.tool_name, shorten::strings(&call.tool_input))
        }
        HistoryMessage::ToolComplete(call) => match &call.error {
            Some(error) if !call.output.starts_with(error.as_str()) => {
                format!("{error}\n{}", call.output)
            }
            Some(_) | None => call.output.clone(),
        },
        HistoryMessage::Error(failure) => failure.content.clone(),
        // A search is for what was said and done; thoughts would drown it.
        HistoryMessage::Thinking(_)
        | HistoryMessage::TurnResult(_)
        | HistoryMessage::Aborted(_)
        | HistoryMessage::UserResponse(_)
        | HistoryMessage::System(_)
        | HistoryMessage::Unknown(_) => String::new(),
    }
}

/// Whether somebody who is not looking should learn that something happened.
pub(super) fn is_notable(event: &ClaudeEvent) -> bool {
    matches!(
        event,
        ClaudeEvent::TextComplete(_)
            | ClaudeEvent::ToolComplete(_)
            | ClaudeEvent::Result(_)
            | ClaudeEvent::Aborted(_)
            | ClaudeEvent::Error(_)
    )
}

/// The entry that an event makes, if any.
pub(super) fn entry(
    event: &ClaudeEvent,
    at: Timestamp,
    seq: Seq,
    beside: Beside<'_>,
) -> Option<Entry> {
    let place = Place { at, seq };
    match event {
        ClaudeEvent::UserMessage(message) => Some(place.user(message)),
        ClaudeEvent::TextComplete(text) => Some(place.assistant(text)),
        ClaudeEvent::ThinkingComplete(thought) => Some(place.thought(thought)),
        ClaudeEvent::ToolInfo(info) => Some(place.call(info)),
        ClaudeEvent::ToolComplete(info) => Some(place.returned(info, beside)),
        ClaudeEvent::PermissionAsked(asked) => place.permission(asked, beside.call),
        ClaudeEvent::QuestionAsked(asked) => place.question(asked, beside.call),
        ClaudeEvent::DecisionAnswered(answer) => place.answer(answer),
        ClaudeEvent::Result(result) => Some(place.result(result)),
        ClaudeEvent::Error(failure) => Some(place.error(failure)),
        ClaudeEvent::Aborted(aborted) => Some(place.aborted(aborted)),
        ClaudeEvent::SessionReset(reset) => Some(place.reset(&reset.reason)),
        ClaudeEvent::Task(task) => place.task(task),
        ClaudeEvent::MessageCancelled(_) => {
            Some(place.remark("cancelled", "a message was taken back".to_owned()))
        }
        ClaudeEvent::JournalDamage(damage) => Some(place.damage(damage)),
        ClaudeEvent::Remark(said) => Some(place.remark(&said.subtype, said.text.clone())),
        ClaudeEvent::Rewound(rewound) => Some(place.rewound(rewound.before_seq)),
        ClaudeEvent::Resumed(resumed) => Some(place.resumed(resumed)),
        ClaudeEvent::Paused(paused) => Some(place.paused(paused)),
        ClaudeEvent::Init(_)
        | ClaudeEvent::State(_)
        | ClaudeEvent::StateUpdate(_)
        | ClaudeEvent::Text(_)
        | ClaudeEvent::Thinking(_)
        | ClaudeEvent::Waiting(_)
        | ClaudeEvent::IdleWarning(_)
        | ClaudeEvent::Limits(_)
        | ClaudeEvent::ApiRetry(_)
        | ClaudeEvent::Unknown(_) => None,
    }
}

/// Whether each picture has its bytes, in Base64.
fn are_whole(named: &[ToolImage], bytes: &[String]) -> bool {
    let is_whole = |(image, data): (&ToolImage, &String)| {
        u64::try_from(data.len()).is_ok_and(|length| length == image.size.div_ceil(3) * 4)
    };
    named.len() == bytes.len() && named.iter().zip(bytes).all(is_whole)
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    at: Timestamp,
    seq: Seq,
}

impl Place {
    fn user(self, message: &UserMessage) -> Entry {
        Entry::plain(HistoryText {
            seq: Some(self.seq),
            client_message_id: message.client_message_id.clone(),
            device_id: message.device_id,
            author: message.author.clone(),
            ..HistoryText::new(Role::User, message.content.clone(), self.at)
        })
    }

    fn assistant(self, text: &TextComplete) -> Entry {
        Entry::plain(HistoryText {
            seq: Some(self.seq),
            parent_tool_use_id: text.parent_tool_use_id.clone(),
            ..HistoryText::new(Role::Assistant, text.text.clone(), self.at)
        })
    }

    fn thought(self, thought: &ThinkingComplete) -> Entry {
        Entry::plain(HistoryThinking {
            seq: Some(self.seq),
            parent_tool_use_id: thought.parent_tool_use_id.clone(),
            ..HistoryThinking::new(thought.text.clone(), self.at)
        })
    }

    fn call(self, call: &ToolInfo) -> Entry {
        let short = shorten::input(&call.input);
        let id = self.call_id(call.tool_use_id.as_ref(), short.is_some());
        let whole = short.is_some().then(|| call.input.get().to_owned());
        let message = HistoryToolStart {
            seq: Some(self.seq),
            tool_use_id: id.clone(),
            parent_tool_use_id: call.parent_tool_use_id.clone(),
            truncated: short.is_some().then_some(true),
            ..HistoryToolStart::new(
                call.tool_name.clone(),
                short.unwrap_or_else(|| call.input.clone()),
                self.at,
            )
        };
        Entry {
            message: message.into(),
            part: id.map(|id| (id, Part::Input { whole })),
        }
    }

    fn returned(self, call: &ToolComplete, beside: Beside<'_>) -> Entry {
        let whole = beside.full_result.unwrap_or(&call.result);
        let short = cut(whole, LIVE_RESULT_CHARS);
        let is_cut = short.len() < whole.len();
        // Pictures that did not come, or not whole, cannot be asked for.
        let images = call.images.as_ref();
        let images = images.filter(|images| are_whole(images, beside.full_images));
        let id = self.call_id(call.tool_use_id.as_ref(), is_cut || images.is_some());
        let error = call
            .error
            .as_deref()
            .map(|text| cut(text, LIVE_ERROR_CHARS));
        let message = HistoryToolComplete {
            seq: Some(self.seq),
            error: error.map(str::to_owned),
            tool_use_id: id.clone(),
            parent_tool_use_id: call.parent_tool_use_id.clone(),
            truncated: is_cut.then_some(true),
            images: images.cloned(),
            ..HistoryToolComplete::new(
                call.tool_name.clone(),
                call.success,
                short.to_owned(),
                self.at,
            )
        };
        let whole = is_cut.then(|| whole.to_owned());
        let images = match images {
            Some(_) => beside.full_images.to_vec(),
            None => Vec::new(),
        };
        Entry {
            message: message.into(),
            part: id.map(|id| (id, Part::Output { whole, images })),
        }
    }

    /// The id of a call. One that came without and was cut gets one, so that the whole can be asked for.
    fn call_id(self, given: Option<&ToolUseId>, is_cut: bool) -> Option<ToolUseId> {
        match given {
            Some(id) => Some(id.clone()),
            None if is_cut => ToolUseId::parse(&format!("seq_{}", self.seq)).ok(),
            None => None,
        }
    }

    /// A permission is shown by the entry of its call; other decisions may have none.
    fn permission(self, asked: &PermissionAsked, call: Call) -> Option<Entry> {
        if call == Call::Shown {
            return None;
        }
        let why = asked.reason.as_deref().unwrap_or("a person has to decide");
        Some(self.remark("decision", format!("{}: {why}", asked.tool_name)))
    }

    fn question(self, asked: &QuestionAsked, call: Call) -> Option<Entry> {
        if call == Call::Shown {
            return None;
        }
        let input = Json::of(&serde_json::json!({ "questions": asked.questions })).ok()?;
        Some(self.call(&ToolInfo {
            tool_use_id: Some(asked.tool_use_id.clone()),
            parent_tool_use_id: asked.parent_tool_use_id.clone(),
            ..ToolInfo::new(QUESTION_TOOL.to_owned(), input)
        }))
    }

    fn answer(self, answer: &DecisionAnswered) -> Option<Entry> {
        let content = match (&answer.state, &answer.decision) {
            (DecisionState::Answered, Some(PermissionDecision::Allow)) => "allowed",
            (DecisionState::Answered, Some(PermissionDecision::AllowAll)) => {
                "allowed, with all later calls of the same tool"
            }
            (DecisionState::Answered, Some(PermissionDecision::Deny)) => "denied",
            (DecisionState::Answered, Some(PermissionDecision::Unknown(_)) | None) => "answered",
            (DecisionState::Void, _) => "no longer asked: the process is gone",
            (
                DecisionState::Open
                | DecisionState::Delivered
                | DecisionState::Settled
                | DecisionState::Unknown(_),
                _,
            ) => return None,
        };
        let call = answer.tool_use_id.clone();
        Some(Entry::plain(HistoryUserResponse {
            seq: Some(self.seq),
            device_id: answer.device_id,
            author: answer.author.clone(),
            ..HistoryUserResponse::new(call, content.to_owned(), self.at)
        }))
    }

    fn result(self, result: &TurnResult) -> Entry {
        let used = &result.usage;
        let usage = HistoryUsage {
            cache_creation_input_tokens: Some(used.cache_creation_input_tokens),
            ..HistoryUsage::new(
                used.input_tokens,
                used.output_tokens,
                used.cache_read_input_tokens,
            )
        };
        Entry::plain(HistoryTurnResult {
            seq: Some(self.seq),
            subtype: Some(result.subtype.clone()),
            stop_reason: result.stop_reason.clone(),
            total_cost_usd: Some(result.total_cost_usd),
            num_turns: Some(result.num_turns),
            cause: result.cause.clone(),
            models: result.models.clone(),
            ..HistoryTurnResult::new(result.duration_ms, usage, self.at)
        })
    }

    fn error(self, failure: &ErrorEvent) -> Entry {
        Entry::plain(HistoryError {
            seq: Some(self.seq),
            role: Some(Role::System),
            error_code: failure.error_code.clone(),
            exit_code: failure.exit_code,
            cause: failure.cause.clone(),
            api_status: failure.api_status,
            ..HistoryError::new(failure.error.clone(), self.at)
        })
    }

    fn aborted(self, aborted: &ClaudeAborted) -> Entry {
        Entry::plain(HistoryAborted {
            seq: Some(self.seq),
            messages: aborted.messages.clone(),
            ..HistoryAborted::new(aborted.reason.clone(), self.at)
        })
    }

    /// A divider: the agent knows nothing of what stands above it.
    fn reset(self, reason: &str) -> Entry {
        let content = match reason {
            "resume_failed" => "a new session, because the last one could not be resumed",
            "clear" => "a new session, because the agent was told to clear the last one",
            _ => "a new session",
        };
        self.remark("divider", content.to_owned())
    }

    /// The process was stopped; the kind of the remark has the reason for it.
    fn paused(self, paused: &ProcessPaused) -> Entry {
        let content = match &paused.reason {
            PauseReason::IdleTimeout => {
                format!(
                    "the process was stopped after {} idle minutes",
                    paused.idle_minutes
                )
            }
            PauseReason::Manual => "the process was stopped by a person".to_owned(),
            PauseReason::ServerShutdown => "the process was stopped with the host".to_owned(),
            PauseReason::Unknown(_) => "the process was stopped".to_owned(),
        };
        self.remark(&format!("paused_{}", paused.reason.as_str()), content)
    }

    fn resumed(self, resumed: &ProcessResumed) -> Entry {
        if resumed.resumed_with_history {
            return self.remark("resumed", "resumed where it was".to_owned());
        }
        self.remark("resume", "resumed without what was said before".to_owned())
    }

    /// The end of a background task; its progress is shown live only.
    fn task(self, task: &TaskUpdate) -> Option<Entry> {
        if matches!(task.status.as_str(), "started" | "running") {
            return None;
        }
        let what = task.summary.as_deref().unwrap_or(&task.task_id);
        Some(self.remark("task", format!("background task {}: {what}", task.status)))
    }

    fn damage(self, damage: &JournalDamage) -> Entry {
        let (from, to) = (damage.from, damage.to);
        let run = damage.generation;
        self.remark(
            "damage",
            format!("bytes {from} to {to} of what run {run} printed could not be read"),
        )
    }

    fn rewound(self, before: Seq) -> Entry {
        self.remark(
            "rewound",
            format!(
                "rewound to before entry {before}; what stands from there up to here is kept, and the agent does not know it"
            ),
        )
    }

    fn remark(self, subtype: &str, content: String) -> Entry {
        Entry::plain(HistorySystem {
            seq: Some(self.seq),
            subtype: Some(subtype.to_owned()),
            ..HistorySystem::new(content, self.at)
        })
    }
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
