//! Messages that need not have been answered, and why: everything else that was acknowledged must have been.
//!
//! A message waits with the host, is handed to a run, and is taken up by its CLI. What ends a run excuses what that run was
//! at: what it had taken up, and what the log says was broken off or dropped. A message that only waited goes on to wait: for
//! the next run, or until somebody asks for more after the CLI died by itself.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::PauseReason;
use estelle_proto::{ClientMessageId, OnBusy};
use estelle_state::conversation::{Entry, MessageId, Record, RunExit, Seen, StopReason};

use super::ledger::{Decision, Decisions};
use crate::history::{Conversation, Life};

/// The messages of a conversation that are excused, by the names that their senders gave them.
pub(super) fn excused(conversation: &Conversation) -> BTreeSet<&ClientMessageId> {
    let mut excuses = Excuses::default();
    for entry in conversation.standing().flat_map(Life::entries) {
        excuses.take(entry);
    }
    excuses.finish(waits(conversation))
}

/// Whether a person is asked: such a turn is at rest and not over.
fn waits(conversation: &Conversation) -> bool {
    conversation.newest().is_some_and(|life| {
        let decisions = Decisions::of(life.entries());
        decisions.all.iter().any(Decision::is_open)
    })
}

/// The messages whose turn ended with what was read.
fn answered_in(record: &Record) -> Vec<&MessageId> {
    let Record::Read(stretch) = record else {
        return Vec::new();
    };
    let ends = stretch.seen.iter().filter_map(|seen| match seen {
        Seen::TurnEnded { messages, .. } => Some(messages),
        _ => None,
    });
    ends.flatten().collect()
}

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// With the host.
    Waiting,
    /// With the host, until somebody asks for more.
    Held,
    /// Given to a run.
    Handed,
    /// In the hands of its CLI.
    Taken,
}

#[derive(Default)]
struct Excuses<'a> {
    names: BTreeMap<&'a MessageId, &'a ClientMessageId>,
    excused: BTreeSet<&'a ClientMessageId>,
    /// What is not over yet, with what to do if a turn is under way.
    open: BTreeMap<&'a MessageId, (Place, &'a OnBusy)>,
    stopping: Option<&'a StopReason>,
    /// The run could not take its session up, so the next one begins at once.
    is_lost: bool,
}

impl<'a> Excuses<'a> {
    fn take(&mut self, entry: &'a Entry) {
        match &entry.record {
            Record::Accepted(message) => {
                let name = message.client_message_id.as_ref();
                self.names.extend(name.map(|name| (&message.id, name)));
                let place = (Place::Waiting, &message.on_busy);
                self.open.insert(&message.id, place);
            }
            Record::Withdrawn { messages } => self.excuse(messages),
            Record::Released | Record::Wanted => self.turn(&[Place::Held], Place::Waiting),
            Record::Intended { .. } => (self.stopping, self.is_lost) = (None, false),
            Record::Handed { message, .. } => self.put(message, Place::Handed),
            Record::Read(stretch) => {
                for seen in &stretch.seen {
                    self.saw(seen);
                }
            }
            // What the CLI has is broken off, or taken out of its queue.
            Record::Interrupted { .. } => self.excuse_all(&[Place::Handed, Place::Taken]),
            Record::Stopping { why, .. } => self.stopping = Some(why),
            Record::Ended {
                exit,
                interrupted,
                dropped,
                ..
            } => {
                self.excuse(interrupted);
                self.excuse(dropped);
                self.ended(exit);
            }
            _ => {}
        }
        for durable in &entry.events {
            match &durable.event {
                ClaudeEvent::MessageCancelled(cancelled) => {
                    let names = self.names.values().copied();
                    let id = names.filter(|name| **name == cancelled.client_message_id);
                    self.excused.extend(id);
                }
                ClaudeEvent::Result(_) => self.result(&entry.record),
                _ => {}
            }
        }
    }

    fn saw(&mut self, seen: &'a Seen) {
        match seen {
            Seen::Taken { message } => self.put(message, Place::Taken),
            Seen::Dropped { message } => self.excuse(std::slice::from_ref(message)),
            Seen::ResumeFailed => self.is_lost = true,
            _ => {}
        }
    }

    /// A turn is over, and with it what it was about. One that ends while its run is being ended may be broken off.
    fn result(&mut self, record: &'a Record) {
        let named = answered_in(record);
        let is_there = |wanted| self.open.values().any(|(place, _)| *place == wanted);
        // A result that does not say whose it is, is that of all that was taken up, if anything is known to be.
        let unnamed = if is_there(Place::Taken) {
            Place::Taken
        } else {
            Place::Handed
        };
        let over = self.open.iter().filter(|(id, (place, _))| {
            named.contains(id) || (named.is_empty() && *place == unnamed)
        });
        let over: Vec<_> = over.map(|(id, _)| *id).collect();
        for id in over {
            self.open.remove(id);
            if self.stopping.is_some() {
                self.excused.extend(self.names.get(id));
            }
        }
    }

    /// A run is over. Nobody starts another for what waits if the CLI died by itself.
    fn ended(&mut self, exit: &RunExit) {
        self.excuse_all(&[Place::Taken]);
        self.open.retain(|_, (at, _)| *at != Place::Taken);
        let never_lived = matches!(exit, RunExit::NeverStarted { retry: true, .. });
        let by_request = match self.stopping {
            Some(StopReason::Tampered { .. }) | None => false,
            Some(StopReason::Paused { reason, .. }) => *reason == PauseReason::IdleTimeout,
            Some(_) => true,
        };
        let place = if never_lived || self.is_lost || by_request {
            Place::Waiting
        } else {
            Place::Held
        };
        self.turn(&[Place::Waiting, Place::Handed], place);
        (self.stopping, self.is_lost) = (None, false);
    }

    fn put(&mut self, id: &MessageId, place: Place) {
        if let Some(open) = self.open.get_mut(id) {
            open.0 = place;
        }
    }

    fn turn(&mut self, from: &[Place], to: Place) {
        for (place, _) in self.open.values_mut() {
            if from.contains(place) {
                *place = to;
            }
        }
    }

    fn excuse(&mut self, ids: &'a [MessageId]) {
        for id in ids {
            self.open.remove(id);
            self.excused.extend(self.names.get(id));
        }
    }

    /// Excuses what is there; it may still come to its end.
    fn excuse_all(&mut self, places: &[Place]) {
        let there = self.open.iter().filter(|(_, (at, _))| places.contains(at));
        let names = there.filter_map(|(id, _)| self.names.get(id));
        self.excused.extend(names);
    }

    /// At the end: what is held, and what stands behind a prompt that is open. A message that is put between goes to the CLI
    /// whatever it is at.
    fn finish(mut self, waits: bool) -> BTreeSet<&'a ClientMessageId> {
        for (id, (place, on_busy)) in &self.open {
            let is_behind = match place {
                Place::Held => true,
                Place::Handed | Place::Taken => waits,
                Place::Waiting => waits && matches!(on_busy, OnBusy::Queue | OnBusy::Interrupt),
            };
            if is_behind {
                self.excused.extend(self.names.get(id));
            }
        }
        self.excused
    }
}
