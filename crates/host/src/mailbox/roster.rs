//! Who is connected: the mailboxes that get what concerns every client, such as a decision or the end of the host.
//!
//! Posting never waits. A mailbox that is closed is taken off the list by whoever finds out first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Letter, Mailbox};

#[derive(Debug, Default)]
struct List {
    last: u64,
    mailboxes: BTreeMap<u64, Mailbox>,
}

/// All clients that are connected. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct Roster(Arc<Mutex<List>>);

/// A client is on the list for as long as this lives.
#[derive(Debug)]
#[must_use = "the client is taken off the list when this is dropped"]
pub struct Enlisted {
    roster: Roster,
    number: u64,
}

impl Roster {
    /// Adds a client.
    pub fn enlist(&self, mailbox: Mailbox) -> Enlisted {
        let mut list = self.lock();
        list.last += 1;
        let number = list.last;
        list.mailboxes.insert(number, mailbox);
        drop(list);
        Enlisted {
            roster: self.clone(),
            number,
        }
    }

    /// Posts a letter to everybody. Whoever has no room for it is cut off, the others get it all the same.
    pub fn post_to_all(&self, letter: &Letter) {
        let mut list = self.lock();
        list.mailboxes
            .retain(|_, mailbox| mailbox.post(letter.clone()).is_ok());
    }

    /// How many are on the list.
    pub fn count(&self) -> usize {
        self.lock().mailboxes.len()
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // Nothing in here can panic halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Enlisted {
    fn drop(&mut self) {
        self.roster.lock().mailboxes.remove(&self.number);
    }
}
