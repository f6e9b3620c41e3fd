//! What must be done next, derived from what happened.
//!
//! Nothing here is remembered beside the log: a host that was killed folds its log and finds the same things due. The
//! shell does what is due, which leaves a record, which makes it due no longer.

use super::messages::Place;
use super::record::Message;
use super::{Call, Conversation, Run};
use crate::decisions::{Answered, DecisionKey};
use estelle_proto::decisions::DecisionState;

/// Something to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Due<'a> {
    /// A run is needed: somebody waits for an answer.
    Start,
    /// A request of the CLI waits for the policy.
    Judge(&'a DecisionKey),
    /// Somebody who waits wants the running turn to be broken off.
    Interrupt,
    /// A message can go to the CLI.
    Hand(&'a Message),
    /// One of our own tools is called.
    Call(&'a str, &'a Call),
    /// The host's own question was answered and is to be acted upon.
    Act(&'a DecisionKey),
}

/// A line that the CLI may not have yet. Writing it again does no harm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unconfirmed<'a> {
    /// A user message; the CLI runs an id once.
    Message(&'a Message),
    /// An answer to a request; the CLI takes the first.
    Answer(&'a Answered),
    /// The answer of one of our own tools.
    Result(&'a str, &'a str),
    /// The refusal of a request that we do not know, by its id and kind.
    Refusal(&'a str, &'a str),
}

impl Conversation {
    /// What to do next, if anything.
    pub fn due(&self) -> Option<Due<'_>> {
        if let Some(key) = self.to_act() {
            return Some(Due::Act(key));
        }
        if let Some(key) = self.to_judge() {
            return Some(Due::Judge(key));
        }
        let Some(run) = &self.run else {
            return self.is_run_needed().then_some(Due::Start);
        };
        if run.stopping.is_some() || run.process.is_none() {
            return None;
        }
        let call = run.calls.iter().find(|(_, call)| !call.begun);
        if let Some((id, call)) = call {
            return Some(Due::Call(id, call));
        }
        if self.interrupting().is_some() {
            return Some(Due::Interrupt);
        }
        self.next_message().map(Due::Hand)
    }

    /// Whether somebody waits for a run that is not there.
    pub fn is_run_needed(&self) -> bool {
        self.run.is_none() && (self.wanted || self.next_message().is_some())
    }

    /// The message that wants the open turn to be broken off.
    pub(super) fn interrupting(&self) -> Option<&Message> {
        let is_going_on = self.turn.is_some() && !self.is_interrupted();
        self.messages.interrupting().filter(|_| is_going_on)
    }

    /// A decision that nobody judged. A run that is being ended takes no answers.
    fn to_judge(&self) -> Option<&DecisionKey> {
        let is_open = self.run.as_ref().is_some_and(|run| run.stopping.is_none());
        let unjudged = self.pending.iter().find(|(key, pending)| {
            pending.shown.is_none() && (is_open || key.generation == super::fold::HOST)
        });
        unjudged.map(|(key, _)| key)
    }

    fn next_message(&self) -> Option<&Message> {
        self.messages.next(self.turn.is_some())
    }

    /// Questions of the host that were answered and not acted upon.
    fn to_act(&self) -> Option<&DecisionKey> {
        let answered = self.ledger.undelivered(super::fold::HOST);
        answered.first().map(|answer| &answer.key)
    }

    /// What the CLI of the current run may not have, in the order it was sent.
    pub fn unconfirmed(&self) -> Vec<Unconfirmed<'_>> {
        let run = self.run.as_ref();
        let Some(run) = run.filter(|run| run.process.is_some() && run.farewell.is_none()) else {
            return Vec::new();
        };
        let answers = self.ledger.undelivered(run.generation);
        let mut lines: Vec<_> = answers.into_iter().map(Unconfirmed::Answer).collect();
        lines.extend(
            run.refused
                .iter()
                .map(|(id, kind)| Unconfirmed::Refusal(id, kind)),
        );
        lines.extend(results(run));
        if run.stopping.is_none() {
            let handed = self.messages.tracked().iter();
            let handed = handed.filter(|one| one.place == Place::Handed(run.generation));
            lines.extend(handed.map(|one| Unconfirmed::Message(&one.message)));
        }
        lines
    }

    /// Calls of our own tools that were begun and have no answer, by the CLI's request id.
    pub fn open_calls(&self) -> impl Iterator<Item = (&str, &Call)> {
        let calls = self.run.iter().flat_map(|run| &run.calls);
        calls
            .filter(|(_, call)| call.begun && call.answer.is_none())
            .map(|(id, call)| (id.as_str(), call))
    }

    /// How far the answer to a decision is.
    pub fn decision_state(&self, key: &DecisionKey) -> Option<DecisionState> {
        self.ledger.get(key).map(crate::decisions::Decision::state)
    }
}

fn results(run: &Run) -> impl Iterator<Item = Unconfirmed<'_>> {
    run.calls.iter().filter_map(|(id, call)| {
        let answer = call.answer.as_deref().filter(|_| !call.delivered)?;
        Some(Unconfirmed::Result(id, answer))
    })
}
