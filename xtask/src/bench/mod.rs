//! `cargo xtask bench sdk`: our SDK beside the TypeScript and the Python one, on the same replayed stream.
//!
//! Installs the peers at their pinned versions, builds our side optimised, runs all of them in turns, checks
//! that each run delivered everything, and writes the table to `docs/performance.md`. The consumers are in
//! `bench/` and in `crates/claude/examples/bench_consume`, the CLI they talk to is `estelle-replay`. Whether a
//! figure is reached is said, never enforced: on a busy machine a miss proves nothing. The other benchmarks have modules
//! of their own: [`host`], [`relay`], [`history`], [`e2e`].

use std::time::Duration;

use anyhow::Context as _;

use crate::command;
use crate::progress::Progress;
use crate::setup::Cache;
use crate::workspace;

mod cells;
mod consumers;
mod document;
pub(crate) mod e2e;
pub(crate) mod history;
pub(crate) mod host;
mod machine;
mod measured;
mod meter;
mod packages;
mod page;
mod peers;
pub(crate) mod relay;
mod rounds;
mod targets;

/// An optimised build of the SDK and the replayer on a machine with few cores.
const BUILD_LIMIT: Duration = Duration::from_mins(30);

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// What the document is made of.
    Full,
    /// A look at the order of magnitude; the document is left alone.
    Quick,
}

/// All benchmarks, one after the other. One that fails does not keep the others from running.
pub(crate) fn all(effort: Effort) -> anyhow::Result<()> {
    let all = [sdk, host::run, relay::run, history::run, e2e::run];
    let failures: Vec<String> = all
        .iter()
        .filter_map(|bench| bench(effort).err())
        .map(|error| format!("{error:#}"))
        .collect();
    anyhow::ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// Sets up, builds, measures, reports.
pub(crate) fn sdk(effort: Effort) -> anyhow::Result<()> {
    let plan = rounds::Plan::of(effort);
    let peers = peers::Plan::announce(&Cache::of_user()?)?;
    let mut progress = Progress::new(peers.steps() + 1 + rounds::STEPS);
    let Some(peers) = peers.carry_out(&mut progress)? else {
        return progress.finish();
    };
    let built = progress.step("build", "our side and the replayer, optimised", |watch| {
        for args in [
            ["estelle-sim", "--bin", "estelle-replay"],
            ["estelle-claude", "--example", "bench_consume"],
        ] {
            let args = [&["build", "--release", "--locked", "--package"], &args[..]].concat();
            command::run(&mut workspace::cargo(&args), BUILD_LIMIT, watch)
                .context("the build failed")?;
        }
        Ok(())
    });
    if built.is_none() {
        return progress.finish();
    }
    let consumers = consumers::Consumers::new(&peers);
    let Some(figures) = plan.carry_out(&consumers, &mut progress)? else {
        return progress.finish();
    };
    let tables = document::tables(&figures);
    println!("\n{tables}");
    if effort == Effort::Full {
        page::write(&document::whole(&machine::describe(&peers)?, &tables))?;
    }
    progress.finish()
}
