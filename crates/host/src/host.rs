//! The host: all conversations of a machine, and the one door to them.
//!
//! It takes the lock of the data folder, so there is one. Opening folds every log and takes up every run that lives.
//! Letting go of it leaves the runs alone; stopping them is something to be asked for.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use estelle_proto::ipc::{
    HostToPylon, PylonToHost, SendMessage, ServerShutdown, SessionStatus, Subscribe,
};
use estelle_proto::{
    ApiError, ConversationId, Epoch, ErrorCode, Generation, Key, PermissionMode, Retry, WorkspaceId,
};
use estelle_state::idle;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::conversation::{
    Actor, Book, Command, Context, HostSettings, LOG, OpenBookError, now, subscribe,
};
use crate::data::DataFolder;
use crate::ipc::{Desk, Done, Refusal};
use crate::launch::{FolderTrust, Hooks, LaunchWish};
use crate::mailbox::{Enlisted, Letter, Mailbox};
use crate::run::{RunWatch, read_record, write_record};
use crate::trust::TrustStore;

/// Commands that may wait for one conversation.
const QUEUE: usize = 64;

/// Why a host cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("failed to open the host on {}", data.display())]
pub struct OpenError {
    /// The data folder.
    pub data: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

type Actors = Arc<Mutex<HashMap<ConversationId, mpsc::Sender<Command>>>>;

/// A host that is open. Clones are the same host.
#[derive(Debug, Clone)]
pub struct Host {
    context: Arc<Context>,
    actors: Actors,
    /// Conversations whose log cannot be read, with the reason.
    unreadable: Arc<HashMap<ConversationId, String>>,
    /// Held while a conversation is begun.
    beginning: Arc<tokio::sync::Mutex<()>>,
    /// Held for as long as the host is.
    _folder: Arc<DataFolder>,
}

/// What is set for all conversations.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Defaults {
    permission_mode: PermissionMode,
}

/// Opening.
impl Host {
    /// Opens the host of a data folder and takes up every run that lives.
    pub fn open(
        folder: impl Into<Arc<DataFolder>>,
        settings: HostSettings,
    ) -> Result<Self, OpenError> {
        let data = settings.data.clone();
        Self::over(folder.into(), settings).map_err(|source| OpenError { data, source })
    }

    fn over(folder: Arc<DataFolder>, settings: HostSettings) -> io::Result<Self> {
        let data = settings.data.clone();
        private_folder(&data.join("conversations"))?;
        // What a deletion left behind.
        let _ = std::fs::remove_dir_all(data.join("deleted"));
        let (trust, warning) = TrustStore::load(&data);
        if let Some(warning) = warning {
            tracing::warn!(%warning, "answers about trust are asked for again");
        }
        let mode = load_default_mode(&data);
        let mut host = Self {
            unreadable: Arc::default(),
            context: Arc::new(Context::new(settings, RunWatch::new()?, trust, mode)),
            actors: Actors::default(),
            beginning: Arc::default(),
            _folder: folder,
        };
        host.unreadable = Arc::new(host.open_conversations()?);
        host.start_clock();
        Ok(host)
    }

