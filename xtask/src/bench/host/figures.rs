//! What is measured, how often, and where: the calls of the meter.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use super::super::consumers::last_json;
use super::super::measured::Measured;
use super::super::{Effort, machine};
use crate::command;
use crate::progress::Progress;
use crate::workspace;

/// The longest measurement starts two hundred processes on a busy machine.
const RUN_LIMIT: Duration = Duration::from_mins(5);

/// How many steps `carry_out` will show.
pub(crate) const STEPS: usize = 5;

/// Who reads a stream, in the order of the table.
pub(crate) const READERS: [&str; 3] = ["pipe", "journal", "host"];

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) deltas: usize,
    pub(crate) some: usize,
    pub(crate) many: usize,
    pub(crate) seconds: usize,
    pub(crate) streams: usize,
    pub(crate) flood: usize,
    pub(crate) records: usize,
    pub(crate) synced: usize,
    pub(crate) events: usize,
    /// In a log that is longer than most will ever be.
    pub(crate) long: usize,
    /// In each of many conversations.
    pub(crate) past: usize,
}

/// The runs of each reader.
pub(crate) type Latencies = [Vec<Value>; 3];

/// All runs of a benchmark.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) plan: Plan,
    pub(crate) same_core: Latencies,
    pub(crate) two_cores: Latencies,
    /// Without processes: none, some, many conversations.
    pub(crate) logs: Vec<Value>,
    /// With a process each: some, many.
    pub(crate) live: Vec<Value>,
    pub(crate) unread: Vec<Value>,
    pub(crate) append: Vec<Value>,
    pub(crate) open: Vec<Value>,
    pub(crate) open_long: Vec<Value>,
    /// A host over conversations with a long past.
    pub(crate) start: Vec<Value>,
}

/// One figure of some runs; nothing if a run did not have it.
pub(crate) fn measured(runs: &[Value], figure: impl Fn(&Value) -> Option<f64>) -> Option<Measured> {
    let values: Option<Vec<f64>> = runs.iter().map(figure).collect();
    Measured::of(values?)
}

/// The program that measures.
#[derive(Debug)]
pub(crate) struct Meter {
    program: PathBuf,
    estelle: PathBuf,
    simulator: PathBuf,
    disk: PathBuf,
    memory: PathBuf,
    cores: [usize; 2],
}

impl Meter {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let release = workspace::target().join("release");
        // Not the folder that is built into, which may be in memory: what is measured here is a disk.
        let disk = workspace::root().join("target/bench-host");
        std::fs::create_dir_all(&disk)
            .with_context(|| format!("failed to make {}", disk.display()))?;
        // Hundreds of runs with their reserves take gigabytes for some seconds.
        let memory = PathBuf::from("/dev/shm");
        let memory = if memory.is_dir() {
            memory
        } else {
            disk.clone()
        };
        Ok(Self {
            program: release.join("examples/bench_host"),
            estelle: release.join("estelle"),
            simulator: release.join("estelle-sim-claude"),
            disk,
            memory,
            cores: machine::two_cores()?,
        })
    }

    fn run(&self, folder: &Path, what: &str, args: &[usize]) -> anyhow::Result<Value> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let mut words = what.split(' ').map(str::to_owned).collect::<Vec<_>>();
        words.extend(args);
        let mut meter = workspace::at_root(Command::new(&self.program));
        meter.args([&self.estelle, &self.simulator]).arg(folder);
        meter.args(&words);
        let output = command::run(&mut meter, RUN_LIMIT, &mut |_, _| {})
            .with_context(|| format!("failed to measure {}", words.join(" ")))?;
        last_json(&output).with_context(|| format!("no figures came from {}", words.join(" ")))
    }

    fn latencies(&self, plan: Plan, cores: [usize; 2]) -> anyhow::Result<Latencies> {
        let mut all = Latencies::default();
        for _ in 0..plan.rounds {
            for (reader, runs) in READERS.iter().zip(&mut all) {
                let what = format!("latency {reader}");
                runs.push(self.run(&self.disk, &what, &[plan.deltas, cores[0], cores[1]])?);
            }
        }
        Ok(all)
    }
}

impl Plan {
    pub(crate) fn of(effort: Effort) -> Self {
        let full = Self {
            rounds: 3,
            deltas: 1000,
            some: 50,
            many: 200,
            seconds: 5,
            streams: 20,
            flood: 20_000,
            records: 100_000,
            synced: 500,
            events: 100_000,
            long: 1_000_000,
            past: 5000,
        };
        match effort {
            Effort::Full => full,
            Effort::Quick => Self {
                rounds: 1,
                deltas: 200,
                some: 10,
                many: 20,
                seconds: 2,
                streams: 5,
                flood: 5000,
                long: 200_000,
                past: 1000,
                ..full
            },
        }
    }

    /// Runs everything; nothing when a step failed.
    pub(crate) fn carry_out(self, meter: &Meter, progress: &mut Progress) -> Option<Figures> {
        let [first, second] = meter.cores;
        let what = format!(
            "{} deltas to each reader, {} rounds",
            self.deltas, self.rounds
        );
        let latencies = progress.step("latency", &what, |_| {
            let same = meter.latencies(self, [first, first])?;
            Ok((same, meter.latencies(self, [first, second])?))
        });
        let what = format!(
            "0, {} and {} conversations without a process",
            self.some, self.many
        );
        let logs = progress.step("logs", &what, |_| {
            let run = |count| meter.run(&meter.memory, "logs", &[count, self.seconds]);
            [0, self.some, self.many].into_iter().map(run).collect()
        });
        let what = format!(
            "{} and {} live ones, {} at full speed, the host killed",
            self.some, self.many, self.streams
        );
        let live = progress.step("live", &what, |_| self.live(meter));
        let what = format!("{} streams that nobody reads", self.streams);
        let unread = progress.step("unread", &what, |_| {
            let run = |_| meter.run(&meter.memory, "unread", &[self.streams, self.flood]);
            (0..self.rounds).map(run).collect()
        });
        let what = format!(
            "{} records, {} synced, opening {} and {} events, {} logs of {}",
            self.records, self.synced, self.events, self.long, self.many, self.past
        );
        let disk = progress.step("disk", &what, |_| self.disk(meter));
        let (same_core, two_cores) = latencies?;
        let [append, open, open_long, start] = disk?;
        Some(Figures {
            plan: self,
            same_core,
            two_cores,
            logs: logs?,
            live: live?,
            unread: unread?,
            append,
            open,
            open_long,
            start,
        })
    }

    fn live(self, meter: &Meter) -> anyhow::Result<Vec<Value>> {
        let run = |live, streams| {
            let args = [live, self.seconds, streams, self.flood];
            meter.run(&meter.memory, "live", &args)
        };
        Ok(vec![run(self.some, 0)?, run(self.many, self.streams)?])
    }

    /// Appending, opening a log, opening a long one, starting over many.
    fn disk(self, meter: &Meter) -> anyhow::Result<[Vec<Value>; 4]> {
        let mut all = <[Vec<Value>; 4]>::default();
        for _ in 0..self.rounds {
            let calls: [(&str, &[usize]); 4] = [
                ("append", &[self.records, self.synced]),
                ("open", &[self.events]),
                ("open", &[self.long]),
                ("start", &[self.many, self.past]),
            ];
            for ((what, args), runs) in calls.into_iter().zip(&mut all) {
                runs.push(meter.run(&meter.disk, what, args)?);
            }
        }
        Ok(all)
    }
}
