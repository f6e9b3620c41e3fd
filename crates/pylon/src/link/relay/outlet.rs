//! The way out over one connection: a queue that is bounded in frames and in bytes, and never waits.
//!
//! When there is no room the connection is given up as a whole, because a single message that is missing would be
//! noticed by nobody, while everybody notices that the pylon went and came back. Half of it is for answers: whoever passes
//! on what can wait looks first whether the relay keeps up ([`Outlet::is_behind`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use estelle_proto::{EncodeError, Envelope, Message, limits};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Frames that wait.
const FRAMES: usize = 4096;
/// Bytes that wait: some dozens of history pages.
const BYTES: usize = 16 * 1024 * 1024;
/// Bytes of pieces that wait: what is long is told piece by piece, and leaves room for everything else.
const PIECES: usize = 1024 * 1024;
/// How long a relay that takes nothing at all is waited for, until it is sent what fills the queue.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one that is behind is waited for at most: the host's answers to others wait with what it says.
const LONGEST: Duration = Duration::from_secs(15);
/// What the relay adds to a frame must still fit.
const SENDER_BYTES: usize = 4096;

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The connection is gone.
    #[error("there is no connection to the relay")]
    Gone,
    /// Too much waits; the connection is given up.
    #[error("too much waits for the relay")]
    Full,
    /// It is longer than a frame may be. The connection is not touched.
    #[error("the message has {length} bytes, too many for a frame")]
    TooLarge {
        /// How long.
        length: usize,
    },
    /// It could not be written down.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// A frame that waits, with the room it takes.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) text: String,
    _room: OwnedSemaphorePermit,
    _turn: Option<OwnedSemaphorePermit>,
    /// The last to be dropped, when the room is given back.
    _leaving: Leaving,
}

/// Tells when a frame has left.
#[derive(Debug)]
struct Leaving(Arc<Flow>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.moved();
        self.0.left.notify_waiters();
    }
}

/// How the queue moves.
#[derive(Debug)]
struct Flow {
    /// When a frame left last, or began to wait in an empty queue.
    moved_at: Mutex<Instant>,
    /// Since when more than half of the room is taken.
    behind_since: Mutex<Option<Instant>>,
    left: Notify,
}

impl Flow {
    fn moved(&self) {
        *self.lock() = Instant::now();
    }

    fn moved_at(&self) -> Instant {
        *self.lock()
    }

    /// Since when it is behind, if it is now.
    fn behind_since(&self, is_behind: bool) -> Option<Instant> {
        let since = self.behind_since.lock();
        let mut since = since.unwrap_or_else(PoisonError::into_inner);
        *since = is_behind.then(|| since.unwrap_or_else(Instant::now));
        *since
    }

    fn lock(&self) -> MutexGuard<'_, Instant> {
        // Nothing in here can panic halfway through a change.
        self.moved_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to the apps over one connection. Once that is gone, nothing sent here reaches anybody.
#[derive(Debug, Clone)]
pub struct Outlet {
    frames: mpsc::Sender<Frame>,
    room: Arc<Semaphore>,
    pieces: Arc<Semaphore>,
    flow: Arc<Flow>,
    given_up: CancellationToken,
}

impl Outlet {
    /// A way out, and what reads it.
    pub(crate) fn open() -> (Self, mpsc::Receiver<Frame>) {
        let (frames, queue) = mpsc::channel(FRAMES);
        let outlet = Self {
            frames,
            room: Arc::new(Semaphore::new(BYTES)),
            pieces: Arc::new(Semaphore::new(PIECES)),
            flow: Arc::new(Flow {
                moved_at: Mutex::new(Instant::now()),
                behind_since: Mutex::new(None),
                left: Notify::new(),
            }),
            given_up: CancellationToken::new(),
        };
        (outlet, queue)
    }

    /// Sends a message. What is sent through one outlet arrives in this order.
    pub fn send<M: Message>(&self, envelope: &Envelope<M>) -> Result<(), SendError> {
        self.put(envelope.to_json()?, None)
    }

    /// Sends one of many pieces as soon as there is room for it among them. However many are sent by however many, they
    /// never take the room that others need.
    pub(crate) async fn send_in_turn<M: Message>(
        &self,
        envelope: &Envelope<M>,
    ) -> Result<(), SendError> {
        let text = envelope.to_json()?;
        let bytes = u32::try_from(text.len().min(PIECES)).unwrap_or(u32::MAX);
        let turn = self.pieces.clone().acquire_many_owned(bytes);
        let turn = tokio::select! {
            turn = turn => turn.ok(),
            () = self.frames.closed() => None,
        };
        self.put(text, turn)
    }

    /// Whether half of the room is taken by a relay that takes something nevertheless: what can wait should, until it has
    /// caught up. One that takes nothing is not waited for; it is given up when the rest of the room is taken.
    pub(crate) fn is_behind(&self) -> bool {
        self.waited_for_until()
            .is_some_and(|end| Instant::now() < end)
    }

