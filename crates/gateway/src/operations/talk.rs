//! Talking to a session: input, answers to what it asks, stop and resume. The WebSocket does the same through here.

use std::time::SystemTime;

use estelle_proto::claude::ClaudeSend;
use estelle_proto::decisions::{ClaudeAnswer, ClaudePermission};
use estelle_proto::ipc::{ResumeSession, StopSession};
use estelle_proto::{
    Answer as Choices, ApiError, ClientMessageId, ErrorCode, IsoTime, OnBusy, PermissionDecision,
    Prompt, PylonToApp, Reply as _, Timestamp, ToolUseId,
};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};

use super::Caller;
use super::sessions::whole;
use crate::failure::Failure;
use crate::respond::{Answer, json};
use crate::shape::{ResumedSession, Session, SessionState};

/// Something said to the agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(crate) struct Said {
    pub(crate) content: Prompt,
    /// The same id runs once, however often it is sent.
    pub(crate) client_message_id: Option<ClientMessageId>,
    pub(crate) on_busy: Option<Busy>,
}

/// What becomes of a message that comes while a turn runs.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Busy {
    Inject,
    Queue,
    Interrupt,
}

impl From<Busy> for OnBusy {
    fn from(busy: Busy) -> Self {
        match busy {
            Busy::Inject => Self::Inject,
            Busy::Queue => Self::Queue,
            Busy::Interrupt => Self::Interrupt,
        }
    }
}

#[derive(Debug, Serialize)]
struct Accepted {
    message: AcceptedMessage,
}

#[derive(Debug, Serialize)]
struct AcceptedMessage {
    id: ClientMessageId,
    role: &'static str,
    content: String,
    timestamp: IsoTime,
}

/// Says something, and gives the id under which it runs once.
pub(crate) async fn say(caller: &Caller, said: Said) -> Result<ClientMessageId, Failure> {
    let known = caller.session().await?;
    let named = said.client_message_id.or_else(new_message_id);
    let id = named.ok_or_else(Failure::mismatch)?;
    let conversation = known.conversation.conversation_id;
    let mut wish = ClaudeSend::new(known.workspace_id, conversation, said.content);
    wish.client_message_id = Some(id.clone());
    wish.on_busy = said.on_busy.map(OnBusy::from);
    let PylonToApp::ClaudeSendResult(sent) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    sent.outcome()?;
    Ok(id)
}

pub(super) async fn input(caller: &Caller, said: Said) -> Result<Answer, Failure> {
    let content = said.content.to_string();
    let id = say(caller, said).await?;
    let message = AcceptedMessage {
        id,
        role: "user",
        content,
        timestamp: IsoTime::from(now()),
    };
    Ok(json(StatusCode::OK, &Accepted { message }))
}

/// An answer to what a session asks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(crate) struct Answered {
    pub(crate) action: Verdict,
    pub(crate) permission_id: ToolUseId,
    /// What to tell the agent when denying.
    pub(crate) message: Option<String>,
    /// The answers to questions.
    pub(crate) answer: Option<Choices>,
    /// Of what was shown: if the session asks about something else by now, nothing is answered.
    pub(crate) input_hash: Option<String>,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Approve,
    Deny,
}

/// Answers what a session asks. The first answer counts.
pub(crate) async fn answer(caller: &Caller, answered: Answered) -> Result<(), Failure> {
    let known = caller.session().await?;
    let (workspace, call) = (known.workspace_id, answered.permission_id);
    let conversation = known.conversation.conversation_id;
    let reply = match (answered.action, answered.answer) {
        (Verdict::Approve, Some(answer)) => {
            let mut answer = ClaudeAnswer::new(workspace, conversation, call, answer);
            answer.input_hash = answered.input_hash;
            caller.ask(answer).await?
        }
        (verdict, _) => {
            let decision = match verdict {
                Verdict::Approve => PermissionDecision::Allow,
                Verdict::Deny => PermissionDecision::Deny,
            };
            let mut answer = ClaudePermission::new(workspace, conversation, call, decision);
            answer.message = answered.message;
            answer.input_hash = answered.input_hash;
            caller.ask(answer).await?
        }
    };
    let outcome = if let PylonToApp::ClaudeAnswerResult(result) = &reply {
        result.outcome()
    } else if let PylonToApp::ClaudePermissionResult(result) = &reply {
        result.outcome()
    } else {
        return Err(Failure::mismatch());
    };
    outcome.map_err(|error| undecided(error).into())
}

/// A session that the host does not know has asked for nothing.
fn undecided(error: ApiError) -> ApiError {
    if error.code != ErrorCode::UnknownConversation {
        return error;
    }
    let text = "the session does not ask for this".to_owned();
    ApiError::new(ErrorCode::UnknownDecision, text, error.retry)
}

#[derive(Debug, Serialize)]
struct Decided {
    permission_id: ToolUseId,
    action: Verdict,
}

pub(super) async fn approve(caller: &Caller, answered: Answered) -> Result<Answer, Failure> {
    let decided = Decided {
        permission_id: answered.permission_id.clone(),
        action: answered.action,
    };
    answer(caller, answered).await?;
    Ok(json(StatusCode::OK, &decided))
}

#[derive(Debug, Serialize)]
struct Stopped {
    session: Session,
}

pub(super) async fn stop(caller: &Caller) -> Result<Answer, Failure> {
    let known = caller.session().await?;
    let mut stop = StopSession::new(known.conversation.conversation_id);
    stop.end_process = Some(true);
    let stopped = caller.shell.parts.host.request(stop).await;
    let stopped = stopped.map_err(|error| ApiError::from(&error))?;
    match stopped.outcome() {
        // What the host does not know has no process.
        Err(error) if error.code != ErrorCode::UnknownConversation => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    let session = whole(caller, caller.session().await?).await;
    Ok(json(StatusCode::OK, &Stopped { session }))
}

#[derive(Debug, Serialize)]
struct Resumed {
    session: ResumedSession,
    resumed_with_history: bool,
}

pub(super) async fn resume(caller: &Caller) -> Result<Answer, Failure> {
    let session = whole(caller, caller.session().await?).await;
    if session.status != SessionState::Stopped {
        return Err(Failure::not_stopped(session.status));
    }
    let id = caller.session().await?.conversation.conversation_id;
    let resumed = caller
        .shell
        .parts
        .host
        .request(ResumeSession::new(id))
        .await;
    let resumed = resumed.map_err(|error| ApiError::from(&error))?;
    match resumed.outcome() {
        Err(error) if error.code == ErrorCode::Conflict => {
            let session = whole(caller, caller.session().await?).await;
            // Somebody else was quicker; or it is stopped and held, by a terminal for example.
            return Err(if session.status == SessionState::Stopped {
                error.into()
            } else {
                Failure::not_stopped(session.status)
            });
        }
        outcome => outcome?,
    }
    let body = Resumed {
        session: session.resumed(),
        resumed_with_history: resumed.resumed_with_history.unwrap_or_default(),
    };
    Ok(json(StatusCode::OK, &body))
}

fn new_message_id() -> Option<ClientMessageId> {
    ClientMessageId::parse(&uuid::Uuid::now_v7().to_string()).ok()
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
}
