//! Making a conversation from the beginning of another one, while both are open.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use estelle_claude::saved::{self, SavedSessions};
use estelle_proto::ipc::ForkSession;
use estelle_proto::{ApiError, ClaudeSessionId, ConversationId, Epoch, ErrorCode, Retry, Seq};
use estelle_state::conversation::Origin;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::{Host, QUEUE, Start, ask, gone};
use crate::conversation::{Book, Command, Cut, Fork, ForkError, Found, Point, View};
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
        let (commands, mut inbox) = mpsc::channel(QUEUE);
        let there = {
            let mut actors = self.lock();
            let there = actors.get(&id).cloned();
            if there.is_none() {
                // From now on the name is taken.
                actors.insert(id.clone(), commands);
            }
            there
        };
        if let Some(there) = there {
            return is_copy(&there, &id, command.session_id, command.before_seq).await;
        }
        let made = {
            let copying = self.copy(&id, command.session_id, command.before_seq);
            tokio::pin!(copying);
            loop {
                tokio::select! {
                    made = &mut copying => break made,
                    Some(command) = inbox.recv() => hold_off(command, &id),
                }
            }
        };
        match made {
            Ok(book) => {
                self.keep(id, inbox, Start::Open(Box::new(book)));
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
        source: ConversationId,
        before: Seq,
    ) -> Result<Book, ApiError> {
        let place = self.locate(source, before).await?;
        let (cut, session) = copy_session(&place.point, place.cut).await?;
        let fork = Arc::new(Fork {
            point: place.point,
            id: id.clone(),
            asked: place.asked,
            draft: drafts(self.data()).join(id.as_str()),
            folder: self.context.conversation_folder(id.as_str()),
        });
        blocking(&fork, move |fork| fork.write(cut, session)).await
    }

    /// Looks for a message, and goes back to where it was written.
    pub(super) async fn locate(
        &self,
        source: ConversationId,
        before: Seq,
    ) -> Result<Located, ApiError> {
        let mut asked = None;
        let mut at = (source, before);
        let mut epoch: Option<Epoch> = None;
        for _ in 0..GENERATIONS {
            let view = self.view(&at.0).await?;
            if epoch.is_some_and(|epoch| epoch != view.epoch()) {
                break;
            }
            let asked = asked.get_or_insert_with(|| Origin {
                conversation_id: at.0.clone(),
                epoch: view.epoch(),
                seq: at.1,
            });
            let config = self.context.settings.config_folder();
            let point = Arc::new(Point {
                source: view,
                before: at.1,
                sessions: config.map(SavedSessions::new),
            });
            match blocking(&point, Point::find).await? {
                Found::Here(cut) => {
                    return Ok(Located {
                        point,
                        cut: *cut,
                        asked: asked.clone(),
                    });
                }
                Found::Elsewhere(origin) => {
                    at = (origin.conversation_id, origin.seq);
                    epoch = Some(origin.epoch);
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
        view.ok().flatten().ok_or_else(gone)?
    }
}

/// A message, found where it was written.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) point: Arc<Point>,
    pub(super) cut: Cut,
    /// Where it was asked for.
    pub(super) asked: Origin,
}

/// Copies a session as soon as the agent has saved what belongs to the copy: it does so a moment after its turn has ended.
pub(super) async fn copy_session(
    point: &Arc<Point>,
    mut cut: Cut,
) -> Result<(Cut, Option<ClaudeSessionId>), ApiError> {
    let give_up = Instant::now() + SAVED_WITHIN;
    loop {
        let again = Instant::now() < give_up;
        let copied = blocking(point, move |point| match point.copy_session(&cut) {
            Err(ForkError::Session(error)) if again && is_unsaved(&error) => Ok((cut, None)),
            copied => copied.map(|session| (cut, Some(session))),
        });
        match copied.await? {
            (cut, Some(session)) => return Ok((cut, session)),
            (back, None) => cut = back,
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Whether the agent may only not have saved it yet, be it the message or all of a young session.
fn is_unsaved(error: &saved::ForkError) -> bool {
    match error {
        saved::ForkError::NoSuchMessage(_)
        | saved::ForkError::Load(saved::LoadError::NotFound(_)) => true,
        saved::ForkError::Load(saved::LoadError::Read { .. })
        | saved::ForkError::NoMessages(_)
        | saved::ForkError::Write { .. } => false,
    }
}

/// Does something that waits for the disk.
async fn blocking<O: Send + Sync + 'static, T: Send + 'static>(
    of: &Arc<O>,
    work: impl FnOnce(&O) -> Result<T, ForkError> + Send + 'static,
) -> Result<T, ApiError> {
    let of = Arc::clone(of);
    let done = tokio::task::spawn_blocking(move || work(&of)).await;
    done.map_err(|_| gone())?.map_err(|error| {
        tracing::warn!(%error, "no copy was made");
        error.to_api()
    })
}

/// Answers whoever asks something of a conversation that is being made.
fn hold_off(command: Command, id: &ConversationId) {
    if let Command::Submit(_, reply) = command {
        let message = format!("the conversation {id} is being made; try again in a moment");
        let error = ApiError::new(ErrorCode::Conflict, message, Retry::Later);
        // A client that left does not hear it.
        let _ = reply.send(Err(error.into()));
    }
}

/// A copy that is asked for again is there; another conversation of that name is in the way.
async fn is_copy(
    actor: &mpsc::Sender<Command>,
    id: &ConversationId,
    source: ConversationId,
    before: Seq,
) -> Result<(), ApiError> {
    if let Ok(Some(Ok(view))) = ask(actor, Command::View).await
        && let Ok(Ok(Some(origin))) = tokio::task::spawn_blocking(move || view.origin()).await
        && (origin.conversation_id, origin.seq) == (source, before)
    {
        return Ok(());
    }
    let message = format!("there is a conversation {id} already; choose another id");
    Err(ApiError::new(ErrorCode::Conflict, message, Retry::Never))
}
