//! What a conversation is at, derived from the facts.

use estelle_proto::Timestamp;
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::ipc::ProcessStatus;

use super::record::{RunExit, StopReason};
use super::{Conversation, Pending};
use crate::decisions::DecisionKey;
use crate::idle::Occupation;

/// What keeps a conversation from being idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupied {
    /// Since when a turn is open.
    pub turn: Option<Timestamp>,
    /// Messages that are on their way.
    pub messages: usize,
    /// Decisions that wait for people.
    pub decisions: usize,
    /// Calls that have not come back.
    pub tools: usize,
    /// Background tasks that go on.
    pub tasks: usize,
}

impl Conversation {
    /// The coarse state.
    pub fn status(&self) -> ConversationStatus {
        if self.shown().next().is_some() {
            return ConversationStatus::Permission;
        }
        if self.is_turn_open() || !self.tasks.is_empty() {
            return ConversationStatus::Working;
        }
        ConversationStatus::Idle
    }

    /// A turn runs, or a message is on its way to begin one.
    pub fn is_turn_open(&self) -> bool {
        self.turn.is_some() || self.messages.is_any_active()
    }

    /// A person broke off what goes on, and it has not ended yet.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.is_some()
    }

    /// What goes on.
    pub fn occupied(&self) -> Occupied {
        Occupied {
            turn: self.turn,
            messages: self.messages.tracked().len(),
            decisions: self.pending.len(),
            tools: self.tools.len(),
            tasks: self.tasks.len(),
        }
    }

    /// Whether the process may be stopped for doing nothing.
    pub fn occupation(&self) -> Occupation {
        // The process does not wait for what the host itself asks.
        let mut asked = self.pending.keys().map(|key| key.generation);
        let is_asking = asked.any(|generation| generation != super::fold::HOST);
        let is_idle = !self.is_turn_open() && !is_asking && self.tasks.is_empty();
        if is_idle {
            Occupation::Idle
        } else {
            Occupation::Busy
        }
    }

    /// Decisions that wait for people, oldest first.
    pub fn shown(&self) -> impl Iterator<Item = (&DecisionKey, &Pending)> {
        let mut shown: Vec<_> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.shown.is_some())
            .collect();
        shown.sort_by_key(|(_, pending)| pending.at);
        shown.into_iter()
    }

    /// How the process is; none if there never was one.
    pub fn process(&self) -> Option<ProcessStatus> {
        let Some(run) = &self.run else {
            let ended = self.ended.as_ref()?;
            return Some(match (&ended.why, &ended.exit) {
                (Some(StopReason::Tampered { .. }), _) => ProcessStatus::Error,
                (Some(_), _) => ProcessStatus::Stopped,
                (None, RunExit::Code { code: 0, .. }) => ProcessStatus::Completed,
                (None, _) => ProcessStatus::Error,
            });
        };
        if !run.is_ready() {
            return Some(ProcessStatus::Initializing);
        }
        Some(match self.status() {
            ConversationStatus::Working => ProcessStatus::Running,
            ConversationStatus::Idle
            | ConversationStatus::Permission
            | ConversationStatus::Unknown(_) => ProcessStatus::WaitingInput,
        })
    }
}
