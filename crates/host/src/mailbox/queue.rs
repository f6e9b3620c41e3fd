//! What waits for one client, without the waiting: letters in order, their bytes, and where the client is.
//!
//! **Invariant:** `bytes` is the sum of the weights of what waits.

use std::collections::{BTreeMap, VecDeque};

use estelle_proto::ConversationId;
use estelle_proto::ipc::Cursor;

use super::letter::{Letter, Mark};
use super::{LIMIT, Mail};

/// Why nothing more is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The client was too slow.
    Full,
    /// The host has said all; what waits is still sent.
    Finished,
    /// Nobody reads any more.
    Gone,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    letters: VecDeque<Letter>,
    bytes: usize,
    /// Where each subscription was when its last event was taken out.
    cursors: BTreeMap<ConversationId, Mark>,
    closed: Option<Why>,
}

impl Queue {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// Whether a letter finds room. One that is larger than everything finds it when nothing waits: it has to go out
    /// some time, and no client could ever be fast enough for it.
    pub(super) fn has_room_for(&self, letter: &Letter) -> bool {
        self.letters.is_empty() || self.bytes + letter.weight() <= LIMIT
    }

    pub(super) fn put(&mut self, letter: Letter) {
        let letter = match self.letters.back_mut() {
            Some(last) => {
                let before = last.weight();
                match last.join(letter) {
                    Ok(()) => {
                        self.bytes += last.weight() - before;
                        return;
                    }
                    Err(letter) => letter,
                }
            }
            None => letter,
        };
        self.bytes += letter.weight();
        self.letters.push_back(letter);
    }

    /// Takes nothing in any more. What waits is thrown away unless it can still be sent.
    pub(super) fn close(&mut self, why: Why) {
        // A client that was cut off is told so, whatever is found out about it later; unless nobody is there to tell.
        if self.closed.is_none() || why == Why::Gone {
            self.closed = Some(why);
        }
        if why != Why::Finished {
            self.letters = VecDeque::new();
            self.bytes = 0;
        }
    }

    /// A conversation is no longer followed: its events still go out and say nothing about where the client is.
    pub(super) fn forget(&mut self, session: &ConversationId) {
        self.cursors.remove(session);
        for letter in &mut self.letters {
            if letter
                .mark
                .as_ref()
                .is_some_and(|mark| mark.session_id == *session)
            {
                letter.mark = None;
            }
        }
    }

    pub(super) fn take(&mut self) -> Option<Mail> {
        if let Some(letter) = self.letters.pop_front() {
            self.bytes -= letter.weight();
            if let Some(mark) = letter.mark.clone() {
                self.cursors.insert(mark.session_id.clone(), mark);
            }
            return Some(Mail::Line(letter.into_line()));
        }
        match self.closed? {
            Why::Full => Some(Mail::CutOff(self.cursors())),
            Why::Finished | Why::Gone => Some(Mail::End),
        }
    }

    fn cursors(&self) -> Vec<Cursor> {
        self.cursors.values().map(Mark::cursor).collect()
    }
}
