//! What clients read: sessions, messages and permissions in the names of this interface.
//!
//! The protocol between devices has its own names; the translation is here alone.

use estelle_proto::ipc::{ProcessStatus, SessionStatus};
use estelle_proto::worktrees::WorktreeState;
use estelle_proto::{
    ClientMessageId, ConversationStatus, HistoryMessage, IsoTime, Json, PermissionMode, Role,
    Timestamp, ToolUseId, WorkspaceId,
};
use estelle_pylon::store::{KnownConversation, Life, ProcessEnd, WorktreeRow};
use serde::Serialize;

/// How the process of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionState {
    Initializing,
    Running,
    WaitingInput,
    Completed,
    Error,
    Stopped,
}

impl SessionState {
    /// From what the host says; without a process, or a host, from what the log told last. A session that was never used
    /// waits for input: the first message starts its process.
    pub(crate) fn of(
        coarse: &ConversationStatus,
        host: Option<&SessionStatus>,
        ended: Option<ProcessEnd>,
    ) -> Self {
        let process = host.and_then(|host| host.process.as_ref());
        match process {
            Some(ProcessStatus::Initializing) => Self::Initializing,
            Some(ProcessStatus::Running) => Self::Running,
            Some(ProcessStatus::WaitingInput) => Self::WaitingInput,
            Some(ProcessStatus::Completed) => Self::Completed,
            Some(ProcessStatus::Error) => Self::Error,
            Some(ProcessStatus::Stopped) => Self::Stopped,
            Some(ProcessStatus::Suspect | ProcessStatus::Unknown(_)) | None => {
                match (coarse, ended) {
                    (ConversationStatus::Working, _) => Self::Running,
                    (ConversationStatus::Idle, Some(ProcessEnd::Stopped)) => Self::Stopped,
                    (ConversationStatus::Idle, Some(ProcessEnd::Failed)) => Self::Error,
                    (
                        ConversationStatus::Idle
                        | ConversationStatus::Permission
                        | ConversationStatus::Unknown(_),
                        _,
                    ) => Self::WaitingInput,
                }
            }
        }
    }
}

impl SessionState {
    /// Whether there is a process that works or can.
    pub(crate) fn is_alive(self) -> bool {
        match self {
            Self::Running | Self::WaitingInput => true,
            Self::Initializing | Self::Completed | Self::Error | Self::Stopped => false,
        }
    }
}

/// A session, whole.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) status: SessionState,
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) worktree_path: String,
    pub(crate) worktree: Option<Worktree>,
    pub(crate) created_at: Option<IsoTime>,
    pub(crate) last_activity_at: Option<IsoTime>,
    pub(crate) resume_session_id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) permission_mode: PermissionMode,
}

/// The git worktree that a session has of its own.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Worktree {
    branch: String,
    base_branch: Option<String>,
    state: WorktreeState,
}

impl From<WorktreeRow> for Worktree {
    fn from(row: WorktreeRow) -> Self {
        Self {
            branch: row.branch,
            base_branch: row.base_branch,
            state: row.state,
        }
    }
}

/// A session as the answer to a resume.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ResumedSession {
    id: String,
    name: String,
    status: SessionState,
    worktree_path: String,
    created_at: Option<IsoTime>,
}

impl Session {
    pub(crate) fn new(known: KnownConversation, life: Life, host: Option<&SessionStatus>) -> Self {
        let conversation = known.conversation;
        let resume = conversation.claude_session_id;
        Self {
            status: SessionState::of(&conversation.status, host, life.ended),
            id: conversation.conversation_id.to_string(),
            name: conversation.name.to_string(),
            workspace_id: known.workspace_id,
            worktree_path: known.working_dir.to_string(),
            worktree: known.worktree.map(Worktree::from),
            created_at: conversation.created_at.map(IsoTime::from),
            // Whoever comes to look is activity too.
            last_activity_at: conversation
                .updated_at
                .max(life.touched_at)
                .map(IsoTime::from),
            resume_session_id: resume.map(|id| id.to_string()),
            model: known.model,
            permission_mode: known.permission_mode,
        }
    }

