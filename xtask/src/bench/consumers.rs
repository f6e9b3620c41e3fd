//! Who takes part, and how one run of it is made.
//!
//! A consumer is a program that starts the replayer as its CLI, takes everything it prints, and says at its end
//! what it got and what that took. The replayer says on its side what it sent; a run where the two disagree is an
//! error, not a figure.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use super::peers::{self, Peers};
use crate::command;
use crate::workspace;

/// The slowest consumer needs ten seconds for a run on a busy machine.
const RUN_LIMIT: Duration = Duration::from_mins(3);

/// A program that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consumer {
    Python,
    TypeScript,
    /// Our session, every message typed.
    Typed,
    /// Our session, raw lines with a look at the type.
    Peek,
    /// Not an SDK: each line parsed into a tree.
    Value,
    /// Not an SDK: only the ends of lines are found.
    Memchr,
    /// Not an SDK: a loop on blocking pipes that answers permissions.
    Blocking,
}

/// What is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// So many deltas in writes of 64 KiB.
    Blocks(usize),
    /// So many deltas, each line in a write of its own.
    Lines(usize),
    /// So many permissions, each asked after the answer to the one before.
    Permissions(usize),
    /// So many conversations that are open at the same time and say nothing.
    Idle(usize),
}

/// Where the processes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    Anywhere,
    SameCore,
    TwoCores,
}

/// What one run said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) messages: f64,
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_megabytes: f64,
    pub(crate) base_megabytes: f64,
    pub(crate) resident_megabytes: f64,
    pub(crate) p50_microseconds: f64,
    pub(crate) p99_microseconds: f64,
}

/// All programs, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Consumers {
    replayer: PathBuf,
    ours: PathBuf,
    typescript: PathBuf,
    python: PathBuf,
    cores: [usize; 2],
}

impl Consumers {
    pub(crate) fn new(peers: &Peers) -> Self {
        let release = workspace::target().join("release");
        Self {
            replayer: release.join("estelle-replay"),
            ours: release.join("examples/bench_consume"),
            typescript: peers.typescript.join("consume.mjs"),
            python: peers::python(&peers.python),
            cores: [0, 1],
        }
    }

    /// The two cores to pin to.
    pub(crate) fn with_cores(self, cores: [usize; 2]) -> Self {
        Self { cores, ..self }
    }

    /// Runs one consumer once and checks that everything was delivered.
    pub(crate) fn run(
        &self,
        consumer: Consumer,
        load: Load,
        placement: Placement,
    ) -> anyhow::Result<Run> {
        let report =
            std::env::temp_dir().join(format!("estelle-bench-{}.json", std::process::id()));
        // What an earlier run left must not be taken for what this one did.
        let _ = std::fs::remove_file(&report);
        let mut command = workspace::at_root(self.command(consumer, load, placement));
        load.describe_to(&mut command);
        command.env("ESTELLE_REPLAY_REPORT", &report);
        if placement == Placement::TwoCores {
            command.env("ESTELLE_REPLAY_CORE", self.cores[1].to_string());
        }
        let mut run = || -> anyhow::Result<Run> {
            let output = command::run(&mut command, RUN_LIMIT, &mut |_, _| {})?;
            let said = last_json(&output).context("it printed no figures")?;
            let sent = std::fs::read(&report).context("the replayer left no report")?;
            let sent: Value =
                serde_json::from_slice(&sent).context("the replayer's report is unreadable")?;
            check(consumer, load, &said, &sent)?;
            Ok(figures(&said, &sent))
        };
        let outcome = run().with_context(|| format!("{consumer:?} failed on {load:?}"));
        let _ = std::fs::remove_file(&report);
        outcome
    }

    fn command(&self, consumer: Consumer, load: Load, placement: Placement) -> Command {
        let (program, arguments) = self.program(consumer, load);
        match placement {
            Placement::Anywhere => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            Placement::SameCore | Placement::TwoCores => {
                let mut command = Command::new("taskset");
                command
                    .arg("-c")
                    .arg(self.cores[0].to_string())
                    .arg(program)
                    .args(arguments);
                command
            }
        }
    }

    fn program(&self, consumer: Consumer, load: Load) -> (&Path, Vec<OsString>) {
        let replayer = self.replayer.clone().into_os_string();
        let count = OsString::from(load.count().to_string());
        let mode = OsString::from(consumer.mode(load));
        match consumer {
            Consumer::Python => {
                let script = workspace::root().join("bench/python/consume.py");
                (&self.python, vec![script.into(), mode, replayer, count])
            }
            Consumer::TypeScript => {
                let script = self.typescript.clone().into();
                (Path::new("node"), vec![script, mode, replayer, count])
            }
            Consumer::Typed
            | Consumer::Peek
            | Consumer::Value
            | Consumer::Memchr
            | Consumer::Blocking => (&self.ours, vec![mode, replayer, count]),
        }
    }
}

