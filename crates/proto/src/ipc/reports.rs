//! What the host says to its clients.
//!
//! Events travel in `claude_event` with their number; decisions are repeated as messages of their own, so that a Pylon
//! that just came back sees them before anything else.

use super::{Hello, KeptTerminal, RuleList, ToolCall};
use crate::history::HistoryMessage;
use crate::saved::SavedSession;
use crate::waiting::WaitingMessage;
use crate::writing::OpenBlock;
use crate::{
    ActivityState, ChainHash, ClaudeEvent, ClaudeSessionId, ConversationId, ConversationStatus,
    DecisionKind, DeviceId, Epoch, ErrorReport, Generation, Json, PathText, PermissionMode,
    Question, Seq, Timestamp, ToolUseId, WorkspaceId,
};

data! {
    /// An event of the agent.
    pub struct HostEvent {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// What happened.
            event: ClaudeEvent,
        }
        optional {
            /// The number of a durable event; passing events have none.
            seq: Seq,
            /// The epoch of `seq`.
            epoch: Epoch,
            /// The hash of the log up to this event.
            chain_hash: ChainHash,
            /// When it happened.
            timestamp: Timestamp,
            /// Which run it came from.
            generation: Generation,
            /// The text of what `toolComplete` shows cut, up to 1,048,576 characters; absent if nothing was cut.
            full_result: String,
            /// The pictures that `images` of `toolComplete` names, each in Base64 and in the same order.
            full_images: Vec<String>,
            /// Whether it happened in the conversation that this one was made from: what it cost is counted there.
            copied: bool,
        }
    }
}

data! {
    /// A person must allow a call.
    pub struct PermissionRequest {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which call; the answer names it.
            tool_use_id: ToolUseId,
            /// Which tool.
            tool_name: String,
            /// With what.
            tool_input: Json,
        }
        optional {
            /// What kind of decision; absent means `permission`.
            kind: DecisionKind,
            /// The hash of the input, which binds the answer to what was shown.
            input_hash: String,
            /// Why nobody else could decide.
            reason: String,
            /// The same for a program: what decided, to be told in any language.
            why: crate::PolicyReason,
            /// Which run asks.
            generation: Generation,
            /// Since when.
            opened_at: Timestamp,
            /// The call of the sub-agent that asks.
            parent_tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A person must answer questions.
    pub struct QuestionRequest {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which call; the answer names it.
            tool_use_id: ToolUseId,
            /// The questions.
            questions: Vec<Question>,
        }
        optional {
            /// Which run asks.
            generation: Generation,
            /// Since when.
            opened_at: Timestamp,
            /// The call of the sub-agent that asks.
            parent_tool_use_id: ToolUseId,
            /// The hash of the input, which binds the answer to what was shown.
            input_hash: String,
        }
    }
}

data! {
    /// An open permission, as the status lists it.
    pub struct PendingPermission {
        required {
            /// Which call.
            tool_use_id: ToolUseId,
            /// Which tool.
            tool_name: String,
            /// With what.
            tool_input: Json,
        }
        optional {
            /// What kind of decision; absent means `permission`.
            kind: DecisionKind,
            /// Since when.
            opened_at: Timestamp,
            /// Why a person is asked.
            reason: String,
            /// The call of the sub-agent that asks.
            parent_tool_use_id: ToolUseId,
            /// The hash of the input, which binds the answer to what was shown.
            input_hash: String,
        }
    }
}

data! {
    /// Open questions, as the status lists them.
    pub struct PendingQuestion {
        required {
            /// Which call.
            tool_use_id: ToolUseId,
            /// The questions.
            questions: Vec<Question>,
        }
        optional {
            /// Since when.
            opened_at: Timestamp,
            /// The call of the sub-agent that asks.
            parent_tool_use_id: ToolUseId,
            /// The hash of the input, which binds the answer to what was shown.
            input_hash: String,
        }
    }
}

words! {
    /// How the process of a conversation is.
    pub enum ProcessStatus {
        /// Started, not yet ready.
        Initializing = "initializing",
        /// At work.
        Running = "running",
        /// Waits for a person.
        WaitingInput = "waiting_input",
        /// Ended by itself, in good order.
        Completed = "completed",
        /// Ended by itself, not in good order.
        Error = "error",
        /// Stopped by us.
        Stopped = "stopped",
        /// The facts contradict each other; being repaired.
        Suspect = "suspect",
    }
}

data! {
    /// The facts that a state is derived from.
    pub struct Evidence {
        required {
            /// Whether the process holds the lock of its run.
            lock_held: bool,
            /// Whether a turn is open.
            turn_open: bool,
            /// Calls that have not come back.
            open_tools: u32,
            /// Decisions that wait.
            open_decisions: u32,
        }
        optional {
            /// Milliseconds since the process last wrote something.
            last_output_ms: u64,
            /// The conclusion in words: which fact decided.
            why: String,
            /// Background tasks that have not ended.
            background_tasks: u32,
            /// Which run.
            generation: Generation,
            /// Its process.
            pid: u32,
            /// How the last run ended, if none is alive.
            exit_code: i32,
            /// How often the end of its log was cut off, because an append had not finished or was damaged.
            log_cuts: u64,
            /// The bytes that this was about.
            log_cut_bytes: u64,
        }
    }
}

