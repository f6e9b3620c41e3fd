//! What a stretch of the journal means to a conversation.
//!
//! Nothing that the CLI prints is believed when it contradicts what we wrote: an answer that we did not give, or a reply
//! to something that we did not ask, came from somebody else who can reach the CLI's input.

use std::collections::BTreeSet;

use estelle_proto::decisions::DecisionState;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::{ProcessResumed, SessionReset};
use estelle_proto::{ClaudeSessionId, Generation, Timestamp};

use super::Conversation;
use super::record::{Durable, Entry, MessageId, Record, Seen, Stretch};
use crate::decisions::DecisionKey;

/// Something in the journal that we did not cause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Suspicion {
    /// An answer that we never gave.
    #[error("an answer to {request_id} that nobody gave")]
    Answer {
        /// The request it claims to answer.
        request_id: String,
    },
    /// A reply to a control request that we never sent.
    #[error("a control request {request_id} that was not ours")]
    Control {
        /// Its id.
        request_id: String,
    },
    /// A message that nobody sent.
    #[error("a user message {} that nobody sent", .message.0)]
    Message {
        /// Its id.
        message: MessageId,
    },
    /// The CLI's own permission mode went where we never put it.
    #[error("the permission mode {mode}, which nobody set")]
    Mode {
        /// The mode.
        mode: String,
    },
}

impl Conversation {
    /// Takes in a stretch. `digest` computes the digest of an answer of ours.
    pub fn read(
        &mut self,
        at: Timestamp,
        mut stretch: Stretch,
        events: Vec<Durable>,
        digest: impl Fn(&str) -> String,
    ) -> (Entry, Option<Suspicion>) {
        let suspicion = self.suspect(&stretch, digest);
        if !self.may_fail_to_resume() {
            stretch.seen.retain(|seen| *seen != Seen::ResumeFailed);
        }
        let mut events = self.without_noise(&stretch, events);
        events.extend(self.withdrawn(&stretch, &events));
        events.extend(self.resumed(&stretch).map(Durable::from));
        // Before what the new session says of itself.
        events.splice(0..0, self.cleared(&stretch).map(Durable::from));
        let entry = self.commit(at, Record::Read(stretch), events);
        (entry, suspicion)
    }

