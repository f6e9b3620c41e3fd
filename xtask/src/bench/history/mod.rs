//! `cargo xtask bench history`: the Pylon's store beside a plain history on better-sqlite3, and beside plain rusqlite.
//!
//! Builds the meter optimised, installs better-sqlite3 at its pinned version, fills both databases with the same texts,
//! asks them the same questions in turns, and writes the tables to `docs/performance.md`. The meter is
//! `crates/pylon/examples/bench_history`; a run of it that found too little is an error.

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
    let package = &packages::BETTER_SQLITE3;
    let Some(script) = package.script(&Cache::of_user()?, &mut progress)? else {
        return progress.finish();
    };
    let what = "the program and the meters, optimised";
    let built = progress.step("build", what, meter::build);
    if built.is_none() {
        return progress.finish();
    }
    let load = machine::load();
    let Some(figures) = plan.carry_out(&Meter::new(script)?, &mut progress) else {
        return progress.finish();
    };
    let tables = document::tables(&figures);
    let machine = format!(
        "{}- better-sqlite3 {} on {}\n{load}",
        machine::ours()?,
        package.version()?,
        machine::node()?
    );
    println!("\n{machine}\n{tables}");
    if effort == Effort::Full {
        page::write(&document::whole(&machine, &tables))?;
    }
    progress.finish()
}