impl Consumer {
    /// What its program is told to do.
    fn mode(self, load: Load) -> &'static str {
        match (self, load) {
            (Self::Value, _) => "value",
            (Self::Memchr, _) => "memchr",
            (Self::Blocking, _) => "blocking",
            (Self::Python | Self::TypeScript | Self::Typed | Self::Peek, Load::Permissions(_)) => {
                "permissions"
            }
            (Self::Python | Self::TypeScript | Self::Typed | Self::Peek, Load::Idle(_)) => "idle",
            (Self::Python | Self::TypeScript, Load::Blocks(_) | Load::Lines(_)) => "stream",
            (Self::Typed, Load::Blocks(_) | Load::Lines(_)) => "typed",
            (Self::Peek, Load::Blocks(_) | Load::Lines(_)) => "lines",
        }
    }

    /// Whether it looks deep enough into a line to tell a delta.
    fn sees_deltas(self) -> bool {
        match self {
            Self::Python | Self::TypeScript | Self::Typed | Self::Value => true,
            Self::Peek | Self::Memchr | Self::Blocking => false,
        }
    }
}

impl Load {
    fn count(self) -> usize {
        match self {
            Self::Blocks(count)
            | Self::Lines(count)
            | Self::Permissions(count)
            | Self::Idle(count) => count,
        }
    }

    fn describe_to(self, command: &mut Command) {
        let kind = match self {
            Self::Blocks(_) => "blocks",
            Self::Lines(_) => "lines",
            Self::Permissions(_) => "permissions",
            Self::Idle(_) => "idle",
        };
        command
            .env("ESTELLE_REPLAY", kind)
            .env("ESTELLE_REPLAY_COUNT", self.count().to_string());
    }
}

pub(crate) fn last_json(output: &str) -> Option<Value> {
    let mut newest_first = output.lines().rev();
    newest_first.find_map(|line| {
        serde_json::from_str::<Value>(line)
            .ok()
            .filter(Value::is_object)
    })
}

/// Compares what was sent with what arrived.
fn check(consumer: Consumer, load: Load, said: &Value, sent: &Value) -> anyhow::Result<()> {
    let number = |value: &Value, name: &str| value[name].as_u64().unwrap_or_default();
    let count = u64::try_from(load.count())?;
    match load {
        Load::Blocks(_) | Load::Lines(_) => {
            let (arrived, printed) = (number(said, "messages"), number(sent, "messages"));
            ensure!(
                arrived == printed && printed > count,
                "{arrived} of {printed} messages arrived"
            );
            let deltas = number(said, "deltas");
            if consumer.sees_deltas() && deltas != count {
                bail!("{deltas} of {count} deltas arrived");
            }
        }
        Load::Permissions(_) => {
            let answers = number(sent, "answers");
            ensure!(
                answers == count,
                "{answers} of {count} permissions were answered"
            );
        }
        Load::Idle(_) => {
            // Each conversation has two messages, its first and its result.
            let messages = number(said, "messages");
            ensure!(
                messages == 2 * count,
                "{messages} messages of {count} conversations arrived"
            );
        }
    }
    Ok(())
}

fn figures(said: &Value, sent: &Value) -> Run {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    // The kernel's kB are of 1024 bytes.
    let megabytes = |value: &Value| number(value) * 1024.0 / 1e6;
    Run {
        messages: number(&said["messages"]),
        wall_seconds: number(&said["wall_ns"]) / 1e9,
        cpu_seconds: number(&said["cpu_ns"]) / 1e9,
        peak_megabytes: megabytes(&said["peak_kb"]),
        base_megabytes: megabytes(&said["base_kb"]),
        resident_megabytes: megabytes(&said["rss_kb"]),
        p50_microseconds: number(&sent["p50_ns"]) / 1e3,
        p99_microseconds: number(&sent["p99_ns"]) / 1e3,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_lost_something_is_no_figure() {
        let sent = json!({"messages": 12});
        let stream = |said: &Value, consumer| check(consumer, Load::Blocks(10), said, &sent);
        stream(&json!({"messages": 12, "deltas": 10}), Consumer::Typed).unwrap();
        stream(&json!({"messages": 12, "deltas": 9}), Consumer::Typed).unwrap_err();
        stream(&json!({"messages": 11, "deltas": 10}), Consumer::Typed).unwrap_err();
        stream(&json!({"messages": 12, "deltas": 0}), Consumer::Memchr).unwrap();
        check(
            Consumer::Typed,
            Load::Permissions(10),
            &json!({}),
            &json!({"answers": 9}),
        )
        .unwrap_err();
    }

    #[test]
    fn the_figures_are_the_last_json_of_the_output() {
        let output = "{\"old\":1}\nwarning: {}\n{\"wall_ns\":1500000000}\nbye\n";
        let said = last_json(output).unwrap();
        assert!((figures(&said, &Value::Null).wall_seconds - 1.5).abs() < 1e-9);
    }
}
