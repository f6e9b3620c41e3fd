//! App ↔ Pylon: what happened in a conversation, in pages.
//!
//! ```text
//! app                                                     pylon
//!   │ ── history_request {limit, offset} ──────────────────► │  offset counts back from the newest
//!   │ ── history_request {limit, beforeSeq | afterSeq} ────► │  or by cursor, which new entries do not shift
//!   │ ◄──────────────────────────────────── history_result ─ │  a page, oldest first
//! ```
//!
//! What was rewound stays in the history: `rewound` tells which entries of a page that are.
//!
//! A page has at most 200 entries and 256 KiB; it ends early rather than pass either. `hasMore` says whether older
//! entries exist (with `afterSeq`: newer ones).
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such conversation | `unknown_conversation` |
//! | `epoch` is not the log's | `stale_cursor` |

use crate::conversations::ProcessState;
use crate::events::{InterruptedMessage, ModelShare};
use crate::{
    ClientMessageId, ConversationId, ConversationStatus, DeviceId, Epoch, Json, Seq, Timestamp,
    ToolUseId, WorkspaceId,
};

request! {
    /// Asks for a page of history.
    pub struct HistoryRequest {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which conversation.
            conversation_id: ConversationId,
        }
        optional {
            /// The most entries; 50 if absent, at most 200.
            limit: u32,
            /// How many of the newest entries to leave out; 0 if absent.
            offset: u64,
            /// Only entries before this one; wins over `offset`.
            before_seq: Seq,
            /// Only entries after this one, oldest first; wins over both.
            after_seq: Seq,
            /// The epoch that the cursor belongs to.
            epoch: Epoch,
        }
    }
}

reply! {
    /// A page of history, oldest entry first.
    pub struct HistoryResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which conversation.
            conversation_id: ConversationId,
            /// The entries.
            messages: Vec<HistoryMessage>,
            /// How many newer entries were left out.
            offset: u64,
            /// All entries of the conversation.
            total_count: u64,
            /// Whether there are more in the direction of reading.
            has_more: bool,
        }
        success "crate::error::present"
        optional {
            /// The epoch of the `seq`s in it.
            epoch: Epoch,
            /// The newest `seq` of the conversation: live events go on from here.
            head_seq: Seq,
            /// Whether a turn is under way.
            has_active_session: bool,
            /// Since when.
            work_start_time: Timestamp,
            /// The state now.
            current_status: ConversationStatus,
            /// How its process is, where that is more than the state says.
            process: ProcessState,
            /// Which entries of the page were taken back, in order; absent if none were.
            rewound: Vec<RewoundStretch>,
        }
    }
}

data! {
    /// A stretch of the history that was taken back: the agent does not know it any more.
    pub struct RewoundStretch {
        required {
            /// The first `seq` of it, a user message.
            from_seq: Seq,
            /// The first `seq` behind it: the event that took it back.
            to_seq: Seq,
        }
    }
}

words! {
    /// Who speaks.
    pub enum Role {
        /// A person.
        User = "user",
        /// The agent.
        Assistant = "assistant",
        /// Estelle itself.
        System = "system",
    }
}

data! {
    /// Something said.
    pub struct HistoryText {
        required {
            /// By whom.
            role: Role,
            /// What.
            content: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Its number.
            seq: Seq,
            /// The call of the sub-agent that said it.
            parent_tool_use_id: ToolUseId,
            /// The id the client gave it.
            client_message_id: ClientMessageId,
            /// The device that sent it.
            device_id: DeviceId,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
        }
    }
}

