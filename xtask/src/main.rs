//! The project's own commands: `cargo xtask <command>`.
//!
//! This file names the commands and hands over; each has a module of its own. Everything that builds, checks or
//! runs the project is here, in Rust, so that a machine with Rust and Node needs no other tool.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

mod advice;
mod bench;
mod chaos;
mod command;
mod descendants;
mod dist;
mod fuzz;
mod gateway;
mod generate;
mod load;
mod progress;
mod setup;
mod steps;
mod survival;
mod tidy;
mod up;
mod workspace;

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "The project's own commands"
)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Set up, build, and run everything with `estelle up`
    Up {
        /// Passed on to `estelle up`, such as `--demo`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Set up, then run all checks and tests
    Test {
        /// A step or a group of steps to run alone; may be given several times
        #[arg(long, value_name = "STEP")]
        only: Vec<String>,
        /// Show the steps and their groups
        #[arg(long)]
        list: bool,
    },
    /// Exactly what CI runs: all steps of `test`
    Ci,
    /// Check crate edges, module docs, sizes, names and texts
    Tidy,
    /// Build a release and pack it: one archive, its checksum, an install script
    Dist,
    /// Measure beside what others would use; everything, unless it is said what
    Bench {
        /// A fast look at everything that leaves the document alone
        #[arg(long)]
        quick: bool,
        #[command(subcommand)]
        what: Option<Bench>,
    },
    /// Write the files that are made from the protocol types: TypeScript, JSON Schema, pages
    Gen {
        /// Only say what is out of date
        #[arg(long)]
        check: bool,
    },
    /// Kill what can be killed and write docs/survival.md
    Survival {
        /// Play only the stories whose name holds this, and leave what the page says of the others
        only: Option<String>,
    },
    /// Find out how much one machine bears, and write docs/load.md
    Load {
        /// A look at everything within a few minutes that leaves the page alone
        #[arg(long)]
        quick: bool,
        /// Play only the scenes whose name holds this: the others stay in the page as they are
        only: Option<String>,
    },
    /// Kill, hold, cut and starve everything by the roll of dice, and check what is left
    Chaos {
        /// From which all deeds follow
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Kills of relay, Pylon and host in all
        #[arg(long, default_value_t = 120)]
        kills: u32,
        /// Go on for so long
        #[arg(long, default_value_t = 0)]
        minutes: u32,
        /// Only this round of the seed, to look at it again
        #[arg(long)]
        round: Option<u32>,
    },
    /// Run every fuzz target
    Fuzz {
        /// Time for each target
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Our SDK beside the TypeScript and the Python one; writes docs/performance.md
    Sdk {
        /// A fast look that leaves the document alone
        #[arg(long)]
        quick: bool,
    },
    /// The host beside a bare pipe, journal and file; writes docs/performance.md
    Host {
        /// A fast look that leaves the document alone
        #[arg(long)]
        quick: bool,
    },
    /// The relay beside the obvious one on Node; writes docs/performance.md
    Relay {
        /// A fast look that leaves the document alone
        #[arg(long)]
        quick: bool,
    },
    /// The Pylon's history beside better-sqlite3; writes docs/performance.md
    History {
        /// A fast look that leaves the document alone
        #[arg(long)]
        quick: bool,
    },
    /// From an app to the CLI and back, beside the bare CLI; writes docs/performance.md
    E2e {
        /// A fast look that leaves the document alone
        #[arg(long)]
        quick: bool,
    },
}

fn run_bench(all_quick: bool, what: Option<&Bench>) -> anyhow::Result<()> {
    let effort = |quick: &bool| {
        if *quick || all_quick {
            bench::Effort::Quick
        } else {
            bench::Effort::Full
        }
    };
    match what {
        None => bench::all(effort(&false)),
        Some(Bench::Sdk { quick }) => bench::sdk(effort(quick)),
        Some(Bench::Host { quick }) => bench::host::run(effort(quick)),
        Some(Bench::Relay { quick }) => bench::relay::run(effort(quick)),
        Some(Bench::History { quick }) => bench::history::run(effort(quick)),
        Some(Bench::E2e { quick }) => bench::e2e::run(effort(quick)),
    }
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Up { args } => up::run(&args),
        Task::Test { list: true, .. } => {
            steps::list();
            Ok(())
        }
        Task::Test { only, list: false } => steps::run(&only),
        Task::Ci => steps::run(&[]),
        Task::Tidy => tidy::run(),
        Task::Dist => dist::run(),
        Task::Bench { quick, what } => run_bench(quick, what.as_ref()),
        Task::Gen { check: true } => generate::check(),
        Task::Gen { check: false } => generate::write(),
        Task::Survival { only } => survival::run(only.as_deref()),
        Task::Load { quick, only } => load::run(quick, only.as_deref()),
        Task::Chaos {
            seed,
            kills,
            minutes,
            round,
        } => chaos::run(&chaos::Wanted {
            seed,
            kills,
            minutes,
            round,
        }),
        Task::Fuzz { seconds } => run_fuzz(seconds),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_fuzz(seconds: u64) -> anyhow::Result<()> {
    let mut progress = progress::Progress::new(1);
    let what = format!(
        "each fuzz target for {} s",
        Duration::from_secs(seconds).as_secs()
    );
    progress.step("fuzz", &what, |watch| fuzz::run(seconds, watch));
    progress.finish()
}
