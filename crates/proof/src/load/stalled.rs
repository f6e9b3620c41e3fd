//! Apps that look and read nothing, beside one that reads: what they cost, and whether it waits for them.

use std::time::Duration;

use tokio::time::Instant;

use super::line::{Line, Place};
use super::meter::resident_kb;
use super::{Figure, Scale};
use crate::rig::{Agent, Rig};

/// Connections of one device.
const OF_A_DEVICE: usize = 50;
/// What is streamed in all is more than sockets and the relay's limit for one connection hold together; each turn is as
/// much as a prompt may ask for.
const TURNS: u32 = 32;
/// Turns to compare with.
const FEW: u32 = 2;
const PIECES: usize = 40;
const PIECE: usize = 10_000;
/// The relay's limit for what waits for one connection, with what frames take beside their bytes.
const MOST_KB_EACH: f64 = 2000.0;
/// What relay and Pylon take for the turns themselves, whoever looks.
const OWN_KB: u64 = 32 * 1024;
const CUT_OFF: Duration = Duration::from_secs(30);

pub(super) async fn play(scale: &Scale) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::new(&Agent::simulator()).await?;
    let mut tokens = Vec::new();
    for _ in 0..=scale.stalled.div_ceil(OF_A_DEVICE) {
        tokens.push(rig.household("home")?);
    }
    rig.start_up().await?;
    let address = rig.relay_address()?;
    let mut reader = Line::open(&address, &tokens[0]).await?;
    reader.is_served().await?;
    let folder = rig.path().join("work/stalled");
    let place = reader.begin(&folder).await?;
    rig.adopt_value(&place.conversation, &folder)?;
    reader.look(&place).await?;
    let (alone, _) = turns(&mut reader, &place, FEW).await?;
    let before = resident_kb(rig.up()?);
    let mut stalled = Vec::new();
    for nth in 0..scale.stalled {
        let mut line = Line::open_narrow(&address, &tokens[1 + nth / OF_A_DEVICE]).await?;
        line.look(&place).await?;
        stalled.push(line);
    }
    let (beside, is_whole) = turns(&mut reader, &place, TURNS).await?;
    let grown = resident_kb(rig.up()?).saturating_sub(before + OWN_KB);
    let mut cut_off = 0;
    for line in &mut stalled {
        cut_off += usize::from(line.is_cut_off(CUT_OFF).await);
    }
    #[expect(clippy::cast_precision_loss, reason = "kilobytes of one process")]
    let each = grown as f64 / scale.stalled.max(1) as f64;
    let ratio = beside.as_secs_f64() / alone.as_secs_f64().max(0.001);
    Ok(vec![
        Figure::new("apps that read nothing", scale.stalled.to_string()),
        Figure::new(
            "memory of relay and Pylon for each",
            format!("{each:.0} kB (at most {MOST_KB_EACH:.0})"),
        )
        .held(each <= MOST_KB_EACH),
        Figure::new("cut off", format!("{cut_off} of {}", scale.stalled))
            .held(cut_off == scale.stalled),
        Figure::new(
            "the app that reads got everything",
            if is_whole { "yes" } else { "no" },
        )
        .held(is_whole),
        Figure::new(
            "a turn of it beside them, and alone",
            format!(
                "{:.2} s, {:.2} s ({ratio:.1} times)",
                beside.as_secs_f64(),
                alone.as_secs_f64()
            ),
        ),
    ])
}

/// The same turn some times over: how long one took, and whether nothing was missing.
async fn turns(reader: &mut Line, place: &Place, count: u32) -> anyhow::Result<(Duration, bool)> {
    let text = "x".repeat(PIECE * PIECES);
    let prompt = format!(r#"SCRIPT:[{{"say":"{text}","chunks":{PIECES}}}]"#);
    let (begin, mut is_whole) = (Instant::now(), true);
    for _ in 0..count {
        reader.prompt(place, &prompt).await?;
        let turn = reader.turn(place).await?;
        is_whole &= !turn.is_torn && turn.text.len() == text.len();
    }
    Ok((begin.elapsed() / count, is_whole))
}