data! {
    /// Something thought.
    pub struct HistoryThinking {
        required {
            /// What.
            content: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Its number.
            seq: Seq,
            /// The call of the sub-agent that thought it.
            parent_tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A tool was called.
    pub struct HistoryToolStart {
        required {
            /// Which tool.
            tool_name: String,
            /// With what; long texts are cut, `tool_detail` has them whole.
            tool_input: Json,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Its number.
            seq: Seq,
            /// Which call.
            tool_use_id: ToolUseId,
            /// The call of the sub-agent that made it.
            parent_tool_use_id: ToolUseId,
            /// Whether something was cut, so that `tool_detail` has more.
            truncated: bool,
        }
    }
}

data! {
    /// A tool came back. A row of its own, joined to its start by `toolUseId`.
    pub struct HistoryToolComplete {
        required {
            /// Which tool.
            tool_name: String,
            /// Whether it worked.
            success: bool,
            /// What it gave; long texts are cut, `tool_detail` has them whole.
            output: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Why it failed.
            error: String,
            /// Its number.
            seq: Seq,
            /// Which call.
            tool_use_id: ToolUseId,
            /// The call of the sub-agent that made it.
            parent_tool_use_id: ToolUseId,
            /// Whether something was cut, so that `tool_detail` has more.
            truncated: bool,
            /// The pictures it gave, in order; `tool_detail` has them.
            images: Vec<crate::ToolImage>,
        }
    }
}

data! {
    /// Tokens of a turn, as history keeps them.
    pub struct HistoryUsage {
        required {
            /// Read.
            input_tokens: u64,
            /// Written.
            output_tokens: u64,
            /// Read from the cache.
            cache_read_input_tokens: u64,
        }
        optional {
            /// Written to the cache.
            cache_creation_input_tokens: u64,
        }
    }
}

data! {
    /// A turn ended.
    pub struct HistoryTurnResult {
        required {
            /// How long it took, in milliseconds.
            #[serde(rename = "duration_ms")]
            duration_ms: u64,
            /// What it used.
            usage: HistoryUsage,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Its number.
            seq: Seq,
            /// How it ended, in the SDK's word.
            subtype: String,
            /// Why the model stopped.
            #[serde(rename = "stop_reason")]
            stop_reason: String,
            /// What it cost.
            #[serde(rename = "total_cost_usd")]
            total_cost_usd: f64,
            /// Its turns with the model.
            #[serde(rename = "num_turns")]
            num_turns: u64,
            /// Why it failed; absent if it went well.
            cause: crate::Cause,
            /// What each model has of it; absent where that was not told.
            models: Vec<ModelShare>,
        }
    }
}

data! {
    /// Something failed.
    pub struct HistoryError {
        required {
            /// What.
            content: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Its number.
            seq: Seq,
            /// Always `system`.
            role: Role,
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
    /// A turn was broken off.
    pub struct HistoryAborted {
        required {
            /// `user`, or `session_ended` when the process was gone.
            reason: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// The messages it was working on when the process was gone, oldest first.
            messages: Vec<InterruptedMessage>,
            /// Its number.
            seq: Seq,
        }
    }
}

data! {
    /// A decision was answered.
    pub struct HistoryUserResponse {
        required {
            /// Which call it was about.
            tool_use_id: ToolUseId,
            /// What was answered, in words.
            content: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Its number.
            seq: Seq,
            /// Which device answered; absent when a rule did.
            device_id: DeviceId,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
        }
    }
}

data! {
    /// A remark of Estelle: a new session began, the log was damaged, a run resumed without its history.
    pub struct HistorySystem {
        required {
            /// What.
            content: String,
            /// When.
            timestamp: Timestamp,
        }
        optional {
            /// Its number.
            seq: Seq,
            /// What kind of remark, for programs: `divider`, `damage`, `resume`, `resumed`, `paused_` with the reason.
            subtype: String,
        }
    }
}

union! {
    /// An entry of history.
    pub enum HistoryMessage {
        Text(HistoryText) = "text",
        Thinking(HistoryThinking) = "thinking",
        ToolStart(HistoryToolStart) = "tool_start",
        ToolComplete(HistoryToolComplete) = "tool_complete",
        TurnResult(HistoryTurnResult) = "result",
        Error(HistoryError) = "error",
        Aborted(HistoryAborted) = "claudeAborted",
        UserResponse(HistoryUserResponse) = "user_response",
        System(HistorySystem) = "system",
    }
}

impl HistoryMessage {
    /// Its number, which is that of the event that made it.
    pub fn seq(&self) -> Option<Seq> {
        match self {
            Self::Text(entry) => entry.seq,
            Self::Thinking(entry) => entry.seq,
            Self::ToolStart(entry) => entry.seq,
            Self::ToolComplete(entry) => entry.seq,
            Self::TurnResult(entry) => entry.seq,
            Self::Error(entry) => entry.seq,
            Self::Aborted(entry) => entry.seq,
            Self::UserResponse(entry) => entry.seq,
            Self::System(entry) => entry.seq,
            Self::Unknown(_) => None,
        }
    }
}
