//! User messages: those we send, tool results the CLI prints, and its echo of what we sent.
//!
//! One struct serves all three, because the wire has one shape; an echo (`isReplay`) is told apart by
//! `Body::UserReplay`. A message we send should carry a `uuid`: a repeated one is not run twice.

use super::assistant::Role;
use super::content::{Content, ContentBlock};
use super::extra::{Field, slot};
use super::json::Json;

wire_struct! {
    /// A message on the user's side of the conversation.
    pub struct UserMessage("type" = "user") {
        required { message: UserContent }
        optional {
            /// The call that started the subagent this belongs to; none for the main conversation.
            parent_tool_use_id: String,
            session_id: String,
            uuid: String,
            "isSynthetic" => is_synthetic: bool,
            /// What the tool gave, in the tool's own shape.
            tool_use_result: Json,
            tool_result_meta: Vec<ToolResultMeta>,
            priority: Priority,
            origin: Origin,
            /// False: take the message into the conversation without answering.
            "shouldQuery" => should_query: bool,
            timestamp: String,
            client_composed: bool,
            pasted_content: Vec<Content>,
            inline_pastes: Vec<String>,
            agent_id: String,
            subagent_type: String,
            task_description: String,
            "isReplay" => is_replay: bool,
            file_attachments: Vec<Json>,
        }
    }
}

wire_struct! {
    /// Role and content of a user message.
    pub struct UserContent {
        required { role: Role, content: Content }
    }
}

wire_struct! {
    /// How a tool result came about.
    pub struct ToolResultMeta {
        required { id: String }
        optional { permission_decision: PermissionDecisionNote }
    }
}

wire_struct! {
    /// Who let a tool run.
    pub struct PermissionDecisionNote {
        optional { decision: String, source: String }
    }
}

impl UserMessage {
    /// A message to send: text or blocks, with a fresh uuid.
    pub fn prompt(content: impl Into<Content>) -> Self {
        let mut message = Self::new(UserContent::new(Role::User, content));
        message.uuid = Some(uuid::Uuid::new_v4().to_string());
        // The vendor declares both fields as always there, in this form for the main conversation.
        message.session_id = Some(String::new());
        message.extra.settle(
            Field {
                name: "parent_tool_use_id",
                slot: const { slot(Self::OPTIONAL, "parent_tool_use_id") },
            },
            true,
        );
        message
    }

    /// Sets the uuid, which identifies the message when it is echoed, cancelled or sent again.
    #[must_use]
    pub fn with_uuid(mut self, uuid: impl Into<String>) -> Self {
        self.uuid = Some(uuid.into());
        self
    }

    /// Says when a busy CLI should take the message.
    #[must_use]
    pub fn with_priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Puts the message into the conversation without asking for an answer.
    #[must_use]
    pub fn without_query(mut self) -> Self {
        self.should_query = Some(false);
        self
    }

    /// The text of the message.
    pub fn text(&self) -> String {
        self.message.content.text()
    }
}

impl From<&str> for UserMessage {
    /// One text block with a fresh uuid.
    fn from(text: &str) -> Self {
        Self::prompt(vec![ContentBlock::text(text)])
    }
}

impl From<String> for UserMessage {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

open_enum! {
    /// When a busy CLI takes a message.
    pub enum Priority {
        /// Aborts the running stream.
        "now" => Now,
        "next" => Next,
        "later" => Later,
    }
}

wire_union! {
    /// Where a message or turn came from.
    pub enum Origin by "kind" {
        "human" => Human(HumanOrigin),
        "channel" => Channel(ChannelOrigin),
        "peer" => Peer(Box<PeerOrigin>),
        "task-notification" => TaskNotification(TaskNotificationOrigin),
        "coordinator" => Coordinator(CoordinatorOrigin),
        "unclassified" => Unclassified(UnclassifiedOrigin),
        "observer" => Observer(ObserverOrigin),
        "auto-continuation" => AutoContinuation(AutoContinuationOrigin),
        "observer-activity" => ObserverActivity(ObserverActivityOrigin),
    }
}

wire_struct! {
    /// A person wrote it.
    pub struct HumanOrigin("kind" = "human") {}
}

wire_struct! {
    /// It came through a channel of an MCP server.
    pub struct ChannelOrigin("kind" = "channel") {
        optional { server: String }
    }
}

wire_struct! {
    /// Another session sent it.
    pub struct PeerOrigin("kind" = "peer") {
        optional {
            from: String,
            "fromMode" => from_mode: String,
            name: String,
            "fromSession" => from_session: String,
            "senderTaskId" => sender_task_id: String,
            body: String,
            "verifiedPeerPid" => verified_peer_pid: u64,
        }
    }
}

wire_struct! {
    /// A background task ended or a trigger fired; nobody typed anything.
    pub struct TaskNotificationOrigin("kind" = "task-notification") {
        optional {
            subkind: String,
            "fireReason" => fire_reason: String,
            "runId" => run_id: String,
        }
    }
}

wire_struct! {
    /// A coordinating session sent it.
    pub struct CoordinatorOrigin("kind" = "coordinator") {}
}

wire_struct! {
    /// The CLI does not say.
    pub struct UnclassifiedOrigin("kind" = "unclassified") {}
}

wire_struct! {
    /// An observing agent sent it.
    pub struct ObserverOrigin("kind" = "observer") {
        optional { from: String, "senderTaskId" => sender_task_id: String }
    }
}

wire_struct! {
    /// The CLI continued by itself.
    pub struct AutoContinuationOrigin("kind" = "auto-continuation") {}
}

wire_struct! {
    /// An observer's activity was reported.
    pub struct ObserverActivityOrigin("kind" = "observer-activity") {}
}
