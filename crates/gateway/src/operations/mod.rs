//! What can be asked for, one function each: `sessions`, `talk` (input, answers, stop, resume), `terminals` and `machine`
//! (the rest).
//!
//! An operation asks the desk, the store or the host and gives their answer in the shapes of this interface. It keeps
//! nothing, so that it can be broken off anywhere.

mod machine;
mod sessions;
mod talk;
mod terminals;

use std::sync::Arc;

use estelle_proto::ipc::SessionStatus;
use estelle_proto::{ApiError, AppToPylon, ConversationId, PylonToApp, Right};
use estelle_pylon::desk::LocalDesk;
use estelle_pylon::link::host::HostState;
use estelle_pylon::store::{ConversationError, KnownConversation, StoreError};
use hyper::body::Incoming;
use hyper::{Request, StatusCode};

use crate::body;
use crate::failure::Failure;
use crate::page;
use crate::respond::{Answer, page as answer};
use crate::routes::Operation;
use crate::server::Shell;

pub(crate) use talk::{Answered, Said, Verdict, answer as answer_decision, say};
pub(crate) use terminals::Shown as ShownTerminal;

/// Whoever asks, with what they may do and the id of their path.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) shell: Arc<Shell>,
    pub(crate) rights: Vec<Right>,
    pub(crate) id: Option<String>,
}

impl Caller {
    fn desk(&self) -> &LocalDesk {
        &self.shell.parts.desk
    }

    /// Asks the desk, with the rights of the caller.
    async fn ask(&self, message: impl Into<AppToPylon>) -> Result<PylonToApp, Failure> {
        let asked = self.desk().ask(self.rights.clone(), message).await;
        asked.map_err(Failure::from)
    }

    /// The session of the path.
    pub(crate) async fn session(&self) -> Result<KnownConversation, Failure> {
        let id = self.id.as_deref().map(ConversationId::parse);
        let Some(Ok(id)) = id else {
            return Err(Failure::unknown_session());
        };
        let found = self.shell.parts.store.conversation(id).await;
        found.map_err(|error| match error {
            ConversationError::UnknownConversation { .. }
            | ConversationError::UnknownWorkspace { .. } => Failure::unknown_session(),
            ConversationError::Store(error) => failed(&error),
        })
    }

    /// What the host says about a session; nothing if it is away or knows nothing of it.
    pub(crate) async fn status(&self, id: &ConversationId) -> Option<SessionStatus> {
        let host = &self.shell.parts.host;
        if matches!(*host.state().borrow(), HostState::Away(_)) {
            return None;
        }
        let status = host.status(Some(id.clone())).await.ok()?;
        let mut sessions = status.sessions.into_iter();
        sessions.find(|session| session.session_id == *id)
    }
}

/// The store failed, which is its own matter; its log says more.
fn failed(error: &StoreError) -> Failure {
    tracing::error!(%error, "the store failed");
    let error = ApiError::new(
        estelle_proto::ErrorCode::Internal,
        "the memory of this machine failed".to_owned(),
        estelle_proto::Retry::Later,
    );
    error.into()
}

/// Carries an operation out.
pub(crate) async fn carry_out(
    operation: Operation,
    caller: Caller,
    request: Request<Incoming>,
) -> Result<Answer, Failure> {
    let (parts, body) = request.into_parts();
    let (headers, query) = (&parts.headers, parts.uri.query());
    match operation {
        Operation::CreateSession => {
            sessions::create(&caller, body::json(headers, body).await?).await
        }
        Operation::RenameSession => {
            sessions::rename(&caller, body::json(headers, body).await?).await
        }
        Operation::Input => talk::input(&caller, body::json(headers, body).await?).await,
        Operation::Approve => talk::approve(&caller, body::json(headers, body).await?).await,
        Operation::CreateWorkspace => {
            machine::create_workspace(&caller, body::json(headers, body).await?).await
        }
        Operation::CreateTerminal => {
            terminals::create(&caller, body::json(headers, body).await?).await
        }
        Operation::ChangeSettings => {
            machine::change_settings(&caller, body::json(headers, body).await?).await
        }
        Operation::Health
        | Operation::OpenApi
        | Operation::Docs
        | Operation::Version
        | Operation::ListSessions
        | Operation::GetSession
        | Operation::DeleteSession
        | Operation::Stop
        | Operation::Resume
        | Operation::ListMessages
        | Operation::Search
        | Operation::ListWorkspaces
        | Operation::DeleteWorkspace
        | Operation::GetUsage
        | Operation::ListDevices
        | Operation::ListTerminals
        | Operation::CloseTerminal
        | Operation::GetSettings => {
            body::none(&body)?;
            without_body(operation, &caller, query).await
        }
    }
}

async fn without_body(
    operation: Operation,
    caller: &Caller,
    query: Option<&str>,
) -> Result<Answer, Failure> {
    match operation {
        Operation::Health => Ok(machine::health()),
        Operation::OpenApi => Ok(answer(StatusCode::OK, "application/json", page::OPENAPI)),
        Operation::Docs => Ok(answer(
            StatusCode::OK,
            "text/html; charset=utf-8",
            page::html(),
        )),
        Operation::Version => Ok(machine::version(caller)),
        Operation::ListSessions => sessions::list(caller, query).await,
        Operation::GetSession => sessions::get(caller).await,
        Operation::DeleteSession => sessions::delete(caller).await,
        Operation::Stop => talk::stop(caller).await,
        Operation::Resume => talk::resume(caller).await,
        Operation::ListMessages => sessions::messages(caller, query).await,
        Operation::Search => machine::search(caller, query).await,
        Operation::ListWorkspaces => machine::workspaces(caller).await,
        Operation::DeleteWorkspace => machine::delete_workspace(caller).await,
        Operation::GetUsage => machine::usage(caller, query).await,
        Operation::ListDevices => machine::devices(caller).await,
        Operation::GetSettings => machine::settings(caller).await,
        Operation::ListTerminals => terminals::list(caller).await,
        Operation::CloseTerminal => terminals::close(caller).await,
        Operation::CreateSession
        | Operation::RenameSession
        | Operation::Input
        | Operation::Approve
        | Operation::CreateWorkspace
        | Operation::CreateTerminal
        | Operation::ChangeSettings => Err(Failure::mismatch()),
    }
}
