//! What the nemesis does in one round: a list that follows from the seed alone.

use std::time::Duration;

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::survival::places;

/// A part that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Victim {
    /// The relay.
    Relay,
    /// The Pylon.
    Pylon,
    /// The host; the next one has this fate.
    Host,
    /// The CLI of some conversation.
    Cli,
    /// An app, which loses its connection without a word.
    App,
}

/// A process that is stopped in its tracks for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Held {
    /// The relay.
    Relay,
    /// The Pylon.
    Pylon,
    /// The host.
    Host,
    /// The CLI of some conversation.
    Cli,
    /// An app: neither reads nor writes, and its connection stands.
    App,
}

/// A stretch of network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stretch {
    /// Between the Pylon and the relay.
    Pylon,
    /// Between the apps and the relay.
    Apps,
}

/// What happens to a stretch of network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Mishap {
    /// All its connections are cut.
    Cut,
    /// Nothing goes through for a while.
    Still(Duration),
    /// Everything takes its time for a while.
    Slow(Duration, Duration),
    /// What is sent over one connection overtakes what was sent over another, for a while.
    Uneven(Duration, Duration),
}

/// What is wrong with a host from its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fate {
    /// Nothing.
    Plain,
    /// It dies by itself at a named place.
    DiesAt(String),
    /// Its disk refuses once, at a named place.
    DiskRefuses(String),
    /// Its clock is wrong by so many milliseconds.
    Clock(i64),
    /// It may open only so many files.
    Descriptors(u64),
}

/// What is wrong with a Pylon from its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PylonFate {
    /// Nothing.
    Plain,
    /// It dies by itself at a named place.
    DiesAt(String),
    /// It may open only so many files.
    Descriptors(u64),
}

/// One deed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Deed {
    /// Somebody is killed with -9.
    Kill(Victim),
    /// A process is stopped in its tracks and goes on after a while.
    Hold(Held, Duration),
    /// Something happens to the network.
    Network(Stretch, Mishap),
    /// The disk with the data of host, Pylon and relay has no room for a while.
    FillDisk(Duration),
}

/// How many of each victim a round has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) relay: usize,
    pub(super) pylon: usize,
    pub(super) host: usize,
}

/// The deeds of one round in their order.
pub(super) fn plan(dice: &mut Rng, quota: Quota) -> Vec<Deed> {
    let mut deeds = Vec::new();
    for (victim, times) in [
        (Victim::Relay, quota.relay),
        (Victim::Pylon, quota.pylon),
        (Victim::Host, quota.host),
        (Victim::Cli, 2),
        (Victim::App, 4),
    ] {
        deeds.extend(std::iter::repeat_n(Deed::Kill(victim), times));
    }
    for held in [Held::Relay, Held::Pylon, Held::Host, Held::Cli, Held::App] {
        deeds.push(Deed::Hold(held, millis(dice, 50..1200)));
    }
    for stretch in [Stretch::Pylon, Stretch::Apps] {
        deeds.push(Deed::Network(stretch, Mishap::Cut));
        let still = Mishap::Still(millis(dice, 100..1500));
        deeds.push(Deed::Network(stretch, still));
        let slow = Mishap::Slow(millis(dice, 2..30), millis(dice, 300..1500));
        deeds.push(Deed::Network(stretch, slow));
    }
    let uneven = Mishap::Uneven(millis(dice, 20..200), millis(dice, 300..1500));
    deeds.push(Deed::Network(Stretch::Apps, uneven));
    deeds.push(Deed::FillDisk(millis(dice, 200..2000)));
    dice.shuffle(&mut deeds);
    deeds
}

pub(super) fn millis(dice: &mut Rng, range: std::ops::Range<u64>) -> Duration {
    Duration::from_millis(dice.u64(range))
}

/// Ten years.
const FAR: i64 = 315_360_000_000;
/// An hour.
const NEAR: i64 = 3_600_000;

/// What is wrong with the next host.
pub(super) fn fate(dice: &mut Rng) -> Fate {
    match dice.u8(0..10) {
        0..3 => {
            let places = places();
            let name = &places[dice.usize(0..places.len())];
            // Later than the first time, so that the host has lived a little.
            if name.contains(':') {
                Fate::DiesAt(name.clone())
            } else {
                Fate::DiesAt(format!("{name}:{}", dice.u8(1..5)))
            }
        }
        3 => Fate::DiesAt(format!("log-torn:{}", dice.u8(1..40))),
        4 => Fate::DiskRefuses(format!("log-torn:{}", dice.u8(1..40))),
        5 => Fate::DiskRefuses(format!("log-unsynced:{}", dice.u8(1..10))),
        6 => Fate::Clock(*dice.choice(&[-FAR, -NEAR, NEAR, FAR]).unwrap_or(&NEAR)),
        7 => Fate::Descriptors(dice.u64(96..200)),
        _ => Fate::Plain,
    }
}

/// The places in the code of a Pylon that people reach who talk and decide.
const PYLON_PLACES: [&str; 2] = ["events-stored", "host-answered"];

/// What is wrong with the next Pylon.
pub(super) fn pylon_fate(dice: &mut Rng) -> PylonFate {
    match dice.u8(0..10) {
        0..3 => {
            let place = PYLON_PLACES[dice.usize(0..PYLON_PLACES.len())];
            PylonFate::DiesAt(format!("{place}:{}", dice.u8(1..20)))
        }
        3 => PylonFate::Descriptors(dice.u64(40..100)),
        _ => PylonFate::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: Quota = Quota {
        relay: 10,
        pylon: 9,
        host: 4,
    };

    #[test]
    fn a_plan_follows_from_its_seed_and_fills_its_quota() {
        let one = plan(&mut Rng::with_seed(7), QUOTA);
        assert_eq!(one, plan(&mut Rng::with_seed(7), QUOTA));
        assert_ne!(one, plan(&mut Rng::with_seed(8), QUOTA));
        let kills = |victim| {
            one.iter()
                .filter(|deed| **deed == Deed::Kill(victim))
                .count()
        };
        assert_eq!(
            [Victim::Relay, Victim::Pylon, Victim::Host].map(kills),
            [10, 9, 4]
        );
        let fills = one.iter().filter(|deed| matches!(deed, Deed::FillDisk(_)));
        assert_eq!(fills.count(), 1);
    }

    #[test]
    fn every_fate_comes() {
        let mut dice = Rng::with_seed(1);
        let fates: Vec<Fate> = (0..200).map(|_| fate(&mut dice)).collect();
        let count = |fits: fn(&Fate) -> bool| fates.iter().filter(|fate| fits(fate)).count();
        assert!(count(|fate| matches!(fate, Fate::Plain)) > 10);
        assert!(count(|fate| matches!(fate, Fate::DiesAt(_))) > 30);
        assert!(count(|fate| matches!(fate, Fate::DiskRefuses(_))) > 10);
        assert!(count(|fate| matches!(fate, Fate::Clock(_))) > 5);
        assert!(count(|fate| matches!(fate, Fate::Descriptors(_))) > 5);
        let fates: Vec<PylonFate> = (0..200).map(|_| pylon_fate(&mut dice)).collect();
        let count = |fits: fn(&PylonFate) -> bool| fates.iter().filter(|fate| fits(fate)).count();
        assert!(count(|fate| matches!(fate, PylonFate::Plain)) > 50);
        assert!(count(|fate| matches!(fate, PylonFate::DiesAt(_))) > 30);
        assert!(count(|fate| matches!(fate, PylonFate::Descriptors(_))) > 5);
    }
}
