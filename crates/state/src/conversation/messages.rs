//! The messages of a conversation on their way to the CLI.
//!
//! A message waits, is handed to a run, is taken into the conversation by the CLI, and is done when its turn has ended.
//! The CLI folds several messages into one turn and answers some in a turn of their own, so what is done is told by
//! ids, never by counting results.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

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
    known: BTreeMap<MessageId, Known>,
    order: VecDeque<MessageId>,
}

/// What is remembered of a message that was taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// The number of its event.
    pub(super) seq: Seq,
    /// Tells its text from others.
    text: u64,
}

impl Known {
    fn new(seq: Seq, content: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        let text = hasher.finish();
        Self { seq, text }
    }

    /// Whether it is the same message that comes again.
    pub(super) fn says(self, content: &str) -> bool {
        self == Self::new(self.seq, content)
    }
}

impl Messages {
    pub(super) fn tracked(&self) -> &[Tracked] {
        &self.tracked
    }

    pub(super) fn known(&self, id: &MessageId) -> Option<Known> {
        self.known.get(id).copied()
    }

    fn place(&self, id: &MessageId) -> Option<Place> {
        let found = self.tracked.iter().find(|one| one.message.id == *id);
        found.map(|one| one.place)
    }

    /// Whether the CLI of a generation may speak of a message: it was given to it, or was done before.
    pub(super) fn may_appear(&self, id: &MessageId, generation: Generation) -> bool {
        let here = [Place::Handed(generation), Place::Taken(generation)];
        match self.place(id) {
            Some(place) => here.contains(&place),
            None => self.known.contains_key(id),
        }
    }

    pub(super) fn is_waiting(&self, id: &MessageId) -> bool {
        self.place(id) == Some(Place::Waiting)
    }

    /// Whether a message is on its way to a CLI that has not taken it.
    pub(super) fn is_handed(&self, id: &MessageId) -> bool {
        matches!(self.place(id), Some(Place::Handed(_)))
    }

    /// Whether somebody waits who wants the running turn to be broken off, and from which device.
    pub(super) fn interrupting(&self) -> Option<&Message> {
        let waiting = self
            .tracked
            .iter()
            .filter(|one| one.place == Place::Waiting);
        waiting
            .map(|one| &one.message)
            .find(|message| message.on_busy == OnBusy::Interrupt)
    }

    pub(super) fn add(&mut self, message: Message, seq: Seq) {
        let known = Known::new(seq, &message.content);
        self.known.insert(message.id.clone(), known);
        self.order.push_back(message.id.clone());
        if self.order.len() > KNOWN {
            self.forget_oldest();
        }
        self.tracked.push(Tracked {
            message,
            place: Place::Waiting,
        });
    }

    /// Forgets the id of the oldest message that is done.
    fn forget_oldest(&mut self) {
        let is_done = |id: &MessageId| self.place(id).is_none();
        let oldest = self.order.iter().position(is_done);
        if let Some(id) = oldest.and_then(|oldest| self.order.remove(oldest)) {
            self.known.remove(&id);
        }
    }

    /// Whether there is a message that a run is yet to begin with.
    pub(super) fn is_any_to_begin(&self) -> bool {
        let is_to_begin = |one: &Tracked| matches!(one.place, Place::Waiting | Place::Handed(_));
        self.tracked.iter().any(is_to_begin)
    }

    /// Messages that are with the CLI and not done.
    pub(super) fn with_cli(&self) -> BTreeSet<MessageId> {
        let is_there = |place| matches!(place, Place::Handed(_) | Place::Taken(_));
        self.in_place(is_there).into_iter().collect()
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

    /// A message goes to the CLI of a generation.
    pub(super) fn hand(&mut self, id: &MessageId, generation: Generation) {
        if let Some(one) = self.find(id).filter(|one| one.place == Place::Waiting) {
            one.place = Place::Handed(generation);
        }
    }

    /// The CLI of a generation has taken a message that it was given.
    pub(super) fn take(&mut self, id: &MessageId, generation: Generation) {
        let given = Place::Handed(generation);
        if let Some(one) = self.find(id).filter(|one| one.place == given) {
            one.place = Place::Taken(generation);
        }
    }

    fn find(&mut self, id: &MessageId) -> Option<&mut Tracked> {
        self.tracked.iter_mut().find(|one| one.message.id == *id)
    }

    /// Messages that will not be answered: they never left us, or the CLI took them and does nothing with them. One that
    /// is on its way cannot be called back by a word of ours.
    pub(super) fn withdraw(&mut self, ids: &[MessageId]) {
        self.tracked.retain(|one| {
            let is_on_its_way = matches!(one.place, Place::Handed(_));
            is_on_its_way || !ids.contains(&one.message.id)
        });
    }

    /// The CLI is done with a message. It cannot be with one that it was never given.
    pub(super) fn finish(&mut self, id: &MessageId) {
        self.tracked.retain(|one| {
            let is_there = matches!(one.place, Place::Handed(_) | Place::Taken(_));
            !(is_there && one.message.id == *id)
        });
    }

    pub(super) fn finish_all(&mut self, ids: &[MessageId]) {
        for id in ids {
            self.finish(id);
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
