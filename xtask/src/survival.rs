//! `cargo xtask survival`: plays the survival matrix with the simulator and both real CLIs, and writes the page.
//!
//! The stories are in `crates/proof`; this builds the programs, runs them and says where the result is. A story that
//! fails is named with its reason, and the page is written all the same: it then says what does not survive. Single stories
//! change their own cells of the page, and no others.

use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::command;
use crate::progress::Progress;
use crate::setup::{Cache, Plan, Tool};
use crate::workspace;

const BUILD_LIMIT: Duration = Duration::from_mins(30);
const PLAY_LIMIT: Duration = Duration::from_hours(1);

/// Sets up, builds, plays, writes.
pub(crate) fn run(only: Option<&str>) -> anyhow::Result<()> {
    let plan = Plan::announce(
        &Cache::of_user()?,
        &[Tool::OldestClaude, Tool::NewestClaude],
    )?;
    let mut progress = Progress::new(plan.steps() + 2);
    let tools = plan.carry_out(&mut progress)?;
    let built = progress.step("build", "the host, the simulator, the stories", |watch| {
        let packages = ["-p", "estelle", "-p", "estelle-sim", "-p", "estelle-proof"];
        let args = [&["build", "--locked", "--bins"], &packages[..]].concat();
        command::run(&mut workspace::cargo(&args), BUILD_LIMIT, watch)
            .context("the build failed")?;
        Ok(())
    });
    if built.is_none() {
        return progress.finish();
    }
    progress.step("survival", "every story of the matrix", |watch| {
        let mut stories = workspace::at_root(Command::new(workspace::built("estelle-survival")));
        stories.envs(tools.variables());
        stories.env("ESTELLE_SURVIVAL_ALONE", "1");
        stories.arg(workspace::root().join("docs/survival.md"));
        stories.args(only);
        let output = command::run(&mut stories, PLAY_LIMIT, watch).context("not all survived")?;
        println!("{output}");
        Ok(())
    });
    progress.finish()
}
