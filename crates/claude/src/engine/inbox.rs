//! What the CLI printed and the caller has not read yet, bounded by bytes.
//!
//! One side puts, the other takes. When the bound is reached the reader stops reading, the pipe fills and the
//! CLI waits: nothing is dropped. The reader may go past the bound while a control answer is awaited, for
//! that answer stands behind the messages in the same pipe; a ceiling holds even then.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::framing::{Damage, Frame};
use crate::line::Line;

/// Memory that an item costs beyond its bytes.
const ITEM_OVERHEAD: usize = 64;

/// How many times the bound may be held while a control answer is awaited. Beyond that the answer's time-out is the
/// lesser evil.
const CEILING: usize = 4;

/// One thing for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A line that is not control traffic of ours.
    Line(Line),
    /// A part of the stream that is no line.
    Damage(Damage),
}

impl Item {
    fn cost(&self) -> usize {
        let bytes = match self {
            Self::Line(line) => line.as_bytes().len(),
            Self::Damage(Damage::InvalidUtf8 { bytes } | Damage::HalfLine { bytes }) => bytes.len(),
            Self::Damage(Damage::TooLong { head, .. }) => head.len(),
        };
        bytes + ITEM_OVERHEAD
    }
}

impl From<Frame> for Item {
    fn from(frame: Frame) -> Self {
        match frame {
            Frame::Line(line) => Self::Line(line),
            Frame::Damage(damage) => Self::Damage(damage),
        }
    }
}

impl From<Item> for Frame {
    fn from(item: Item) -> Self {
        match item {
            Item::Line(line) => Self::Line(line),
            Item::Damage(damage) => Self::Damage(damage),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    closed: bool,
}

/// The queue between the reader and the caller.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    limit: usize,
    readable: Notify,
    room: Notify,
}

impl Inbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::default(),
            limit,
            readable: Notify::new(),
            room: Notify::new(),
        }
    }

    /// Moves all items over, in order.
    pub(crate) fn put(&self, items: &mut VecDeque<Item>) {
        let bytes: usize = items.iter().map(Item::cost).sum();
        let mut state = self.state();
        state.bytes += bytes;
        state.items.append(items);
        drop(state);
        self.readable.notify_one();
    }

    /// No more will come.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.readable.notify_one();
    }

    /// Whether the bound is not reached.
    pub(crate) fn has_room(&self) -> bool {
        self.state().bytes < self.limit
    }

    /// Whether even the bound for a reader that looks for an answer is not reached.
    pub(crate) fn is_below_ceiling(&self) -> bool {
        self.state().bytes < self.limit.saturating_mul(CEILING)
    }

    /// Wakes the one who waits for room, because something else changed.
    pub(crate) fn wake_reader(&self) {
        self.room.notify_one();
    }

    /// Completes when something was taken out or the reader was woken. A call in between is not missed.
    pub(crate) async fn changed(&self) {
        self.room.notified().await;
    }

    /// The next item, or nothing after the end. Safe to cancel.
    pub(crate) async fn take(&self) -> Option<Item> {
        loop {
            match self.try_take() {
                Taken::Item(item) => return Some(item),
                Taken::Closed => {
                    // Whoever else waits must learn it too.
                    self.readable.notify_one();
                    return None;
                }
                Taken::Empty => self.readable.notified().await,
            }
        }
    }

    fn try_take(&self) -> Taken {
        let mut state = self.state();
        let Some(item) = state.items.pop_front() else {
            return if state.closed {
                Taken::Closed
            } else {
                Taken::Empty
            };
        };
        let was_full = state.bytes >= self.limit;
        state.bytes -= item.cost();
        drop(state);
        if was_full {
            self.room.notify_one();
        }
        Taken::Item(item)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Taken {
    Item(Item),
    Empty,
    Closed,
}
