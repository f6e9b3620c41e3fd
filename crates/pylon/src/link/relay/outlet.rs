//! The way out over one connection: a queue that is bounded in frames and in bytes, and never waits.
//!
//! When there is no room the connection is given up as a whole, because a single message that is missing would be
//! noticed by nobody, while everybody notices that the pylon went and came back.

use std::sync::Arc;

use estelle_proto::{EncodeError, Envelope, Message, limits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// Frames that wait.
const FRAMES: usize = 4096;
/// Bytes that wait: some dozens of history pages.
const BYTES: usize = 16 * 1024 * 1024;
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
}

/// The way to the apps over one connection. Once that is gone, nothing sent here reaches anybody.
#[derive(Debug, Clone)]
pub struct Outlet {
    frames: mpsc::Sender<Frame>,
    room: Arc<Semaphore>,
    given_up: CancellationToken,
}

impl Outlet {
    /// A way out, and what reads it.
    pub(crate) fn open() -> (Self, mpsc::Receiver<Frame>) {
        let (frames, queue) = mpsc::channel(FRAMES);
        let outlet = Self {
            frames,
            room: Arc::new(Semaphore::new(BYTES)),
            given_up: CancellationToken::new(),
        };
        (outlet, queue)
    }

    /// Sends a message. What is sent through one outlet arrives in this order.
    pub fn send<M: Message>(&self, envelope: &Envelope<M>) -> Result<(), SendError> {
        if self.frames.is_closed() {
            return Err(SendError::Gone);
        }
        let text = envelope.to_json()?;
        let length = text.len();
        if length > limits::MAX_FRAME_BYTES - SENDER_BYTES {
            return Err(SendError::TooLarge { length });
        }
        let bytes = u32::try_from(length).unwrap_or(u32::MAX);
        let Ok(room) = self.room.clone().try_acquire_many_owned(bytes) else {
            return Err(self.give_up());
        };
        let frame = Frame { text, _room: room };
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
