//! What is measured, how often, and where: the calls of the meter.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::super::{Effort, machine, meter};
use crate::progress::Progress;
use crate::workspace;

/// How many steps `carry_out` will show.
pub(crate) const STEPS: usize = 8;

/// Who relays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Candidate {
    /// Written anew for each receiver, as the obvious code does.
    WsEach,
    Ws,
    /// Everybody is told whenever somebody joins.
    WsStatus,
    Ours,
    /// Frames passed on unread.
    Floor,
}

/// The runs of each candidate.
pub(crate) type Rows = Vec<(Candidate, Vec<Value>)>;

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) round_trips: usize,
    pub(crate) clients: usize,
    /// What Node gets to send at full speed; ours gets more, for it would be over before it could be measured.
    pub(crate) flood: usize,
    pub(crate) paced: usize,
    pub(crate) connections: usize,
    pub(crate) joins: usize,
    pub(crate) many_joins: usize,
    pub(crate) stalled: usize,
}

/// Messages a second of a paced sender.
pub(crate) const RATE: usize = 500;
/// How much more those get at full speed that are not on Node.
const FASTER: usize = 8;

/// All runs.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) plan: Plan,
    pub(crate) same_core: Rows,
    pub(crate) two_cores: Rows,
    pub(crate) flood: Rows,
    pub(crate) paced: Rows,
    pub(crate) idle: Rows,
    pub(crate) join: Rows,
    pub(crate) many: Rows,
    pub(crate) stalled: Rows,
    /// The same client without the one that does not read.
    pub(crate) alone: Rows,
}

/// The runs of one candidate; none if it took no part.
pub(crate) fn of(rows: &Rows, candidate: Candidate) -> &[Value] {
    let mut rows = rows.iter();
    rows.find(|(who, _)| *who == candidate)
        .map_or(&[], |(_, runs)| runs)
}

impl Candidate {
    /// What the meter calls it.
    fn word(self) -> &'static str {
        match self {
            Self::WsEach => "ws-each",
            Self::Ws => "ws",
            Self::WsStatus => "ws-status",
            Self::Ours => "ours",
            Self::Floor => "floor",
        }
    }

    fn is_node(self) -> bool {
        match self {
            Self::WsEach | Self::Ws | Self::WsStatus => true,
            Self::Ours | Self::Floor => false,
        }
    }
}

/// The program that measures.
#[derive(Debug)]
pub(crate) struct Meter {
    script: PathBuf,
    cores: [usize; 2],
}

/// Where the relay and its clients run.
#[derive(Debug, Clone, Copy)]
enum Cores {
    Same,
    Two,
    Any,
}

impl Meter {
    pub(crate) fn new(script: PathBuf) -> anyhow::Result<Self> {
        let cores = machine::two_cores()?;
        Ok(Self { script, cores })
    }

