//! Pylon → app and host → Pylon: what the agent does, event by event.
//!
//! ```text
//! userMessage ─► state working ─► init ─► stateUpdate ─► [thinking* ─► thinkingComplete] ─► text* ─► textComplete
//!                     ▲                        │
//!                     │                        ├─► toolInfo ─► [permission_request | askQuestion ─► decisionAnswered]
//!                     │                        │                          ─► toolComplete
//!                     └── further messages ────┴─► result ─► state idle
//! ```
//!
//! `text`, `thinking`, `stateUpdate`, `waiting`, `apiRetry` and `idleWarning` are passing: they have no `seq` and are not replayed. All others are durable and
//! numbered densely per conversation. The number stands beside the event in the message that carries it. `text` deltas
//! are provisional, `textComplete` replaces them; the same holds for `thinking` and `thinkingComplete`.
//!
//! # Failures
//!
//! | what | event |
//! |---|---|
//! | the turn failed | `result` with an `error_*` subtype, and `error` |
//! | the process ended by itself | `error` with exit code and the end of its standard error, then `state` |
//! | a person stopped it | `claudeAborted`, then `state` |
//! | a line of the journal could not be read | `journalDamage` |

use crate::plan::{ApiRetry, LimitsTold};
use crate::runs::{
    IdleWarning, JournalDamage, ProcessPaused, ProcessResumed, Remark, Rewound, SessionReset,
    TaskUpdate,
};
use crate::waiting::{MessageCancelled, Waiting};
use crate::writing::{OpenBlock, ThinkingComplete, ThinkingDelta};
use crate::{
    ClaudeSessionId, ClientMessageId, ConversationStatus, DeviceId, Generation, Json, Question,
    Timestamp, ToolUseId,
};

data! {
    /// A person wrote something. To every client that may see the conversation, the sender included.
    pub struct UserMessage {
        required {
            /// What.
            content: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// The id the sender gave it, by which it finds its own row.
            client_message_id: ClientMessageId,
            /// Which device sent it.
            device_id: DeviceId,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
        }
    }
}

data! {
    /// The agent started or changed its session.
    pub struct Init {
        required {
            /// Claude's id of the session.
            #[serde(rename = "session_id")]
            session_id: ClaudeSessionId,
            /// The model.
            model: String,
            /// The tools it has.
            tools: Vec<String>,
        }
        optional {
            /// Which run.
            generation: Generation,
            /// Commands that a message may begin with, without their slash.
            slash_commands: Vec<String>,
        }
    }
}

words! {
    /// What the agent is at, while it works.
    pub enum Activity {
        /// Nothing visible yet.
        Thinking = "thinking",
        /// Writes text.
        Responding = "responding",
        /// Calls a tool.
        Tool = "tool",
    }
}

data! {
    /// The activity, with the tool it may be about.
    pub struct ActivityState {
        required {
            /// What the agent is at.
            #[serde(rename = "type")]
            activity: Activity,
        }
        optional {
            /// Which tool.
            tool_name: String,
        }
    }
}

data! {
    /// The activity changed.
    pub struct StateUpdate {
        required {
            /// What the agent is at.
            state: ActivityState,
            /// The text of the open message so far, without what is complete.
            partial_text: String,
        }
        optional {
            /// The call of the sub-agent it belongs to.
            parent_tool_use_id: ToolUseId,
            /// Everything that is being written, by the agent and its sub-agents. For somebody who begins to look, or who
            /// missed pieces: it replaces what they have, and the next pieces go on where it ends.
            open: Vec<OpenBlock>,
        }
    }
}

