//! A conversation with very many entries: a page of it must cost what a page of a short one costs.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::line::{Line, Place};
use super::meter::{Quantiles, resident_kb};
use super::{Figure, Scale};
use crate::rig::{Agent, Rig};

/// Calls of one turn; each is two entries.
const CALLS: usize = 2000;
/// The longest that filling may take; what is there then is measured.
const FILLING: Duration = Duration::from_mins(25);
const PAGES: usize = 200;
/// How much longer a page of the long conversation may take.
const TIMES: f64 = 3.0;

pub(super) async fn play(scale: &Scale) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::new(&Agent::simulator()).await?;
    let token = rig.household("home")?;
    rig.start_up().await?;
    let mut line = Line::open(&rig.relay_address()?, &token).await?;
    line.is_served().await?;
    let mut places = Vec::new();
    for name in ["short", "long"] {
        let folder = rig.path().join("work").join(name);
        let place = line.begin(&folder).await?;
        rig.adopt_value(&place.conversation, &folder)?;
        std::fs::write(folder.join("note.txt"), "a line\n")?;
        places.push(place);
    }
    let (short, long) = (&places[0], &places[1]);
    fill(&mut line, short, 60).await?;
    let begin = Instant::now();
    let mut entries = total(&mut line, long).await?;
    while entries < scale.entries && begin.elapsed() < FILLING {
        fill(&mut line, long, CALLS.min(scale.entries)).await?;
        entries = total(&mut line, long).await?;
    }
    let filled = begin.elapsed();
    let few = total(&mut line, short).await?;
    let brief = pages(&mut line, short, few).await?;
    let deep = pages(&mut line, long, entries).await?;
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let rate = entries as f64 / filled.as_secs_f64();
    let times = deep.p50.as_secs_f64() / brief.p50.as_secs_f64().max(1e-6);
    Ok(vec![
        Figure::new(
            "entries",
            format!("{entries} (of {} wanted)", scale.entries),
        )
        .held(entries >= scale.entries),
        Figure::new(
            "written by real turns",
            format!("{rate:.0} entries a second"),
        ),
        Figure::new("a page of it anywhere", deep.told()),
        Figure::new(&format!("a page of a conversation of {few}"), brief.told()),
        Figure::new(
            "how much longer",
            format!("{times:.2} times (at most {TIMES:.0})"),
        )
        .held(times <= TIMES),
        Figure::new(
            "memory of relay and Pylon, of the host",
            format!(
                "{} MB, {} MB",
                resident_kb(rig.up()?) / 1024,
                resident_kb(rig.kept_host()?) / 1024
            ),
        ),
    ])
}

/// One turn that makes calls.
async fn fill(line: &mut Line, place: &Place, calls: usize) -> anyhow::Result<()> {
    line.look(place).await?;
    let step = json!({"tool": "Read", "input": {"file_path": "note.txt"}});
    let mut steps = vec![step; calls];
    steps.push(json!({"say": "done"}));
    line.prompt(place, &format!("SCRIPT:{}", Value::from(steps)))
        .await?;
    line.turn(place).await.map(|_| ())
}

async fn total(line: &mut Line, place: &Place) -> anyhow::Result<usize> {
    let page = line
        .ask(
            "history_request",
            &place.with(&json!({"limit": 1, "offset": 0})),
        )
        .await?;
    let total = page["totalCount"].as_u64().context("no count")?;
    Ok(usize::try_from(total)?)
}

/// Pages at places that are spread over the whole, by offset.
async fn pages(line: &mut Line, place: &Place, entries: usize) -> anyhow::Result<Quantiles> {
    let mut times = Vec::new();
    for nth in 0..PAGES {
        let offset = entries.saturating_sub(50) * nth / PAGES;
        let begin = Instant::now();
        line.ask(
            "history_request",
            &place.with(&json!({"limit": 50, "offset": offset})),
        )
        .await?;
        times.push(begin.elapsed());
    }
    Ok(Quantiles::of(times))
}
