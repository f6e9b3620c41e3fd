//! Subscriptions: what happened behind a cursor, how it is now, and what happens from then on, without a gap.
//!
//! The log is read outside of the conversation's task, as fast as the client takes it. When the reader has reached the
//! head, the task adds the client to its listeners in one step; if something happened meanwhile the reader goes on.

use estelle_proto::ipc::{HostToPylon, Subscribe, Subscribed};
use estelle_proto::{ApiError, Epoch, ErrorCode, Retry, Seq};
use tokio::sync::{mpsc, oneshot};

use super::actor::{Actor, Command};
use super::book::{Position, View};
use crate::mailbox::{Letter, Mailbox, Mark};

/// How many events are read in one go.
const PORTION: usize = 256;

/// Serves a subscription until the client is among the listeners. Ends early, with nothing, when client or conversation is
/// gone, and with an error when there is nothing to be seen of it.
pub(crate) async fn subscribe(
    actor: mpsc::Sender<Command>,
    request: Subscribe,
    mailbox: Mailbox,
) -> Result<Option<()>, ApiError> {
    match view(&actor).await {
        Some(view) => match replay(actor, view?, request, mailbox).await {
            Ok(()) => Ok(Some(())),
            Err(Unfinished::Gone) => Ok(None),
            Err(Unfinished::Unreadable(why)) => Err(unreadable(&why)),
        },
        None => Ok(None),
    }
}

/// Why a replay ended early.
enum Unfinished {
    /// Client or conversation is gone.
    Gone,
    /// The log does not give what it must have.
    Unreadable(String),
}

fn unreadable(why: &str) -> ApiError {
    let text = format!(
        "the log of this conversation cannot be read ({why}); look at the disk of the host, then subscribe again"
    );
    ApiError::new(ErrorCode::Internal, text, Retry::Later)
}

async fn replay(
    actor: mpsc::Sender<Command>,
    mut view: View,
    request: Subscribe,
    mailbox: Mailbox,
) -> Result<(), Unfinished> {
    let post = async |letter| {
        let posted = mailbox.post_when_room(letter).await;
        posted.map_err(|_| Unfinished::Gone)
    };
    let id = request.session_id.clone();
    let (mut position, fresh) = locate(&view, &request);
    let subscribed = Subscribed {
        request_id: request.request_id.clone(),
        ..Subscribed::new(id.clone(), view.epoch(), view.head(), fresh)
    };
    let subscribed = HostToPylon::Subscribed(subscribed);
    let subscribed = match known(&request).filter(|_| !fresh) {
        // Whoever has everything gets no event; that is where it is nevertheless.
        Some(mark) => Letter::marked(&subscribed, mark),
        None => Letter::message(&subscribed),
    };
    post(subscribed).await?;
    loop {
        while position.seq < view.head() {
            let read = view.read(position, PORTION);
            let (letters, reached) =
                read.map_err(|error| Unfinished::Unreadable(error.to_string()))?;
            if reached == position {
                let why = format!("it ends behind event {}", position.seq.0);
                return Err(Unfinished::Unreadable(why));
            }
            for letter in letters {
                post(letter).await?;
            }
            position = reached;
        }
        let joined = join(&actor, &view, position.seq, &mailbox).await;
        let next = match joined.ok_or(Unfinished::Gone)? {
            Joined::Yes => return Ok(()),
            Joined::Behind(view) => *view,
        };
        if next.epoch() != view.epoch() {
            // The log was begun anew meanwhile: so is the replay, and the client is told.
            position = View::start();
            let subscribed = Subscribed::new(id.clone(), next.epoch(), next.head(), true);
            let subscribed = Letter::message(&HostToPylon::Subscribed(subscribed));
            post(subscribed).await?;
        }
        view = next;
    }
}

enum Joined {
    Yes,
    Behind(Box<View>),
}

async fn view(actor: &mpsc::Sender<Command>) -> Option<Result<View, ApiError>> {
    let (reply, view) = oneshot::channel();
    actor.send(Command::View(reply)).await.ok()?;
    view.await.ok()
}

async fn join(
    actor: &mpsc::Sender<Command>,
    view: &View,
    seq: Seq,
    mailbox: &Mailbox,
) -> Option<Joined> {
    let (joined, answer) = oneshot::channel();
    let command = Command::Join {
        seq,
        epoch: view.epoch(),
        mailbox: mailbox.clone(),
        joined,
    };
    actor.send(command).await.ok()?;
    Some(match answer.await.ok()? {
        None => Joined::Yes,
        Some(view) => Joined::Behind(Box::new(view)),
    })
}

/// What a client says it has.
fn known(request: &Subscribe) -> Option<Mark> {
    Some(Mark {
        session_id: request.session_id.clone(),
        epoch: request.epoch?,
        seq: request.seq?,
        chain_hash: request.chain_hash.clone()?,
    })
}

/// Where to begin, and whether the cursor was void.
fn locate(view: &View, request: &Subscribe) -> (Position, bool) {
    let (Some(seq), Some(epoch)) = (request.seq, request.epoch) else {
        return (View::start(), false);
    };
    if seq == Seq(0) {
        return (View::start(), false);
    }
    let found = match &request.chain_hash {
        Some(hash) if epoch == view.epoch() => view.locate(seq, hash).ok().flatten(),
        Some(_) | None => None,
    };
    found.map_or((View::start(), true), |position| (position, false))
}

impl Actor {
    /// Adds a listener that knows everything up to `seq`; one that does not gets a new view.
    pub(super) fn join(
        &mut self,
        seq: Seq,
        epoch: Epoch,
        mailbox: Mailbox,
        joined: oneshot::Sender<Option<View>>,
    ) {
        let view = self.view();
        if seq != view.head() || epoch != view.epoch() {
            let _ = joined.send(Some(view));
            return;
        }
        self.listeners.retain(|one| !one.is(&mailbox));
        if mailbox.post(self.snapshot()).is_ok() {
            self.listeners.push(mailbox);
        }
        let _ = joined.send(None);
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::ConversationId;

    use super::super::birth::first_of;
    use super::super::book::{Book, LOG};
    use super::*;
    use crate::log::Sync;
    use crate::mailbox::mailbox;

    #[tokio::test]
    async fn a_log_that_cannot_be_read_is_not_taken_for_a_conversation_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let id = ConversationId::parse("conv-1").unwrap();
        let at = estelle_proto::Timestamp(1);
        let mut book = Book::begin(folder.path(), at, first_of(id.clone())).unwrap();
        let entry = book.decide().forget(at).unwrap();
        book.append(&entry, Sync::Now).unwrap();
        let view = book.view(book.conversation().seq());
        std::fs::write(folder.path().join(LOG), "").unwrap();

        let (actor, mut inbox) = mpsc::channel(1);
        let (mailbox, _reader) = mailbox();
        let asked = subscribe(actor, Subscribe::new(id), mailbox);
        let answered = async {
            let Some(Command::View(reply)) = inbox.recv().await else {
                panic!("no view is asked for");
            };
            reply.send(Ok(view)).unwrap();
        };
        let (subscribed, ()) = tokio::join!(asked, answered);
        let error = subscribed.unwrap_err();
        assert_eq!(error.code, ErrorCode::Internal, "{error:?}");
        assert!(error.message.contains("cannot be read"), "{error:?}");
    }
}
