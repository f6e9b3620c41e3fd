//! Conversations that never rest, for long: what grows then grows for ever.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use super::line::{Line, Place};
use super::meter::{descriptors, folder_kb, resident_kb, slope_per_hour};
use super::{Figure, Scale};
use crate::rig::{Agent, Rig};

const CONVERSATIONS: usize = 10;
/// Looks at everything over the whole time.
const SAMPLES: u32 = 60;
/// Memory may still settle by this much in the second half, in MB.
const SETTLING: f64 = 8.0;
/// Descriptors that may come and go with requests that are under way.
const MOVING: f64 = 12.0;
/// A turn of a few calls and a text.
const TURN: &str = r#"SCRIPT:[{"tool":"Read","input":{"file_path":"note.txt"}},{"say":"Some words about it, in a few pieces.","chunks":8,"delay_ms":20}]"#;

pub(super) async fn play(scale: &Scale) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::new(&Agent::simulator()).await?;
    let token = rig.household("home")?;
    rig.start_up().await?;
    let address = rig.relay_address()?;
    let end = Instant::now() + scale.soak;
    let mut talks = JoinSet::new();
    for nth in 0..CONVERSATIONS {
        let mut line = Line::open(&address, &token).await?;
        line.is_served().await?;
        let folder = rig.path().join("work").join(format!("soak-{nth}"));
        let place = line.begin(&folder).await?;
        rig.adopt_value(&place.conversation, &folder)?;
        std::fs::write(folder.join("note.txt"), "a line\n")?;
        line.look(&place).await?;
        talks.spawn(talk(line, place, end));
    }
    let samples = watch(&rig, scale.soak).await?;
    let mut turns = 0;
    while let Some(done) = talks.join_next().await {
        turns += done??;
    }
    Ok(figures(&samples, turns, scale.soak))
}

/// Turn after turn.
async fn talk(mut line: Line, place: Place, end: Instant) -> anyhow::Result<usize> {
    let mut turns = 0;
    while Instant::now() < end {
        line.prompt(&place, TURN).await?;
        let turn = line.turn(&place).await?;
        anyhow::ensure!(!turn.is_torn, "an event was lost or came twice");
        turns += 1;
    }
    Ok(turns)
}

/// What was seen at one moment.
struct Sample {
    at: f64,
    up_mb: f64,
    host_mb: f64,
    descriptors: f64,
    disk_mb: f64,
}

async fn watch(rig: &Rig, soak: Duration) -> anyhow::Result<Vec<Sample>> {
    let begin = Instant::now();
    let mut samples = Vec::new();
    for _ in 0..SAMPLES {
        tokio::time::sleep(soak / SAMPLES).await;
        let (up, host) = (rig.up()?, rig.kept_host()?);
        samples.push(Sample {
            at: begin.elapsed().as_secs_f64(),
            up_mb: mb(resident_kb(up)),
            host_mb: mb(resident_kb(host)),
            #[expect(clippy::cast_precision_loss, reason = "they are few")]
            descriptors: (descriptors(up) + descriptors(host)) as f64,
            disk_mb: mb(folder_kb(&rig.data())),
        });
    }
    Ok(samples)
}

#[expect(clippy::cast_precision_loss, reason = "kilobytes of a machine")]
fn mb(kb: u64) -> f64 {
    kb as f64 / 1024.0
}

/// The second half counts: the first fills caches.
fn figures(samples: &[Sample], turns: usize, soak: Duration) -> Vec<Figure> {
    let half = samples.get(samples.len() / 2..).unwrap_or_default();
    let line = |value: fn(&Sample) -> f64| {
        let points: Vec<(f64, f64)> = half.iter().map(|one| (one.at, value(one))).collect();
        let last = points.last().map_or(0.0, |point| point.1);
        (last, slope_per_hour(&points), soak.as_secs_f64() / 7200.0)
    };
    let grown = |what: &str, unit: &str, found: (f64, f64, f64), most: Option<f64>| {
        let (last, slope, hours) = found;
        let value = format!("{last:.1} {unit} at the end, {slope:+.1} {unit} an hour");
        let figure = Figure::new(what, value);
        match most {
            Some(most) => figure.held(slope * hours <= most),
            None => figure,
        }
    };
    vec![
        Figure::new(
            "turns, and minutes",
            format!("{turns}, {:.1}", soak.as_secs_f64() / 60.0),
        )
        .held(turns > 0),
        grown(
            "memory of relay and Pylon",
            "MB",
            line(|one| one.up_mb),
            Some(SETTLING),
        ),
        grown(
            "memory of the host",
            "MB",
            line(|one| one.host_mb),
            Some(SETTLING),
        ),
        grown(
            "descriptors of all three",
            "open",
            line(|one| one.descriptors),
            Some(MOVING),
        ),
        grown(
            "disk: histories and logs grow with what is said",
            "MB",
            line(|one| one.disk_mb),
            None,
        ),
    ]
}
