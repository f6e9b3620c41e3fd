//! What waits for a connection: a queue that is bounded in bytes and cut off when it overflows.
//!
//! The hub puts in and never waits; the connection takes out and says what it has written. A frame for many connections
//! is one allocation, counted for each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};

use crate::machine::{Role, Why};

/// Messages that may wait. Small ones would otherwise cost more in the queue than in bytes.
const MOST_MESSAGES: usize = 4096;

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
    cut: Notify,
}

/// The hub's end.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: mpsc::Sender<Out>,
    shared: Arc<Shared>,
    limit: usize,
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
    let (sender, queue) = mpsc::channel(MOST_MESSAGES);
    let shared = Arc::<Shared>::default();
    let deliveries = Deliveries { queue };
    let gauge = Gauge(shared.clone());
    let outbox = Outbox {
        queue: sender,
        shared,
        limit,
    };
    (outbox, deliveries, gauge)
}

impl Outbox {
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
        match self.queue.try_send(out) {
            // A connection that has ended is about to say so.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Overflow),
        }
    }

    /// Ends the connection at once, whatever waits.
    pub(super) fn cut(&self) {
        self.shared.cut.notify_one();
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

    /// Returns when the connection is cut off.
    pub(super) async fn cut(&self) {
        self.0.cut.notified().await;
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
    fn a_frame_beyond_the_limit_passes_alone() {
        let (outbox, _deliveries, _gauge) = outbox(100);
        assert_eq!(outbox.push(bytes(500)), Ok(()));
        assert_eq!(outbox.push(bytes(1)), Err(Overflow));
    }
}
