//! The messages of a conversation on their way to the CLI.
//!
//! A message waits, is handed to a run, is taken into the conversation by the CLI, and is done when its turn has ended.
//! The CLI folds several messages into one turn and answers some in a turn of their own, so what is done is told by
//! ids, never by counting results.

use std::collections::{BTreeMap, VecDeque};

use estelle_proto::{Generation, OnBusy, Seq};
use serde::{Deserialize, Serialize};

use super::record::{Message, MessageId};

/// Ids of messages are remembered this long, so that one that is sent again runs once.
const KNOWN: usize = 10_000;

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// With us.
    Waiting,
    /// With us, until somebody asks for more: its process died.
    Held,
    /// On its way to the CLI of this generation.
    Handed(Generation),
    /// In the conversation of the CLI.
    Taken(Generation),
}

/// A message that is not done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tracked {
    /// What was written.
    pub message: Message,
    /// Where it is.
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Messages {
    tracked: Vec<Tracked>,
    /// The number of each message's event.
    known: BTreeMap<MessageId, Seq>,
    order: VecDeque<MessageId>,
}

impl Messages {
    pub(super) fn tracked(&self) -> &[Tracked] {
        &self.tracked
    }

    pub(super) fn seq_of(&self, id: &MessageId) -> Option<Seq> {
        self.known.get(id).copied()
    }

    pub(super) fn add(&mut self, message: Message, seq: Seq) {
        self.known.insert(message.id.clone(), seq);
        self.order.push_back(message.id.clone());
        if self.order.len() > KNOWN
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.tracked.push(Tracked {
            message,
            place: Place::Waiting,
        });
    }

    /// Whether a message is with the CLI and not done.
    pub(super) fn is_any_with_cli(&self) -> bool {
        self.tracked
            .iter()
            .any(|one| matches!(one.place, Place::Handed(_) | Place::Taken(_)))
    }

    /// Whether a message is on its way or under way.
    pub(super) fn is_any_active(&self) -> bool {
        self.tracked.iter().any(|one| one.place != Place::Held)
    }

    /// The next message for the CLI.
    pub(super) fn next(&self, is_turn_open: bool) -> Option<&Message> {
        let is_busy = is_turn_open || self.is_any_with_cli();
        let waiting = self
            .tracked
            .iter()
            .filter(|one| one.place == Place::Waiting);
        waiting
            .map(|one| &one.message)
            .find(|message| match message.on_busy {
                OnBusy::Queue | OnBusy::Interrupt => !is_busy,
                OnBusy::Inject | OnBusy::Unknown(_) => true,
            })
    }

    pub(super) fn set(&mut self, id: &MessageId, place: Place) {
        if let Some(one) = self.tracked.iter_mut().find(|one| one.message.id == *id) {
            one.place = place;
        }
    }

    pub(super) fn remove(&mut self, id: &MessageId) {
        self.tracked.retain(|one| one.message.id != *id);
    }

    pub(super) fn remove_all(&mut self, ids: &[MessageId]) {
        for id in ids {
            self.remove(id);
        }
    }

    /// A turn has ended: what the CLI had taken is done.
    pub(super) fn finish_taken(&mut self) {
        self.tracked
            .retain(|one| !matches!(one.place, Place::Taken(_)));
    }

    /// The process is gone: what it had not taken waits again, here or until somebody asks.
    pub(super) fn bring_back(&mut self, place: Place) {
        for one in &mut self.tracked {
            if matches!(one.place, Place::Handed(_) | Place::Waiting) {
                one.place = place;
            }
        }
    }

    pub(super) fn release(&mut self) {
        for one in &mut self.tracked {
            if one.place == Place::Held {
                one.place = Place::Waiting;
            }
        }
    }

    pub(super) fn in_place(&self, wanted: impl Fn(Place) -> bool) -> Vec<MessageId> {
        let chosen = self.tracked.iter().filter(|one| wanted(one.place));
        chosen.map(|one| one.message.id.clone()).collect()
    }
}
