//! Going back to before a message: what came after it is taken back, and stays in the log.
//!
//! A rewind is a record with an event like any other. From then on the session is a copy that ends before the message, so
//! that the next run knows nothing of what was taken back. Which events that are is folded from the events themselves,
//! because a copied conversation has them too. Copying the session and ending the process is for the shell.

use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::Rewound;
use estelle_proto::{ClaudeSessionId, DeviceId, Seq, Timestamp};

use super::Conversation;
use super::record::{Entry, Record};
use crate::idle::Occupation;

/// Why a conversation is not rewound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefuseRewind {
    /// Something goes on that would be cut in two.
    #[error("the agent works, or messages wait for it; stop it first, then rewind")]
    Busy,
    /// The message itself is not part of the conversation any more.
    #[error("this message was taken back already; choose one that was not, or fork from this one")]
    TakenBack,
}

/// What is to be done for a rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewind {
    /// All of it.
    Due,
    /// Nothing: the conversation stands where it would be brought to.
    Done,
}

/// The events that were taken back. Stretches are disjoint and in order: a later rewind swallows those it goes behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TakenBack {
    stretches: Vec<(Seq, Seq)>,
    /// The newest message of a person.
    newest: Option<Seq>,
}

impl TakenBack {
    pub(super) fn said(&mut self, seq: Seq) {
        self.newest = Some(seq);
    }

    pub(super) fn take(&mut self, from: Seq, to: Seq) {
        self.stretches.retain(|(start, _)| *start < from);
        self.stretches.push((from, to));
    }

    fn has(&self, seq: Seq) -> bool {
        let holds = |(from, to): &(Seq, Seq)| (*from..*to).contains(&seq);
        self.stretches.iter().any(holds)
    }

    /// Whether nobody has said anything since the conversation was brought to before this message.
    fn ends_before(&self, seq: Seq) -> bool {
        let last = self.stretches.last();
        last.is_some_and(|(from, to)| *from == seq && self.newest < Some(*to))
    }
}

impl Conversation {
    /// Whether the conversation can go on from before a message, as it is now.
    pub fn may_rewind(&self, before: Seq) -> Result<Rewind, RefuseRewind> {
        if self.taken_back.ends_before(before) {
            return Ok(Rewind::Done);
        }
        if self.taken_back.has(before) {
            return Err(RefuseRewind::TakenBack);
        }
        if !self.is_at_rest() {
            return Err(RefuseRewind::Busy);
        }
        Ok(Rewind::Due)
    }

    /// Whether nothing goes on in it, waits in it or is asked in it. It may have a process that is idle.
    pub fn is_at_rest(&self) -> bool {
        let is_busy = self.occupation() == Occupation::Busy
            || !self.messages.tracked().is_empty()
            || !self.pending.is_empty()
            || self.wanted;
        !is_busy
    }

    /// The conversation goes on from before a message, with this session. Nothing if it stands there. Refused while there
    /// is a run, which must be ended for it.
    pub fn rewind(
        &mut self,
        at: Timestamp,
        before: Seq,
        session: Option<ClaudeSessionId>,
        by: Option<DeviceId>,
    ) -> Result<Option<Entry>, RefuseRewind> {
        match self.may_rewind(before)? {
            Rewind::Done => return Ok(None),
            Rewind::Due if self.run.is_some() => return Err(RefuseRewind::Busy),
            Rewind::Due => {}
        }
        let event = ClaudeEvent::Rewound(Rewound {
            device_id: by,
            ..Rewound::new(before)
        });
        let record = Record::Rewound { before, session };
        Ok(Some(self.commit(at, record, vec![event.into()])))
    }

    /// Whether something was ever taken back.
    pub fn was_rewound(&self) -> bool {
        !self.taken_back.stretches.is_empty()
    }
}
