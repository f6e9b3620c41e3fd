//! The survival matrix: what dies, when, and what must be there afterwards.
//!
//! Each [`Row`] is one story with real processes; whatever happens in it, the checker must find nothing wrong when all
//! has come to rest. Tests run every row, and the page `docs/survival.md` is made of the same rows.

mod apps;
mod clients;
mod disk;
mod endings;
mod failpoints;
mod hazards;
mod held;
mod hosts;
mod operations;
mod page;
mod scene;

use std::time::Duration;

use anyhow::bail;
use futures_util::future::BoxFuture;

pub use failpoints::{Death, dies_at_place, places};
pub use operations::{OPERATIONS, Operation};
pub use page::{Cell, Page};
pub use scene::Scene;

use crate::checker::{Violation, check};
use crate::history::{End, Fact, History};
use crate::rig::Agent;

/// One story.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its name, for tests.
    pub name: &'static str,
    /// What dies.
    pub what: &'static str,
    /// When.
    pub when: &'static str,
    /// What is there afterwards, in words.
    pub then: &'static str,
    /// Whether it is one of those that are also played with the real CLIs.
    pub real: bool,
    story: for<'a> fn(&'a mut Scene) -> BoxFuture<'a, anyhow::Result<()>>,
}

/// What a story left, in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Durable events in the logs.
    pub events: usize,
    /// Decisions that the CLI asked for.
    pub asked: usize,
    /// Tools that ran.
    pub ran: usize,
    /// Processes of the CLI.
    pub processes: usize,
    /// Rows of history in the Pylon.
    pub rows: usize,
    /// How long it took until apps had live text again, in milliseconds, if that was measured.
    pub resumed_ms: Option<u128>,
}

/// All rows.
pub fn rows() -> Vec<Row> {
    [
        hosts::ROWS,
        failpoints::ROWS,
        operations::ROWS,
        held::ROWS,
        endings::ROWS,
        hazards::ROWS,
        clients::ROWS,
        disk::ROWS,
        apps::ROWS,
    ]
    .concat()
}

impl Row {
    /// Plays the story; fails if it cannot go on or if a promise was broken.
    pub async fn play(&self, agent: &Agent) -> anyhow::Result<Figures> {
        let (history, resumed) = self.play_out(agent).await?;
        Ok(Figures {
            resumed_ms: resumed.map(|time| time.as_millis()),
            ..figures(&history)
        })
    }

    /// The same, with everything that was recorded.
    pub async fn record(&self, agent: &Agent) -> anyhow::Result<History> {
        Ok(self.play_out(agent).await?.0)
    }

    async fn play_out(&self, agent: &Agent) -> anyhow::Result<(History, Option<Duration>)> {
        let mut scene = Scene::new(agent).await?;
        let played = (self.story)(&mut scene).await;
        let settled = match played {
            Ok(()) => scene.settle().await,
            Err(error) => Err(error),
        };
        if settled.is_err() {
            scene.keep_evidence(self.name);
        }
        Ok((settled?, scene.resumed))
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

pub(crate) fn figures(history: &History) -> Figures {
    let shelves = history.shelves.iter();
    let mut figures = Figures {
        rows: shelves.map(|shelf| shelf.rows.len()).sum(),
        ..Figures::default()
    };
    for conversation in &history.conversations {
        let lives = conversation.lives.iter();
        figures.events += lives.map(|life| life.events().len()).sum::<usize>();
        for fact in conversation.truth.iter().flatten() {
            match fact {
                Fact::Asked { .. } => figures.asked += 1,
                Fact::Ran { .. } => figures.ran += 1,
                Fact::Began { .. } => figures.processes += 1,
                Fact::Read { .. }
                | Fact::Printed(_)
                | Fact::Answered { .. }
                | Fact::RanAgain { .. }
                | Fact::Ended => {}
            }
        }
    }
    figures
}

/// Fails if a history breaks a promise.
fn judge(history: &History) -> anyhow::Result<()> {
    let found = check(history);
    if found.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = found.iter().map(Violation::to_string).collect();
    bail!("{} promises are broken:\n{}", found.len(), lines.join("\n"))
}

/// A recording that is looked at when nothing moves any more.
const AT_REST: End = End::AtRest;
