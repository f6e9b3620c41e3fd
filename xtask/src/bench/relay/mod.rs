//! `cargo xtask bench relay`: our relay beside the obvious one on Node, and beside the least that any relay must do.
//!
//! Builds `estelle` and the meter optimised, installs `ws` at its pinned version, measures all candidates in turns, and
//! writes the tables to `docs/performance.md`. The meter is `crates/relay/examples/bench_relay`; a run of it that lost
//! anything is an error.

mod document;
mod figures;

use super::{Effort, machine, meter, packages, page};
use crate::progress::Progress;
use crate::setup::Cache;

use figures::{Meter, Plan};

/// Sets up, builds, measures, reports.
pub(crate) fn run(effort: Effort) -> anyhow::Result<()> {
    let plan = Plan::of(effort);
    let mut progress = Progress::new(2 + figures::STEPS);
    let Some(script) = packages::WS.script(&Cache::of_user()?, &mut progress)? else {
        return progress.finish();
    };
    let what = "the program and the meters, optimised";
    let built = progress.step("build", what, meter::build);
    if built.is_none() {
        return progress.finish();
    }
    let load = machine::load();
    let figures = plan.carry_out(&Meter::new(script)?, &mut progress);
    let tables = document::tables(&figures);
    let machine = format!(
        "{}- `ws` {} on {}\n{load}",
        machine::ours()?,
        packages::WS.version()?,
        machine::node()?
    );
    println!("\n{machine}\n{tables}");
    // A run without the first of all figures leaves the page as it is.
    if effort == Effort::Full && !figures.same_core.is_empty() {
        page::write(&document::whole(&machine, &tables))?;
    }
    progress.finish()
}
