//! The records of a conversation's log: everything that happened, in the words of this project.
//!
//! A record is written before it has any effect, and folding the records again gives the same conversation. What the
//! CLI printed appears as [`Seen`]: facts without the vendor's shapes. The events that people get are kept beside the
//! record that caused them and are never derived again.

use estelle_proto::decisions::{DecisionKind, Question};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::ToolServer;
use estelle_proto::runs::PauseReason;
use estelle_proto::{
    Author, ClaudeSessionId, ClientId, ClientMessageId, ConversationId, DeviceId, Epoch,
    Generation, Json, OnBusy, PathText, PermissionMode, PolicyReason, Seq, Timestamp, ToolUseId,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};

use super::Totals;
use crate::decisions::{DecisionKey, Fact};

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    pub record: Record,
    /// The durable events it made, in order; each takes the next number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Durable>,
}

/// A durable event as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Durable {
    /// The event as it is published.
    pub event: ClaudeEvent,
    /// The whole text of what the event shows cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<String>,
    /// The pictures that the event names, in Base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
}

impl From<ClaudeEvent> for Durable {
    fn from(event: ClaudeEvent) -> Self {
        Self {
            event,
            full: None,
            images: Vec::new(),
        }
    }
}

/// A user message: the UUID under which the CLI runs it once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub String);

/// Something that happened to a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Record {
    /// The log begins; always its first record.
    Began {
        /// Which conversation.
        conversation_id: ConversationId,
        /// Which life of it.
        epoch: Epoch,
        /// The highest generation of the life before, so that numbers of runs stay unique.
        generation: Generation,
    },
    /// Events of the conversation that this one was made from.
    Copied(Origin),
    /// Settings were changed; what is absent stays.
    Set(Change),
    /// A user message was taken on.
    Accepted(Message),
    /// Messages will not be sent: a person stopped them, or they were overtaken.
    Withdrawn {
        /// Which.
        messages: Vec<MessageId>,
    },
    /// Messages that waited because their process died may be sent again.
    Released,
    /// A person wants a process, even without a message.
    Wanted,
    /// A run is about to be started.
    Intended {
        /// Its generation.
        generation: Generation,
        /// The session it takes up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume: Option<ClaudeSessionId>,
    },
    /// The process of the run is there.
    Started {
        /// Its generation.
        generation: Generation,
        /// Its pid.
        pid: u32,
        /// Its start time in clock ticks after boot.
        start_ticks: u64,
    },
    /// A message goes to the CLI.
    Handed {
        /// To which run.
        generation: Generation,
        /// Which.
        message: MessageId,
    },
    /// A control request goes to the CLI, once.
    Requested {
        /// To which run.
        generation: Generation,
        /// Its id.
        request_id: String,
        /// What is wanted.
        control: Control,
    },
    /// A stretch of the journal was read.
    Read(Stretch),
    /// The policy could not decide, so people are asked.
    Shown {
        /// Which decision.
        key: DecisionKey,
        /// Why.
        reason: String,
        /// The same for programs, if the policy said it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Box<PolicyReason>>,
    },
    /// The host itself has something to ask, which no process can take back.
    Asked(Box<Request>),
    /// Something happened to a decision.
    Decided {
        /// What.
        fact: Fact,
        /// The policy's verdict with its reason, if it decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        /// The tool that is allowed from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<String>,
    },
    /// A tool that a person had allowed for the conversation is asked about again.
    Revoked {
        /// Which tool.
        tool: String,
        /// From which device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<DeviceId>,
    },
    /// A call of one of our own tools began, was taken on by a client, or came to its end.
    Called {
        /// In which run.
        generation: Generation,
        /// The CLI's id of the request.
        request_id: String,
        /// The client that carries it out from here on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<ClientId>,
        /// The answer for the CLI, once there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// A person broke the turn off.
    Interrupted {
        /// From which device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<DeviceId>,
    },
    /// A run is to be ended.
    Stopping {
        /// Its generation.
        generation: Generation,
        /// Why.
        why: StopReason,
    },
    /// A run is over: its lock is free, or it never had one.
    Ended {
        /// Its generation.
        generation: Generation,
        /// How.
        exit: RunExit,
        /// Messages that it had begun to work on, as its transcript tells.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        interrupted: Vec<MessageId>,
        /// Messages that it was given and had not begun, and that nobody will work on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dropped: Vec<MessageId>,
    },
    /// The session is forgotten; the next run starts afresh.
    Forgotten,
    /// The conversation goes on from before one of its messages.
    Rewound {
        /// The number of the message.
        before: Seq,
        /// The copy of the session that ends before it; none if it was the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<ClaudeSessionId>,
    },
    /// What lay behind this was damaged and is gone: cursors from before are void.
    Shortened {
        /// The epoch from here on.
        epoch: Epoch,
        /// How many bytes were put aside, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<u64>,
    },
    /// Something was found wrong and put right.
    Repaired {
        /// What, for people.
        what: String,
        /// The end of the log was lost, and the journal of the run was so long then: up to there it may speak of what
        /// the log no longer knows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        journal: Option<u64>,
        /// How many bytes of an unfinished append were cut off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut: Option<u64>,
    },
}

/// How often the end of a log had to be cut off, and how much that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cuts {
    /// How often.
    pub times: u64,
    /// How many bytes in all, as far as is known.
    pub bytes: u64,
}

impl Cuts {
    /// Counts what a record tells of a cut.
    pub fn note(&mut self, record: &Record) {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "nothing else tells of a cut"
        )]
        let cut = match record {
            Record::Shortened { cut, .. } => cut.unwrap_or_default(),
            Record::Repaired { cut: Some(cut), .. } => *cut,
            _ => return,
        };
        self.times += 1;
        self.bytes += cut;
    }
}

