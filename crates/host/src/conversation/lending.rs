//! A conversation that is lent to a terminal: the agent's own interface goes on with its session, and no run does.
//!
//! It must be at rest: what goes on would be cut in two. A process that is idle is ended first. Whoever lends sees to it
//! that nothing is asked of the conversation until it is given back (`host/terminals.rs`).

use estelle_proto::runs::PauseReason;
use estelle_proto::{
    ApiError, ClaudeSessionId, ConversationId, ErrorCode, PermissionMode, PylonToHost, Retry,
};
use estelle_state::conversation::{Change, StopReason};
use tokio::sync::oneshot;

use super::actor::{Actor, Broken, now};
use super::requests::AfterEnd;
use crate::log::Sync;
use crate::terminal::held;

/// What a terminal needs to go on with a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lent {
    /// The agent's session.
    pub(crate) session: ClaudeSessionId,
    /// Whether the agent has it, or is to begin it.
    pub(crate) has_begun: bool,
    /// Which model was chosen.
    pub(crate) model: Option<String>,
    /// When the agent asks; left to itself it would decide a good deal alone.
    pub(crate) mode: PermissionMode,
}

/// The conversation that a command writes to or takes away, which nobody may do while it is lent.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else there is does no harm to a conversation that is lent"
)]
pub(crate) fn touches(command: &PylonToHost) -> Option<&ConversationId> {
    match command {
        PylonToHost::SendMessage(command) => Some(&command.session_id),
        PylonToHost::ResumeSession(command) => Some(&command.session_id),
        PylonToHost::NewSession(command) => Some(&command.session_id),
        PylonToHost::ClearSession(command) => Some(&command.session_id),
        PylonToHost::DeleteSession(command) => Some(&command.session_id),
        PylonToHost::RewindSession(command) => Some(&command.session_id),
        _ => None,
    }
}

pub(super) type LentTo = oneshot::Sender<Result<Lent, ApiError>>;

impl Actor {
    /// Why a command is refused, if the conversation is lent. It may have been on its way when that happened: what counts
    /// is the order here.
    pub(super) fn refuse_lent(&self, command: &PylonToHost) -> Option<ApiError> {
        let holder = self.context.shelf.holder(touches(command)?);
        holder.map(|holder| held(&holder))
    }

    pub(super) async fn lend(&mut self, to: LentTo) -> Result<(), Broken> {
        if !self.book.conversation().is_at_rest() {
            let text =
                "the agent works, or messages wait for it; stop it first, then open the terminal";
            let error = ApiError::new(ErrorCode::Conflict, text.to_owned(), Retry::Later);
            let _ = to.send(Err(error));
            return Ok(());
        }
        // There the agent's own interface decides what is allowed, and a person could allow what nobody may.
        if self.book.conversation().settings().read_only == Some(true) {
            let text =
                "this conversation may only read, which a terminal does not enforce; use another";
            let error = ApiError::new(ErrorCode::Conflict, text.to_owned(), Retry::Never);
            let _ = to.send(Err(error));
            return Ok(());
        }
        if self.book.conversation().run().is_none() {
            return self.lend_now(to).await;
        }
        self.stop_run(StopReason::Paused {
            reason: PauseReason::Manual,
            idle_minutes: 0,
        })
        .await?;
        self.after_end.push(AfterEnd::Lend(to));
        Ok(())
    }

    /// No process is there any more. A conversation without a session gets one, which is in the log before anybody uses it.
    pub(super) async fn lend_now(&mut self, to: LentTo) -> Result<(), Broken> {
        let conversation = self.book.conversation();
        let known = conversation.session().cloned();
        let model = conversation.settings().model.clone();
        let mode = conversation.settings().mode.clone();
        let mode = mode.unwrap_or_else(|| self.context.default_mode());
        let has_begun = known.is_some();
        let session = if let Some(session) = known {
            session
        } else {
            let Ok(session) = ClaudeSessionId::parse(&uuid::Uuid::new_v4().to_string()) else {
                return Ok(());
            };
            let change = Change {
                session: Some(session.clone()),
                ..Change::default()
            };
            if let Some(entry) = self.book.decide().change(now(), change) {
                self.record(entry, Sync::Now).await?;
            }
            session
        };
        // Whoever left does not hear it, and nothing was lent.
        let _ = to.send(Ok(Lent {
            session,
            has_begun,
            model: model.filter(|model| !model.is_empty()),
            mode,
        }));
        Ok(())
    }
}
