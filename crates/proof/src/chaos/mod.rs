//! Chaos: rounds in which everything is killed, held, cut and starved by the roll of dice while people work.
//!
//! ```text
//!   people (apps) ── proxy ── relay ── proxy ── Pylon ── host ── simulated CLIs
//!        watcher ───────────────────────────────────────┘
//!   nemesis: from one seed, kills and holds processes, cuts and stills proxies, starts hosts that will fail
//! ```
//!
//! A round is over when the nemesis has done its deeds, everything has come to rest and the checker finds nothing wrong.
//! The deeds and what people write follow from the seed; which instant they hit does not, that is the machine's. What is
//! found is made small before it is shown.

mod board;
mod deeds;
mod kept;
mod nemesis;
mod person;
mod rest;
mod smallest;
mod table;
mod watcher;
mod words;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use fastrand::Rng;
use rustix::process::geteuid;
use tokio::task::JoinSet;

pub use kept::Kept;
pub use smallest::{smallest, tell};
pub use table::{Report, Round, Tally};

use board::{Absence, Board, Phase};
use deeds::Quota;
use nemesis::{Nemesis, Network};
use person::Person;

use crate::rig::{Agent, App, Rig, Talk};
use crate::survival::figures;

/// Kills of one round: of the relay, of the Pylon, of the host.
const KILLS: Quota = Quota {
    relay: 10,
    pylon: 10,
    host: 4,
};
/// The disk with all data: enough for what is kept ready ahead of the journals and logs of a round.
const DISK: u64 = 384 * 1024 * 1024;
/// A prompt is visible to everybody this soon after any fault.
const BACK: Duration = Duration::from_secs(5);
/// Who takes part.
const PEOPLE: [&str; 3] = ["anna", "ben", "carla"];
/// How many conversations they have.
const TALKS: usize = 4;

/// Kills of relay, Pylon and host in one round.
pub fn kills_of_a_round() -> usize {
    KILLS.relay + KILLS.pylon + KILLS.host
}

/// Plays one round of a run, and writes down what it did where it is to be kept. What breaks a promise is told with the
/// smallest history that shows it.
pub async fn play(seed: u64, round: u64, keep: Option<&Path>) -> anyhow::Result<Round> {
    // Far apart, so that neighbouring seeds have nothing in common.
    let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(round);
    let mut dice = Rng::with_seed(seed);
    let deeds = deeds::plan(&mut dice, KILLS);
    let planned = Kept {
        seed,
        deeds,
        ..Kept::default()
    };
    play_with(&planned, dice, keep).await
}

/// Plays a round that was kept.
pub async fn play_kept(kept: &Kept) -> anyhow::Result<Round> {
    play_with(kept, Rng::with_seed(kept.seed), None).await
}

async fn play_with(planned: &Kept, mut dice: Rng, keep: Option<&Path>) -> anyhow::Result<Round> {
    let began = Instant::now();
    let seed = planned.seed;
    let mut stage = Stage::set().await?;
    let played = stage.play(&mut dice, planned).await;
    if let Some(path) = keep {
        stage.nemesis.done(seed).write(path)?;
    }
    if played.is_err() {
        stage.nemesis.keep_recordings();
        stage.nemesis.rig.keep_evidence(&format!("chaos-{seed}"));
    }
    let history = played?;
    let absences = stage.board.absences();
    back_in_time(&absences)?;
    Ok(Round {
        tally: stage.nemesis.tally,
        figures: figures(&history),
        done: stage.board.done(),
        absences,
        took: began.elapsed(),
    })
}

/// Everybody is served again, and so sees every prompt that is open, soon after the last fault.
fn back_in_time(absences: &[Absence]) -> anyhow::Result<()> {
    let late: Vec<_> = absences.iter().map(|absence| absence.healed).collect();
    let late: Vec<_> = late.into_iter().filter(|time| *time > BACK).collect();
    ensure!(
        late.is_empty(),
        "I2: an app was not served within {BACK:?} after the last fault: {late:?}"
    );
    Ok(())
}

