//! What waits for a connection: a queue that is bounded in bytes and cut off when it overflows.
//!
//! The hub puts in and never waits; the connection takes out and says what it has written. A frame for many connections
//! is one allocation, counted for each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};

use crate::machine::{Role, Why};

/// Messages that may wait. Small ones would otherwise cost more in the queue than in bytes.
const MOST_MESSAGES: usize = 4096;
/// The same for a Pylon.
const MOST_FOR_A_PYLON: usize = 16 * MOST_MESSAGES;

/// What a connection is told.
#[derive(Debug)]
pub(super) enum Out {
    /// Write this.
    Frame(Bytes),
    /// You belong to a device now.
    Admit(Role),
    /// You may be a stranger until then.
    Deadline(Duration),
    /// Write what you have, say why, and end.
    Close(Why),
}

#[derive(Debug, Default)]
struct Shared {
    bytes: AtomicUsize,
    /// It is over, before whatever waits is read.
    over: Notify,
    /// There is not even time for what waits.
    is_cut: AtomicBool,
}

/// How a connection is to end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// What waits for it ends with a word of farewell, and is to be written within moments.
    Closing,
    /// At once, whatever waits.
    Cut,
}

/// The hub's end.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: mpsc::Sender<Out>,
    shared: Arc<Shared>,
    /// Bytes that may wait.
    limit: usize,
    /// Messages that may wait.
    most: usize,
}

/// The connection's end.
#[derive(Debug)]
pub(super) struct Deliveries {
    queue: mpsc::Receiver<Out>,
}

/// The connection's view of how much waits.
#[derive(Debug)]
pub(super) struct Gauge(Arc<Shared>);

/// The connection does not take what it is sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Overflow;

/// A queue for one connection.
pub(super) fn outbox(limit: usize) -> (Outbox, Deliveries, Gauge) {
    // Room in it costs nothing until it is taken.
    let (sender, queue) = mpsc::channel(MOST_FOR_A_PYLON);
    let shared = Arc::<Shared>::default();
    let deliveries = Deliveries { queue };
    let gauge = Gauge(shared.clone());
    let outbox = Outbox {
        queue: sender,
        shared,
        limit,
        most: MOST_MESSAGES,
    };
    (outbox, deliveries, gauge)
}

impl Outbox {
    /// It is a Pylon's: many speak to it at once.
    pub(super) fn widen(&mut self, limit: usize) {
        self.limit = self.limit.max(limit);
        self.most = MOST_FOR_A_PYLON;
    }

    /// Adds a frame. One that is larger than the limit passes if nothing else waits.
    pub(super) fn push(&self, frame: Bytes) -> Result<(), Overflow> {
        let length = frame.len();
        let waiting = self.shared.bytes.fetch_add(length, Ordering::Relaxed);
        if waiting > 0 && waiting.saturating_add(length) > self.limit {
            return Err(Overflow);
        }
        self.tell(Out::Frame(frame))
    }

    /// Adds anything else.
    pub(super) fn tell(&self, out: Out) -> Result<(), Overflow> {
        if self.queue.max_capacity() - self.queue.capacity() >= self.most {
            return Err(Overflow);
        }
        match self.queue.try_send(out) {
            // A connection that has ended is about to say so.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Overflow),
        }
    }

    /// Ends the connection after what waits, in moments: it may not take anything, and keeps nobody waiting.
    pub(super) fn close(&self, why: Why) -> Result<(), Overflow> {
        self.tell(Out::Close(why))?;
        self.shared.over.notify_one();
        Ok(())
    }

    /// Ends the connection at once, whatever waits.
    pub(super) fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::Release);
        self.shared.over.notify_one();
    }
}

impl Deliveries {
    pub(super) async fn next(&mut self) -> Option<Out> {
        self.queue.recv().await
    }

    pub(super) fn try_next(&mut self) -> Option<Out> {
        self.queue.try_recv().ok()
    }
}

impl Gauge {
    /// The connection has something of its own to write.
    pub(super) fn added(&self, length: usize) {
        self.0.bytes.fetch_add(length, Ordering::Relaxed);
    }

    /// A frame has left for the socket.
    pub(super) fn written(&self, length: usize) {
        self.0.bytes.fetch_sub(length, Ordering::Relaxed);
    }

    /// Returns when the connection is to end.
    pub(super) async fn over(&self) -> Over {
        self.0.over.notified().await;
        if self.0.is_cut.load(Ordering::Acquire) {
            return Over::Cut;
        }
        Over::Closing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Bytes {
        Bytes::from(vec![0; length])
    }

    #[test]
    fn the_limit_is_in_bytes_and_holds_until_something_is_written() {
        let (outbox, mut deliveries, gauge) = outbox(100);
        assert_eq!(outbox.push(bytes(60)), Ok(()));
        assert_eq!(outbox.push(bytes(40)), Ok(()));
        assert!(matches!(deliveries.try_next(), Some(Out::Frame(_))));
        gauge.written(60);
        assert_eq!(outbox.push(bytes(60)), Ok(()));
        assert_eq!(outbox.push(bytes(1)), Err(Overflow));
    }

    #[test]
    fn more_may_wait_for_a_pylon_and_not_without_end() {
        for (limit, most) in [(100, MOST_MESSAGES), (1000, MOST_FOR_A_PYLON)] {
            let (mut outbox, _deliveries, _gauge) = outbox(100);
            if limit > 100 {
                outbox.widen(limit);
            }
            assert_eq!(outbox.push(bytes(limit)), Ok(()));
            assert_eq!(outbox.push(bytes(1)), Err(Overflow));
            for _ in 1..most {
                assert_eq!(outbox.tell(Out::Frame(Bytes::new())), Ok(()));
            }
            assert_eq!(outbox.tell(Out::Frame(Bytes::new())), Err(Overflow));
        }
    }

    #[test]
    fn a_frame_beyond_the_limit_passes_alone() {
        let (outbox, _deliveries, _gauge) = outbox(100);
        assert_eq!(outbox.push(bytes(500)), Ok(()));
        assert_eq!(outbox.push(bytes(1)), Err(Overflow));
    }
}
