//! Looks at every step of a conversation, and at its whole log, for what must never happen.

use std::collections::BTreeSet;

use estelle_proto::Generation;
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::decisions::DecisionState;
use estelle_proto::events::ClaudeEvent;
use estelle_state::conversation::{
    Control, Conversation, Due, Entry, MessageId, Place, Record, StopReason, Tracked,
};
use estelle_state::decisions::{DecisionKey, Fact};

use super::deeds::Deed;
use super::world::{HOST, World, key, message_id};

/// What must hold between two moments.
pub(super) fn check_step(before: &Conversation, world: &World, news: &[Entry], deed: &Deed) {
    let after = &world.live;
    check_messages(before, after, news, deed);
    check_decisions(before, after, news);
    check_cancelled(before, after, news, deed);
    check_queued(after);
    if after.is_interrupted() {
        assert!(after.is_turn_open(), "what was broken off is over");
    }
    if after.run().is_none() {
        assert_eq!(after.unconfirmed(), [], "nobody is there to be written to");
        assert_eq!(after.occupied().turn, None, "nobody has a turn");
    }
}

fn place(conversation: &Conversation, id: &MessageId) -> Option<Place> {
    let mut tracked = conversation.messages().iter();
    tracked
        .find(|one| one.message.id == *id)
        .map(|one| one.place)
}

fn check_messages(before: &Conversation, after: &Conversation, news: &[Entry], deed: &Deed) {
    let ids: Vec<_> = after.messages().iter().map(|one| &one.message.id).collect();
    let distinct: BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), distinct.len(), "a message is tracked twice");
    for Tracked {
        message,
        place: was,
    } in before.messages()
    {
        let id = &message.id;
        let is = place(after, id);
        if is.is_none() {
            let is_explained = news.iter().any(|entry| explains(&entry.record, id, *was));
            assert!(is_explained, "{id:?} in {was:?} is lost by {news:?}");
        }
        if *was == Place::Held && is == Some(Place::Waiting) {
            assert!(deed.is_a_wish_to_go_on(), "nobody asked to go on: {deed:?}");
        }
    }
}

/// Whoever takes a message back is told the truth: it is gone and all are told, or it is where it was and nobody is.
fn check_cancelled(before: &Conversation, after: &Conversation, news: &[Entry], deed: &Deed) {
    let told = news.iter().flat_map(|entry| &entry.events);
    let told = told.filter(|one| matches!(one.event, ClaudeEvent::MessageCancelled(_)));
    let told = told.count();
    let Deed::Cancel(number) = deed else {
        let dropped = news.iter().map(|entry| {
            let Record::Ended { dropped, .. } = &entry.record else {
                return 0;
            };
            dropped.len()
        });
        return assert!(told <= dropped.sum(), "nobody took anything back");
    };
    let id = message_id(*number);
    let was = place(before, &id);
    if matches!(was, Some(Place::Waiting | Place::Held)) {
        assert_eq!((place(after, &id), told), (None, 1));
    } else {
        assert_eq!((place(after, &id), news), (was, &[][..]));
    }
}

/// What is said to wait is with us, and does wait: it is not the next thing to do.
fn check_queued(after: &Conversation) {
    for message in after.queued() {
        let is_here = matches!(
            place(after, &message.id),
            Some(Place::Waiting | Place::Held)
        );
        assert!(is_here, "{message:?} is not ours");
        assert_ne!(after.due(), Some(Due::Hand(message)), "it does not wait");
    }
}

/// Whether a message that was in this place may be gone after this.
fn explains(record: &Record, id: &MessageId, was: Place) -> bool {
    let is_with_cli = matches!(was, Place::Handed(_) | Place::Taken(_));
    match record {
        Record::Withdrawn { messages } => !is_with_cli && messages.contains(id),
        Record::Read(_) => is_with_cli,
        Record::Ended {
            interrupted,
            dropped,
            ..
        } => matches!(was, Place::Taken(_)) || interrupted.contains(id) || dropped.contains(id),
        Record::Began { .. }
        | Record::Copied(_)
        | Record::Set(_)
        | Record::Accepted(_)
        | Record::Released
        | Record::Wanted
        | Record::Intended { .. }
        | Record::Started { .. }
        | Record::Handed { .. }
        | Record::Requested { .. }
        | Record::Shown { .. }
        | Record::Asked(_)
        | Record::Decided { .. }
        | Record::Called { .. }
        | Record::Revoked { .. }
        | Record::Interrupted { .. }
        | Record::Stopping { .. }
        | Record::Forgotten
        | Record::Rewound { .. }
        | Record::Shortened { .. }
        | Record::Repaired { .. } => false,
    }
}

fn rank(state: Option<&DecisionState>) -> u8 {
    match state {
        None => 0,
        Some(DecisionState::Open) => 1,
        Some(DecisionState::Answered) => 2,
        Some(DecisionState::Delivered) => 3,
        Some(DecisionState::Settled | DecisionState::Void | DecisionState::Unknown(_)) => 4,
    }
}

