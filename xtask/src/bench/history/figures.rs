//! What is measured, how often, and where: the calls of the meter and of the script on Node.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use super::super::{Effort, meter};
use crate::progress::Progress;
use crate::workspace;

const FILL: &str = "fill";

/// How many steps `carry_out` will show.
pub(crate) const STEPS: usize = 3;

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) entries: usize,
    appends: usize,
    times: usize,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Node,
    Ours,
    /// Our database without our store.
    Plain,
}

/// In the order of the table.
pub(crate) const ALL: [Asked; 3] = [Asked::Node, Asked::Ours, Asked::Plain];

/// All runs.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) plan: Plan,
    /// One run each: Node, ours.
    pub(crate) fill: [Vec<Value>; 2],
    /// In the order of [`ALL`].
    pub(crate) read: [Vec<Value>; 3],
}

/// The programs that measure, and where their databases are.
#[derive(Debug)]
pub(crate) struct Meter {
    script: PathBuf,
    folder: PathBuf,
}

impl Meter {
    pub(crate) fn new(script: PathBuf) -> anyhow::Result<Self> {
        // Not the folder that is built into, which may be in memory: what is measured here is a disk.
        let folder = workspace::root().join("target/bench-history");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("failed to make {}", folder.display()))?;
        Ok(Self { script, folder })
    }

    fn node(&self, what: &str, rest: &[usize]) -> anyhow::Result<Value> {
        let mut node = Command::new("node");
        node.arg(&self.script).arg(what);
        node.arg(self.folder.join("node.db"));
        measure(node, what, rest)
    }

    fn ours(&self, words: &[&str], rest: &[usize]) -> anyhow::Result<Value> {
        let release = workspace::target().join("release");
        let mut command = Command::new(release.join("examples/bench_history"));
        command.args(words).arg(self.folder.join("ours"));
        measure(command, words[0], rest)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // Some gigabytes that nobody needs any more.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn measure(command: Command, what: &str, rest: &[usize]) -> anyhow::Result<Value> {
    let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    match what {
        FILL => meter::fill(command, &rest),
        _ => meter::run(command, &rest),
    }
}

impl Plan {
    pub(crate) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Full => Self {
                rounds: 3,
                entries: 1_000_000,
                appends: 2000,
                times: 300,
            },
            Effort::Quick => Self {
                rounds: 1,
                entries: 20_000,
                appends: 200,
                times: 50,
            },
        }
    }

    /// Runs everything. Without Node there is still what we are; without our own figures there is nothing.
    pub(crate) fn carry_out(self, meter: &Meter, progress: &mut Progress) -> Option<Figures> {
        let how = [self.entries, self.appends];
        let what = format!("{} entries, better-sqlite3", self.entries);
        let node = progress.step("fill-node", &what, |_| meter.node(FILL, &how));
        let what = format!("{} entries, ours", self.entries);
        let ours = progress.step("fill-ours", &what, |_| meter.ours(&[FILL], &how));
        let (node, ours) = (Vec::from_iter(node), vec![ours?]);
        let what = format!("pages and hits, {} rounds", self.rounds);
        let has_node = !node.is_empty();
        let read = progress.step("read", &what, |_| self.read(meter, has_node));
        Some(Figures {
            plan: self,
            fill: [node, ours],
            read: read?,
        })
    }

    fn read(self, meter: &Meter, has_node: bool) -> anyhow::Result<[Vec<Value>; 3]> {
        let mut read = <[Vec<Value>; 3]>::default();
        for _ in 0..self.rounds {
            for (who, runs) in ALL.iter().zip(&mut read) {
                let times = [self.times];
                runs.push(match who {
                    Asked::Node if !has_node => continue,
                    Asked::Node => meter.node("read", &times)?,
                    Asked::Ours => meter.ours(&["read", "ours"], &times)?,
                    Asked::Plain => meter.ours(&["read", "plain"], &times)?,
                });
            }
        }
        Ok(read)
    }
}
