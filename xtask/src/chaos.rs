//! `cargo xtask chaos`: builds the programs, plays rounds of chaos, and shows the table.
//!
//! The rounds are in `crates/proof`. A run that finds something fails with the seed and the smallest history that shows it;
//! with `ESTELLE_EVIDENCE=<folder>` everything that was on the disk is kept there.

use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::command::{self, Watch};
use crate::progress::Progress;
use crate::workspace;

const BUILD_LIMIT: Duration = Duration::from_mins(30);
/// Beside the time that was asked for: a round takes half a minute, on a busy machine some minutes. A round in which
/// nothing moves ends by itself long before.
const PLAY_LIMIT: Duration = Duration::from_mins(30);

/// What is to be played.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) seed: u64,
    pub(crate) kills: u32,
    pub(crate) minutes: u32,
    pub(crate) round: Option<u32>,
}

/// What the test command plays: always the same seed, so that what passed here passes there.
const IN_TESTS: Wanted = Wanted {
    seed: 1,
    kills: 120,
    minutes: 0,
    round: None,
};

/// Rounds in which a promise was broken once, each as a file. They are played in every test run for ever; the dice may change.
const FOUND: &str = "fixtures/chaos";

/// What the test command plays: many kills from one seed, then what was found before.
pub(crate) fn play_in_tests(watch: Watch<'_>) -> anyhow::Result<()> {
    play(&IN_TESTS, watch)?;
    let folder = workspace::root().join(FOUND);
    let found = std::fs::read_dir(&folder).with_context(|| FOUND.to_owned())?;
    let mut found: Vec<_> = found
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    found.sort_unstable();
    anyhow::ensure!(!found.is_empty(), "{FOUND} holds no round");
    for path in found {
        let mut round = workspace::at_root(Command::new(workspace::built("estelle-chaos")));
        round.arg("--kept").arg(&path);
        command::run(&mut round, PLAY_LIMIT, watch)
            .with_context(|| format!("{} broke a promise again", path.display()))?;
    }
    Ok(())
}

/// Builds and plays as a command of its own.
pub(crate) fn run(wanted: &Wanted) -> anyhow::Result<()> {
    let mut progress = Progress::new(1);
    let what = format!("kills of everything from seed {}", wanted.seed);
    progress.step("chaos", &what, |watch| play(wanted, watch));
    progress.finish()
}

/// Builds, plays, shows the table.
pub(crate) fn play(wanted: &Wanted, watch: Watch<'_>) -> anyhow::Result<()> {
    let packages = ["-p", "estelle", "-p", "estelle-sim", "-p", "estelle-proof"];
    let args = [&["build", "--locked", "--bins"], &packages[..]].concat();
    command::run(&mut workspace::cargo(&args), BUILD_LIMIT, watch).context("the build failed")?;
    let mut rounds = workspace::at_root(Command::new(workspace::built("estelle-chaos")));
    rounds
        .args(["--seed", &wanted.seed.to_string()])
        .args(["--kills", &wanted.kills.to_string()])
        .args(["--minutes", &wanted.minutes.to_string()]);
    if let Some(round) = wanted.round {
        rounds.args(["--round", &round.to_string()]);
    }
    let limit = PLAY_LIMIT + Duration::from_mins(2 * u64::from(wanted.minutes));
    let output = command::run(&mut rounds, limit, watch)
        .with_context(|| format!("chaos with seed {} broke a promise", wanted.seed))?;
    for line in output.lines().filter(|line| !line.starts_with("round ")) {
        println!("    {line}");
    }
    Ok(())
}