    fn open_conversations(&self) -> io::Result<HashMap<ConversationId, String>> {
        let mut unreadable = HashMap::new();
        let folder = self.context.settings.data.join("conversations");
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(Ok(id)) = name.to_str().map(ConversationId::parse) else {
                continue;
            };
            if !entry.path().join(LOG).exists() {
                // A creation that did not finish; nobody was promised anything.
                continue;
            }
            match open_book(&entry.path()) {
                Ok(book) => self.start_actor(id, book),
                Err(error) => {
                    tracing::error!(conversation = %id, %error, "a conversation could not be opened");
                    unreadable.insert(id, error.to_string());
                }
            }
        }
        Ok(unreadable)
    }

    fn start_actor(&self, id: ConversationId, book: Book) {
        let (commands, inbox) = mpsc::channel(QUEUE);
        let folder = self.context.conversation_folder(id.as_str());
        let actor = Actor::new(Arc::clone(&self.context), folder, book, inbox);
        self.lock().insert(id.clone(), commands);
        let actors = Arc::downgrade(&self.actors);
        self.context.tracker.spawn(async move {
            actor.run().await;
            if let Some(actors) = actors.upgrade() {
                actors
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .remove(&id);
            }
        });
    }

    /// Looks once a minute at what is idle.
    fn start_clock(&self) {
        let actors = Arc::downgrade(&self.actors);
        self.context.tracker.spawn(async move {
            let mut clock = tokio::time::interval(idle::CHECK_EVERY);
            clock.tick().await;
            loop {
                clock.tick().await;
                let Some(actors) = actors.upgrade() else {
                    return;
                };
                let all: Vec<_> = actors
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .values()
                    .cloned()
                    .collect();
                drop(actors);
                for actor in all {
                    // One that has too much to do is not idle.
                    let _ = actor.try_send(Command::Tick);
                }
            }
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ConversationId, mpsc::Sender<Command>>> {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where everything is kept.
    pub fn data(&self) -> &Path {
        &self.context.settings.data
    }
}

/// Commands.
impl Host {
    fn actor(&self, id: &ConversationId) -> Result<mpsc::Sender<Command>, ApiError> {
        if let Some(reason) = self.unreadable.get(id) {
            return Err(ApiError::new(
                ErrorCode::Internal,
                reason.clone(),
                Retry::Never,
            ));
        }
        self.lock().get(id).cloned().ok_or_else(|| unknown(id))
    }

    fn all(&self) -> Vec<mpsc::Sender<Command>> {
        self.lock().values().cloned().collect()
    }

    /// The conversation of a message, which may be its first.
    async fn actor_for(&self, command: &SendMessage) -> Result<mpsc::Sender<Command>, ApiError> {
        let id = &command.session_id;
        match self.actor(id) {
            Err(error) if error.code == ErrorCode::UnknownConversation => {}
            found => return found,
        }
        // Nothing is made for a message that cannot be worked on.
        self.context.preflight(&first_wish(command)).await?;
        let _one_at_a_time = self.beginning.lock().await;
        // Somebody may have been faster meanwhile; beginning again would put a new log in the place of his.
        if let Ok(actor) = self.actor(id) {
            return Ok(actor);
        }
        let folder = self.context.conversation_folder(id.as_str());
        let made = private_folder(&folder)
            .and_then(|()| Book::begin(&folder, now(), id.clone(), Epoch(1), Generation(0)));
        let book = made.map_err(|error| {
            let message = format!("failed to begin the log of the conversation: {error}");
            ApiError::new(ErrorCode::DiskFull, message, Retry::Later)
        })?;
        self.start_actor(id.clone(), book);
        self.actor(id)
    }

    async fn enqueue(
        &self,
        actor: mpsc::Sender<Command>,
        command: PylonToHost,
    ) -> BoxFuture<'static, Result<Done, Refusal>> {
        let (reply, answer) = oneshot::channel();
        if actor
            .send(Command::Submit(Box::new(command), reply))
            .await
            .is_err()
        {
            return ready(Err(gone().into()));
        }
        async move { answer.await.unwrap_or_else(|_| Err(gone().into())) }.boxed()
    }

    /// Commands about the machine as a whole.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else there is does not come here"
    )]
    fn set(&self, command: PylonToHost) -> Result<Done, ApiError> {
        match command {
            PylonToHost::SetPermissionMode(change) => self.set_default_mode(change.mode),
            PylonToHost::GetRules(asked) => Ok(self.rules(asked.workspace_id.as_ref())),
            PylonToHost::SetRule(change) => {
                let set = self.context.rules().set(change.rule);
                set.map_err(|error| error.to_api())?;
                Ok(self.rules(None))
            }
            PylonToHost::RemoveRule(change) => {
                let workspace = change.workspace_id.as_ref();
                let removed = self.context.rules().remove(&change.rule, workspace);
                removed.map_err(|error| error.to_api())?;
                Ok(self.rules(None))
            }
            _ => {
                let message = "the host does not take this".to_owned();
                Err(ApiError::new(ErrorCode::UnknownType, message, Retry::Never))
            }
        }
    }

    fn rules(&self, workspace: Option<&WorkspaceId>) -> Done {
        Done {
            rules: Some(self.context.rules().list(workspace)),
            ..Done::default()
        }
    }

    fn set_default_mode(&self, mode: PermissionMode) -> Result<Done, ApiError> {
        let defaults = Defaults {
            permission_mode: mode.clone(),
        };
        let path = self.context.settings.data.join("defaults.json");
        write_record(&path, &defaults).map_err(|error| {
            let message = format!("failed to keep the default mode: {error}");
            ApiError::new(ErrorCode::DiskFull, message, Retry::Later)
        })?;
        self.context.set_default_mode(mode);
        Ok(Done::default())
    }

    /// Ends every run as an orderly shutdown does, telling everybody. Returns how many there were.
    pub async fn stop_runs(&self, reason: &str) -> usize {
        let grace = self.context.settings.grace;
        let notice = ServerShutdown::new(reason.to_owned(), grace.as_secs());
        let notice = Letter::message(&HostToPylon::ServerShutdown(notice));
        self.context.roster.post_to_all(&notice);
        let mut ends = Vec::new();
        for actor in self.all() {
            let (reply, end) = oneshot::channel();
            if actor.send(Command::ShutDown(reply)).await.is_ok() {
                ends.push(end);
            }
        }
        let count = ends.len();
        // A killed process is gone within moments; a disk that hangs must not hold the shutdown up for ever.
        let limit = grace + Duration::from_secs(10);
        let _ = tokio::time::timeout(limit, futures_util::future::join_all(ends)).await;
        tracing::info!(count, "runs were ended");
        count
    }
}

