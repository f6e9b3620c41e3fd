//! What is measured, how often, and with which CLI: the calls of the meter.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use super::super::consumers::last_json;
use super::super::{Effort, meter};
use crate::progress::Progress;
use crate::setup::{NEWEST_CLI, Tool, Tools};
use crate::{steps, workspace};

/// How many steps `carry_out` will show.
pub(crate) const STEPS: usize = 7;

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) prompts: usize,
    pub(crate) real_prompts: usize,
    pub(crate) deltas: usize,
    turns: usize,
    restarts: usize,
}

/// The runs of one measurement: the bare CLI, and behind everything.
#[derive(Debug, Default)]
pub(crate) struct Pair {
    pub(crate) bare: Vec<Value>,
    pub(crate) whole: Vec<Value>,
}

/// All runs.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) plan: Plan,
    pub(crate) simulated: Pair,
    /// The same with all data in memory, so that nothing waits for a disk.
    pub(crate) in_memory: Pair,
    pub(crate) real: Option<Pair>,
    pub(crate) stream: Pair,
    /// From the simulator to the screen of a browser.
    pub(crate) screen: Vec<Value>,
    pub(crate) memory: Vec<Value>,
    pub(crate) restart: Vec<Value>,
}

/// The program that measures.
#[derive(Debug)]
pub(crate) struct Meter {
    /// How the real CLI is found, if it is there.
    real: Option<PathBuf>,
    variables: Vec<(&'static str, PathBuf)>,
    /// On a disk, because what is durable is synced to one.
    disk: PathBuf,
    memory: PathBuf,
}

impl Meter {
    pub(crate) fn new(tools: &Tools) -> anyhow::Result<Self> {
        let disk = workspace::root().join("target/bench-e2e");
        std::fs::create_dir_all(&disk)
            .with_context(|| format!("failed to make {}", disk.display()))?;
        let memory = PathBuf::from("/dev/shm");
        let memory = if memory.is_dir() {
            memory
        } else {
            disk.clone()
        };
        let variables = tools.variables();
        Ok(Self {
            real: tools.get(Tool::NewestClaude).cloned(),
            variables: variables.map(|(name, path)| (name, path.clone())).collect(),
            disk,
            memory,
        })
    }

    fn run(&self, cli: &str, what: &str, count: usize) -> anyhow::Result<Value> {
        self.run_in(&self.disk, cli, what, count)
    }

    fn run_in(&self, folder: &Path, cli: &str, what: &str, count: usize) -> anyhow::Result<Value> {
        let release = workspace::target().join("release");
        let mut command = Command::new(release.join("examples/bench_e2e"));
        command.env("TMPDIR", folder);
        command.envs(self.variables.iter().map(|(name, path)| (name, path)));
        meter::run(command, &[cli, what, &count.to_string()])
    }

    fn pair(&self, rounds: usize, cli: &str, what: &str, count: usize) -> anyhow::Result<Pair> {
        self.pair_in(&self.disk, rounds, (cli, what), count)
    }

    fn pair_in(
        &self,
        folder: &Path,
        rounds: usize,
        (cli, what): (&str, &str),
        count: usize,
    ) -> anyhow::Result<Pair> {
        let run = |whose| self.run_in(folder, cli, &format!("{what}-{whose}"), count);
        let mut pair = Pair::default();
        for _ in 0..rounds {
            pair.bare.push(run("bare")?);
            pair.whole.push(run("whole")?);
        }
        Ok(pair)
    }
}

impl Plan {
    pub(crate) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Full => Self {
                rounds: 3,
                prompts: 100,
                real_prompts: 20,
                deltas: 1000,
                turns: 5,
                restarts: 3,
            },
            Effort::Quick => Self {
                rounds: 1,
                prompts: 10,
                real_prompts: 3,
                deltas: 100,
                turns: 2,
                restarts: 1,
            },
        }
    }

    /// Runs everything. A step that failed is named at the end and not measured; the others count all the same.
    pub(crate) fn carry_out(
        self,
        meter: &Meter,
        tools: &Tools,
        progress: &mut Progress,
    ) -> Figures {
        let rounds = self.rounds;
        let what = format!("{} prompts to the simulator, {rounds} rounds", self.prompts);
        let simulated = progress.step("simulator", &what, |_| {
            meter.pair(rounds, "simulator", "first", self.prompts)
        });
        let in_memory = progress.step("in-memory", "the same, data in memory", |_| {
            let who = ("simulator", "first");
            meter.pair_in(&meter.memory, rounds, who, self.prompts)
        });
        let what = format!(
            "{} prompts to the CLI {NEWEST_CLI}, {rounds} rounds",
            self.real_prompts
        );
        let real = progress.step("real", &what, |_| match meter.real {
            Some(_) => Ok(Some(meter.pair(
                rounds,
                "real",
                "first",
                self.real_prompts,
            )?)),
            None => Ok(None),
        });
        let what = format!("{} deltas, {rounds} rounds", self.deltas);
        let stream = progress.step("stream", &what, |_| {
            meter.pair(rounds, "simulator", "stream", self.deltas)
        });
        let what = format!("a hundred pieces a second in Chromium, {rounds} rounds");
        let screen = progress.step("screen", &what, |watch| {
            let mut runs = Vec::new();
            for _ in 0..rounds {
                let output = steps::web_script(tools, watch, "pixel", workspace::released)?;
                runs.push(last_json(&output).context("no figures came from the browser")?);
            }
            Ok(runs)
        });
        let memory = progress.step("memory", "memory at rest and with five", |_| {
            (0..rounds)
                .map(|_| meter.run("simulator", "memory", self.turns))
                .collect()
        });
        let restart = progress.step("restart", "killed, and live again", |_| {
            meter.run("simulator", "restart", self.restarts)
        });
        Figures {
            plan: self,
            simulated: simulated.unwrap_or_default(),
            in_memory: in_memory.unwrap_or_default(),
            real: real.flatten(),
            stream: stream.unwrap_or_default(),
            screen: screen.unwrap_or_default(),
            memory: memory.unwrap_or_default(),
            restart: Vec::from_iter(restart),
        }
    }
}
