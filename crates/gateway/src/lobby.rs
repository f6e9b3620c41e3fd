//! Room for connections: so many in all, and a smaller share for those who have not said who they are.
//!
//! Anybody on the machine can be a stranger, so when there are too many of them the oldest has to go: a crowd cannot keep the
//! owner out by sitting in every seat.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Connections at once. A browser takes six, a client of ours one.
const CONNECTIONS: usize = 256;
/// Those among them that have not said who they are.
const STRANGERS: usize = 64;

#[derive(Debug, Default)]
struct Strangers {
    next: u64,
    /// By age.
    waiting: BTreeMap<u64, CancellationToken>,
}

/// The room of a gateway.
#[derive(Debug)]
pub(crate) struct Lobby {
    seats: Arc<Semaphore>,
    strangers: Arc<Mutex<Strangers>>,
}

/// What a connection takes up; given back when dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    number: u64,
    strangers: Arc<Mutex<Strangers>>,
    evicted: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Lobby {
    pub(crate) fn new() -> Self {
        Self {
            seats: Arc::new(Semaphore::new(CONNECTIONS)),
            strangers: Arc::default(),
        }
    }

    /// A seat for a stranger, if there is one; the oldest stranger may have to go for it.
    pub(crate) fn enter(&self) -> Option<Seat> {
        let permit = self.seats.clone().try_acquire_owned().ok()?;
        let mut strangers = lock(&self.strangers);
        if strangers.waiting.len() >= STRANGERS
            && let Some((_, oldest)) = strangers.waiting.pop_first()
        {
            oldest.cancel();
        }
        let number = strangers.next;
        strangers.next += 1;
        let evicted = CancellationToken::new();
        strangers.waiting.insert(number, evicted.clone());
        Some(Seat {
            number,
            strangers: self.strangers.clone(),
            evicted,
            _permit: permit,
        })
    }
}

impl Seat {
    /// It is known who sits here: nobody takes the seat away any more.
    pub(crate) fn is_known(&self) {
        lock(&self.strangers).waiting.remove(&self.number);
    }

    /// Returns when the seat is needed for somebody else.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.is_known();
    }
}

/// A panic elsewhere does not make the list wrong: each change is complete before the lock is given back.
fn lock(strangers: &Mutex<Strangers>) -> MutexGuard<'_, Strangers> {
    strangers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_of_strangers_takes_no_seat_from_those_who_are_known() {
        let lobby = Lobby::new();
        let first = lobby.enter().unwrap();
        first.is_known();
        let oldest = lobby.enter().unwrap();
        let mut crowd: Vec<Seat> = (1..STRANGERS).map(|_| lobby.enter().unwrap()).collect();
        assert!(!oldest.evicted.is_cancelled());
        let newest = lobby.enter().unwrap();
        assert!(oldest.evicted.is_cancelled(), "the oldest goes");
        assert!(!first.evicted.is_cancelled() && !newest.evicted.is_cancelled());
        // Who leaves makes room.
        drop(oldest);
        crowd.truncate(10);
        let next = lobby.enter().unwrap();
        assert!(crowd.iter().all(|seat| !seat.evicted.is_cancelled()));
        drop(next);
    }

    #[test]
    fn there_is_room_for_so_many() {
        let lobby = Lobby::new();
        let all: Vec<Seat> = (0..CONNECTIONS).map(|_| lobby.enter().unwrap()).collect();
        all.iter().for_each(Seat::is_known);
        assert!(lobby.enter().is_none());
        drop(all);
        assert!(lobby.enter().is_some());
    }
}