/// Everything that a round needs.
struct Stage {
    nemesis: Nemesis,
    board: Arc<Board>,
    apps: Vec<App>,
    talks: Vec<Talk>,
}

impl Stage {
    /// Everything runs, everybody is let in, every conversation has begun.
    async fn set() -> anyhow::Result<Self> {
        let mut rig = Rig::new(&Agent::simulator()).await?;
        // Only the superuser can mount a disk that is small enough to be filled; without one that deed is left out.
        if geteuid().is_root() {
            rig.use_small_disk(DISK)?;
        }
        let network = Network {
            pylon: rig.proxy().await?,
            apps: rig.proxy().await?,
        };
        let mut apps = Vec::new();
        for name in PEOPLE {
            let mut app = rig.app(name)?;
            app.goes_through(&network.apps);
            apps.push(app);
        }
        apps.push(rig.outsider("eve")?);
        rig.pylon_goes_through(&network.pylon);
        rig.add_pylon()?;
        rig.start_relay().await?;
        rig.start_host().await?;
        rig.start_pylon()?;
        for app in &mut apps {
            app.connect().await?;
        }
        apps[0].is_served().await?;
        let talks = begin(&mut rig, &mut apps[0]).await?;
        let board = Arc::new(Board::new(PEOPLE.len()));
        let witnesses = apps.iter().map(App::witness).collect();
        let dice = Rng::with_seed(0);
        let nemesis = Nemesis::new(rig, network, Arc::clone(&board), witnesses, dice);
        Ok(Self {
            nemesis,
            board,
            apps,
            talks,
        })
    }

    async fn play(
        &mut self,
        dice: &mut Rng,
        planned: &Kept,
    ) -> anyhow::Result<crate::history::History> {
        self.nemesis.roll_with(dice.fork(), planned.clone());
        let viewer = self.nemesis.rig.viewer("watcher", 103);
        let watcher = viewer.witness();
        let mut people = JoinSet::new();
        for (number, app) in self.apps.drain(..).enumerate() {
            if number == PEOPLE.len() {
                people.spawn(stranger(app, Arc::clone(&self.board)));
                continue;
            }
            let (talks, board) = (self.talks.clone(), Arc::clone(&self.board));
            let person = Person::new(app, number, talks, board, dice.fork());
            people.spawn(person.live());
        }
        let ids = self.talks.iter().map(|talk| talk.id.clone()).collect();
        people.spawn(watcher::watch(viewer, ids, Arc::clone(&self.board)));
        let went = async {
            self.nemesis.rage(&planned.deeds).await?;
            self.board.enter(Phase::Finishing);
            rest::await_rest(&mut self.nemesis, &watcher).await
        };
        let went = went.await;
        self.board.enter(Phase::Over);
        // Nobody waits for anything any more; what one of them still does is of no interest.
        people.shutdown().await;
        went
    }
}

/// A workspace with a conversation each, in which something was said.
async fn begin(rig: &mut Rig, app: &mut App) -> anyhow::Result<Vec<Talk>> {
    let mut talks = Vec::new();
    for number in 0..TALKS {
        let folder = rig.path().join("work").join(format!("talk-{number}"));
        std::fs::create_dir_all(&folder)?;
        let talk = app.begin(&folder).await?;
        rig.adopt(&talk.id, &folder);
        app.say(&talk, "hello").await?;
        talks.push(talk);
    }
    Ok(talks)
}

/// Somebody of another realm, who comes back again and again and must hear nothing.
async fn stranger(mut app: App, board: Arc<Board>) {
    while board.phase() != Phase::Over {
        if !app.is_connected() && !app.connects().await {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let mark = app.mark();
        app.stirs(mark, std::time::Duration::from_millis(100)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_back_too_late_after_the_last_fault_breaks_a_promise() {
        let absence = |healed| Absence {
            whole: 10 * BACK,
            healed,
        };
        assert!(back_in_time(&[absence(BACK)]).is_ok(), "faults upon faults");
        let late = BACK + Duration::from_millis(1);
        assert!(back_in_time(&[absence(BACK), absence(late)]).is_err());
    }
}
