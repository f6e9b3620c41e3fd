//! The host: all conversations of a machine, and the one door to them.
//!
//! It takes the lock of the data folder, so there is one. Opening folds every log and takes up every run that lives.
//! Letting go of it leaves the runs alone; stopping them is something to be asked for.

mod announcing;
mod forking;
mod granted;
mod rewinding;
mod saved;
mod terminals;
mod trying;

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use estelle_proto::conversations::ConversationStatus;
use estelle_proto::ipc::{
    ClaimCall, Evidence, HostToPylon, ProcessStatus, PylonToHost, ServerShutdown, SessionStatus,
    StatusResponse, Subscribe,
};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Key, PermissionMode, Retry, WorkspaceId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio::time::error::Elapsed;

use crate::conversation::{
    Actor, Book, Command, Context, Ended, HostSettings, OpenBookError, Trouble,
    await_first_message, await_opening, disk_trouble, now, private_folder, subscribe, unknown,
};
use crate::data::DataFolder;
use crate::failpoint;
use crate::ipc::{Desk, Done, Refusal, in_one_line};
use crate::mailbox::{Enlisted, Letter, Mailbox};
use crate::opening::open_all;
use crate::run::{RunWatch, read_record, write_record};
use crate::strays::{self, LivingRun};
use crate::trust::TrustStore;

/// Commands that may wait for one conversation.
const QUEUE: usize = 64;

/// How long a conversation may take to say how it is.
const ANSWER: Duration = Duration::from_secs(3);

/// How often a message looks for its conversation while that one ends and begins again.
const ATTEMPTS: usize = 100;

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

type Roll = HashMap<ConversationId, mpsc::Sender<Command>>;
type Actors = Arc<Mutex<Roll>>;

/// A host that is open. Clones are the same host.
#[derive(Debug, Clone)]
pub struct Host {
    context: Arc<Context>,
    actors: Actors,
    /// Held for as long as the host is.
    _folder: Arc<DataFolder>,
}

