//! A crowd of connections, and all of them coming back after the relay was killed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::line::Line;
use super::meter::{Quantiles, open_many_files, resident_kb};
use super::{Figure, Scale};
use crate::rig::{Agent, Rig};

/// Connections of a household.
const HOUSEHOLD: usize = 50;
/// Fewer than this is no crowd.
const FEWEST: usize = 5000;
/// Who comes in at the same time; the relay lets so many strangers of one address wait.
const AT_THE_DOOR: usize = 200;
/// Descriptors beside the connections.
const SPARE: u64 = 500;
const PATIENCE: Duration = Duration::from_mins(5);
const PINGS: usize = 200;

pub(super) async fn play(scale: &Scale) -> anyhow::Result<Vec<Figure>> {
    let allowed = open_many_files()?;
    let room = usize::try_from(allowed.saturating_sub(SPARE)).unwrap_or(usize::MAX);
    let count = scale.connections.min(room);
    ensure!(
        count == scale.connections || count >= FEWEST,
        "the system lets a process open {allowed} files: too few"
    );
    let mut rig = Rig::new(&Agent::simulator()).await?;
    let mut tokens = Vec::new();
    for nth in 0..count.div_ceil(HOUSEHOLD) {
        tokens.push(rig.household(&format!("house-{nth}"))?);
    }
    rig.start_relay().await?;
    let address = rig.relay_address()?;
    let mut watcher = Line::open(&address, &tokens[0]).await?;
    let before = resident_kb(rig.relay()?);
    let crowd = Crowd::new(&address, &tokens, count);
    let begin = Instant::now();
    crowd.are_there(count).await?;
    let joined = begin.elapsed();
    let mut pings = Vec::new();
    for _ in 0..PINGS {
        pings.push(watcher.ping().await?);
    }
    let after = resident_kb(rig.relay()?);
    rig.kill_relay()?;
    crowd.are_there(0).await?;
    let begin = Instant::now();
    rig.start_relay().await?;
    crowd.are_there(count).await?;
    let back = begin.elapsed();
    #[expect(clippy::cast_precision_loss, reason = "kilobytes of one process")]
    let each = after.saturating_sub(before) as f64 / count as f64;
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    Ok(vec![
        Figure::new(
            "connections at once",
            format!("{count} (the system allows {allowed} files in a process)"),
        )
        .held(count == scale.connections || count >= FEWEST),
        Figure::new("time until all were let in", seconds(joined)),
        Figure::new("memory of the relay for each", format!("{each:.1} kB")),
        Figure::new("a ping among them", Quantiles::of(pings).told()),
        Figure::new(
            "relay killed with -9: time until all were back",
            seconds(back),
        )
        .held(true),
    ])
}

/// Connections that come back whenever they are lost.
struct Crowd {
    there: watch::Receiver<usize>,
    _members: JoinSet<()>,
}

impl Crowd {
    fn new(address: &str, tokens: &[String], count: usize) -> Self {
        let (told, there) = watch::channel(0);
        let (told, door) = (Arc::new(told), Arc::new(Semaphore::new(AT_THE_DOOR)));
        let mut members = JoinSet::new();
        for nth in 0..count {
            let (address, token) = (address.to_owned(), tokens[nth / HOUSEHOLD].clone());
            members.spawn(member(address, token, Arc::clone(&told), Arc::clone(&door)));
        }
        Self {
            there,
            _members: members,
        }
    }

    async fn are_there(&self, count: usize) -> anyhow::Result<()> {
        let mut there = self.there.clone();
        let waited = tokio::time::timeout(PATIENCE, there.wait_for(|there| *there == count)).await;
        let told = || format!("{} of {count} are there", *self.there.borrow());
        waited.map(|_| ()).with_context(told)
    }
}

/// One of them: at the first loss it tries at once, then at growing distances, as apps do.
async fn member(
    address: String,
    token: String,
    told: Arc<watch::Sender<usize>>,
    door: Arc<Semaphore>,
) {
    let mut wait = Duration::from_millis(100);
    loop {
        let joined = {
            let _turn = door.acquire().await;
            Line::open(&address, &token).await
        };
        let Ok(mut line) = joined else {
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(4));
            continue;
        };
        wait = Duration::from_millis(100);
        told.send_modify(|there| *there += 1);
        while line.next().await.is_ok() {}
        told.send_modify(|there| *there -= 1);
    }
}
