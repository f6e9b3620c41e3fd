//! `cargo xtask bench e2e`: from an app over relay, Pylon and host to the CLI and back, beside the bare CLI.
//!
//! Builds everything optimised, sees to the real CLI of the newest known release, measures it and the simulator bare and
//! behind everything in turns, and writes the tables to `docs/performance.md`. The meter is
//! `crates/proof/examples/bench_e2e`; a run of it that lost anything is an error. How long a piece
//! takes to the screen is measured by the web app's own `npm run pixel`, in Chromium.

mod document;
mod figures;

use super::{Effort, machine, meter, page};
use crate::progress::Progress;
use crate::setup::{self, Cache, Tool};
use crate::steps;

use figures::{Meter, Plan};

/// Sets up, builds, measures, reports.
pub(crate) fn run(effort: Effort) -> anyhow::Result<()> {
    let plan = Plan::of(effort);
    let needs = [Tool::NewestClaude, Tool::WebPackages, Tool::Browser];
    let setup = setup::Plan::announce(&Cache::of_user()?, &needs)?;
    let mut progress = Progress::new(setup.steps() + 2 + figures::STEPS);
    let tools = setup.carry_out(&mut progress)?;
    // A release carries the app, so it comes first. Only the way to the screen needs it: the rest is measured without.
    progress.step("web", "the web app", |watch| {
        steps::web_app(&tools, watch, &["build"])
    });
    let what = "the program and the meters, optimised";
    let built = progress.step("build", what, meter::build);
    if built.is_none() {
        return progress.finish();
    }
    let load = machine::load();
    let meter = Meter::new(&tools)?;
    let figures = plan.carry_out(&meter, &tools, &mut progress);
    let tables = document::tables(&figures);
    let machine = format!("{}{load}", machine::ours()?);
    println!("\n{machine}\n{tables}");
    // A run without the first of all figures leaves the page as it is.
    if effort == Effort::Full && !figures.simulated.whole.is_empty() {
        page::write(&document::whole(&machine, &tables))?;
    }
    progress.finish()
}