/// Where events were copied from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// Which conversation.
    pub conversation_id: ConversationId,
    /// Which life of its log.
    pub epoch: Epoch,
    /// The number that the first of the events has there.
    pub seq: Seq,
}

/// A user message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its id on its way to the CLI.
    pub id: MessageId,
    /// What was written.
    pub content: String,
    /// What to do if a turn is under way.
    pub on_busy: OnBusy,
    /// The id its sender gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<ClientMessageId>,
    /// Who sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<DeviceId>,
    /// The paired device behind that, which has the same key after every reconnect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
}

/// A change of settings; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Change {
    /// The workspace it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// The folder the agent works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathText>,
    /// How permissions are judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PermissionMode>,
    /// Which model; an empty text means the CLI's own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What to add to the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// Tool servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_config: Option<Json>,
    /// Tools that a client carries out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_server: Option<ToolServer>,
    /// Whether the agent may only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// A session made elsewhere that the next run takes up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<ClaudeSessionId>,
}

/// A control request to the CLI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Control {
    /// The greeting; the only one that may be repeated.
    Initialize,
    /// Break the turn off.
    Interrupt,
    /// Take a message out of the CLI's queue.
    Cancel {
        /// Which.
        message: MessageId,
    },
    /// Change the CLI's own permission mode.
    Mode {
        /// To which.
        mode: PermissionMode,
    },
    /// Change the model.
    Model {
        /// To which; absent means the CLI's own choice.
        model: Option<String>,
    },
    /// End something that goes on in the background: a command or a sub-agent.
    StopTask {
        /// Which, by the CLI's own id.
        task: String,
    },
    /// End the process.
    End,
}

/// A stretch of a journal and what was in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stretch {
    /// Of which run.
    pub generation: Generation,
    /// Its first byte: where the stretch before ended.
    pub from: u64,
    /// The first byte behind it.
    pub to: u64,
    /// The hash of its bytes.
    pub hash: String,
    /// Where the oldest message begins that is still being written; `to` if there is none.
    pub open_from: u64,
    /// The version of the code that read it.
    pub reader: u32,
    /// What it says, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
}

/// A fact that the CLI's output tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Seen {
    /// A turn begins, in this session.
    TurnBegan {
        /// The session.
        session: ClaudeSessionId,
    },
    /// A turn is over.
    TurnEnded {
        /// What the process or its session has used so far.
        #[serde(flatten)]
        totals: Totals,
        /// The messages it answered, where the CLI says so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        messages: Vec<MessageId>,
        /// Whether it failed.
        failed: bool,
    },
    /// The CLI has taken a message into the conversation.
    Taken {
        /// Which.
        message: MessageId,
    },
    /// The CLI has dropped a message from its queue.
    Dropped {
        /// Which.
        message: MessageId,
    },
    /// The CLI needs an answer.
    Asked(Box<Request>),
    /// The CLI no longer needs an answer.
    Withdrew {
        /// The id of its request.
        request_id: String,
    },
    /// A response: the CLI's own to a control request of ours, or its repetition of our answer to one of its requests.
    Response {
        /// The id of the request.
        request_id: String,
        /// The digest of what it says.
        digest: String,
        /// Why it was not done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The message that the request was about was taken out of the CLI's queue.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cancelled: bool,
    },
    /// The CLI calls one of our own tools.
    Called {
        /// The id of its request.
        request_id: String,
        /// Which server of ours.
        server: String,
        /// The call, in the tool protocol's words.
        message: Json,
    },
    /// The CLI asks for something that we do not offer, and must be told so.
    Unknown {
        /// The id of its request.
        request_id: String,
        /// What it asks for.
        subtype: String,
    },
    /// The CLI's own permission mode is now this.
    Mode {
        /// Which.
        mode: String,
    },
    /// The session to take up does not exist.
    ResumeFailed,
}

/// What the CLI wants a person, or the policy, to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The id of its request, which the answer names.
    pub request_id: String,
    /// The call it is about.
    pub tool_use_id: ToolUseId,
    /// What kind of decision.
    pub kind: DecisionKind,
    /// Which tool.
    pub tool_name: String,
    /// With what.
    pub input: Json,
    /// The hash of the input.
    pub input_hash: String,
    /// The questions, if it is about questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// The call of the sub-agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<ToolUseId>,
}

/// The policy's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// `allow` or `deny`.
    pub verdict: String,
    /// What decided.
    pub reason: String,
}

/// Why a run is ended by us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StopReason {
    /// It can be taken up again later.
    Paused {
        /// Why.
        reason: PauseReason,
        /// How long nothing had happened.
        idle_minutes: u64,
    },
    /// The session is to be forgotten.
    NewSession,
    /// The conversation is to go on from before a message, and the process knows what came after it.
    Rewinding,
    /// It did not obey a request to break its turn off.
    Disobeyed,
    /// Something that we did not send reached the CLI, or a tool ran that nobody was asked about.
    Tampered {
        /// What was found; of tools that ran, their names.
        what: String,
        /// Whether it is a tool that ran.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_unasked: bool,
    },
    /// It was started without what its folder brings, which a person has trusted since.
    Trusted,
    /// What it takes in unasked has changed since a person was asked about it.
    Reconfigured {
        /// What was found.
        what: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RunExit {
    /// It was never started and never will be.
    NeverStarted {
        /// Why, for people.
        reason: String,
        /// Whether the next one is started at once: nothing was wrong but the moment.
        retry: bool,
    },
    /// The CLI returned this code.
    Code {
        /// The code.
        code: i32,
        /// The end of its standard error.
        stderr: String,
    },
    /// A signal ended it.
    Signal {
        /// Which.
        signal: i32,
        /// The end of its standard error.
        stderr: String,
    },
    /// Nobody was there to see.
    Unknown,
}
