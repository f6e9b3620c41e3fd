//! Many conversations that stream at full speed to many apps.

use std::sync::Arc;

use anyhow::Context as _;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::line::{Line, Place, Turn};
use super::meter::resident_kb;
use super::{Figure, Scale};
use crate::rig::{Agent, Rig};

/// Connections of one device.
const OF_A_DEVICE: usize = 50;
/// What a piece says.
const WORD: &str = "A piece of about sixty signs, as models often write at once. ";

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
    let text = WORD.repeat(scale.pieces);
    let prompt = format!(r#"SCRIPT:[{{"say":"{text}","chunks":{}}}]"#, scale.pieces);
    let mut viewers = JoinSet::new();
    let ready = Arc::new(Barrier::new(scale.viewers + 1));
    for nth in 0..scale.viewers {
        let place = places[nth % places.len()].clone();
        let mut line = Line::open(&address, &tokens[nth / OF_A_DEVICE]).await?;
        line.look(&place).await?;
        viewers.spawn(view(line, place, Arc::clone(&ready)));
    }
    // The one who asks reads as well: a connection that does not would be cut off.
    let mut asking = JoinSet::new();
    asking.spawn(async move {
        for place in &places {
            maker.prompt(place, &prompt).await?;
        }
        while maker.next().await.is_ok() {}
        anyhow::Ok(())
    });
    ready.wait().await;
    let begin = Instant::now();
    let (mut events, mut whole) = (0, 0);
    while let Some(turn) = viewers.join_next().await {
        let turn = turn??;
        events += turn.events;
        whole += usize::from(!turn.is_torn && turn.text == text);
    }
    let took = begin.elapsed();
    let (up, host) = (resident_kb(rig.up()?), resident_kb(rig.kept_host()?));
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let rate = events as f64 / took.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let megabytes = (text.len() * scale.viewers) as f64 / 1e6;
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
            "events delivered",
            format!("{rate:.0} a second, {megabytes:.1} MB of text in all"),
        ),
        Figure::new(
            "memory of relay and Pylon, of the host",
            format!("{}, {}", mb(up), mb(host)),
        ),
    ])
}

async fn view(mut line: Line, place: Place, ready: Arc<Barrier>) -> anyhow::Result<Turn> {
    ready.wait().await;
    line.turn(&place).await
}
