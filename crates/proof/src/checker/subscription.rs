//! One subscription of one connection: no gap, no repetition, nothing but what the log has.

use estelle_proto::Epoch;
use estelle_proto::ipc::{HostEvent, Snapshot, Subscribe, Subscribed};

use super::pieces::Pieces;
use super::rule::Rule;
use crate::history::{ChainedEvent, Conversation, Life};

/// What was found wrong.
type Wrong = Vec<(Rule, String)>;

/// A subscription and how far it is.
pub(super) struct Subscription<'a> {
    conversation: &'a Conversation,
    cursor: Option<(Option<Epoch>, u64, Option<String>)>,
    /// The log that it follows, once it began.
    follows: Option<Following<'a>>,
    pieces: Pieces,
}

struct Following<'a> {
    epoch: Epoch,
    events: Vec<ChainedEvent<'a>>,
    last: u64,
}

impl<'a> Subscription<'a> {
    /// A client asks for it.
    pub(super) fn asked(conversation: &'a Conversation, subscribe: &Subscribe) -> Self {
        let hash = subscribe.chain_hash.as_ref().map(ToString::to_string);
        Self {
            conversation,
            cursor: subscribe.seq.map(|seq| (subscribe.epoch, seq.0, hash)),
            follows: None,
            pieces: Pieces::default(),
        }
    }

    fn life(&self, epoch: Epoch) -> Option<&'a Life> {
        let mut lives = self.conversation.lives.iter();
        lives.find(|life| life.epoch() == Some(epoch))
    }

    /// The host says where it begins.
    pub(super) fn begin(&mut self, begins: &Subscribed) -> Wrong {
        let Some(life) = self.life(begins.epoch) else {
            return vec![(Rule::WrongEpoch, format!("epoch {}", begins.epoch))];
        };
        let events = life.events();
        let mut wrong = Vec::new();
        let mut last = 0;
        if let Some((epoch, seq, hash)) = self.cursor.take() {
            let good = is_good(&events, begins.epoch, epoch, seq, hash.as_deref());
            match (good, begins.fresh) {
                (true, true) => wrong.push((Rule::CursorRefused, format!("cursor {seq}"))),
                (false, false) => wrong.push((Rule::CursorAccepted, format!("cursor {seq}"))),
                (true, false) | (false, true) => {}
            }
            if !begins.fresh {
                last = seq;
            }
        }
        if begins.head_seq.0 > events.len() as u64 {
            wrong.push((Rule::Invented, format!("a head of {}", begins.head_seq)));
        }
        self.follows = Some(Following {
            epoch: begins.epoch,
            events,
            last,
        });
        wrong
    }

    /// An event arrives.
    pub(super) fn event(&mut self, event: &HostEvent) -> Wrong {
        let Some(following) = &mut self.follows else {
            return vec![(
                Rule::Foreign,
                format!("{}: an event before the beginning", event.session_id),
            )];
        };
        let mut wrong = Vec::new();
        match (event.seq, event.event.is_passing()) {
            (Some(seq), false) => following.numbered(event, seq.0, &mut wrong),
            (None, true) => {}
            (Some(_), true) | (None, false) => {
                wrong.push((Rule::Misnumbered, event.event.kind().to_owned()));
            }
        }
        if let Some(detail) = self.pieces.take(&event.event) {
            wrong.push((Rule::TextTorn, detail));
        }
        wrong
    }

    /// The replay is over.
    pub(super) fn snapshot(&mut self, snapshot: &Snapshot) -> Wrong {
        let Some(following) = &self.follows else {
            return Vec::new();
        };
        let here = snapshot.seq.0 == following.last && snapshot.epoch == following.epoch;
        let mut wrong = Vec::new();
        if !here {
            let detail = format!("{} after {}", snapshot.seq, following.last);
            wrong.push((Rule::SnapshotElsewhere, detail));
        }
        let hash = snapshot.chain_hash.as_ref().map(ToString::to_string);
        let event = index(snapshot.seq.0).and_then(|at| following.events.get(at));
        if let (Some(hash), Some(event)) = (hash, event)
            && hash != event.chain_hash
        {
            wrong.push((Rule::WrongHash, format!("snapshot at {}", snapshot.seq)));
        }
        self.pieces.begin();
        if let Some(text) = &snapshot.status.partial_text {
            self.pieces.begin_with(text);
        }
        wrong
    }

    /// What has not arrived though everything is at rest.
    pub(super) fn missing(&self) -> Option<(Rule, String)> {
        let id = &self.conversation.id;
        let Some(following) = &self.follows else {
            return Some((Rule::Behind, format!("{id}: never began")));
        };
        let newest = self.conversation.newest()?;
        let head = newest.events().len() as u64;
        let same = newest.epoch() == Some(following.epoch);
        (!same || following.last < head).then(|| {
            let detail = format!("{id}: {} of {head}", following.last);
            (Rule::Behind, detail)
        })
    }
}

impl Following<'_> {
    fn numbered(&mut self, event: &HostEvent, seq: u64, wrong: &mut Wrong) {
        let last = self.last;
        if event.epoch != Some(self.epoch) {
            wrong.push((Rule::WrongEpoch, format!("{seq} of {:?}", event.epoch)));
            return;
        }
        if seq > last + 1 {
            wrong.push((Rule::Gap, format!("{seq} after {last}")));
        } else if seq <= last {
            wrong.push((Rule::Repeated, format!("{seq} after {last}")));
        }
        self.last = seq.max(last);
        let Some(logged) = index(seq).and_then(|at| self.events.get(at)) else {
            wrong.push((Rule::Invented, format!("{seq}")));
            return;
        };
        if *logged.event != event.event {
            let detail = format!("{seq}: {:?} instead of {:?}", event.event, logged.event);
            wrong.push((Rule::Changed, detail));
        }
        let hash = event.chain_hash.as_ref().map(ToString::to_string);
        if hash.as_ref() != Some(&logged.chain_hash) {
            wrong.push((Rule::WrongHash, format!("{seq}: {hash:?}")));
        }
    }
}

/// Whether a cursor names a place in this log.
fn is_good(
    events: &[ChainedEvent<'_>],
    epoch: Epoch,
    claimed: Option<Epoch>,
    seq: u64,
    hash: Option<&str>,
) -> bool {
    if claimed.is_some_and(|claimed| claimed != epoch) || seq > events.len() as u64 {
        return false;
    }
    let Some(event) = index(seq).and_then(|at| events.get(at)) else {
        // Number 0 is the place before the first.
        return seq == 0;
    };
    hash.is_none_or(|hash| hash == event.chain_hash)
}

/// The place of an event in the list.
fn index(seq: u64) -> Option<usize> {
    usize::try_from(seq.checked_sub(1)?).ok()
}
