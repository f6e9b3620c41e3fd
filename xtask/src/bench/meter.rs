//! Calls a program that measures, and takes the figures out of what it printed.

use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use super::consumers::last_json;
use crate::command::{self, Watch};
use crate::workspace;

/// Nothing that is measured takes longer on a busy machine.
const RUN_LIMIT: Duration = Duration::from_mins(8);
/// What is filled in before anything can be measured may: a million entries with their words.
const FILL_LIMIT: Duration = Duration::from_mins(40);
/// An optimised build on a machine with few cores.
const BUILD_LIMIT: Duration = Duration::from_mins(40);

/// Runs a meter; an error if it failed or printed no figures.
pub(crate) fn run(meter: Command, words: &[&str]) -> anyhow::Result<Value> {
    run_within(RUN_LIMIT, meter, words)
}

/// The same for one that makes what is measured later.
pub(crate) fn fill(meter: Command, words: &[&str]) -> anyhow::Result<Value> {
    run_within(FILL_LIMIT, meter, words)
}

fn run_within(limit: Duration, meter: Command, words: &[&str]) -> anyhow::Result<Value> {
    let mut meter = workspace::at_root(meter);
    meter.args(words);
    let what = words.join(" ");
    let output = command::run(&mut meter, limit, &mut |_, _| {})
        .map_err(|failure| {
            let said = failure.output.trim().to_owned();
            anyhow::Error::from(failure).context(said)
        })
        .with_context(|| format!("failed to measure {what}"))?;
    last_json(&output).with_context(|| format!("no figures came from {what}"))
}

/// Builds the program, the simulator and the meters of relay, history and both ends, optimised.
///
/// All at once, whatever is measured: what a crate is built with depends on what it is built beside, and each choice
/// would be a build of its own.
pub(crate) fn build(watch: Watch<'_>) -> anyhow::Result<()> {
    let packages = [
        "estelle",
        "estelle-sim",
        "estelle-relay",
        "estelle-pylon",
        "estelle-proof",
    ];
    let mut args = vec!["build", "--release", "--locked"];
    args.extend(packages.iter().flat_map(|package| ["--package", package]));
    args.extend(["--bin", "estelle", "--bin", "estelle-sim-claude"]);
    let meters = ["bench_relay", "bench_history", "bench_e2e"];
    args.extend(meters.iter().flat_map(|meter| ["--example", meter]));
    command::run(&mut workspace::cargo(&args), BUILD_LIMIT, watch).context("the build failed")?;
    Ok(())
}
