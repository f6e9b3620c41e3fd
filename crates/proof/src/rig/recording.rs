//! What happened to a client, step by step, and waiting for the step that matters.
//!
//! A reader pushes while a story looks; every look begins at a place of the recording, so that nothing is missed between
//! two looks.

use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The steps so far.
#[derive(Debug)]
pub(super) struct Recording<S> {
    steps: Mutex<Vec<S>>,
    changed: watch::Sender<usize>,
}

impl<S> Default for Recording<S> {
    fn default() -> Self {
        Self {
            steps: Mutex::default(),
            changed: watch::Sender::new(0),
        }
    }
}

impl<S: Debug> Recording<S> {
    /// All steps; not to be held while waiting.
    pub(super) fn steps(&self) -> MutexGuard<'_, Vec<S>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something happened.
    pub(super) fn push(&self, step: S) {
        let count = {
            let mut steps = self.steps();
            steps.push(step);
            steps.len()
        };
        self.changed.send_replace(count);
    }

    /// Waits for a step from a place on.
    pub(super) async fn find<T>(&self, from: usize, mut fits: impl FnMut(&S) -> Option<T>) -> T {
        let mut next = from;
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if let Some(found) = self.look(&mut next, &mut fits) {
                return found;
            }
            // The sender is ours, so it is there.
            if changed.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn look<T>(&self, next: &mut usize, fits: &mut impl FnMut(&S) -> Option<T>) -> Option<T> {
        let steps = self.steps();
        while let Some(step) = steps.get(*next) {
            *next += 1;
            if let Some(found) = fits(step) {
                return Some(found);
            }
        }
        None
    }

    /// The last steps, for a person.
    pub(super) fn tail(&self) -> String {
        let steps = self.steps();
        let last: Vec<String> = steps
            .iter()
            .rev()
            .take(6)
            .rev()
            .map(|step| format!("{step:?}").chars().take(400).collect())
            .collect();
        last.join("\n")
    }
}
