//! A crowd of connections around a household that works, and all of them coming back at once after the relay was killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;
use tokio::sync::watch;
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
/// All must be back within this time, whoever else comes back.
const BACK: Duration = Duration::from_mins(1);
/// Descriptors beside the connections.
const SPARE: u64 = 500;
const PATIENCE: Duration = Duration::from_mins(5);
const PINGS: usize = 200;
/// One of so many connections is busy: it says something all the time.
const BUSY_OF: usize = 10;
/// How often a busy one does.
const RHYTHM: Duration = Duration::from_millis(200);
/// Requests to the Pylon, fewer than the relay takes of an app at once.
const REQUESTS: usize = 30;

pub(super) async fn play(scale: &Scale) -> anyhow::Result<Vec<Figure>> {
    let allowed = open_many_files()?;
    let room = usize::try_from(allowed.saturating_sub(SPARE)).unwrap_or(usize::MAX);
    let count = scale.connections.min(room);
    ensure!(
        count == scale.connections || count >= FEWEST,
        "the system lets a process open {allowed} files: too few"
    );
    let mut rig = Rig::new(&Agent::simulator()).await?;
    rig.add_pylon()?;
    let home = rig.household("home")?;
    let mut tokens = Vec::new();
    for nth in 0..count.div_ceil(HOUSEHOLD) {
        tokens.push(rig.household(&format!("house-{nth}"))?);
    }
    rig.start_relay().await?;
    rig.start_host().await?;
    rig.start_pylon()?;
    let address = rig.relay_address()?;
    let mut watcher = Line::open(&address, &home).await?;
    watcher.is_served().await?;
    let before = resident_kb(rig.relay()?);
    let crowd = Crowd::new(&address, &tokens, count);
    let begin = Instant::now();
    crowd.are_there(count).await?;
    let joined = begin.elapsed();
    let after = resident_kb(rig.relay()?);
    let (mut pings, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..PINGS {
        pings.push(watcher.ping().await?);
    }
    for _ in 0..REQUESTS {
        let begin = Instant::now();
        watcher.ask("workspace_list", &json!({})).await?;
        answers.push(begin.elapsed());
    }
    let answered = crowd.answered.load(Ordering::Relaxed);
    rig.kill_relay()?;
    crowd.are_there(0).await?;
    let begin = Instant::now();
    rig.start_relay().await?;
    let served = served_again(&address, &home);
    let (all, served) = tokio::join!(crowd.are_there(count), served);
    let back = all.map(|()| begin.elapsed())?;
    let served = served?.duration_since(begin);
    #[expect(clippy::cast_precision_loss, reason = "kilobytes of one process")]
    let each = after.saturating_sub(before) as f64 / count as f64;
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    Ok(vec![
        Figure::new(
            "connections at once",
            format!("{count} (the system allows {allowed} files in a process)"),
        )
        .held(count == scale.connections || count >= FEWEST),
        Figure::new(
            "of them busy, and what they said and were answered",
            format!("{}, {} times", count.div_ceil(BUSY_OF), answered),
        )
        .held(answered >= count.div_ceil(BUSY_OF)),
        Figure::new("time until all were let in", seconds(joined)),
        Figure::new("memory of the relay for each", format!("{each:.1} kB")),
        Figure::new("a ping among them", Quantiles::of(pings).told()),
        Figure::new(
            "an answer of the Pylon among them",
            Quantiles::of(answers).told(),
        ),
        Figure::new(
            "relay killed with -9, everybody knocks at once: time until all were back",
            format!("{} (at most {})", seconds(back), seconds(BACK)),
        )
        .held(back <= BACK),
        Figure::new(
            "time until an app among them was served by its Pylon again",
            format!("{} (at most {})", seconds(served), seconds(BACK)),
        )
        .held(served <= BACK),
    ])
}

/// The moment at which an app that lost its relay has an answer of its Pylon again.
async fn served_again(address: &str, token: &str) -> anyhow::Result<Instant> {
    let mut wait = FIRST_WAIT;
    let mut line = loop {
        match Line::open(address, token).await {
            Ok(line) => break line,
            Err(_) => wait = pause(wait).await,
        }
    };
    line.is_served().await?;
    Ok(Instant::now())
}

/// Connections that come back whenever they are lost.
struct Crowd {
    there: watch::Receiver<usize>,
    /// Answers that the busy ones got.
    answered: Arc<AtomicUsize>,
    _members: JoinSet<()>,
}

impl Crowd {
    fn new(address: &str, tokens: &[String], count: usize) -> Self {
        let (told, there) = watch::channel(0);
        let told = Arc::new(told);
        let answered = Arc::<AtomicUsize>::default();
        let mut members = JoinSet::new();
        for nth in 0..count {
            let (address, token) = (address.to_owned(), tokens[nth / HOUSEHOLD].clone());
            let busy = (nth % BUSY_OF == 0).then(|| Arc::clone(&answered));
            members.spawn(member(address, token, Arc::clone(&told), busy));
        }
        Self {
            there,
            answered,
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

/// The first pause of an app that was turned away.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// Waits, and says how long to wait the next time.
async fn pause(wait: Duration) -> Duration {
    tokio::time::sleep(wait).await;
    (wait * 2).min(LONGEST_WAIT)
}

/// One of them: at the first loss it tries at once, then at growing distances, as apps do. Nothing holds it back at the
/// door: the relay turns away whom it has no room for.
async fn member(
    address: String,
    token: String,
    told: Arc<watch::Sender<usize>>,
    busy: Option<Arc<AtomicUsize>>,
) {
    let mut wait = FIRST_WAIT;
    loop {
        let Ok(mut line) = Line::open(&address, &token).await else {
            wait = pause(wait).await;
            continue;
        };
        wait = FIRST_WAIT;
        told.send_modify(|there| *there += 1);
        match &busy {
            Some(answered) => speak(&mut line, answered).await,
            None => while line.next().await.is_ok() {},
        }
        told.send_modify(|there| *there -= 1);
    }
}

/// Says something again and again, until the connection is lost.
async fn speak(line: &mut Line, answered: &AtomicUsize) {
    while line.ping().await.is_ok() {
        answered.fetch_add(1, Ordering::Relaxed);
        let mut pause = std::pin::pin!(tokio::time::sleep(RHYTHM));
        loop {
            tokio::select! {
                () = &mut pause => break,
                frame = line.next() => if frame.is_err() {
                    return;
                },
            }
        }
    }
}