impl Desk for Host {
    async fn submit(&self, command: PylonToHost) -> BoxFuture<'static, Result<Done, Refusal>> {
        let actor = if let PylonToHost::SendMessage(message) = &command {
            self.actor_for(message).await
        } else {
            match command.key() {
                Key::Conversation(id) => self.actor(id),
                Key::Workspace(_) | Key::Machine | Key::None => {
                    return ready(self.set(command).map_err(Refusal::from));
                }
            }
        };
        match actor {
            Ok(actor) => self.enqueue(actor, command).await,
            Err(error) => ready(Err(error.into())),
        }
    }

    async fn status(&self, which: Option<ConversationId>) -> Result<Vec<SessionStatus>, ApiError> {
        let actors = match which {
            Some(id) => vec![self.actor(&id)?],
            None => self.all(),
        };
        let mut all = Vec::with_capacity(actors.len());
        for actor in actors {
            let (reply, status) = oneshot::channel();
            if actor.send(Command::Status(reply)).await.is_ok() {
                all.extend(status.await.ok());
            }
        }
        all.sort_by(|one, other| one.session_id.cmp(&other.session_id));
        Ok(all)
    }

    async fn open_decisions(&self) -> Vec<HostToPylon> {
        let mut all = Vec::new();
        for actor in self.all() {
            let (reply, decisions) = oneshot::channel();
            if actor.send(Command::Decisions(reply)).await.is_ok() {
                all.extend(decisions.await.unwrap_or_default());
            }
        }
        all
    }

    async fn subscribe(&self, request: Subscribe, mailbox: Mailbox) -> Result<(), ApiError> {
        let actor = self.actor(&request.session_id)?;
        subscribe(actor, request, mailbox).await.ok_or_else(gone)
    }

    async fn unsubscribe(&self, id: &ConversationId, mailbox: &Mailbox) {
        if let Ok(actor) = self.actor(id) {
            // A conversation that is gone has no listeners.
            let _ = actor.send(Command::Leave(mailbox.clone())).await;
        }
    }

    fn enlist(&self, mailbox: Mailbox) -> Enlisted {
        self.context.roster.enlist(mailbox)
    }
}

fn ready(outcome: Result<Done, Refusal>) -> BoxFuture<'static, Result<Done, Refusal>> {
    futures_util::future::ready(outcome).boxed()
}

fn unknown(id: &ConversationId) -> ApiError {
    let message = format!("there is no conversation {id} on this host");
    ApiError::new(ErrorCode::UnknownConversation, message, Retry::Never)
}

fn gone() -> ApiError {
    let message = "the conversation was deleted or the host goes down".to_owned();
    ApiError::new(ErrorCode::UnknownConversation, message, Retry::Later)
}

fn first_wish(command: &SendMessage) -> LaunchWish {
    let payload = &command.payload;
    LaunchWish {
        conversation: command.session_id.clone(),
        generation: Generation(1),
        run_folder: PathBuf::from("/"),
        working_dir: payload.working_dir.as_str().into(),
        resume: payload.claude_session_id.clone(),
        mode: payload
            .permission_mode
            .clone()
            .unwrap_or(PermissionMode::Default),
        model: payload.model.clone(),
        append_system_prompt: payload.append_system_prompt.clone(),
        mcp_config: payload.mcp_config.clone(),
        tool_server: None,
        trust: FolderTrust::Withheld,
        hooks: Hooks::None,
        frozen: None,
    }
}

fn open_book(folder: &Path) -> Result<Book, OpenBookError> {
    let opened = Book::open(folder, now())?;
    if let Some(damage) = &opened.damage {
        tracing::warn!(folder = %folder.display(), ?damage, "a log was damaged");
    }
    Ok(opened.book)
}

fn load_default_mode(data: &Path) -> PermissionMode {
    match read_record::<Defaults>(&data.join("defaults.json")) {
        Ok(Some(defaults)) => defaults.permission_mode,
        Ok(None) => PermissionMode::Default,
        Err(error) => {
            tracing::warn!(%error, "the default mode cannot be read; permissions are asked for");
            PermissionMode::Default
        }
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}
