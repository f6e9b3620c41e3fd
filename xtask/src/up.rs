//! `cargo xtask up`: from a fresh clone to something that runs.
//!
//! Builds the web app and the programs, then becomes `estelle up`, so that keys and signals reach it directly. The program
//! itself finds out whether there is a `claude`, and says who answers. Without npm packages there is no web app; the
//! rest works, and the page says so.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::progress::Progress;
use crate::setup::{Cache, Plan, Tool};
use crate::{command, steps, workspace};

const BUILD_LIMIT: Duration = Duration::from_mins(30);
/// Name of the simulated CLI among the programs of `crates/sim`.
const SIMULATOR: &str = "estelle-sim-claude";

/// Builds, then starts; returns only when that failed.
pub(crate) fn run(up_args: &[OsString]) -> anyhow::Result<()> {
    let plan = Plan::announce(&Cache::of_user()?, &[Tool::WebPackages])?;
    let mut progress = Progress::new(plan.steps() + 2);
    let tools = plan.carry_out(&mut progress)?;
    if tools.get(Tool::WebPackages).is_some() {
        progress.step("web", "the web app", |watch| {
            steps::web_app(&tools, watch, &["build"])
        });
    } else {
        progress.skip("web", "because its packages could not be installed");
    }
    let built = progress.step(
        "build",
        "the `estelle` program and the simulator",
        |watch| {
            let args = [
                "build",
                "--locked",
                "--package",
                "estelle",
                "--package",
                "estelle-sim",
                "--bins",
            ];
            command::run(&mut workspace::cargo(&args), BUILD_LIMIT, watch)
                .context("the build failed")?;
            Ok(())
        },
    );
    let finished = progress.finish();
    if built.is_none() {
        return finished;
    }
    if let Err(error) = finished {
        // Everything but the page is there, and the page says what is missing.
        println!("{error:#}\nGoing on without what failed.");
    }
    let program = workspace::built("estelle");
    let mut up = Command::new(&program);
    up.arg("up").args(up_args);
    up.env("ESTELLE_SIM_CLAUDE", workspace::built(SIMULATOR));
    let error = up.exec();
    Err(error).with_context(|| format!("failed to start {}", program.display()))
}
