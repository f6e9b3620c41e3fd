//! The end of a round: everything comes to rest, and then no promise may be broken.
//!
//! What can never be mended is told at once. What may only be late is waited for as long as anything moves.

use std::time::{Duration, Instant};

use anyhow::bail;

use super::board::Board;
use super::nemesis::{Nemesis, STALL};
use super::smallest::{smallest, tell};
use crate::checker::{Violation, check, open_decisions};
use crate::history::{End, History};
use crate::rig::{AppWitness, ViewerWitness};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(200);

/// Waits until everything is at rest; gives the history if it breaks no promise.
pub(super) async fn await_rest(
    nemesis: &mut Nemesis,
    watcher: &ViewerWitness,
) -> anyhow::Result<History> {
    let mut before = String::new();
    let mut since = Instant::now();
    let mut suspected = Vec::new();
    loop {
        nemesis
            .until("everybody to have nothing left to do", Board::all_idle)
            .await?;
        nemesis.spend(LOOK).await?;
        // Logs, rows and recordings are read one after the other: what moved meanwhile is not of one moment.
        let moment = moment(nemesis, watcher);
        let history = gather(nemesis, watcher)?;
        if moment != self::moment(nemesis, watcher) {
            continue;
        }
        let never = check(&History {
            end: End::UnderWay,
            ..history.clone()
        });
        if let Some(first) = never.first()
            && suspected == never
        {
            bail!(broken(&history, End::UnderWay, first, &never));
        }
        suspected = never;
        let found = check(&history);
        let open = open_decisions(&history);
        if found.is_empty() && open.is_empty() && nemesis.board.all_idle() {
            return Ok(history);
        }
        let lines: Vec<String> = found.iter().map(Violation::to_string).collect();
        let now = format!("{}\n{open:?} {}", lines.join("\n"), nemesis.rig.written());
        if now != before {
            (before, since) = (now, Instant::now());
        }
        if since.elapsed() > STALL {
            match found.first() {
                Some(first) => bail!(broken(&history, End::AtRest, first, &found)),
                None => bail!("these prompts wait for ever: {open:?}"),
            }
        }
    }
}

/// What changes when anything moves.
fn moment(nemesis: &Nemesis, watcher: &ViewerWitness) -> (u64, u64, usize) {
    let apps: usize = nemesis.witnesses.iter().map(AppWitness::mark).sum();
    (
        nemesis.rig.written(),
        nemesis.board.progress(),
        apps + watcher.mark(),
    )
}

fn gather(nemesis: &Nemesis, watcher: &ViewerWitness) -> anyhow::Result<History> {
    let apps = nemesis.witnesses.iter().map(AppWitness::recorded);
    let clients = vec![watcher.client()];
    nemesis.rig.gathered(clients, apps.collect(), End::AtRest)
}

/// What is broken, and the smallest history that shows the first of it.
fn broken(history: &History, end: End, first: &Violation, all: &[Violation]) -> String {
    let history = History {
        end,
        ..history.clone()
    };
    let lines: Vec<String> = all.iter().map(Violation::to_string).collect();
    let small = tell(&smallest(&history, first));
    format!(
        "{} promises are broken:\n{}\n\nthe smallest history that shows the first:\n{small}",
        all.len(),
        lines.join("\n")
    )
}
