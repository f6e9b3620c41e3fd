//! Apps that look and read nothing, beside one that reads: what they cost, and whether it waits for them.

use std::time::Duration;

use anyhow::Context as _;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::line::{Line, Place};
use super::meter::{forget_peak, peak_kb, resident_kb};
use super::turn::{self, Turn};
use super::{Figure, Scale};
use crate::rig::{Agent, Rig};

/// Connections of one device.
const OF_A_DEVICE: usize = 50;
/// What every app is sent in all is more than sockets and the relay's limit for one connection hold together: the prompt,
/// its text in pieces and as a whole, each time. What is asked in all is far less than the relay takes of one app.
const TURNS: u32 = 32;
const NUMBERS: usize = 11_000;
const PIECES: usize = 40;
/// Turns to compare with.
const FEW: u32 = 5;
/// The relay's limit for what waits for one connection, with what frames take beside their bytes.
const MOST_KB_EACH: f64 = 2000.0;
/// How much longer a turn may take once those who read nothing are gone.
const TIMES: f64 = 2.0;
/// The longest that any turn may take while they are still served.
const LONGEST: Duration = Duration::from_secs(10);
const CUT_OFF: Duration = Duration::from_secs(30);

pub(super) async fn play(scale: &Scale) -> anyhow::Result<Vec<Figure>> {
    let mut rig = Rig::new(&Agent::simulator()).await?;
    let mut tokens = Vec::new();
    for _ in 0..=scale.stalled.div_ceil(OF_A_DEVICE) {
        tokens.push(rig.household("home")?);
    }
    rig.start_up().await?;
    let address = rig.relay_address()?;
    let mut line = Line::open(&address, &tokens[0]).await?;
    line.is_served().await?;
    let folder = rig.path().join("work/stalled");
    let place = line.begin(&folder).await?;
    rig.adopt_value(&place.conversation, &folder)?;
    line.look(&place).await?;
    let mut reader = Reader::new(line, place.clone());
    let up = rig.up()?;
    let own = {
        let before = resident_kb(up);
        forget_peak(up)?;
        reader.turns(FEW).await?;
        peak_kb(up).saturating_sub(before)
    };
    let alone = reader.turns(FEW).await?;
    let before = resident_kb(up);
    forget_peak(up)?;
    let mut stalled = Vec::new();
    for nth in 0..scale.stalled {
        let mut line = Line::open_narrow(&address, &tokens[1 + nth / OF_A_DEVICE]).await?;
        line.look(&place).await?;
        stalled.push(line);
    }
    let beside = reader.turns(TURNS).await?;
    let grown = peak_kb(up).saturating_sub(before + own);
    let afterwards = reader.turns(FEW).await?;
    let mut cut_off = 0;
    for line in &mut stalled {
        cut_off += usize::from(line.is_cut_off(CUT_OFF).await);
    }
    #[expect(clippy::cast_precision_loss, reason = "kilobytes of one process")]
    let each = grown as f64 / scale.stalled.max(1) as f64;
    let times = afterwards.middle().as_secs_f64() / alone.middle().as_secs_f64().max(0.001);
    let is_whole = beside.is_whole && afterwards.is_whole;
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    Ok(vec![
        Figure::new("apps that read nothing", scale.stalled.to_string()),
        Figure::new(
            "memory of relay and Pylon for each, at its highest",
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
            "a turn of it while they are served: the longest, and in the middle",
            format!(
                "{}, {} (at most {})",
                seconds(beside.longest()),
                seconds(beside.middle()),
                seconds(LONGEST)
            ),
        )
        .held(beside.longest() <= LONGEST),
        Figure::new(
            "a turn of it when they are cut off, and before they came",
            format!(
                "{}, {} ({times:.1} times, at most {TIMES:.0})",
                seconds(afterwards.middle()),
                seconds(alone.middle())
            ),
        )
        .held(times <= TIMES),
    ])
}

/// The same turn some times over.
struct Turns {
    /// How long each took, the shortest first.
    times: Vec<Duration>,
    /// Whether nothing was missing.
    is_whole: bool,
}

impl Turns {
    fn middle(&self) -> Duration {
        let middle = self.times.get(self.times.len() / 2);
        middle.copied().unwrap_or_default()
    }

    fn longest(&self) -> Duration {
        self.times.last().copied().unwrap_or_default()
    }
}

/// The app that reads: all the time, also while others come and nobody has asked it for a turn.
struct Reader {
    asked: mpsc::Sender<oneshot::Sender<anyhow::Result<Turn>>>,
    _task: JoinSet<()>,
}

impl Reader {
    fn new(line: Line, place: Place) -> Self {
        let (asked, asks) = mpsc::channel(1);
        let mut task = JoinSet::new();
        task.spawn(read(line, place, asks));
        Self { asked, _task: task }
    }

    async fn turn(&self) -> anyhow::Result<Turn> {
        let (answer, answered) = oneshot::channel();
        let asked = self.asked.send(answer).await.ok();
        asked.context("the app that reads was cut off")?;
        answered.await.context("the app that reads was cut off")?
    }

    async fn turns(&mut self, count: u32) -> anyhow::Result<Turns> {
        let (mut times, mut is_whole) = (Vec::new(), true);
        for _ in 0..count {
            let begin = Instant::now();
            is_whole &= self.turn().await?.is_whole(NUMBERS);
            times.push(begin.elapsed());
        }
        times.sort_unstable();
        Ok(Turns { times, is_whole })
    }
}

/// Plays a turn whenever one is asked for, and reads what comes in between. It ends with its connection.
async fn read(
    mut line: Line,
    place: Place,
    mut asks: mpsc::Receiver<oneshot::Sender<anyhow::Result<Turn>>>,
) {
    let prompt = turn::long_prompt(NUMBERS, PIECES);
    loop {
        let answer = tokio::select! {
            asked = asks.recv() => asked,
            frame = line.next() => match frame {
                Ok(_) => continue,
                Err(_) => return,
            },
        };
        let Some(answer) = answer else { return };
        let played = match line.prompt(&place, &prompt).await {
            Ok(()) => line.turn(&place).await,
            Err(error) => Err(error),
        };
        // Whoever asked has given up only when the scene is over.
        let _ = answer.send(played);
    }
}
