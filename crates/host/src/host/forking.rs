//! Making a conversation from the beginning of another one, while both are open.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use estelle_claude::saved::{self, SavedSessions};
use estelle_proto::ipc::ForkSession;
use estelle_proto::{ApiError, ConversationId, Epoch, ErrorCode, Retry, Seq};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::{Host, QUEUE, ask, gone};
use crate::conversation::{Book, Command, Fork, ForkError, Forked, HostSettings, View};
use crate::ipc::{Done, Refusal};

/// How many copies of copies are followed back to where a message was written.
const GENERATIONS: usize = 64;

/// How long an agent may take to save a message that it has answered, and how often that is looked at.
const SAVED_WITHIN: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Where copies are written before they have their place.
pub(super) fn drafts(data: &Path) -> PathBuf {
    data.join("forks")
}

impl Host {
    /// Begins to make a copy; it is made even if nobody waits for it any more.
    pub(super) fn fork(&self, command: ForkSession) -> BoxFuture<'static, Result<Done, Refusal>> {
        let host = self.clone();
        let (reply, answer) = oneshot::channel();
        self.context.tracker.spawn(async move {
            let forked = host.try_fork(command).await;
            // A client that left does not hear it.
            let _ = reply.send(forked.map(|()| Done::default()).map_err(Refusal::from));
        });
        async move { answer.await.unwrap_or_else(|_| Err(gone().into())) }.boxed()
    }

    async fn try_fork(&self, command: ForkSession) -> Result<(), ApiError> {
        let id = command.new_session_id;
        if let Some(error) = self.unreadable(&id) {
            return Err(error);
        }
        let (commands, inbox) = mpsc::channel(QUEUE);
        let there = {
            let mut actors = self.lock();
            let there = actors.get(&id).cloned();
            if there.is_none() {
                // From now on the name is taken; what is asked of it waits for the copy.
                actors.insert(id.clone(), commands);
            }
            there
        };
        if let Some(there) = there {
            return is_copy_of(&there, &id, &command.session_id).await;
        }
        let made = self.copy(&id, command.session_id, command.before_seq).await;
        match made {
            Ok(book) => {
                self.keep(id, inbox, Some(book));
                Ok(())
            }
            Err(error) => {
                self.lock().remove(&id);
                Err(error)
            }
        }
    }

    async fn copy(
        &self,
        id: &ConversationId,
        mut source: ConversationId,
        mut before: Seq,
    ) -> Result<Book, ApiError> {
        let mut epoch: Option<Epoch> = None;
        for _ in 0..GENERATIONS {
            let view = self.view(&source).await?;
            if epoch.is_some_and(|epoch| epoch != view.epoch()) {
                break;
            }
            let data = self.data();
            let fork = Fork {
                source: view,
                before,
                id: id.clone(),
                sessions: saved_sessions(&self.context.settings),
                draft: drafts(data).join(id.as_str()),
                folder: self.context.conversation_folder(id.as_str()),
            };
            match make(fork).await? {
                Ok(Forked::Book(book)) => return Ok(*book),
                Ok(Forked::Elsewhere(origin)) => {
                    (source, before) = (origin.conversation_id, origin.seq);
                    epoch = Some(origin.epoch);
                }
                Err(error) => {
                    tracing::warn!(conversation = %source, %error, "no copy was made");
                    return Err(error.to_api());
                }
            }
        }
        let message = "the conversation in which this message was written is gone; choose a message of this one";
        Err(ApiError::new(
            ErrorCode::Conflict,
            message.to_owned(),
            Retry::Never,
        ))
    }

    async fn view(&self, id: &ConversationId) -> Result<View, ApiError> {
        let view = ask(&self.actor(id)?, Command::View).await;
        view.ok().flatten().ok_or_else(gone)
    }
}

/// Makes a copy as soon as the agent has saved what belongs to it: it does so a moment after its turn has ended.
async fn make(fork: Fork) -> Result<Result<Forked, ForkError>, ApiError> {
    let fork = Arc::new(fork);
    let give_up = Instant::now() + SAVED_WITHIN;
    loop {
        let blocking = Arc::clone(&fork);
        let made = tokio::task::spawn_blocking(move || blocking.make()).await;
        match made.map_err(|_| gone())? {
            Err(ForkError::Session(saved::ForkError::NoSuchMessage(_)))
                if Instant::now() < give_up =>
            {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            made => return Ok(made),
        }
    }
}

/// A copy that is asked for again is there; another conversation of that name is in the way.
async fn is_copy_of(
    actor: &mpsc::Sender<Command>,
    id: &ConversationId,
    source: &ConversationId,
) -> Result<(), ApiError> {
    let view = ask(actor, Command::View)
        .await
        .ok()
        .flatten()
        .ok_or_else(gone)?;
    let origin = tokio::task::spawn_blocking(move || view.origin()).await;
    if let Ok(Ok(Some(origin))) = origin
        && origin.conversation_id == *source
    {
        return Ok(());
    }
    let message = format!("there is a conversation {id} already; choose another id");
    Err(ApiError::new(ErrorCode::Conflict, message, Retry::Never))
}

/// Where the agents of this host save their sessions.
fn saved_sessions(settings: &HostSettings) -> Option<SavedSessions> {
    let set = settings
        .environment
        .get(std::ffi::OsStr::new("CLAUDE_CONFIG_DIR"));
    let set = set.filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let home = || settings.home.as_ref().map(|home| home.join(".claude"));
    set.or_else(home).map(SavedSessions::new)
}
