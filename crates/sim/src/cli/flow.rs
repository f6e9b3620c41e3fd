//! Flows: what the CLI does in sequence, written as async functions that only this module polls.
//!
//! There is no runtime. A flow waits for a fact (an answer, a message, a moment); after every input the machine polls all
//! flows until none of them moves any more, so the result depends on the inputs alone. A wait inside a [`Scope`] ends with
//! the reason when the scope is aborted.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::state::{Abort, Scope, Sim, State};

/// How often a closed gate is looked at.
pub(crate) const GATE_POLL_MS: u64 = 2;

/// One sequence of deeds.
pub(crate) type Flow = Pin<Box<dyn Future<Output = ()>>>;

/// Polls every flow until none has anything left to do.
pub(crate) fn run(sim: &Sim, flows: &mut Vec<Flow>) {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let before = progress(sim, flows.len());
        sim.with(|state| state.wake = None);
        flows.retain_mut(|flow| flow.as_mut().poll(&mut context).is_pending());
        flows.append(&mut sim.with(|state| std::mem::take(&mut state.work.spawned)));
        if progress(sim, flows.len()) == before {
            return;
        }
    }
}

/// A number that changes whenever a flow did something another might wait for.
fn progress(sim: &Sim, flows: usize) -> (usize, u64, usize) {
    sim.with(|state| (state.effects.len(), state.work.deeds, flows))
}

impl Sim {
    /// Waits until a fact holds.
    pub(crate) async fn until<T>(&self, mut ready: impl FnMut(&mut State) -> Option<T>) -> T {
        let value = poll_fn(|_| match self.with(&mut ready) {
            Some(value) => Poll::Ready(value),
            None => Poll::Pending,
        })
        .await;
        self.with(|state| state.work.deeds += 1);
        value
    }

    /// Waits until a fact holds or the scope is aborted.
    pub(crate) async fn until_in<T>(
        &self,
        scope: Scope,
        mut ready: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T, Abort> {
        self.until(|state| match state.work.aborted.get(&scope) {
            Some(abort) => Some(Err(*abort)),
            None => ready(state).map(Ok),
        })
        .await
    }

    /// Waits some milliseconds, stretched or shortened by the time scale.
    pub(crate) async fn sleep_in(&self, scope: Scope, ms: u64) -> Result<(), Abort> {
        let due = self.now() + self.scaled(ms);
        self.until_in(scope, |state| {
            if state.now >= due {
                return Some(());
            }
            state.wake_at(due);
            None
        })
        .await
    }

    /// Waits until the next input or tick, so that what came in meanwhile is seen.
    pub(crate) async fn breathe(&self, scope: Scope) -> Result<(), Abort> {
        let step = self.with(|state| state.work.steps);
        self.until_in(scope, |state| {
            state.wake_at(state.now);
            (state.work.steps > step).then_some(())
        })
        .await
    }

    /// Waits until a gate of the script is open.
    pub(crate) async fn gate(&self, scope: Scope, name: &str) -> Result<(), Abort> {
        self.until_in(scope, |state| {
            if state.work.disk.gate_is_open(name) {
                return Some(());
            }
            state.wake_at(state.now + GATE_POLL_MS);
            None
        })
        .await
    }

    /// A duration after the time scale.
    pub(crate) fn scaled(&self, ms: u64) -> u64 {
        self.with(|state| state.scaled(ms))
    }
}
