//! The one who does the deeds, and sees to it that what died comes back.
//!
//! The rig keeps every part running: what is killed is started again at once, as a service manager would. Between two
//! deeds it waits for a random time, and often until everybody is served again; how long that takes is the machine's
//! business, only a round in which nothing moves any more is given up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fastrand::Rng;

use super::board::Board;
use super::deeds::{
    Deed, Fate, Held, Mishap, PylonFate, Stretch, Victim, fate, millis, pylon_fate,
};
use super::kept::Kept;
use super::table::Tally;
use crate::history::Part;
use crate::rig::{AppWitness, HELD_OF, HostOptions, Proxy, PylonOptions, Rig, Weather};

/// How long nothing at all may move. What is certain to come comes sooner, on any machine.
pub(super) const STALL: Duration = Duration::from_mins(2);
/// How often everything is looked after.
const LOOK: Duration = Duration::from_millis(10);
/// After so many deeds something must have been finished.
const STRETCH: usize = 6;

/// The stretches of network.
#[derive(Debug)]
pub(super) struct Network {
    pub(super) pylon: Proxy,
    pub(super) apps: Proxy,
}

/// The nemesis of one round.
#[derive(Debug)]
pub(super) struct Nemesis {
    pub(super) rig: Rig,
    pub(super) network: Network,
    pub(super) board: Arc<Board>,
    pub(super) witnesses: Vec<AppWitness>,
    pub(super) tally: Tally,
    dice: Rng,
    fate: Fate,
    pylon_fate: PylonFate,
    /// Fates that are not rolled, because the round is a kept one.
    kept: Kept,
    /// What was done, for a round that is to be kept.
    done: Kept,
}

impl Nemesis {
    pub(super) fn new(
        rig: Rig,
        network: Network,
        board: Arc<Board>,
        witnesses: Vec<AppWitness>,
        dice: Rng,
    ) -> Self {
        Self {
            rig,
            network,
            board,
            witnesses,
            tally: Tally::default(),
            dice,
            fate: Fate::Plain,
            pylon_fate: PylonFate::Plain,
            kept: Kept::default(),
            done: Kept::default(),
        }
    }

    /// From now on it rolls these dice, for all but the fates of a round that was kept.
    pub(super) fn roll_with(&mut self, dice: Rng, kept: Kept) {
        (self.dice, self.kept) = (dice, kept);
    }

    /// What it did, as a round that can be kept.
    pub(super) fn done(&self, seed: u64) -> Kept {
        Kept {
            seed,
            ..self.done.clone()
        }
    }

    /// Does everything, then heals what it did.
    pub(super) async fn rage(&mut self, deeds: &[Deed]) -> anyhow::Result<()> {
        for (number, deed) in deeds.iter().enumerate() {
            self.pause().await?;
            self.board.disturbed();
            self.done.deeds.push(deed.clone());
            self.act(deed).await.with_context(|| format!("{deed:?}"))?;
            self.board.disturbed();
            if number % STRETCH == STRETCH - 1 {
                let turns = self.board.done().turns;
                self.until("the end of a turn", |board| board.done().turns > turns)
                    .await?;
            }
        }
        if self.fate != Fate::Plain {
            self.kill_host()?;
            self.start_host(Fate::Plain)?;
        }
        if self.pylon_fate != PylonFate::Plain {
            self.kill_pylon()?;
            self.start_pylon(PylonFate::Plain)?;
        }
        self.until("everybody to be served", Board::all_served)
            .await
    }

    /// Between two deeds: nothing, a moment, or until everybody is served again and a moment more.
    async fn pause(&mut self) -> anyhow::Result<()> {
        match self.dice.u8(0..8) {
            0 => return Ok(()),
            1 | 2 => {}
            _ => {
                self.until("everybody to be served", Board::all_served)
                    .await?;
            }
        }
        let moment = millis(&mut self.dice, 0..350);
        self.spend(moment).await
    }

    /// Waits for something that is certain to come, as long as anything moves.
    pub(super) async fn until(
        &mut self,
        what: &str,
        fits: impl Fn(&Board) -> bool,
    ) -> anyhow::Result<()> {
        let mut moved = (self.board.progress(), self.rig.written());
        let mut since = Instant::now();
        while !fits(&self.board) {
            self.spend(LOOK).await?;
            let now = (self.board.progress(), self.rig.written());
            if now != moved {
                (moved, since) = (now, Instant::now());
            }
            if since.elapsed() > STALL {
                let people = self.board.tell();
                bail!("nothing moves any more while waiting for {what}:\n{people}");
            }
        }
        Ok(())
    }

