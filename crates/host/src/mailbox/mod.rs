//! What waits to be sent to one client: bounded by bytes, filled without waiting, drained by its connection.
//!
//! Actors post and go on; they never wait for a client. Pieces of text that wait are joined with the next, so a slow
//! reader gets fewer and longer ones. When the bound is reached the mailbox closes: nothing is dropped in silence, the
//! client is cut off and told where it was. Whoever replays a log waits for room instead.

mod fit;
mod letter;
#[cfg(test)]
mod mailbox_tests;
mod queue;
mod roster;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use estelle_proto::ipc::Cursor;
use estelle_proto::{ConversationId, limits};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(crate) use fit::{fits, fitting};
pub use letter::{Letter, Mark};
pub use roster::{Enlisted, Roster};

use queue::{Queue, Why};

/// Replays stop filling a mailbox here, so that there is room for what happens meanwhile.
const REPLAY_LIMIT: usize = 1024 * 1024;

/// How many bytes may wait for one client. While a line of the largest size is replayed, another one may happen.
pub const LIMIT: usize = REPLAY_LIMIT + 2 * limits::MAX_IPC_LINE_BYTES;

/// The client is gone or was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client is gone")]
pub struct Closed;

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    filled: Notify,
    emptied: Notify,
    closed: CancellationToken,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing in here can panic halfway through a change.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, why: Why) {
        self.lock().close(why);
        self.closed.cancel();
        self.filled.notify_one();
        self.emptied.notify_waiters();
    }
}

/// The side that is written to.
#[derive(Debug, Clone)]
pub struct Mailbox(Arc<Shared>);

/// The side of the connection.
#[derive(Debug)]
pub struct MailReader(Arc<Shared>);

/// What the connection gets.
#[derive(Debug, PartialEq)]
pub enum Mail {
    /// A line to send.
    Line(Arc<str>),
    /// The client was too slow; this is what it has.
    CutOff(Vec<Cursor>),
    /// Nothing will come any more.
    End,
}

/// Makes a mailbox.
pub fn mailbox() -> (Mailbox, MailReader) {
    let shared = Arc::new(Shared::default());
    (Mailbox(Arc::clone(&shared)), MailReader(shared))
}

impl Mailbox {
    /// Posts a letter without waiting. A client for which it finds no room is cut off.
    pub fn post(&self, letter: Letter) -> Result<(), Closed> {
        let mut queue = self.0.lock();
        if queue.is_closed() {
            return Err(Closed);
        }
        if !queue.has_room_for(&letter) {
            drop(queue);
            self.0.close(Why::Full);
            return Err(Closed);
        }
        queue.put(letter);
        drop(queue);
        self.0.filled.notify_one();
        Ok(())
    }

    /// Posts a letter of a replay when there is room.
    pub async fn post_when_room(&self, letter: Letter) -> Result<(), Closed> {
        loop {
            let emptied = self.0.emptied.notified();
            tokio::pin!(emptied);
            emptied.as_mut().enable();
            {
                let mut queue = self.0.lock();
                if queue.is_closed() {
                    return Err(Closed);
                }
                if queue.bytes() < REPLAY_LIMIT {
                    queue.put(letter);
                    drop(queue);
                    self.0.filled.notify_one();
                    return Ok(());
                }
            }
            emptied.await;
        }
    }

    /// Nothing more will be posted; what waits is still sent.
    pub fn finish(&self) {
        self.0.close(Why::Finished);
    }

    /// The client no longer follows a conversation, so being cut off will not mention it.
    pub fn forget(&self, session: &ConversationId) {
        self.0.lock().forget(session);
    }

    /// Whether nothing is taken in any more.
    pub fn is_closed(&self) -> bool {
        self.0.closed.is_cancelled()
    }

    /// Waits until nothing is taken in any more.
    pub async fn closed(&self) {
        self.0.closed.cancelled().await;
    }

    /// Whether both are the mailbox of the same client.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl MailReader {
    /// The next thing to send.
    pub async fn next(&mut self) -> Mail {
        loop {
            if let Some(mail) = self.take() {
                return mail;
            }
            // There is one reader, and a notice that nobody waits for is kept for it.
            self.0.filled.notified().await;
        }
    }

    /// What can be sent at once.
    pub fn take(&mut self) -> Option<Mail> {
        let mut queue = self.0.lock();
        let mail = queue.take();
        let has_room = queue.bytes() < REPLAY_LIMIT;
        drop(queue);
        if has_room {
            self.0.emptied.notify_waiters();
        }
        mail
    }

    /// Cancelled as soon as nothing is taken in any more.
    pub fn closing(&self) -> CancellationToken {
        self.0.closed.clone()
    }
}

impl Drop for MailReader {
    fn drop(&mut self) {
        self.0.close(Why::Gone);
    }
}
