//! What the people of a round tell the nemesis, and what it tells them.
//!
//! Progress is what counts here: who is served, what was taken, answered and finished. A try that failed is none, so a
//! round in which everybody tries for ever is one that hangs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What people are to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Write messages, answer prompts.
    Writing,
    /// Write no more, but see to it that everything comes to an end.
    Finishing,
    /// Leave.
    Over,
}

/// Counts of what people did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Done {
    /// Messages that were acknowledged.
    pub(super) messages: usize,
    /// Turns whose end was seen.
    pub(super) turns: usize,
    /// Decisions that somebody answered first.
    pub(super) answers: usize,
    /// Answers that came too late, because somebody else was first or the call was gone.
    pub(super) late: usize,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    people: Vec<One>,
    done: Done,
    absences: Vec<Absence>,
    /// When the nemesis last did something, or what it did was over.
    disturbed_at: Instant,
    progress: u64,
}

/// A time for which somebody was not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Absence {
    /// In all: it may hold several faults, one upon the other.
    pub(super) whole: Duration,
    /// Since the last of them was over.
    pub(super) healed: Duration,
}

/// One person.
#[derive(Debug, Clone, Default)]
struct One {
    served: bool,
    busy: bool,
    doing: String,
    /// It is to lose its connection.
    drop: bool,
}

/// What everybody can see.
#[derive(Debug)]
pub(super) struct Board {
    state: Mutex<State>,
}

impl Board {
    pub(super) fn new(people: usize) -> Self {
        Self {
            state: Mutex::new(State {
                phase: Phase::Writing,
                people: vec![One::default(); people],
                done: Done::default(),
                absences: Vec::new(),
                disturbed_at: Instant::now(),
                progress: 0,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn phase(&self) -> Phase {
        self.state().phase
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.state().phase = phase;
    }

    /// The nemesis does something, or what it did is over.
    pub(super) fn disturbed(&self) {
        self.state().disturbed_at = Instant::now();
    }

    /// Somebody is served again, or no longer; and since when it was not.
    pub(super) fn served(&self, who: usize, served: bool, away: Option<Instant>) {
        let mut state = self.state();
        if state.people[who].served != served {
            state.people[who].served = served;
            state.progress += u64::from(served);
        }
        let disturbed_at = state.disturbed_at;
        state.absences.extend(away.map(|since| Absence {
            whole: since.elapsed(),
            healed: since.max(disturbed_at).elapsed(),
        }));
    }

    pub(super) fn doing(&self, who: usize, busy: bool, what: &str) {
        let one = &mut self.state().people[who];
        one.busy = busy;
        what.clone_into(&mut one.doing);
    }

    /// Somebody wants to write; tells whether that is still wanted. Whoever may is busy from then on.
    pub(super) fn may_write(&self, who: usize) -> bool {
        let mut state = self.state();
        let may = state.phase == Phase::Writing;
        state.people[who].busy |= may;
        may
    }

    /// Something was brought about.
    pub(super) fn achieved(&self, what: impl FnOnce(&mut Done)) {
        let mut state = self.state();
        what(&mut state.done);
        state.progress += 1;
    }

    pub(super) fn drop_app(&self, who: usize) {
        self.state().people[who].drop = true;
    }

    pub(super) fn is_dropped(&self, who: usize) -> bool {
        std::mem::take(&mut self.state().people[who].drop)
    }

    pub(super) fn people(&self) -> usize {
        self.state().people.len()
    }

    pub(super) fn all_served(&self) -> bool {
        self.state().people.iter().all(|one| one.served)
    }

    pub(super) fn all_idle(&self) -> bool {
        self.state()
            .people
            .iter()
            .all(|one| one.served && !one.busy)
    }

    pub(super) fn progress(&self) -> u64 {
        self.state().progress
    }

    pub(super) fn done(&self) -> Done {
        self.state().done
    }

    pub(super) fn absences(&self) -> Vec<Absence> {
        self.state().absences.clone()
    }

    /// What everybody does, for a person who looks for what hangs.
    pub(super) fn tell(&self) -> String {
        let state = self.state();
        let lines = state.people.iter().enumerate().map(|(number, one)| {
            let served = if one.served { "served" } else { "not served" };
            format!("person {number}, {served}: {}", one.doing)
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absence_counts_from_its_loss_and_from_the_last_fault() {
        let board = Board::new(1);
        let long = Duration::from_mins(1);
        let Some(since) = Instant::now().checked_sub(long) else {
            return;
        };
        board.served(0, true, Some(since));
        board.disturbed();
        board.served(0, true, Some(since));
        for absence in board.absences() {
            assert!(absence.whole >= long && absence.healed < long);
        }
    }
}