data! {
    /// A piece of text. Apply it if `at` equals the length of what is there, ignore it if less, resynchronise if more.
    pub struct TextDelta {
        required {
            /// The piece.
            content: String,
        }
        optional {
            /// Which run.
            generation: Generation,
            /// Which block of the open message.
            block: u64,
            /// Length of the block before this piece, in UTF-16 code units.
            at: u64,
            /// The call of the sub-agent it belongs to.
            parent_tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A text is complete and replaces its pieces.
    pub struct TextComplete {
        required {
            /// All of it.
            text: String,
        }
        optional {
            /// The call of the sub-agent it belongs to.
            parent_tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A tool was called.
    pub struct ToolInfo {
        required {
            /// Which tool.
            tool_name: String,
            /// With what.
            input: Json,
        }
        optional {
            /// Which call.
            tool_use_id: ToolUseId,
            /// The call of the sub-agent that made it.
            parent_tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A picture that a tool gave; `tool_detail` has it.
    pub struct ToolImage {
        required {
            /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
            mime_type: String,
            /// Its bytes.
            size: u64,
        }
    }
}

data! {
    /// A tool came back.
    pub struct ToolComplete {
        required {
            /// Which tool; `Unknown` if its start was not seen.
            tool_name: String,
            /// Whether it worked.
            success: bool,
            /// What it gave, cut at 1000 characters.
            result: String,
        }
        optional {
            /// Why it failed, cut at 200 characters; only on failure.
            error: String,
            /// Which call.
            tool_use_id: ToolUseId,
            /// The call of the sub-agent that made it.
            parent_tool_use_id: ToolUseId,
            /// Whether `result` was cut, so that `tool_detail` has more.
            truncated: bool,
            /// The pictures it gave, in order; what is no such picture or too large is named in `result` alone.
            images: Vec<ToolImage>,
        }
    }
}

data! {
    /// A person must allow a call.
    pub struct PermissionAsked {
        required {
            /// Which tool.
            tool_name: String,
            /// With what.
            tool_input: Json,
            /// Which call; the answer names it.
            tool_use_id: ToolUseId,
        }
        optional {
            /// What kind of decision; absent means `permission`.
            kind: crate::DecisionKind,
            /// The hash of the input, which binds the answer to what was shown.
            input_hash: String,
            /// Why nobody else could decide.
            reason: String,
            /// The same for a program: what decided, to be told in any language.
            why: crate::PolicyReason,
            /// The call of the sub-agent that asks.
            parent_tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A person must answer questions.
    pub struct QuestionAsked {
        required {
            /// Which call; the answer names it.
            tool_use_id: ToolUseId,
            /// The questions.
            questions: Vec<Question>,
        }
        optional {
            /// The call of the sub-agent that asks.
            parent_tool_use_id: ToolUseId,
            /// The hash of the input, which binds the answer to what was shown.
            input_hash: String,
        }
    }
}

data! {
    /// A decision is no longer open: somebody answered first, or the process that asked is gone.
    pub struct DecisionAnswered {
        required {
            /// Which call it was about.
            tool_use_id: ToolUseId,
            /// `answered`, `delivered`, `settled` or `void`.
            state: crate::DecisionState,
        }
        optional {
            /// The word of the answer; absent for questions and when void.
            decision: crate::PermissionDecision,
            /// Which device answered; absent when a rule did.
            device_id: DeviceId,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
            /// When.
            answered_at: Timestamp,
        }
    }
}

data! {
    /// The coarse state changed.
    pub struct StateChanged {
        required {
            /// The state now.
            state: ConversationStatus,
        }
    }
}

data! {
    /// Tokens of a turn.
    pub struct Usage {
        required {
            /// Read.
            input_tokens: u64,
            /// Written.
            output_tokens: u64,
            /// Read from the cache.
            cache_read_input_tokens: u64,
            /// Written to the cache.
            cache_creation_input_tokens: u64,
        }
    }
}

data! {
    /// What one model has of a turn.
    pub struct ModelShare {
        required {
            /// Which model.
            model: String,
            /// What it cost.
            cost_usd: f64,
            /// What it used.
            usage: Usage,
        }
    }
}

data! {
    /// A turn ended. Several may come for one message.
    pub struct TurnResult {
        required {
            /// How it ended, in the SDK's word.
            subtype: String,
            /// How long it took, in milliseconds.
            #[serde(rename = "duration_ms")]
            duration_ms: u64,
            /// What it cost; not a sum over earlier turns.
            #[serde(rename = "total_cost_usd")]
            total_cost_usd: f64,
            /// Its turns with the model.
            #[serde(rename = "num_turns")]
            num_turns: u64,
            /// What it used.
            usage: Usage,
        }
        optional {
            /// Why the model stopped, where known.
            #[serde(rename = "stop_reason")]
            stop_reason: String,
            /// Which run.
            generation: Generation,
            /// Why it failed, for a program; absent if it did not.
            cause: crate::Cause,
            /// The HTTP status of the request that failed, if it was one.
            api_status: u64,
            /// What each model has of it, with those of sub-agents and of the agent's own small requests; absent where the
            /// CLI does not tell.
            models: Vec<ModelShare>,
        }
    }
}

data! {
    /// Something failed.
    pub struct ErrorEvent {
        required {
            /// What, for a person to read.
            error: String,
        }
        optional {
            /// What, for a program.
            error_code: crate::ErrorCode,
            /// The exit code, if the process ended.
            exit_code: i32,
            /// Why the turn failed, if one did.
            cause: crate::Cause,
            /// The HTTP status of the request that failed, if it was one.
            api_status: u64,
        }
    }
}

data! {
    /// A message on which work was broken off by the end of the process. It is not sent again by itself.
    pub struct InterruptedMessage {
        required {
            /// How it begins.
            content: String,
        }
        optional {
            /// The id the sender gave it.
            client_message_id: ClientMessageId,
        }
    }
}

data! {
    /// The turn was broken off.
    pub struct ClaudeAborted {
        required {
            /// `user`, or `session_ended` when the process was gone.
            reason: String,
        }
        optional {
            /// The messages it was working on when the process was gone, oldest first.
            messages: Vec<InterruptedMessage>,
        }
    }
}

union! {
    /// What the agent does.
    pub enum ClaudeEvent {
        UserMessage(UserMessage) = "userMessage",
        Init(Init) = "init",
        StateUpdate(StateUpdate) = "stateUpdate",
        Text(TextDelta) = "text",
        TextComplete(TextComplete) = "textComplete",
        Thinking(ThinkingDelta) = "thinking",
        ThinkingComplete(ThinkingComplete) = "thinkingComplete",
        ToolInfo(ToolInfo) = "toolInfo",
        ToolComplete(ToolComplete) = "toolComplete",
        PermissionAsked(PermissionAsked) = "permission_request",
        QuestionAsked(QuestionAsked) = "askQuestion",
        DecisionAnswered(DecisionAnswered) = "decisionAnswered",
        State(StateChanged) = "state",
        Result(TurnResult) = "result",
        Error(ErrorEvent) = "error",
        Aborted(ClaudeAborted) = "claudeAborted",
        Task(TaskUpdate) = "taskUpdate",
        JournalDamage(JournalDamage) = "journalDamage",
        Remark(Remark) = "remark",
        Paused(ProcessPaused) = "process_paused",
        Resumed(ProcessResumed) = "process_resumed",
        IdleWarning(IdleWarning) = "idleWarning",
        SessionReset(SessionReset) = "sessionReset",
        Waiting(Waiting) = "waiting",
        MessageCancelled(MessageCancelled) = "messageCancelled",
        Rewound(Rewound) = "rewound",
        Limits(LimitsTold) = "limits",
        ApiRetry(ApiRetry) = "apiRetry",
    }
}

impl ClaudeEvent {
    /// Whether the event is passing: not numbered, not kept, not replayed.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::StateUpdate(_)
                | Self::Text(_)
                | Self::Thinking(_)
                | Self::Waiting(_)
                | Self::ApiRetry(_)
                | Self::IdleWarning(_)
        )
    }
}
