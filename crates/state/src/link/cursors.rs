//! How far a subscriber is in each conversation, over any number of connections.
//!
//! ```text
//!            connected          subscribed            snapshot
//!   Waiting ───────────► Asked ────────────► Replaying ────────► Live
//!      ▲                   │ refused             │ gap             │ gap
//!      ├─────────────── Unknown                  ▼                 ▼
//!      └────────────────────────────────────── Waiting, at the cursor (or Stuck, when that does not help)
//! ```
//!
//! What the host sends is judged one by one: the next event is delivered, an older one is a duplicate, a later one
//! means that something is missing and the conversation is asked for again from the cursor. The cursor moves with each
//! delivery and with nothing else, so the shell may be cut off anywhere. Only [`MAX_REPLAYS`] conversations are asked
//! for at a time: a thousand of them must not come down at once.

use std::collections::{BTreeMap, VecDeque};

use estelle_proto::ipc::{HostEvent, Snapshot, Subscribe, Subscribed};
use estelle_proto::{ChainHash, ConversationId, Epoch, RequestId, Seq};

/// How many conversations are replayed at the same time.
pub const MAX_REPLAYS: usize = 16;

/// How often the same gap may come before the conversation is left alone until the next connection.
const MAX_GAPS: u32 = 3;

/// The last event a subscriber has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The epoch of its log.
    pub epoch: Epoch,
    /// Its number; 0 before the first.
    pub seq: Seq,
    /// The hash of the log up to it, if the host gave one.
    pub chain_hash: Option<ChainHash>,
}

/// What to do with something that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It is new and in order: hand it on.
    Deliver,
    /// Not for anybody.
    Ignore(Ignored),
}

/// Why something is not handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Nobody follows the conversation.
    Unfollowed,
    /// It belongs to an earlier subscription; the replay brings it again.
    Early,
    /// It was delivered before.
    Duplicate,
    /// Something is missing before it; the conversation is asked for again.
    Gap,
    /// Asking again did not help; the conversation rests until the next connection.
    Stuck,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    Waiting,
    Asked(Option<RequestId>),
    Replaying,
    Live,
    Unknown,
    Stuck,
}

impl Phase {
    fn is_replay(&self) -> bool {
        matches!(self, Self::Asked(_) | Self::Replaying)
    }
}

#[derive(Debug)]
struct Track {
    cursor: Option<Cursor>,
    phase: Phase,
    /// Gaps since the last delivery.
    gaps: u32,
}

impl Track {
    fn seq(&self) -> u64 {
        self.cursor.as_ref().map_or(0, |cursor| cursor.seq.0)
    }
}

/// All conversations that are followed over one link.
#[derive(Debug, Default)]
pub struct Cursors {
    tracks: BTreeMap<ConversationId, Track>,
    /// Those to ask for, in order. May name some that no longer wait.
    waiting: VecDeque<ConversationId>,
    replays: usize,
    asked: u64,
    is_connected: bool,
}

impl Cursors {
    /// Nothing is followed, nothing is connected.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows a conversation from a cursor; none means from its start. Following again goes back, or on, to the cursor.
    pub fn follow(&mut self, conversation: ConversationId, cursor: Option<Cursor>) {
        self.forget(&conversation);
        let track = Track {
            cursor,
            phase: Phase::Waiting,
            gaps: 0,
        };
        self.tracks.insert(conversation.clone(), track);
        self.waiting.push_back(conversation);
    }

    /// Follows a conversation no longer. Says whether the host has to be told.
    pub fn forget(&mut self, conversation: &ConversationId) -> bool {
        let Some(track) = self.tracks.remove(conversation) else {
            return false;
        };
        if track.phase.is_replay() {
            self.replays -= 1;
        }
        self.is_connected && !matches!(track.phase, Phase::Waiting | Phase::Unknown)
    }

    /// How far the conversation is.
    pub fn cursor(&self, conversation: &ConversationId) -> Option<&Cursor> {
        self.tracks.get(conversation)?.cursor.as_ref()
    }

    /// A new connection stands: everything has to be asked for.
    pub fn connected(&mut self) {
        self.lost();
        self.is_connected = true;
        self.waiting = self.tracks.keys().cloned().collect();
    }

    /// The connection is gone. The cursors stay.
    pub fn lost(&mut self) {
        self.is_connected = false;
        self.replays = 0;
        for track in self.tracks.values_mut() {
            track.phase = Phase::Waiting;
            track.gaps = 0;
        }
    }

    /// The subscriptions to send now. To be called after everything that went in.
    pub fn take_asks(&mut self) -> Vec<Subscribe> {
        let mut asks = Vec::new();
        while self.is_connected && self.replays < MAX_REPLAYS {
            let Some(conversation) = self.waiting.pop_front() else {
                break;
            };
            let Some(track) = self.tracks.get_mut(&conversation) else {
                continue;
            };
            if track.phase != Phase::Waiting {
                continue;
            }
            self.asked += 1;
            let request_id = RequestId::parse(&format!("subscribe-{}", self.asked)).ok();
            track.phase = Phase::Asked(request_id.clone());
            self.replays += 1;
            asks.push(subscribe(conversation, track.cursor.as_ref(), request_id));
        }
        asks
    }

