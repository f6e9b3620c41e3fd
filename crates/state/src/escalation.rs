//! What happens to a turn or a process that does not end by itself: how hard it is pushed, and when.
//!
//! A turn that was told to end and does not costs its process. A process is asked to end, then told, then killed, and
//! killed again for as long as it is there. Asking again never gives it more time.
//!
//! Times are durations since any moment of the shell's choice; signals and clocks are the shell's. What was asked for
//! is in the log of the conversation, so a host that died in between goes on from there.

use std::time::Duration;

/// A process that was asked to end has this part of the grace before it is told.
const ASKING_PART: u32 = 4;

/// How long to wait before looking whether a killed process is gone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Push {
    /// The turn did not end: its process must.
    EndProcess,
    /// Tell the process to end.
    Terminate,
    /// Kill it.
    Kill,
}

/// The deadlines of a turn and of its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    grace: Duration,
    /// When the turn must have ended.
    turn: Option<Duration>,
    /// What is done to the process next, and when.
    process: Option<(Duration, Push)>,
}

impl Escalation {
    /// Nothing is to end. `grace` is what a turn gets, and what a process gets from being asked to being killed.
    pub fn new(grace: Duration) -> Self {
        Self {
            grace,
            turn: None,
            process: None,
        }
    }

    /// When to call [`Self::overdue`].
    pub fn wake_at(&self) -> Option<Duration> {
        let process = self.process.map(|(at, _)| at);
        self.turn.into_iter().chain(process).min()
    }

    /// A turn was told to end.
    pub fn interrupted(&mut self, now: Duration) {
        self.turn.get_or_insert(now + self.grace);
    }

    /// It did.
    pub fn turn_ended(&mut self) {
        self.turn = None;
    }

    /// A process was asked to end.
    pub fn asked(&mut self, now: Duration) {
        self.hurry(now + self.grace / ASKING_PART, Push::Terminate);
    }

    /// A process was told to end just now. It has the whole grace from here, unless it was to be killed sooner.
    pub fn told(&mut self, now: Duration) {
        let planned = self.process.map(|(at, push)| match push {
            Push::EndProcess | Push::Terminate => at + self.rest(),
            Push::Kill => at,
        });
        let whole = now + self.grace;
        let at = planned.map_or(whole, |planned| planned.min(whole));
        self.process = Some((at, Push::Kill));
    }

    /// A process was asked to end long ago, by somebody who is gone.
    pub fn go_on(&mut self, now: Duration) {
        self.hurry(now, Push::Terminate);
    }

    /// A process must not live.
    pub fn condemn(&mut self, now: Duration) {
        self.hurry(now, Push::Kill);
    }

    /// The process is gone, and its turn with it.
    pub fn gone(&mut self) {
        self.turn = None;
        self.process = None;
    }

    /// What is to be done now. Ask until there is nothing more.
    pub fn overdue(&mut self, now: Duration) -> Option<Push> {
        if self.turn.is_some_and(|at| at <= now) {
            self.turn = None;
            return Some(Push::EndProcess);
        }
        let (_, push) = self.process.filter(|(at, _)| *at <= now)?;
        let wait = match push {
            Push::EndProcess | Push::Terminate => self.rest(),
            Push::Kill => LOOK_AGAIN,
        };
        // A grace of nothing must not make the shell spin.
        let wait = wait.max(Duration::from_millis(1));
        self.process = Some((now + wait, Push::Kill));
        Some(push)
    }

    /// What is left of the grace for a process that was asked first and is told now.
    fn rest(&self) -> Duration {
        self.grace.saturating_sub(self.grace / ASKING_PART)
    }

    /// Sooner or harder than what was planned, never later or softer.
    fn hurry(&mut self, at: Duration, push: Push) {
        self.process = match self.process {
            Some((planned_at, planned)) if planned > push => Some((planned_at, planned)),
            Some((planned_at, _)) => Some((at.min(planned_at), push)),
            None => Some((at, push)),
        };
    }
}

#[cfg(test)]
#[path = "escalation_tests.rs"]
mod tests;