    /// Lets time pass, and starts a host or Pylon again that died by itself.
    pub(super) async fn spend(&mut self, time: Duration) -> anyhow::Result<()> {
        let until = Instant::now() + time;
        loop {
            self.tend()?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }

    fn tend(&mut self) -> anyhow::Result<()> {
        if self.rig.relay_fell()? {
            bail!("the relay ended by itself; its log is in the evidence");
        }
        self.tend_pylon()?;
        if !self.rig.host()?.has_died()? {
            return Ok(());
        }
        match &self.fate {
            Fate::DiesAt(_) => self.tally.hosts_at_a_place += 1,
            // A host that may open nothing cannot begin, and says so.
            Fate::Descriptors(_) => self.tally.hosts += 1,
            Fate::Plain | Fate::DiskRefuses(_) | Fate::Clock(_) => {
                bail!("the host ended by itself; its log is in the evidence")
            }
        }
        self.note(Part::Host);
        self.start_host(Fate::Plain)
    }

    fn tend_pylon(&mut self) -> anyhow::Result<()> {
        if !self.rig.pylon_fell()? {
            return Ok(());
        }
        match &self.pylon_fate {
            PylonFate::DiesAt(_) => self.tally.pylons_at_a_place += 1,
            // One that may open too little to begin says so.
            PylonFate::Descriptors(_) => self.tally.pylons += 1,
            PylonFate::Plain => bail!("the Pylon ended by itself; its log is in the evidence"),
        }
        self.note(Part::Pylon);
        self.start_pylon(PylonFate::Plain)
    }

    /// What every app recorded, for a person who looks at the evidence.
    pub(super) fn keep_recordings(&self) {
        for app in self.witnesses.iter().map(AppWitness::recorded) {
            let path = self.rig.path().join(format!("app-{}.txt", app.name));
            let lines: Vec<String> = app.steps.iter().map(|step| format!("{step:?}")).collect();
            // A failure of it must not hide the one that counts.
            let _ = std::fs::write(path, lines.join("\n"));
        }
    }

    fn note(&self, part: Part) {
        self.witnesses.iter().for_each(|app| app.note(part));
    }

    async fn act(&mut self, deed: &Deed) -> anyhow::Result<()> {
        match deed {
            Deed::Kill(victim) => self.kill(*victim).await,
            Deed::Hold(held, time) => self.hold(*held, *time).await,
            Deed::Network(stretch, mishap) => self.disturb(*stretch, *mishap).await,
            Deed::FillDisk(time) => self.fill_disk(*time).await,
        }
    }

    async fn kill(&mut self, victim: Victim) -> anyhow::Result<()> {
        match victim {
            Victim::Relay => {
                self.rig.kill_relay()?;
                self.tally.relays += 1;
                self.rig.start_relay().await
            }
            Victim::Pylon => {
                self.kill_pylon()?;
                let fate = self.kept.pylons.pop_front();
                let fate = fate.unwrap_or_else(|| pylon_fate(&mut self.dice));
                self.done.pylons.push_back(fate.clone());
                self.start_pylon(fate)
            }
            Victim::Host => {
                self.kill_host()?;
                let kept = self.kept.hosts.pop_front();
                let fate = kept.unwrap_or_else(|| fate(&mut self.dice));
                self.done.hosts.push_back(fate.clone());
                self.start_host(fate)
            }
            Victim::Cli => {
                // One that ended meanwhile cannot be killed, which is no harm.
                if let Some(pid) = self.some_cli()
                    && self.rig.kill(pid).is_ok()
                {
                    self.tally.clis += 1;
                }
                Ok(())
            }
            Victim::App => {
                let who = self.dice.usize(0..self.board.people());
                self.board.drop_app(who);
                self.tally.apps += 1;
                Ok(())
            }
        }
    }

    fn kill_pylon(&mut self) -> anyhow::Result<()> {
        self.rig.kill_pylon()?;
        self.tally.pylons += 1;
        self.note(Part::Pylon);
        Ok(())
    }

    fn start_pylon(&mut self, fate: PylonFate) -> anyhow::Result<()> {
        let mut options = PylonOptions::default();
        match &fate {
            PylonFate::Plain => {}
            PylonFate::DiesAt(place) => options.failpoint = Some(format!("{place}:kill")),
            PylonFate::Descriptors(most) => {
                options.descriptors = Some(*most);
                self.tally.pylon_descriptors += 1;
            }
        }
        self.pylon_fate = fate;
        self.board.disturbed();
        self.rig.start_pylon_with(&options)
    }

    fn kill_host(&mut self) -> anyhow::Result<()> {
        self.rig.kill_host()?;
        self.tally.hosts += 1;
        self.note(Part::Host);
        Ok(())
    }

    fn start_host(&mut self, fate: Fate) -> anyhow::Result<()> {
        let mut options = HostOptions::default();
        match &fate {
            Fate::Plain => {}
            Fate::DiesAt(place) => options.failpoint = Some(format!("{place}:kill")),
            Fate::DiskRefuses(place) => {
                options.failpoint = Some(format!("{place}:fail"));
                self.tally.refusals += 1;
            }
            Fate::Clock(skew) => {
                options.clock_skew_ms = Some(*skew);
                self.tally.clocks += 1;
            }
            Fate::Descriptors(most) => {
                options.descriptors = Some(*most);
                self.tally.descriptors += 1;
            }
        }
        self.fate = fate;
        self.board.disturbed();
        self.rig.put_host(&options)
    }

    fn some_cli(&mut self) -> Option<u32> {
        let living: Vec<u32> = self
            .rig
            .conversations()
            .iter()
            .filter_map(|id| self.rig.cli(id))
            .collect();
        self.dice.choice(&living).copied()
    }

    async fn hold(&mut self, held: Held, time: Duration) -> anyhow::Result<()> {
        let pid = match held {
            Held::Relay => self.rig.relay().ok(),
            Held::Pylon => self.rig.pylon(),
            Held::Host => Some(self.rig.host()?.pid()),
            Held::Cli => self.some_cli(),
            Held::App => {
                let which = self.dice.u64(0..HELD_OF);
                self.tally.held_apps += 1;
                return self.under(Stretch::Apps, Weather::Held(which), time).await;
            }
        };
        let Some(pid) = pid else { return Ok(()) };
        // One that ended meanwhile cannot be held, which is no harm.
        if self.rig.hold(pid).is_err() {
            return Ok(());
        }
        self.tally.holds += 1;
        let went = self.spend(time).await;
        let _ = self.rig.release(pid);
        went
    }

    /// Nothing can be written for a while but what room is kept ready for.
    async fn fill_disk(&mut self, time: Duration) -> anyhow::Result<()> {
        let Ok(disk) = self.rig.disk() else {
            return Ok(());
        };
        disk.fill()?;
        self.tally.full_disks += 1;
        let went = self.spend(time).await;
        self.rig.disk()?.free()?;
        went
    }

    async fn disturb(&mut self, stretch: Stretch, mishap: Mishap) -> anyhow::Result<()> {
        match mishap {
            Mishap::Cut => {
                self.proxy(stretch).cut();
                self.tally.cuts += 1;
                if stretch == Stretch::Pylon {
                    // What was on its way is lost, and the Pylon begins anew with everybody.
                    self.note(Part::Pylon);
                }
                Ok(())
            }
            Mishap::Still(time) => {
                self.tally.stalls += 1;
                self.under(stretch, Weather::Still, time).await
            }
            Mishap::Slow(each, time) => {
                self.tally.delays += 1;
                self.under(stretch, Weather::Slow(each), time).await
            }
            Mishap::Uneven(most, time) => {
                self.tally.overtakings += 1;
                self.under(stretch, Weather::Uneven(most), time).await
            }
        }
    }

    fn proxy(&self, stretch: Stretch) -> &Proxy {
        match stretch {
            Stretch::Pylon => &self.network.pylon,
            Stretch::Apps => &self.network.apps,
        }
    }

    async fn under(
        &mut self,
        stretch: Stretch,
        weather: Weather,
        time: Duration,
    ) -> anyhow::Result<()> {
        self.proxy(stretch).weather(weather);
        let went = self.spend(time).await;
        self.proxy(stretch).weather(Weather::Fair);
        went
    }
}