    fn run(&self, who: Candidate, cores: Cores, words: &[String]) -> anyhow::Result<Value> {
        let release = workspace::target().join("release");
        let folder = std::env::temp_dir();
        let mut command = Command::new(release.join("examples/bench_relay"));
        command.arg(release.join("estelle")).arg(&self.script);
        command.arg(folder).arg(who.word());
        let [first, second] = self.cores.map(|core| core.to_string());
        match cores {
            Cores::Same => command.args([&first, &first]),
            Cores::Two => command.args([&first, &second]),
            Cores::Any => command.args(["-", "-"]),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        meter::run(command, &words)
    }

    /// In each round every candidate once, so that what else the machine does hits all alike.
    fn rows(
        &self,
        rounds: usize,
        who: &[Candidate],
        cores: Cores,
        words: impl Fn(Candidate) -> String,
    ) -> anyhow::Result<Rows> {
        let mut rows: Rows = who.iter().map(|who| (*who, Vec::new())).collect();
        for _ in 0..rounds {
            for (who, runs) in &mut rows {
                let words: Vec<String> = words(*who).split(' ').map(str::to_owned).collect();
                runs.push(self.run(*who, cores, &words)?);
            }
        }
        Ok(rows)
    }
}

impl Plan {
    pub(crate) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Full => Self {
                rounds: 3,
                round_trips: 10_000,
                clients: 50,
                flood: 5000,
                paced: 1500,
                connections: 2000,
                joins: 300,
                many_joins: 2000,
                stalled: 100_000,
            },
            Effort::Quick => Self {
                rounds: 1,
                round_trips: 1000,
                clients: 20,
                flood: 500,
                paced: 250,
                connections: 200,
                joins: 60,
                many_joins: 120,
                stalled: 20_000,
            },
        }
    }

    /// Runs everything. A step that failed is named at the end and not measured; the others count all the same.
    pub(crate) fn carry_out(self, meter: &Meter, progress: &mut Progress) -> Figures {
        use Candidate::{Floor, Ours, Ws, WsEach, WsStatus};
        let rounds = self.rounds;
        let same_core = progress.step("same-core", &self.trips(), |_| {
            let words = |_| format!("round-trip {}", self.round_trips);
            meter.rows(rounds, &[Ws, Ours, Floor], Cores::Same, words)
        });
        let two_cores = progress.step("two-cores", &self.trips(), |_| {
            let words = |_| format!("round-trip {}", self.round_trips);
            meter.rows(rounds, &[Ws, Ours, Floor], Cores::Two, words)
        });
        let what = format!("one to {}, at full speed", self.clients);
        let flood = progress.step("flood", &what, |_| {
            let words = |who: Candidate| {
                let messages = if who.is_node() {
                    self.flood
                } else {
                    self.flood * FASTER
                };
                format!("flood {} {messages}", self.clients)
            };
            meter.rows(rounds, &[WsEach, Ws, Ours, Floor], Cores::Two, words)
        });
        let what = format!("one to {}, at {RATE} a second", self.clients);
        let paced = progress.step("paced", &what, |_| {
            let words = |_| format!("paced {} {} {RATE}", self.clients, self.paced);
            meter.rows(rounds, &[Ws, Ours, Floor], Cores::Two, words)
        });
        let what = format!("{} idle connections", self.connections);
        let idle = progress.step("idle", &what, |_| {
            let words = |_| format!("idle {}", self.connections);
            meter.rows(rounds, &[Ws, Ours, Floor], Cores::Any, words)
        });
        let what = format!("{} join one realm", self.joins);
        let join = progress.step("join", &what, |_| {
            let words = |_| format!("join {}", self.joins);
            meter.rows(rounds, &[WsStatus, Ours], Cores::Any, words)
        });
        let what = format!("{} join one realm", self.many_joins);
        let many = progress.step("join-many", &what, |_| {
            let words = |_| format!("join {}", self.many_joins);
            meter.rows(rounds, &[Ours], Cores::Any, words)
        });
        let what = format!(
            "{} messages, with and without a client that does not read",
            self.stalled
        );
        let stalled = progress.step("stalled", &what, |_| {
            let run = |what: &str| {
                let words = |_| format!("{what} {}", self.stalled);
                meter.rows(rounds, &[Ws, Ours], Cores::Any, words)
            };
            Ok((run("stalled")?, run("alone")?))
        });
        let (stalled, alone) = stalled.unwrap_or_default();
        Figures {
            plan: self,
            same_core: same_core.unwrap_or_default(),
            two_cores: two_cores.unwrap_or_default(),
            flood: flood.unwrap_or_default(),
            paced: paced.unwrap_or_default(),
            idle: idle.unwrap_or_default(),
            join: join.unwrap_or_default(),
            many: many.unwrap_or_default(),
            stalled,
            alone,
        }
    }

    fn trips(self) -> String {
        format!("{} round trips, {} rounds", self.round_trips, self.rounds)
    }
}