data! {
    /// How a conversation is.
    pub struct SessionStatus {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Its state.
            state: ConversationStatus,
        }
        nullable {
            /// Claude's session, if one was started.
            claude_session_id: ClaudeSessionId,
            /// The oldest open permission.
            pending_permission: PendingPermission,
            /// When the running turn began.
            start_time: Timestamp,
        }
        optional {
            /// All open permissions, oldest first.
            pending_permissions: Vec<PendingPermission>,
            /// All open questions, oldest first.
            pending_questions: Vec<PendingQuestion>,
            /// The text of the open message so far, without what is complete.
            partial_text: String,
            /// Everything that is being written, by the agent and its sub-agents.
            open: Vec<OpenBlock>,
            /// Messages that wait until the agent is free, oldest first.
            waiting: Vec<WaitingMessage>,
            /// What the agent is at.
            activity: ActivityState,
            /// How its process is.
            process: ProcessStatus,
            /// The facts behind all this.
            evidence: Evidence,
            /// The epoch of its log.
            epoch: Epoch,
            /// Its newest event.
            seq: Seq,
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// The folder in which the agent works.
            working_dir: PathText,
            /// How permissions are judged.
            permission_mode: PermissionMode,
        }
    }
}

data! {
    /// How conversations are.
    pub struct StatusResponse {
        required {
            /// Those asked for.
            sessions: Vec<SessionStatus>,
        }
        optional {
            /// The `requestId` of the request, if it had one.
            request_id: crate::RequestId,
            /// So many conversations, all idle and without a process, found no room in the line.
            left_out: u64,
        }
    }
}

data! {
    /// A subscription begins here.
    pub struct Subscribed {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// The epoch of its log.
            epoch: Epoch,
            /// The newest event; the replay ends with it.
            head_seq: Seq,
            /// Whether the cursor was void, so that everything comes from the start.
            fresh: bool,
        }
        optional {
            /// The `requestId` of the request, if it had one.
            request_id: crate::RequestId,
        }
    }
}

data! {
    /// What is open at the end of a replay. Live events follow without a gap.
    pub struct Snapshot {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// The epoch of its log.
            epoch: Epoch,
            /// The last durable event taken into account.
            seq: Seq,
            /// How the conversation is.
            status: Box<SessionStatus>,
        }
        optional {
            /// The hash of the log up to that event.
            chain_hash: ChainHash,
        }
    }
}

data! {
    /// Where a subscriber that was cut off can go on.
    pub struct Cursor {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// The epoch of its log.
            epoch: Epoch,
            /// The last event that was sent.
            seq: Seq,
        }
        optional {
            /// The hash of the log up to that event.
            chain_hash: ChainHash,
        }
    }
}

data! {
    /// The reader was too slow; the connection is closed after this line.
    pub struct CutOff {
        required {
            /// What it had, for its next `subscribe`.
            cursors: Vec<Cursor>,
        }
    }
}

reply! {
    /// Whether a command was carried out. Only for commands with a `requestId`, or that failed.
    pub struct RequestResult {
        optional {
            /// Which conversation.
            session_id: ConversationId,
            /// The number a message got.
            seq: Seq,
            /// Who answered the decision first.
            answered_by: DeviceId,
            /// When.
            answered_at: Timestamp,
            /// Whether the process that was started knows what was said before; only for `resume_session`.
            resumed_with_history: bool,
            /// The permission rules; only for `get_rules`, `set_rule` and `remove_rule`.
            rules: Box<RuleList>,
            /// The terminals; only for `open_terminal` and `list_terminals`.
            terminals: Vec<KeptTerminal>,
            /// Saved sessions; only for `list_saved`, and for `copy_saved` the one that was copied.
            saved: Vec<SavedSession>,
            /// What was said in a saved session; only for `read_saved`.
            messages: Vec<HistoryMessage>,
            /// Where the next page begins; only for `list_saved` and `read_saved`, absent at the end.
            next_offset: u32,
            /// The copy; only for `copy_saved`.
            claude_session_id: ClaudeSessionId,
            /// What the running turn has cost so far, in US dollars; only for `get_cost`, absent if no turn runs.
            turn_cost_usd: f64,
        }
    }
}

data! {
    /// The host goes down and takes its runs along.
    pub struct ServerShutdown {
        required {
            /// `SIGTERM` or `SIGINT`.
            reason: String,
            /// Seconds until what is left is killed.
            grace_period_seconds: u64,
        }
    }
}

union! {
    /// What the host says to its clients.
    pub enum HostToPylon {
        Hello(Hello) = "hello",
        Event(HostEvent) = "claude_event",
        PermissionRequest(PermissionRequest) = "permission_request",
        QuestionRequest(QuestionRequest) = "question_request",
        StatusResponse(StatusResponse) = "status_response",
        Subscribed(Subscribed) = "subscribed",
        Snapshot(Snapshot) = "snapshot",
        CutOff(CutOff) = "cut_off",
        RequestResult(RequestResult) = "request_result",
        ToolCall(ToolCall) = "tool_call",
        ServerShutdown(ServerShutdown) = "server_shutdown",
        Error(ErrorReport) = "error",
    }
}
