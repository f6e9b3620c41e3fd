//! The order of the runs: in each round every consumer once, so that what else the machine does hits all alike.

use super::Effort;
use super::consumers::{Consumer, Consumers, Load, Placement, Run};
use super::machine;
use crate::progress::Progress;

/// Who streams, in the order of the table.
const STREAMING: [Consumer; 6] = [
    Consumer::Python,
    Consumer::TypeScript,
    Consumer::Typed,
    Consumer::Peek,
    Consumer::Value,
    Consumer::Memchr,
];
/// Who answers permissions.
const ANSWERING: [Consumer; 4] = [
    Consumer::Python,
    Consumer::TypeScript,
    Consumer::Typed,
    Consumer::Blocking,
];
/// Who holds idle conversations.
const HOLDING: [Consumer; 2] = [Consumer::TypeScript, Consumer::Typed];

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) deltas: usize,
    pub(crate) permissions: usize,
    pub(crate) sessions: usize,
}

/// The runs of one consumer under one load.
pub(crate) type Row = (Consumer, Vec<Run>);

/// All runs of a benchmark.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) plan: Plan,
    pub(crate) blocks: Vec<Row>,
    pub(crate) lines: Vec<Row>,
    pub(crate) same_core: Vec<Row>,
    pub(crate) two_cores: Vec<Row>,
    pub(crate) idle: Vec<Row>,
}

/// How many steps `carry_out` will show.
pub(crate) const STEPS: usize = 5;

impl Plan {
    pub(crate) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Full => Self {
                rounds: 5,
                deltas: 200_000,
                permissions: 10_000,
                sessions: 50,
            },
            Effort::Quick => Self {
                rounds: 3,
                deltas: 20_000,
                permissions: 2_000,
                sessions: 10,
            },
        }
    }

    /// Runs everything; nothing when a step failed.
    pub(crate) fn carry_out(
        self,
        consumers: &Consumers,
        progress: &mut Progress,
    ) -> anyhow::Result<Option<Figures>> {
        let cores = machine::two_cores()?;
        let consumers = &consumers.clone().with_cores(cores);
        let mut step = |name, what: &str, who: &[Consumer], load, placement| {
            let what = format!("{what}, {} rounds", self.rounds);
            progress.step(name, &what, |_| self.rows(consumers, who, load, placement))
        };
        let blocks = format!("{} deltas in 64 KiB writes", self.deltas);
        let blocks = step(
            "stream",
            &blocks,
            &STREAMING,
            Load::Blocks(self.deltas),
            Placement::Anywhere,
        );
        let lines = format!("{} deltas, one write per line", self.deltas);
        let lines = step(
            "stream-lines",
            &lines,
            &STREAMING,
            Load::Lines(self.deltas),
            Placement::Anywhere,
        );
        let asked = format!("{} permissions", self.permissions);
        let load = Load::Permissions(self.permissions);
        let same_core = step("same-core", &asked, &ANSWERING, load, Placement::SameCore);
        let two_cores = step("two-cores", &asked, &ANSWERING, load, Placement::TwoCores);
        let held = format!("{} idle conversations", self.sessions);
        let idle = step(
            "idle",
            &held,
            &HOLDING,
            Load::Idle(self.sessions),
            Placement::Anywhere,
        );
        let (Some(blocks), Some(lines), Some(same_core), Some(two_cores), Some(idle)) =
            (blocks, lines, same_core, two_cores, idle)
        else {
            return Ok(None);
        };
        Ok(Some(Figures {
            plan: self,
            blocks,
            lines,
            same_core,
            two_cores,
            idle,
        }))
    }

    fn rows(
        self,
        consumers: &Consumers,
        who: &[Consumer],
        load: Load,
        placement: Placement,
    ) -> anyhow::Result<Vec<Row>> {
        let mut rows: Vec<Row> = who.iter().map(|consumer| (*consumer, Vec::new())).collect();
        for round in 0..self.rounds {
            println!("    round {} of {}", round + 1, self.rounds);
            for (consumer, runs) in &mut rows {
                runs.push(consumers.run(*consumer, load, placement)?);
            }
        }
        Ok(rows)
    }
}