    /// Until when it is waited for, if it is behind.
    fn waited_for_until(&self) -> Option<Instant> {
        let frames = self.frames.capacity() < FRAMES / 2;
        let bytes = self.room.available_permits() < BYTES / 2;
        let is_behind = (frames || bytes) && !self.frames.is_closed();
        let since = self.flow.behind_since(is_behind)?;
        Some((since + LONGEST).min(self.flow.moved_at() + PATIENCE))
    }

    /// Waits until it is not [behind](Self::is_behind).
    pub(crate) async fn caught_up(&self) {
        loop {
            let mut left = std::pin::pin!(self.flow.left.notified());
            left.as_mut().enable();
            let Some(patience) = self.waited_for_until() else {
                return;
            };
            if Instant::now() >= patience {
                return;
            }
            // Whether a frame left or the patience is over is seen above.
            let _ = tokio::time::timeout_at(patience, left).await;
        }
    }

    fn put(&self, text: String, turn: Option<OwnedSemaphorePermit>) -> Result<(), SendError> {
        if self.frames.is_closed() {
            return Err(SendError::Gone);
        }
        let length = text.len();
        if length > limits::MAX_FRAME_BYTES - SENDER_BYTES {
            return Err(SendError::TooLarge { length });
        }
        let bytes = u32::try_from(length).unwrap_or(u32::MAX);
        let Ok(room) = self.room.clone().try_acquire_many_owned(bytes) else {
            return Err(self.give_up());
        };
        if self.frames.capacity() == FRAMES {
            self.flow.moved();
        }
        let frame = Frame {
            text,
            _room: room,
            _turn: turn,
            _leaving: Leaving(Arc::clone(&self.flow)),
        };
        self.frames.try_send(frame).map_err(|error| match error {
            mpsc::error::TrySendError::Closed(_) => SendError::Gone,
            mpsc::error::TrySendError::Full(_) => self.give_up(),
        })
    }

    fn give_up(&self) -> SendError {
        self.given_up.cancel();
        SendError::Full
    }

    /// Somebody found no room.
    pub(super) async fn given_up(&self) {
        self.given_up.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::{PylonToApp, Reply as _, ToolUseId};

    use super::*;

    fn piece() -> Envelope<PylonToApp> {
        let call = ToolUseId::parse("toolu_1").unwrap();
        let conversation = estelle_proto::ConversationId::parse("c").unwrap();
        let device = estelle_proto::DeviceId(1);
        let mut piece = estelle_proto::lookup::ToolDetailResult::new(device, conversation, call);
        piece.chunk = Some("x".repeat(64 * 1024));
        Envelope::new(piece.in_reply_to(None))
    }

    /// More than the outlet holds, by more than one, to a connection that takes one frame at a time.
    #[tokio::test]
    async fn pieces_wait_for_each_other_and_leave_room_for_the_rest() {
        const EACH: usize = 2 * BYTES / (64 * 1024);
        let (outlet, mut queue) = Outlet::open();
        let sending = async || {
            for _ in 0..EACH {
                outlet.send_in_turn(&piece()).await.unwrap();
            }
        };
        let reading = async {
            for _ in 0..2 * EACH {
                assert!(queue.len() <= PIECES / (64 * 1024) + 1, "{}", queue.len());
                queue.recv().await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        tokio::join!(sending(), sending(), reading);
        assert!(!outlet.given_up.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_relay_that_is_behind_is_waited_for_while_it_takes_something() {
        let (outlet, mut queue) = Outlet::open();
        tokio::time::advance(10 * PATIENCE).await;
        let fill = || {
            while !outlet.is_behind() {
                outlet.send(&piece()).unwrap();
            }
        };
        fill();
        // What clients ask is answered all the same.
        for _ in 0..3 {
            outlet.send(&piece()).unwrap();
        }
        let taking = async {
            for _ in 0..4 {
                tokio::time::advance(PATIENCE / 2).await;
                assert!(outlet.is_behind(), "it still takes something");
                queue.recv().await.unwrap();
            }
        };
        tokio::join!(outlet.caught_up(), taking);
        assert!(!outlet.is_behind());
        fill();
        let begin = Instant::now();
        outlet.caught_up().await;
        assert!(begin.elapsed() >= PATIENCE, "it takes nothing any more");
        fill_whole(&outlet);
        outlet.given_up().await;
    }

    /// Fills what is left, for which nobody waits.
    fn fill_whole(outlet: &Outlet) {
        while outlet.send(&piece()).is_ok() {}
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_connection_that_is_gone() {
        let (outlet, queue) = Outlet::open();
        while !outlet.is_behind() {
            outlet.send(&piece()).unwrap();
        }
        let begin = Instant::now();
        tokio::join!(outlet.caught_up(), async { drop(queue) });
        assert_eq!(begin.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn whoever_waits_for_a_connection_that_ends_goes_on() {
        let (outlet, queue) = Outlet::open();
        let sending = async {
            let mut sent = Ok(());
            while sent.is_ok() {
                sent = outlet.send_in_turn(&piece()).await;
            }
            sent.unwrap_err()
        };
        let (error, ()) = tokio::join!(sending, async { drop(queue) });
        assert!(matches!(error, SendError::Gone), "{error}");
    }
}
