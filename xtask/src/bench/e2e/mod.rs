//! `cargo xtask bench e2e`: from an app over relay, Pylon and host to the CLI and back, beside the bare CLI.
//!
//! Builds everything optimised, sees to the real CLI of the newest known release, measures it and the simulator bare and
//! behind everything in turns, and writes the tables to `docs/performance.md`. The meter is
//! `crates/proof/examples/bench_e2e`; a run of it that lost anything is an error. What the browser adds is not in here.

mod document;
mod figures;

use super::{Effort, machine, meter, page};
use crate::progress::Progress;
use crate::setup::{self, Cache, Tool};

use figures::{Meter, Plan};

/// Sets up, builds, measures, reports.
pub(crate) fn run(effort: Effort) -> anyhow::Result<()> {
    let plan = Plan::of(effort);
    let setup = setup::Plan::announce(&Cache::of_user()?, &[Tool::NewestClaude])?;
    let mut progress = Progress::new(setup.steps() + 1 + figures::STEPS);
    let tools = setup.carry_out(&mut progress)?;
    let what = "the program and the meters, optimised";
    let built = progress.step("build", what, meter::build);
    if built.is_none() {
        return progress.finish();
    }
    let load = machine::load();
    let meter = Meter::new(&tools)?;
    let Some(figures) = plan.carry_out(&meter, &mut progress) else {
        return progress.finish();
    };
    let tables = document::tables(&figures);
    let machine = format!("{}{load}", machine::ours()?);
    println!("\n{machine}\n{tables}");
    if effort == Effort::Full {
        page::write(&document::whole(&machine, &tables))?;
    }
    progress.finish()
}
