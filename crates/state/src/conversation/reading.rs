//! What a stretch of the journal means to a conversation.
//!
//! Nothing that the CLI prints is believed when it contradicts what we wrote: an answer that we did not give, or a reply
//! to something that we did not ask, came from somebody else who can reach the CLI's input.

use estelle_proto::decisions::DecisionState;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::ProcessResumed;
use estelle_proto::{Generation, Timestamp};

use super::Conversation;
use super::record::{Durable, Entry, MessageId, Record, Seen, Stretch};

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
        stretch: Stretch,
        events: Vec<Durable>,
        digest: impl Fn(&str) -> String,
    ) -> (Entry, Option<Suspicion>) {
        let suspicion = self.suspect(&stretch, digest);
        let mut events = self.without_noise(&stretch, events);
        events.extend(self.withdrawn(&stretch).map(Durable::from));
        events.extend(self.resumed(&stretch).map(Durable::from));
        let entry = self.commit(at, Record::Read(stretch), events);
        (entry, suspicion)
    }

    fn suspect(&self, stretch: &Stretch, digest: impl Fn(&str) -> String) -> Option<Suspicion> {
        stretch
            .seen
            .iter()
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
                let is_ours = self.messages.seq_of(message).is_some();
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
        if run.controls.contains_key(request_id) || run.replied.contains(request_id) {
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
                (true, call.answer.as_deref().is_some_and(is_as_given))
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
        if self.interrupted {
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

    /// Questions that the CLI takes back disappear from people's screens.
    fn withdrawn(&self, stretch: &Stretch) -> impl Iterator<Item = ClaudeEvent> {
        let keys: Vec<_> = stretch
            .seen
            .iter()
            .filter_map(|seen| {
                let Seen::Withdrew { request_id } = seen else {
                    return None;
                };
                self.key_of(stretch.generation, request_id)
            })
            .filter(|key| self.pending.get(key).is_some_and(|one| one.shown.is_some()))
            .collect();
        keys.into_iter()
            .map(|key| Self::voided(&key, DecisionState::Settled))
    }

    /// The first turn of a run that follows another says whether the conversation went on.
    fn resumed(&self, stretch: &Stretch) -> Option<ClaudeEvent> {
        let run = self.run.as_ref().filter(|run| !run.is_ready())?;
        let has_begun = stretch.seen.iter().any(|seen| match seen {
            Seen::TurnBegan { .. } => true,
            Seen::Response { request_id, .. } => run.greeting.as_ref() == Some(request_id),
            Seen::TurnEnded { .. }
            | Seen::Taken { .. }
            | Seen::Dropped { .. }
            | Seen::Asked(_)
            | Seen::Withdrew { .. }
            | Seen::Called { .. }
            | Seen::Unknown { .. }
            | Seen::Mode { .. }
            | Seen::ResumeFailed => false,
        });
        // A fork has a new id and the old conversation.
        let with_history = run.resume.is_some() && !run.resume_failed;
        (has_begun && self.talked).then(|| ClaudeEvent::Resumed(ProcessResumed::new(with_history)))
    }
}
