//! Many conversations that stream at full speed to many apps.

use anyhow::Context as _;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::line::{Line, Place};
use super::meter::{Quantiles, resident_kb};
use super::turn::{self, Turn};
use super::{Figure, Scale};
use crate::rig::{Agent, Rig};

/// Connections of one device.
const OF_A_DEVICE: usize = 50;

pub(super) async fn play(scale: &Scale) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::new(&Agent::simulator()).await?;
    let mut tokens = Vec::new();
    for _ in 0..=scale.viewers.div_ceil(OF_A_DEVICE) {
        tokens.push(rig.household("home")?);
    }
    rig.start_up().await?;
    let address = rig.relay_address()?;
    let mut maker = Line::open(&address, tokens.last().context("no device")?).await?;
    maker.is_served().await?;
    let mut places = Vec::new();
    for nth in 0..scale.conversations {
        let folder = rig.path().join("work").join(format!("stream-{nth}"));
        let place = maker.begin(&folder).await?;
        rig.adopt_value(&place.conversation, &folder)?;
        places.push(place);
    }
    let mut viewers = JoinSet::new();
    for nth in 0..scale.viewers {
        let place = places[nth % places.len()].clone();
        let mut line = Line::open(&address, &tokens[nth / OF_A_DEVICE]).await?;
        line.look(&place).await?;
        // It reads from now on: a connection that does not would be cut off while the others come.
        viewers.spawn(view(line, place));
        maker.skip().await?;
    }
    let begin = Instant::now();
    let mut asking = JoinSet::new();
    asking.spawn(ask(maker, places, turn::prompt(scale.pieces)));
    let mut turns = Vec::new();
    while turns.len() < scale.viewers {
        tokio::select! {
            Some(turn) = viewers.join_next() => turns.push(turn??),
            Some(asked) = asking.join_next() => return Err(asked?.context("asking for turns")),
        }
    }
    let took = begin.elapsed();
    let (up, host) = (resident_kb(rig.up()?), resident_kb(rig.kept_host()?));
    let whole = turns.iter().filter(|turn| turn.is_whole(scale.pieces));
    let whole = whole.count();
    let sum = |of: fn(&Turn) -> usize| turns.iter().map(of).sum::<usize>();
    let (events, bytes) = (sum(|turn| turn.events), sum(Turn::bytes));
    let retold = sum(|turn| turn.retold);
    let delays = turns.into_iter().flat_map(|turn| turn.delays).collect();
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let (rate, megabytes) = (events as f64 / took.as_secs_f64(), bytes as f64 / 1e6);
    let mb = |kb: u64| format!("{} MB", kb / 1024);
    Ok(vec![
        Figure::new(
            "conversations, and apps that look",
            format!("{}, {}", scale.conversations, scale.viewers),
        ),
        Figure::new(
            "apps that got everything once and in order",
            format!("{whole} of {}", scale.viewers),
        )
        .held(whole == scale.viewers),
        Figure::new(
            "until the last had everything",
            format!("{:.1} s", took.as_secs_f64()),
        ),
        Figure::new(
            "events delivered: pieces that wait are joined",
            format!("{rate:.0} a second, {megabytes:.1} MB of text in all"),
        ),
        Figure::new(
            "a piece, from the agent to an app",
            Quantiles::of(delays).told(),
        ),
        Figure::new(
            "apps that were told anew what was written so far",
            retold.to_string(),
        ),
        Figure::new(
            "memory of relay and Pylon, of the host",
            format!("{}, {}", mb(up), mb(host)),
        ),
    ])
}

async fn view(mut line: Line, place: Place) -> anyhow::Result<Turn> {
    line.turn(&place).await
}

/// Begins all turns, then reads on for the same reason. It only comes back with what went wrong.
async fn ask(mut maker: Line, places: Vec<Place>, prompt: String) -> anyhow::Error {
    if let Err(error) = maker.prompt_all(&places, &prompt).await {
        return error;
    }
    loop {
        if let Err(error) = maker.next().await {
            return error;
        }
    }
}