    /// Whether the run can still say that the session it was to take up is not there. Once a turn has begun, the words are
    /// only those of an error, and believing them would cost the history.
    pub fn may_fail_to_resume(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| run.resume.is_some() && !run.had_turn)
    }

    fn suspect(&self, stretch: &Stretch, digest: impl Fn(&str) -> String) -> Option<Suspicion> {
        let run = self.run.as_ref();
        // The log does not know all that we sent before.
        let is_forgiven = run.is_some_and(|run| stretch.from < run.forgiven_to);
        stretch
            .seen
            .iter()
            .filter(|seen| !is_forgiven || matches!(seen, Seen::Mode { .. }))
            .find_map(|seen| self.suspect_one(seen, stretch.generation, &digest))
    }

    fn suspect_one(
        &self,
        seen: &Seen,
        generation: Generation,
        digest: impl Fn(&str) -> String,
    ) -> Option<Suspicion> {
        match seen {
            Seen::Response {
                request_id,
                digest: found,
                ..
            } => self.suspect_response(generation, request_id, found, digest),
            Seen::Taken { message } => {
                let is_ours = self.messages.may_appear(message, generation);
                (!is_ours).then(|| Suspicion::Message {
                    message: message.clone(),
                })
            }
            // Planning begins and ends by tools of the CLI that people are asked about.
            Seen::Mode { mode } => {
                let is_ours = matches!(mode.as_str(), "default" | "plan");
                (!is_ours).then(|| Suspicion::Mode { mode: mode.clone() })
            }
            Seen::TurnBegan { .. }
            | Seen::TurnEnded { .. }
            | Seen::Dropped { .. }
            | Seen::Asked(_)
            | Seen::Withdrew { .. }
            | Seen::Called { .. }
            | Seen::Unknown { .. }
            | Seen::ResumeFailed => None,
        }
    }

    fn suspect_response(
        &self,
        generation: Generation,
        request_id: &str,
        found: &str,
        digest: impl Fn(&str) -> String,
    ) -> Option<Suspicion> {
        let run = self.run.as_ref()?;
        if run.awaits_reply(request_id) {
            return None;
        }
        let is_as_given = |line: &str| digest(line) == found;
        let (was_asked, is_ours) =
            if let Some(decision) = self.ledger.asked_as(generation, request_id) {
                // Nothing comes of an answer to what is over, and its line is no longer known.
                let answer = decision.answer.as_ref();
                let is_ours =
                    answer.is_some_and(|answer| decision.is_over() || is_as_given(&answer.line));
                (true, is_ours)
            } else if let Some(call) = run.calls.get(request_id) {
                let is_ours = call.answer.as_deref().is_some_and(is_as_given);
                (true, call.delivered || is_ours)
            } else {
                (false, run.refused.contains_key(request_id))
            };
        let request_id = request_id.to_owned();
        match (is_ours, was_asked) {
            (true, _) => None,
            (false, true) => Some(Suspicion::Answer { request_id }),
            (false, false) => Some(Suspicion::Control { request_id }),
        }
    }

    /// An error that only says that we broke the turn off is none, and neither is that of a session that is begun afresh.
    fn without_noise(&self, stretch: &Stretch, mut events: Vec<Durable>) -> Vec<Durable> {
        let resume_failed = stretch.seen.contains(&Seen::ResumeFailed);
        if self.interrupted.is_some() {
            events.retain(|durable| !matches!(durable.event, ClaudeEvent::Error(_)));
        }
        if resume_failed {
            events.retain(|durable| {
                !matches!(
                    durable.event,
                    ClaudeEvent::Error(_) | ClaudeEvent::Result(_)
                )
            });
        }
        events
    }

    /// Questions that the CLI takes back, or whose call came back without us, disappear from people's screens.
    fn withdrawn(&self, stretch: &Stretch, events: &[Durable]) -> Vec<Durable> {
        let taken_back = stretch.seen.iter().filter_map(|seen| match seen {
            Seen::Withdrew { request_id } => self.key_of(stretch.generation, request_id),
            Seen::TurnBegan { .. }
            | Seen::TurnEnded { .. }
            | Seen::Taken { .. }
            | Seen::Dropped { .. }
            | Seen::Asked(_)
            | Seen::Response { .. }
            | Seen::Called { .. }
            | Seen::Unknown { .. }
            | Seen::Mode { .. }
            | Seen::ResumeFailed => None,
        });
        let came_back = events.iter().filter_map(|durable| {
            let ClaudeEvent::ToolComplete(tool) = &durable.event else {
                return None;
            };
            self.key_about(tool.tool_use_id.as_ref()?)
        });
        let gone: BTreeSet<_> = taken_back.chain(came_back).collect();
        let is_shown = |key: &DecisionKey| {
            let pending = self.pending.get(key);
            pending.is_some_and(|pending| pending.shown.is_some())
        };
        gone.into_iter()
            .filter(is_shown)
            .map(|key| Self::voided(&key, DecisionState::Settled).into())
            .collect()
    }

    /// A session that takes the place of another within a process: the agent's own `/clear`.
    pub(super) fn is_cleared_by(&self, session: &ClaudeSessionId) -> bool {
        let had_turn = self.run.as_ref().is_some_and(|run| run.had_turn);
        had_turn && self.session.as_ref().is_some_and(|now| now != session)
    }

    fn cleared(&self, stretch: &Stretch) -> Option<ClaudeEvent> {
        let is_cleared = |seen: &Seen| match seen {
            Seen::TurnBegan { session } => self.is_cleared_by(session),
            Seen::TurnEnded { .. }
            | Seen::Taken { .. }
            | Seen::Dropped { .. }
            | Seen::Asked(_)
            | Seen::Withdrew { .. }
            | Seen::Response { .. }
            | Seen::Called { .. }
            | Seen::Unknown { .. }
            | Seen::Mode { .. }
            | Seen::ResumeFailed => false,
        };
        let reset = || ClaudeEvent::SessionReset(SessionReset::new("clear".to_owned()));
        stretch.seen.iter().any(is_cleared).then(reset)
    }

    /// A run that follows another, or that a person asked for, says whether the conversation went on.
    fn resumed(&self, stretch: &Stretch) -> Option<ClaudeEvent> {
        let run = self.run.as_ref()?;
        let before = run.history;
        let mut known = stretch
            .seen
            .iter()
            .filter_map(|seen| self.history_after(seen));
        let with_history = known.next().filter(|known| Some(*known) != before)?;
        let resumed = || ClaudeEvent::Resumed(ProcessResumed::new(with_history));
        (self.talked || run.wanted).then(resumed)
    }

    /// Whether the run knows what was said before it, if this says so: by the session of its first turn. One that has
    /// nothing to do begins none; that it answers at all is then as much as can be known, for a session that does not
    /// exist is refused before that.
    pub(super) fn history_after(&self, seen: &Seen) -> Option<bool> {
        let run = self.run.as_ref().filter(|run| !run.had_turn)?;
        match seen {
            Seen::TurnBegan { session } => {
                Some(run.resume.as_ref() == Some(session) && !run.resume_failed)
            }
            Seen::Response { request_id, .. } => {
                let is_greeting = !run.greeted && run.greeting.as_ref() == Some(request_id);
                let has_work = self.messages.is_any_to_begin();
                (is_greeting && !has_work).then_some(run.resume.is_some() && !run.resume_failed)
            }
            Seen::TurnEnded { .. }
            | Seen::Taken { .. }
            | Seen::Dropped { .. }
            | Seen::Asked(_)
            | Seen::Withdrew { .. }
            | Seen::Called { .. }
            | Seen::Unknown { .. }
            | Seen::Mode { .. }
            | Seen::ResumeFailed => None,
        }
    }
}
