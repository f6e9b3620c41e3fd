//! A log as a replay reads it: from any event on, in portions, beside the task that appends.

use std::fs::File;
use std::io;
use std::sync::Arc;

use estelle_proto::{ChainHash, ConversationId, Epoch, Seq};
use estelle_state::conversation::{Durable, Entry, Origin, Record};

use super::{Place, chain_hash, letter};
use crate::log;
use crate::mailbox::Letter;

/// What a replay needs to know of a log. It keeps to that log, even when another one takes its place meanwhile.
#[derive(Debug, Clone)]
pub struct View {
    pub(super) file: Arc<File>,
    pub(super) id: ConversationId,
    pub(super) epoch: Epoch,
    pub(super) places: Arc<Vec<Place>>,
    /// The log ends here.
    pub(super) end: u64,
    /// The number of the newest event to be read.
    pub(super) head: Seq,
}

/// A cursor's place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// The last event that is known.
    pub(crate) seq: Seq,
    offset: u64,
}

impl View {
    /// The number of the newest event.
    pub(crate) fn head(&self) -> Seq {
        self.head
    }

    /// The epoch of the log.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Behind an event that is known to be in the log.
    pub(crate) fn behind(seq: Seq) -> Position {
        Position { seq, offset: 0 }
    }

    /// The beginning of the log.
    pub(crate) fn start() -> Position {
        Position {
            seq: Seq(0),
            offset: 0,
        }
    }

    /// Where a cursor is, if it is one of this log.
    pub(crate) fn locate(&self, seq: Seq, hash: &ChainHash) -> io::Result<Option<Position>> {
        if seq > self.head {
            return Ok(None);
        }
        if seq == Seq(0) {
            return Ok(Some(Self::start()));
        }
        let from = self.place_before(seq);
        let mut found = None;
        self.events_from(from, |at, event_hash, _, _| {
            if at == seq && event_hash.as_ref() == Some(hash) {
                found = Some(());
            }
        })?;
        Ok(found.map(|()| Position {
            seq,
            offset: from.offset,
        }))
    }

    fn place_before(&self, seq: Seq) -> Position {
        let place = self.places.iter().rev().find(|place| place.seq < seq);
        place.map_or(Self::start(), |place| Position {
            seq: place.seq,
            offset: place.offset,
        })
    }

    /// The events behind a position, as letters; at most about `limit` of them. The new position is where to go on.
    pub(crate) fn read(&self, from: Position, limit: usize) -> io::Result<(Vec<Letter>, Position)> {
        let mut letters = Vec::new();
        let start = self.place_before(Seq(from.seq.0 + 1));
        let until = self.head.min(Seq(from.seq.0 + limit as u64));
        let mut reached = from.seq;
        self.events_from(start, |seq, hash, entry, durable| {
            if seq > from.seq && seq <= until {
                letters.extend(letter(&self.id, self.epoch, seq, hash, entry, durable));
                reached = seq;
            }
        })?;
        let position = Position {
            seq: reached,
            offset: from.offset,
        };
        Ok((letters, position))
    }

    /// Which conversation.
    pub(crate) fn id(&self) -> &ConversationId {
        &self.id
    }

    /// The conversation that this one was made from.
    pub(crate) fn origin(&self) -> io::Result<Option<Origin>> {
        let mut origin = None;
        self.entries(|entry| {
            if let Record::Copied(from) = entry.record {
                origin.get_or_insert(from);
            }
        })?;
        Ok(origin)
    }

    /// Every entry of the log, in order.
    pub(crate) fn entries(&self, mut show: impl FnMut(Entry)) -> io::Result<()> {
        let mut failure = None;
        log::read_between(
            &self.file,
            0,
            self.end,
            |_, payload| match serde_json::from_slice(payload) {
                Ok(entry) => show(entry),
                Err(error) => failure = Some(error),
            },
        )?;
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    fn events_from(
        &self,
        from: Position,
        mut show: impl FnMut(Seq, Option<ChainHash>, &Entry, &Durable),
    ) -> io::Result<()> {
        let end = self.stop_after(from);
        let mut seq = from.seq;
        let mut failure = None;
        log::read_between(
            &self.file,
            from.offset,
            end,
            |hash, payload| match serde_json::from_slice::<Entry>(payload) {
                Ok(entry) => {
                    for (place, durable) in entry.events.iter().enumerate() {
                        seq.0 += 1;
                        show(seq, chain_hash(hash, place), &entry, durable);
                    }
                }
                Err(error) => failure = Some(error),
            },
        )?;
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Reading in portions: up to the second place behind a position, so that a whole portion is in it.
    fn stop_after(&self, from: Position) -> u64 {
        let mut behind = self.places.iter().filter(|place| place.seq > from.seq);
        behind.nth(1).map_or(self.end, |place| place.offset)
    }
}
