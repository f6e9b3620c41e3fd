//! What a run did and what came of it, in figures.

use std::fmt::Write as _;
use std::time::Duration;

use super::board::{Absence, Done};
use crate::survival::Figures;

/// How often the nemesis did what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Kills of the relay.
    pub relays: usize,
    /// Kills of the Pylon.
    pub pylons: usize,
    /// Kills of the host at random instants.
    pub hosts: usize,
    /// Deaths of the host at a named place of its code.
    pub hosts_at_a_place: usize,
    /// Deaths of the Pylon at a named place of its code.
    pub pylons_at_a_place: usize,
    /// Kills of a CLI.
    pub clis: usize,
    /// Apps that lost their connection without a word.
    pub apps: usize,
    /// Processes that were stopped in their tracks for a while.
    pub holds: usize,
    /// Stretches of network that were cut.
    pub cuts: usize,
    /// Stretches in which nothing went through for a while.
    pub stalls: usize,
    /// Stretches in which everything took its time for a while.
    pub delays: usize,
    /// Stretches in which connections overtook each other for a while.
    pub overtakings: usize,
    /// Apps that were stopped in their tracks for a while.
    pub held_apps: usize,
    /// Writes or syncs that the disk refused.
    pub refusals: usize,
    /// Times at which the disk had no room.
    pub full_disks: usize,
    /// Hosts with a clock that is wrong.
    pub clocks: usize,
    /// Hosts that could open few files.
    pub descriptors: usize,
    /// Pylons that could open few files.
    pub pylon_descriptors: usize,
}

/// What one round was.
#[derive(Debug, Clone, Default)]
pub struct Round {
    pub(super) tally: Tally,
    pub(super) figures: Figures,
    pub(super) done: Done,
    pub(super) absences: Vec<Absence>,
    pub(super) took: Duration,
}

/// All rounds of a run.
#[derive(Debug, Clone, Default)]
pub struct Report {
    rounds: Vec<Round>,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.relays += other.relays;
        self.pylons += other.pylons;
        self.hosts += other.hosts;
        self.hosts_at_a_place += other.hosts_at_a_place;
        self.pylons_at_a_place += other.pylons_at_a_place;
        self.clis += other.clis;
        self.apps += other.apps;
        self.holds += other.holds;
        self.cuts += other.cuts;
        self.stalls += other.stalls;
        self.delays += other.delays;
        self.overtakings += other.overtakings;
        self.held_apps += other.held_apps;
        self.refusals += other.refusals;
        self.full_disks += other.full_disks;
        self.clocks += other.clocks;
        self.descriptors += other.descriptors;
        self.pylon_descriptors += other.pylon_descriptors;
    }
}

impl Report {
    /// Adds a round.
    pub fn add(&mut self, round: Round) {
        self.rounds.push(round);
    }

    /// How often what was done in all rounds.
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.rounds.iter().for_each(|round| all.add(&round.tally));
        all
    }

    fn sum(&self, of: impl Fn(&Round) -> usize) -> usize {
        self.rounds.iter().map(of).sum()
    }

    /// The table.
    pub fn table(&self) -> String {
        let tally = self.tally();
        let absences: Vec<Absence> = self
            .rounds
            .iter()
            .flat_map(|round| round.absences.clone())
            .collect();
        let part = |of: fn(&Absence) -> Duration, hundredths: usize| {
            let mut times: Vec<Duration> = absences.iter().map(of).collect();
            times.sort_unstable();
            let at = times.len().saturating_sub(1) * hundredths / 100;
            times.get(at).map_or(0.0, Duration::as_secs_f64)
        };
        let whole = |absence: &Absence| absence.whole;
        let took: Duration = self.rounds.iter().map(|round| round.took).sum();
        let counts = [
            ("rounds", self.rounds.len()),
            ("kills of the relay", tally.relays),
            ("kills of the Pylon", tally.pylons),
            ("kills of the host", tally.hosts),
            ("deaths of the host at a failpoint", tally.hosts_at_a_place),
            (
                "deaths of the Pylon at a failpoint",
                tally.pylons_at_a_place,
            ),
            ("kills of a CLI", tally.clis),
            ("apps dropped", tally.apps),
            ("processes held (SIGSTOP)", tally.holds),
            ("apps held", tally.held_apps),
            ("connections cut", tally.cuts),
            ("connections stalled", tally.stalls),
            ("connections delayed", tally.delays),
            ("connections that overtook others", tally.overtakings),
            ("hosts whose disk refuses", tally.refusals),
            ("times the disk was full", tally.full_disks),
            ("hosts with a wrong clock", tally.clocks),
            ("hosts with few descriptors", tally.descriptors),
            ("Pylons with few descriptors", tally.pylon_descriptors),
            (
                "messages acknowledged",
                self.sum(|round| round.done.messages),
            ),
            (
                "turns seen to their end",
                self.sum(|round| round.done.turns),
            ),
            ("decisions asked", self.sum(|round| round.figures.asked)),
            (
                "answers that were first",
                self.sum(|round| round.done.answers),
            ),
            ("answers that were late", self.sum(|round| round.done.late)),
            ("tools that ran", self.sum(|round| round.figures.ran)),
            ("durable events", self.sum(|round| round.figures.events)),
            ("rows of history", self.sum(|round| round.figures.rows)),
            ("CLI processes", self.sum(|round| round.figures.processes)),
            ("absences of an app", absences.len()),
        ];
        let mut text = String::new();
        for (name, count) in counts {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name:<36}{count:>10}");
        }
        for (name, seconds) in [
            ("absence of an app, median (s)", part(whole, 50)),
            ("absence of an app, longest (s)", part(whole, 100)),
            (
                "longest after the last fault (s)",
                part(|absence| absence.healed, 100),
            ),
            ("time (s)", took.as_secs_f64()),
        ] {
            let _ = writeln!(text, "{name:<36}{seconds:>10.2}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_sums_all_rounds_and_shows_the_longest_absence() {
        let mut report = Report::default();
        for seconds in [1, 4] {
            report.add(Round {
                tally: Tally {
                    relays: 3,
                    ..Tally::default()
                },
                absences: vec![Absence {
                    whole: Duration::from_secs(seconds),
                    healed: Duration::from_secs(seconds - 1),
                }],
                ..Round::default()
            });
        }
        let table = report.table();
        let row = |name: &str| {
            let line = table.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().next_back().unwrap().to_owned()
        };
        assert_eq!(row("kills of the relay"), "6");
        assert_eq!(row("absence of an app, longest"), "4.00");
        assert_eq!(row("longest after the last fault"), "3.00");
    }
}
