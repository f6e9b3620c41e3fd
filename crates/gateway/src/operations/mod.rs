//! What can be asked for, one function each: `sessions`, `talk` (input, answers, stop, resume), `events`, `terminals`,
//! `tasks`, `worktrees`, `saved` and `machine` (the rest).
//!
//! An operation asks the desk, the store or the host and gives their answer in the shapes of this interface. It keeps
//! nothing, so that it can be broken off anywhere.

mod events;
mod machine;
mod saved;
mod sessions;
mod talk;
mod tasks;
mod terminals;
mod worktrees;

use std::sync::Arc;

use estelle_proto::ipc::SessionStatus;
use estelle_proto::{ApiError, AppToPylon, ConversationId, PylonToApp, Right};
use estelle_pylon::desk::LocalDesk;
use estelle_pylon::link::host::HostState;
use estelle_pylon::store::{ConversationError, KnownConversation, Life, StoreError};
use hyper::body::Incoming;
use hyper::{Request, StatusCode};

use crate::body;
use crate::failure::Failure;
use crate::lens::{Down, Lens};
use crate::page;
use crate::respond::{Answer, page as answer};
use crate::routes::Operation;
use crate::server::Shell;
use crate::shape::{Permission, pending};

pub(crate) use talk::{Answered, Said, Verdict, answer as answer_decision, now, say};
pub(crate) use terminals::Shown as ShownTerminal;

/// Whoever asks, with what they may do and what their path names.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) shell: Arc<Shell>,
    pub(crate) rights: Vec<Right>,
    pub(crate) id: Option<String>,
    pub(crate) task: Option<String>,
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

    /// What is known of the process of a session without the host.
    pub(crate) async fn life(&self, id: &ConversationId) -> Life {
        let life = self.shell.parts.store.life(id.clone()).await;
        life.unwrap_or_default()
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

impl Caller {
    /// What waits for a person in a session: by the word of the host, and while it is away what it told last. What exactly
    /// is asked about stands in what was told.
    pub(crate) async fn permissions(
        &self,
        id: &ConversationId,
        status: Option<&SessionStatus>,
    ) -> Vec<Permission> {
        let told = self.told_permissions(id).await;
        let Some(status) = status else {
            return told;
        };
        let mut open = pending(status);
        for permission in &mut open {
            let same = |one: &&Permission| one.request_id == permission.request_id;
            let known = told.iter().find(same);
            let told = known.and_then(|known| known.input_hash.clone());
            permission.input_hash = permission.input_hash.take().or(told);
        }
        open
    }

    async fn told_permissions(&self, id: &ConversationId) -> Vec<Permission> {
        let Ok(watch) = self.desk().watch(id.clone()).await else {
            return Vec::new();
        };
        let mut lens = Lens::new(id.clone());
        let told = watch.beginning.under_way.iter();
        let told = told.filter_map(|event| lens.event(event));
        told.filter_map(Down::into_permission).collect()
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
        Operation::CreateTask => tasks::create(&caller, body::json(headers, body).await?).await,
        Operation::MarkTask => tasks::mark(&caller, body::json(headers, body).await?).await,
        Operation::OrderWorker => {
            tasks::order_worker(&caller, body::json(headers, body).await?).await
        }
        Operation::ContinueSaved => saved::go_on(&caller, body::json(headers, body).await?).await,
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
        | Operation::ListEvents
        | Operation::Search
        | Operation::ListWorkspaces
        | Operation::DeleteWorkspace
        | Operation::GetUsage
        | Operation::ListDevices
        | Operation::ListTerminals
        | Operation::CloseTerminal
        | Operation::ListTasks
        | Operation::GetTask
        | Operation::GetWorker
        | Operation::MergeWorktree
        | Operation::RemoveWorktree
        | Operation::ListSaved
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
        Operation::ListEvents => events::list(caller, query).await,
        Operation::Search => machine::search(caller, query).await,
        Operation::ListWorkspaces => machine::workspaces(caller).await,
        Operation::DeleteWorkspace => machine::delete_workspace(caller).await,
        Operation::GetUsage => machine::usage(caller, query).await,
        Operation::ListDevices => machine::devices(caller).await,
        Operation::GetSettings => machine::settings(caller).await,
        Operation::ListTerminals => terminals::list(caller).await,
        Operation::CloseTerminal => terminals::close(caller).await,
        Operation::ListTasks => tasks::list(caller, query).await,
        Operation::GetTask => tasks::get(caller, query).await,
        Operation::GetWorker => tasks::get_worker(caller, query).await,
        Operation::MergeWorktree => worktrees::merge(caller, query).await,
        Operation::RemoveWorktree => worktrees::remove(caller, query).await,
        Operation::ListSaved => saved::list(caller, query).await,
        Operation::CreateSession
        | Operation::RenameSession
        | Operation::Input
        | Operation::Approve
        | Operation::CreateWorkspace
        | Operation::CreateTerminal
        | Operation::CreateTask
        | Operation::MarkTask
        | Operation::OrderWorker
        | Operation::ContinueSaved
        | Operation::ChangeSettings => Err(Failure::mismatch()),
    }
}
