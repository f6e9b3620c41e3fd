//! `cargo xtask bench host`: the host beside what it stands on, a bare pipe, a bare journal and a bare file.
//!
//! Builds the host, the simulator and the meter optimised, measures what a host takes with many conversations at rest,
//! at full speed and after it was killed, and writes the tables to `docs/performance.md`. The meter is
//! `crates/host/examples/bench_host`; a run of it that lost anything is an error. Whether a figure is reached is said,
//! never enforced: on a busy machine a miss proves nothing.

mod document;
mod figures;

use std::time::Duration;

use anyhow::Context as _;

use super::{Effort, machine, page};
use crate::command;
use crate::progress::Progress;
use crate::workspace;

use figures::{Meter, Plan};

/// An optimised build on a machine with few cores.
const BUILD_LIMIT: Duration = Duration::from_mins(30);

/// Builds, measures, reports.
pub(crate) fn run(effort: Effort) -> anyhow::Result<()> {
    let plan = Plan::of(effort);
    let mut progress = Progress::new(1 + figures::STEPS);
    let what = "the host, the simulator and the meter, optimised";
    let built = progress.step("build", what, |watch| {
        let packages = ["-p", "estelle", "-p", "estelle-sim", "-p", "estelle-host"];
        let products = ["--bin", "estelle", "--bin", "estelle-sim-claude"];
        let args = [
            &["build", "--release", "--locked", "--example", "bench_host"],
            &packages[..],
            &products[..],
        ];
        command::run(&mut workspace::cargo(&args.concat()), BUILD_LIMIT, watch)
            .context("the build failed")?;
        Ok(())
    });
    if built.is_none() {
        return progress.finish();
    }
    let load = machine::load();
    let Some(figures) = plan.carry_out(&Meter::new()?, &mut progress) else {
        return progress.finish();
    };
    let tables = document::tables(&figures);
    println!("\n{tables}");
    if effort == Effort::Full {
        let machine = format!("{}{load}", machine::ours()?);
        page::write(&document::whole(&machine, &tables))?;
    }
    progress.finish()
}