fn check_decisions(before: &Conversation, after: &Conversation, news: &[Entry]) {
    let keys =
        (0..12).flat_map(|generation| (0..4).map(move |call| key(Generation(generation), call)));
    for key in keys {
        let (was, is) = (before.decision_state(&key), after.decision_state(&key));
        assert!(
            rank(was.as_ref()) <= rank(is.as_ref()),
            "a decision goes one way"
        );
        if rank(was.as_ref()) == 4 {
            assert_eq!(was, is, "what is over stays so");
        }
        let is_open = is == Some(DecisionState::Open);
        assert_eq!(is_open, after.pending(&key).is_some(), "{key:?}");
        let is_live = (1..4).contains(&rank(is.as_ref()));
        let run = after.run().map(|run| run.generation);
        if is_live && key.generation != HOST {
            assert_eq!(Some(key.generation), run, "its process is gone");
        }
        let has_ended = |entry: &Entry| matches!(entry.record, Record::Ended { .. });
        if key.generation == HOST && news.iter().any(has_ended) {
            assert_eq!(was, is, "no process takes back what the host asked");
        }
    }
}

/// What must hold for a whole log.
pub(super) fn check_log(world: &World) {
    let events: usize = world.log.iter().map(|entry| entry.events.len()).sum();
    assert_eq!(world.live.seq().0, events as u64, "numbers are dense");
    check_announcements(world);
    let mut runs = Runs::default();
    for entry in &world.log {
        runs.take(&entry.record);
    }
}

/// The state is told when it changes and only then, and the last one told is the one that is.
fn check_announcements(world: &World) {
    let mut told = ConversationStatus::Idle;
    for durable in world.log.iter().flat_map(|entry| &entry.events) {
        if let ClaudeEvent::State(state) = &durable.event {
            assert_ne!(state.state, told, "told twice");
            told = state.state.clone();
        }
    }
    assert_eq!(told, world.live.status());
}

/// What was done to each run, and whether it may be.
#[derive(Debug, Default)]
struct Runs {
    current: Option<Generation>,
    last: u64,
    /// It is being ended, to begin anew or for another reason.
    stopping: Option<bool>,
    closed: bool,
    handed: BTreeSet<(Generation, MessageId)>,
    requested: BTreeSet<(Generation, String)>,
    /// Calls that were begun, and those that were answered.
    calls: BTreeSet<(Generation, String, bool)>,
    answered: BTreeSet<DecisionKey>,
}

impl Runs {
    fn take(&mut self, record: &Record) {
        match record {
            Record::Intended { generation, .. } => {
                assert_eq!(self.current, None, "two runs");
                assert!(generation.0 > self.last, "a number is used twice");
                self.last = generation.0;
                (self.current, self.stopping, self.closed) = (Some(*generation), None, false);
            }
            Record::Ended { generation, .. } => {
                assert_eq!(self.current.take(), Some(*generation));
            }
            Record::Stopping { generation, why } => {
                assert_eq!(self.current, Some(*generation));
                let is_new = *why == StopReason::NewSession;
                let is_said = self.stopping.replace(is_new);
                assert!(
                    is_said.is_none_or(|before| is_new && !before),
                    "stopped twice, and not to begin anew"
                );
            }
            Record::Handed {
                generation,
                message,
            } => {
                assert_eq!(self.current, Some(*generation));
                assert!(
                    self.stopping.is_none(),
                    "handed to a run that is being ended"
                );
                let is_new = self.handed.insert((*generation, message.clone()));
                assert!(is_new, "handed twice to the same run");
            }
            Record::Requested {
                generation,
                request_id,
                control,
            } => {
                assert_eq!(self.current, Some(*generation));
                assert!(!self.closed, "written behind the request to end");
                self.closed |= *control == Control::End;
                let is_new = self.requested.insert((*generation, request_id.clone()));
                assert!(is_new, "requested twice");
            }
            Record::Called {
                generation,
                request_id,
                answer,
                ..
            } => {
                assert_eq!(self.current, Some(*generation));
                let call = (*generation, request_id.clone(), answer.is_some());
                assert!(self.calls.insert(call), "a call is made or answered twice");
            }
            Record::Decided {
                fact: Fact::Answered(answer),
                ..
            } => assert!(self.answered.insert(answer.key.clone()), "answered twice"),
            Record::Began { .. }
            | Record::Copied(_)
            | Record::Set(_)
            | Record::Accepted(_)
            | Record::Withdrawn { .. }
            | Record::Released
            | Record::Wanted
            | Record::Started { .. }
            | Record::Read(_)
            | Record::Shown { .. }
            | Record::Asked(_)
            | Record::Decided { .. }
            | Record::Revoked { .. }
            | Record::Interrupted { .. }
            | Record::Forgotten
            | Record::Rewound { .. }
            | Record::Shortened { .. }
            | Record::Repaired { .. } => {}
        }
    }
}
