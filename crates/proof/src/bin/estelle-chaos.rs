//! Plays rounds of chaos: `estelle-chaos [--seed S] [--kills N] [--minutes M] [--round R [--keep FILE]]`, or one that was
//! kept: `estelle-chaos --kept FILE`.
//!
//! `cargo xtask chaos` builds and calls it. It ends with a table, or with the seed and what was found.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use estelle_proof::chaos::{Kept, Report, kills_of_a_round, play, play_kept};

/// What was asked for.
#[derive(Debug)]
struct Wanted {
    seed: u64,
    kills: usize,
    time: Duration,
    /// Only this round, to look at it again.
    round: Option<u64>,
    /// Where that round is written down.
    keep: Option<PathBuf>,
    /// A round that was written down.
    kept: Option<PathBuf>,
}

impl Wanted {
    fn read(args: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut wanted = Self {
            seed: 1,
            kills: 120,
            time: Duration::ZERO,
            round: None,
            keep: None,
            kept: None,
        };
        let mut args = args;
        while let Some(name) = args.next() {
            let value = args
                .next()
                .with_context(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--keep" => {
                    wanted.keep = Some(value.into());
                    continue;
                }
                "--kept" => {
                    wanted.kept = Some(value.into());
                    continue;
                }
                _ => {}
            }
            let number: u64 = value.parse().with_context(|| format!("{name} {value}"))?;
            match name.as_str() {
                "--seed" => wanted.seed = number,
                "--kills" => wanted.kills = usize::try_from(number)?,
                "--minutes" => wanted.time = Duration::from_mins(number),
                "--round" => wanted.round = Some(number),
                _ => bail!(
                    "{name} is not known; --seed, --kills, --minutes, --round, --keep, --kept are"
                ),
            }
        }
        Ok(wanted)
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let wanted = Wanted::read(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(&wanted))
}

async fn run(wanted: &Wanted) -> anyhow::Result<ExitCode> {
    let began = Instant::now();
    let mut report = Report::default();
    if let Some(path) = &wanted.kept {
        println!("the round in {}", path.display());
        report.add(play_kept(&Kept::read(path)?).await?);
        println!("{}", report.table());
        return Ok(ExitCode::SUCCESS);
    }
    let mut round = wanted.round.unwrap_or(0);
    let rounds = wanted.kills.div_ceil(kills_of_a_round());
    let mut played = 0;
    loop {
        println!("round {round} of seed {}", wanted.seed);
        match play(wanted.seed, round, wanted.keep.as_deref()).await {
            Ok(one) => report.add(one),
            Err(error) => {
                println!("{}", report.table());
                println!("{error:#}");
                println!("found with --seed {} --round {round}", wanted.seed);
                return Ok(ExitCode::FAILURE);
            }
        }
        round += 1;
        played += 1;
        let is_over = played >= rounds && began.elapsed() >= wanted.time;
        if is_over || wanted.round.is_some() {
            break;
        }
    }
    println!("seed {}", wanted.seed);
    print!("{}", report.table());
    Ok(ExitCode::SUCCESS)
}