    /// The host begins a subscription. When it says `fresh`, what was delivered before is void.
    pub fn subscribed(&mut self, answer: &Subscribed) -> Verdict {
        let Some(track) = self.tracks.get_mut(&answer.session_id) else {
            return Verdict::Ignore(Ignored::Unfollowed);
        };
        let Phase::Asked(request_id) = &track.phase else {
            return Verdict::Ignore(Ignored::Early);
        };
        // An older host may not repeat the id. One that does must mean this question, not one before it.
        if answer.request_id.is_some() && answer.request_id != *request_id {
            return Verdict::Ignore(Ignored::Early);
        }
        track.phase = Phase::Replaying;
        match &mut track.cursor {
            Some(cursor) if !answer.fresh => cursor.epoch = answer.epoch,
            cursor => {
                *cursor = Some(Cursor {
                    epoch: answer.epoch,
                    seq: Seq(0),
                    chain_hash: None,
                });
            }
        }
        Verdict::Deliver
    }

    /// An event came.
    pub fn event(&mut self, event: &HostEvent) -> Verdict {
        let Some(track) = self.tracks.get_mut(&event.session_id) else {
            return Verdict::Ignore(Ignored::Unfollowed);
        };
        if !matches!(track.phase, Phase::Replaying | Phase::Live) {
            return Verdict::Ignore(Ignored::Early);
        }
        let Some(seq) = event.seq else {
            return Verdict::Deliver;
        };
        let Some(cursor) = &mut track.cursor else {
            return self.gap(&event.session_id);
        };
        let is_other_log = event.epoch.is_some_and(|epoch| epoch != cursor.epoch);
        if is_other_log || seq.0 > cursor.seq.0.saturating_add(1) {
            return self.gap(&event.session_id);
        }
        if seq <= cursor.seq {
            // The same number with another hash: the host's log is no longer the one that was delivered.
            let (ours, theirs) = (&cursor.chain_hash, &event.chain_hash);
            let is_forked =
                seq == cursor.seq && ours.is_some() && theirs.is_some() && ours != theirs;
            return if is_forked {
                self.gap(&event.session_id)
            } else {
                Verdict::Ignore(Ignored::Duplicate)
            };
        }
        cursor.seq = seq;
        cursor.chain_hash.clone_from(&event.chain_hash);
        track.gaps = 0;
        Verdict::Deliver
    }

    /// A replay is over.
    pub fn snapshot(&mut self, snapshot: &Snapshot) -> Verdict {
        let Some(track) = self.tracks.get_mut(&snapshot.session_id) else {
            return Verdict::Ignore(Ignored::Unfollowed);
        };
        if !matches!(track.phase, Phase::Replaying | Phase::Live) {
            return Verdict::Ignore(Ignored::Early);
        }
        let epoch = track.cursor.as_ref().map(|cursor| cursor.epoch);
        if epoch != Some(snapshot.epoch) || snapshot.seq.0 > track.seq() {
            return self.gap(&snapshot.session_id);
        }
        if track.phase == Phase::Replaying {
            track.phase = Phase::Live;
            self.replays -= 1;
        }
        if snapshot.seq.0 < track.seq() {
            return Verdict::Ignore(Ignored::Duplicate);
        }
        Verdict::Deliver
    }

    /// The host refused a subscription, because it does not know the conversation (yet). Says whether it was one.
    pub fn refused(&mut self, request_id: &RequestId) -> bool {
        let is_asked = |phase: &Phase| matches!(phase, Phase::Asked(Some(id)) if id == request_id);
        let Some(track) = self
            .tracks
            .values_mut()
            .find(|track| is_asked(&track.phase))
        else {
            return false;
        };
        track.phase = Phase::Unknown;
        self.replays -= 1;
        true
    }

    /// The host knows the conversation: if it did not before, it is asked for.
    pub fn known(&mut self, conversation: &ConversationId) {
        if let Some(track) = self.tracks.get_mut(conversation)
            && track.phase == Phase::Unknown
        {
            track.phase = Phase::Waiting;
            self.waiting.push_back(conversation.clone());
        }
    }

    /// Something is missing: ask again from the cursor, unless that was tried often enough.
    fn gap(&mut self, conversation: &ConversationId) -> Verdict {
        let Some(track) = self.tracks.get_mut(conversation) else {
            return Verdict::Ignore(Ignored::Unfollowed);
        };
        if track.phase.is_replay() {
            self.replays -= 1;
        }
        track.gaps += 1;
        if track.gaps > MAX_GAPS {
            track.phase = Phase::Stuck;
            return Verdict::Ignore(Ignored::Stuck);
        }
        track.phase = Phase::Waiting;
        self.waiting.push_back(conversation.clone());
        Verdict::Ignore(Ignored::Gap)
    }
}

fn subscribe(
    conversation: ConversationId,
    cursor: Option<&Cursor>,
    request_id: Option<RequestId>,
) -> Subscribe {
    let mut ask = Subscribe::new(conversation);
    ask.request_id = request_id;
    // Before the first event there is nothing to prove.
    if let Some(cursor) = cursor.filter(|cursor| cursor.seq.0 > 0) {
        ask.epoch = Some(cursor.epoch);
        ask.seq = Some(cursor.seq);
        ask.chain_hash.clone_from(&cursor.chain_hash);
    }
    ask
}

#[cfg(test)]
#[path = "cursors_tests.rs"]
mod tests;
