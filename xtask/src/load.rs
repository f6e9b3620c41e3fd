//! `cargo xtask load`: plays the scenes of load on a release build, and writes docs/load.md.
//!
//! The scenes are in `crates/proof`; this builds the programs, runs them and shows what they say.

use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::command;
use crate::progress::Progress;
use crate::workspace;

const BUILD_LIMIT: Duration = Duration::from_mins(30);
/// All scenes in full take about an hour and a quarter.
const PLAY_LIMIT: Duration = Duration::from_hours(2);

/// Builds, plays, writes. A part of the scenes makes its part of the page; a quick look leaves the page alone.
pub(crate) fn run(is_quick: bool, only: Option<&str>) -> anyhow::Result<()> {
    let mut progress = Progress::new(2);
    let built = progress.step(
        "build",
        "relay, Pylon, host and simulator, as a release",
        |watch| {
            let packages = ["-p", "estelle", "-p", "estelle-sim", "-p", "estelle-proof"];
            let args = [&["build", "--release", "--locked", "--bins"], &packages[..]].concat();
            command::run(&mut workspace::cargo(&args), BUILD_LIMIT, watch)
                .context("the build failed")?;
            Ok(())
        },
    );
    if built.is_none() {
        return progress.finish();
    }
    progress.step("load", "crowd, stream, stalled, long, soak", |watch| {
        let mut scenes = workspace::at_root(Command::new(workspace::released("estelle-load")));
        let page = workspace::root().join("docs/load.md");
        if is_quick {
            scenes.args(["-", "quick"]);
        } else {
            scenes.arg(page).arg("full");
        }
        scenes.args(only);
        let output = command::run(&mut scenes, PLAY_LIMIT, watch).context("not all was borne")?;
        println!("{output}");
        Ok(())
    });
    progress.finish()
}