/// How the task of a conversation begins.
enum Start {
    /// With its book.
    Open(Box<Book>),
    /// With its first message: there is no book yet.
    FirstMessage,
    /// With a log that could not be opened.
    Shut(OpenBookError),
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
        let _ = std::fs::remove_dir_all(forking::drafts(&data));
        let (trust, warning) = TrustStore::load(&data);
        if let Some(warning) = warning {
            tracing::warn!(%warning, "answers about trust are asked for again");
        }
        let mode = load_default_mode(&data);
        let host = Self {
            context: Arc::new(Context::new(settings, RunWatch::default(), trust, mode)),
            actors: Actors::default(),
            _folder: folder,
        };
        // What hangs in a trial of a host that died. It is looked for before a conversation can begin another.
        let leftover = host.context.canary.clean_up();
        host.context.tracker.spawn(leftover);
        host.open_conversations()?;
        host.start_clock();
        Ok(host)
    }

    /// Opens every conversation. Those whose log cannot be opened wait for it.
    fn open_conversations(&self) -> io::Result<()> {
        let folder = self.context.settings.data.join("conversations");
        let living = strays::living(&folder);
        let mut books: HashMap<_, _> = open_all(&folder)?.into_iter().collect();
        for run in living {
            let id = run.conversation.clone();
            let settled = match books.remove(&id).transpose() {
                Ok(known) => run.settle(known, &self.context),
                // Nobody knows what a log would say that cannot be read.
                Err(error) => Err(error),
            };
            books.insert(id, settled);
        }
        for (id, book) in books {
            let (commands, inbox) = mpsc::channel(QUEUE);
            self.lock().insert(id.clone(), commands);
            let start = book.map_or_else(Start::Shut, |book| Start::Open(Box::new(book)));
            self.keep(id, inbox, start);
        }
        Ok(())
    }

    /// The task of a conversation.
    fn keep(&self, id: ConversationId, mut inbox: mpsc::Receiver<Command>, start: Start) {
        let actors = Arc::downgrade(&self.actors);
        let context = Arc::clone(&self.context);
        self.context.tracker.spawn(async move {
            let folder = context.conversation_folder(id.as_str());
            let begun = match start {
                Start::Open(book) => Some((*book, None)),
                Start::FirstMessage => {
                    let first = await_first_message(&context, &id, &mut inbox);
                    // One that fails takes nothing along: there is no conversation yet.
                    let first = AssertUnwindSafe(first).catch_unwind().await;
                    let first = first.ok().flatten();
                    first.map(|(book, first)| (book, Some(first)))
                }
                Start::Shut(error) => {
                    let opened = await_opening(&context, &id, &mut inbox, &error).await;
                    if opened.is_some() {
                        let told = tell_opened(id.clone(), actors.clone(), Arc::clone(&context));
                        context.tracker.spawn(told);
                    }
                    opened
                }
            };
            if let Some((book, first)) = begun {
                Actor::new(context, folder, book, inbox).run(first).await;
            }
            if let Some(actors) = actors.upgrade() {
                lock(&actors).remove(&id);
            }
        });
    }

    /// Looks once a minute at what is idle.
    fn start_clock(&self) {
        let actors = Arc::downgrade(&self.actors);
        self.context.tracker.spawn(async move {
            let mut clock = tokio::time::interval(failpoint::idle_look());
            clock.tick().await;
            loop {
                clock.tick().await;
                let Some(actors) = actors.upgrade() else {
                    return;
                };
                let all: Vec<_> = lock(&actors).values().cloned().collect();
                drop(actors);
                for actor in all {
                    // One that has too much to do is not idle.
                    let _ = actor.try_send(Command::Tick);
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Roll> {
        lock(&self.actors)
    }

    /// Where everything is kept.
    pub fn data(&self) -> &Path {
        &self.context.settings.data
    }
}

/// Commands.
impl Host {
    fn actor(&self, id: &ConversationId) -> Result<mpsc::Sender<Command>, ApiError> {
        self.lock().get(id).cloned().ok_or_else(|| unknown(id))
    }

    fn all(&self) -> Vec<(ConversationId, mpsc::Sender<Command>)> {
        everybody(&self.actors)
    }

    /// Gives a command its place among the others of its conversation. A message may begin one.
    async fn enqueue(
        &self,
        id: ConversationId,
        mut command: PylonToHost,
    ) -> BoxFuture<'static, Result<Done, Refusal>> {
        for _ in 0..ATTEMPTS {
            let (reply, answer) = oneshot::channel();
            let submitted = Command::Submit(Box::new(command), reply);
            let (actor, submitted) = match self.place_of(&id, submitted) {
                Ok(found) => found,
                Err(error) => return ready(Err(error.into())),
            };
            let Some(submitted) = submitted else {
                return self.result_of(id, &actor, answer);
            };
            match actor.send(submitted).await {
                Err(mpsc::error::SendError(Command::Submit(back, _)))
                    if matches!(*back, PylonToHost::SendMessage(_)) =>
                {
                    // The conversation ended just now; this message is the first of the next one.
                    command = *back;
                    tokio::task::yield_now().await;
                }
                Err(_) => break,
                Ok(()) => return self.result_of(id, &actor, answer),
            }
        }
        ready(Err(gone().into()))
    }

    /// The result of a command that has its place.
    fn result_of(
        &self,
        id: ConversationId,
        actor: &mpsc::Sender<Command>,
        answer: oneshot::Receiver<Result<Done, Refusal>>,
    ) -> BoxFuture<'static, Result<Done, Refusal>> {
        // Whoever waits for a result does not keep the task alive.
        let actor = actor.downgrade();
        let context = Arc::clone(&self.context);
        async move {
            let lost = |_| {
                // A task that lives and does not answer failed, or could not write it down.
                let is_there = actor.upgrade().is_some_and(|actor| !actor.is_closed());
                let error = if !is_there {
                    gone()
                } else if context.has_failed(&id) {
                    Trouble::Failed.refusal()
                } else {
                    disk_trouble()
                };
                Err(error.into())
            };
            answer.await.unwrap_or_else(lost)
        }
        .boxed()
    }

    /// The task of a conversation, and the command if it must still be sent there.
    fn place_of(
        &self,
        id: &ConversationId,
        command: Command,
    ) -> Result<(mpsc::Sender<Command>, Option<Command>), ApiError> {
        let mut actors = self.lock();
        if let Some(actor) = actors.get(id) {
            return Ok((actor.clone(), Some(command)));
        }
        if !matches!(&command, Command::Submit(asked, _) if matches!(**asked, PylonToHost::SendMessage(_)))
        {
            return Err(unknown(id));
        }
        let (actor, inbox) = mpsc::channel(QUEUE);
        // Nobody can be before it: the queue is not known to anybody yet.
        let left = actor
            .try_send(command)
            .err()
            .map(mpsc::error::TrySendError::into_inner);
        actors.insert(id.clone(), actor.clone());
        drop(actors);
        self.keep(id.clone(), inbox, Start::FirstMessage);
        Ok((actor, left))
    }

    /// Commands about the machine as a whole.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else there is does not come here"
    )]
    fn set(&self, command: PylonToHost) -> Result<Done, ApiError> {
        match command {
            PylonToHost::SetPermissionMode(change) => self.set_default_mode(change.mode),
            PylonToHost::SetRule(change) => {
                let set = self.context.rules().set(change.rule, now());
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
        for (_, actor) in self.all() {
            // Those without a mode of their own tell their process. One that has too much to do will look anyway.
            let _ = actor.try_send(Command::Tick);
        }
        Ok(Done::default())
    }

    /// Ends every run as an orderly shutdown does, telling everybody. Returns how many there were.
    pub async fn stop_runs(&self, reason: &str) -> usize {
        self.context.go_down();
        let grace = self.context.settings.grace;
        let notice = ServerShutdown::new(reason.to_owned(), grace.as_secs());
        let notice = Letter::message(&HostToPylon::ServerShutdown(notice));
        self.context.roster.post_to_all(&notice);
        // Side by side: one that is slow to listen holds no other up.
        let ends = self.all().into_iter().map(|(_, actor)| async move {
            let (reply, end) = oneshot::channel();
            // One that is gone has no run.
            actor.send(Command::ShutDown(reply)).await.ok()?;
            end.await.ok()
        });
        // A killed process is gone within moments; a disk that hangs must not hold the shutdown up for ever.
        let limit = grace + Duration::from_secs(10);
        let ended = tokio::time::timeout(limit, futures_util::future::join_all(ends)).await;
        let ended = ended.into_iter().flatten().flatten();
        let count = ended.filter(|ended| *ended == Ended::Run).count();
        self.context.shelf.close_all().await;
        self.end_the_rest().await;
        tracing::info!(count, "runs were ended");
        count
    }

    /// Whatever still runs: what no conversation knows, or what could not be ended in its own way.
    async fn end_the_rest(&self) {
        let folder = self.context.settings.data.join("conversations");
        let living = tokio::task::spawn_blocking(move || strays::living(&folder)).await;
        let ends = living.unwrap_or_default().into_iter().map(LivingRun::end);
        futures_util::future::join_all(ends).await;
    }
}

impl Desk for Host {
    async fn submit(&self, command: PylonToHost) -> BoxFuture<'static, Result<Done, Refusal>> {
        let command = match self.terminals(command) {
            ControlFlow::Break(outcome) => return outcome,
            ControlFlow::Continue(command) => command,
        };
        let command = match self.saved(command) {
            ControlFlow::Break(outcome) => return outcome,
            ControlFlow::Continue(command) => command,
        };
        if let PylonToHost::ForkSession(command) = command {
            return self.fork(command);
        }
        if let PylonToHost::RewindSession(command) = command {
            return self.rewind(command);
        }
        if let PylonToHost::GetRules(asked) = &command {
            return self.rules_and_grants(asked);
        }
        match command.key() {
            Key::Conversation(id) => {
                let id = id.clone();
                self.enqueue(id, command).await
            }
            Key::Workspace(_) | Key::Terminal(_) | Key::Machine | Key::None => {
                match self.set(command) {
                    Ok(done) if done.rules.is_some() => self.with_grants(done),
                    outcome => ready(outcome.map_err(Refusal::from)),
                }
            }
        }
    }

    async fn status(&self, which: Option<ConversationId>) -> Result<Vec<SessionStatus>, ApiError> {
        if let Some(id) = which {
            let found = status_of(id.clone(), self.actor(&id)?).await;
            return found.map(|status| vec![status]).ok_or_else(|| unknown(&id));
        }
        Ok(status_of_all(self.all()).await)
    }

    async fn tell_decisions(&self, mailbox: Mailbox) {
        self.announce_to(&mailbox).await;
    }

    async fn claim(&self, claim: ClaimCall, mailbox: Mailbox) -> Result<(), ApiError> {
        let actor = self.actor(&claim.session_id)?;
        let (granted, answer) = oneshot::channel();
        let command = Command::Claim {
            claim,
            mailbox,
            granted,
        };
        actor.send(command).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    async fn subscribe(&self, request: Subscribe, mailbox: Mailbox) -> Result<(), ApiError> {
        let actor = self.actor(&request.session_id)?;
        let subscribed = subscribe(actor, request, mailbox).await?;
        subscribed.ok_or_else(gone)
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

/// Asks a conversation something; nothing if it is gone, an error if it does not answer in time.
async fn ask<T>(
    actor: &mpsc::Sender<Command>,
    question: impl FnOnce(oneshot::Sender<T>) -> Command,
) -> Result<Option<T>, Elapsed> {
    let (reply, answer) = oneshot::channel();
    let asked = async {
        actor.send(question(reply)).await.ok()?;
        answer.await.ok()
    };
    tokio::time::timeout(ANSWER, asked).await
}

fn lock(actors: &Mutex<Roll>) -> MutexGuard<'_, Roll> {
    // Nothing that could fail is done while it is held.
    actors.lock().unwrap_or_else(PoisonError::into_inner)
}

fn everybody(actors: &Mutex<Roll>) -> Vec<(ConversationId, mpsc::Sender<Command>)> {
    let actors = lock(actors);
    let all = actors.iter();
    all.map(|(id, actor)| (id.clone(), actor.clone())).collect()
}

/// Tells every client that a conversation is there that could not be opened before: how all are, so that whoever was
/// refused asks again, and what waits in it for a person.
async fn tell_opened(id: ConversationId, actors: Weak<Mutex<Roll>>, context: Arc<Context>) {
    let Some(all) = actors.upgrade().map(|actors| everybody(&actors)) else {
        return;
    };
    let opened = all.iter().find(|(one, _)| *one == id);
    let Some(opened) = opened.map(|(_, actor)| actor.clone()) else {
        return;
    };
    // It answers when it has taken up its run, however long that takes.
    let (reply, decisions) = oneshot::channel();
    let asked = opened.send(Command::Decisions(reply)).await;
    drop(opened);
    let (Ok(()), Ok(decisions)) = (asked, decisions.await) else {
        return;
    };
    let status = StatusResponse::new(status_of_all(all).await);
    context.roster.post_to_all(&in_one_line(status));
    for decision in decisions {
        context.roster.post_to_all(&Letter::message(&decision));
    }
}

/// How these conversations are, in the order of their ids.
async fn status_of_all(all: Vec<(ConversationId, mpsc::Sender<Command>)>) -> Vec<SessionStatus> {
    let all = all.into_iter().map(|(id, actor)| status_of(id, actor));
    let all = futures_util::future::join_all(all).await;
    let mut all: Vec<_> = all.into_iter().flatten().collect();
    all.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    all
}

/// How a conversation is. One that does not answer holds nobody up, and is not left out.
async fn status_of(id: ConversationId, actor: mpsc::Sender<Command>) -> Option<SessionStatus> {
    match ask(&actor, Command::Status).await {
        Ok(status) => status,
        Err(_) => Some(SessionStatus {
            process: Some(ProcessStatus::Suspect),
            evidence: Some(Evidence {
                why: Some("its task is busy and did not answer in time".to_owned()),
                ..Evidence::new(false, false, 0, 0)
            }),
            ..SessionStatus::new(id, ConversationStatus::Working)
        }),
    }
}

fn ready(outcome: Result<Done, Refusal>) -> BoxFuture<'static, Result<Done, Refusal>> {
    futures_util::future::ready(outcome).boxed()
}

fn gone() -> ApiError {
    let message = "the conversation was deleted or the host goes down".to_owned();
    ApiError::new(ErrorCode::UnknownConversation, message, Retry::Later)
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