    /// The same session, now that its process runs again.
    pub(crate) fn resumed(self) -> ResumedSession {
        ResumedSession {
            id: self.id,
            name: self.name,
            status: SessionState::Running,
            worktree_path: self.worktree_path,
            created_at: self.created_at,
        }
    }
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Permission {
    pub(crate) request_id: ToolUseId,
    pub(crate) action: String,
    pub(crate) details: Json,
    /// Of what is asked about: an answer that names it counts for exactly this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// The name under which questions of the agent are asked.
pub(crate) const QUESTION: &str = "AskUserQuestion";

/// The questions of a call, as details.
pub(crate) fn questions(questions: &[estelle_proto::Question]) -> Json {
    #[derive(Serialize)]
    struct Details<'a> {
        questions: &'a [estelle_proto::Question],
    }
    Json::of(&Details { questions }).unwrap_or_else(|_| empty())
}

/// `{}`.
#[expect(clippy::expect_used, reason = "the text is JSON")]
fn empty() -> Json {
    Json::parse("{}").expect("valid JSON")
}

/// All that waits for a person in a session, oldest first.
pub(crate) fn pending(status: &SessionStatus) -> Vec<Permission> {
    let permissions = status.pending_permissions.iter().flatten();
    let permissions = permissions.map(|open| Permission {
        request_id: open.tool_use_id.clone(),
        action: open.tool_name.clone(),
        details: open.tool_input.clone(),
        input_hash: open.input_hash.clone(),
        reason: open.reason.clone(),
    });
    let asked = status.pending_questions.iter().flatten();
    let asked = asked.map(|open| Permission {
        request_id: open.tool_use_id.clone(),
        action: QUESTION.to_owned(),
        details: questions(&open.questions),
        input_hash: open.input_hash.clone(),
        reason: None,
    });
    permissions.chain(asked).collect()
}

/// An entry of history.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) seq: u64,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) role: &'static str,
    pub(crate) content: String,
    pub(crate) timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<ToolUseId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) success: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_tool_use_id: Option<ToolUseId>,
    /// The id under which a client said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_message_id: Option<ClientMessageId>,
}

impl Message {
    fn at(seq: Option<estelle_proto::Seq>, timestamp: Timestamp) -> Self {
        let seq = seq.map_or(0, |seq| seq.0);
        Self {
            id: seq.to_string(),
            seq,
            timestamp: IsoTime::from(timestamp).to_string(),
            ..Self::default()
        }
    }

    /// An entry, in the words of this interface; nothing if this version does not know its kind.
    pub(crate) fn of(entry: HistoryMessage) -> Option<Self> {
        Some(match entry {
            HistoryMessage::Text(text) => Self {
                kind: "text",
                role: match text.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                    Role::System | Role::Unknown(_) => "system",
                },
                content: text.content,
                parent_tool_use_id: text.parent_tool_use_id,
                client_message_id: text.client_message_id,
                ..Self::at(text.seq, text.timestamp)
            },
            HistoryMessage::Thinking(thought) => Self {
                kind: "thinking",
                role: "assistant",
                content: thought.content,
                parent_tool_use_id: thought.parent_tool_use_id,
                ..Self::at(thought.seq, thought.timestamp)
            },
            HistoryMessage::ToolStart(start) => Self {
                kind: "tool_start",
                role: "assistant",
                tool_name: Some(start.tool_name),
                tool_use_id: start.tool_use_id,
                tool_input: Some(start.tool_input),
                parent_tool_use_id: start.parent_tool_use_id,
                ..Self::at(start.seq, start.timestamp)
            },
            HistoryMessage::ToolComplete(done) => Self {
                kind: "tool_complete",
                role: "assistant",
                content: done.error.unwrap_or(done.output),
                tool_name: Some(done.tool_name),
                tool_use_id: done.tool_use_id,
                success: Some(done.success),
                parent_tool_use_id: done.parent_tool_use_id,
                ..Self::at(done.seq, done.timestamp)
            },
            HistoryMessage::TurnResult(result) => Self {
                kind: "result",
                role: "system",
                content: result.subtype.unwrap_or_default(),
                ..Self::at(result.seq, result.timestamp)
            },
            HistoryMessage::Error(error) => Self {
                kind: "error",
                role: "system",
                content: error.content,
                ..Self::at(error.seq, error.timestamp)
            },
            HistoryMessage::Aborted(aborted) => Self {
                kind: "aborted",
                role: "system",
                content: aborted.reason,
                ..Self::at(aborted.seq, aborted.timestamp)
            },
            HistoryMessage::UserResponse(answer) => Self {
                kind: "answer",
                role: "user",
                content: answer.content,
                tool_use_id: Some(answer.tool_use_id),
                ..Self::at(answer.seq, answer.timestamp)
            },
            HistoryMessage::System(remark) => Self {
                kind: "system",
                role: "system",
                content: remark.content,
                ..Self::at(remark.seq, remark.timestamp)
            },
            HistoryMessage::Unknown(_) => return None,
        })
    }
}
