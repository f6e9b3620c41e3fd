//! One Pylon speaks to many apps: as fast as they take it, or at a pace.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::candidate::{Guests, Place, message};
use crate::client::{Client, frame, settle, wait};
use crate::meter::{cpu, resident_kb};

/// Messages that may be under way. Without such a limit it would be measured who can queue up more.
const WINDOW: usize = 1000;
/// Messages that are handed to the socket at once.
const AT_ONCE: usize = 32;
const QUIET: Duration = Duration::from_millis(300);
/// Nothing that arrives at all takes longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How fast.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tempo {
    Flood,
    PerSecond(u32),
}

pub(crate) fn measure(
    place: &Place,
    clients: usize,
    messages: usize,
    tempo: Tempo,
) -> Outcome<Value> {
    let relay = place.start(Guests {
        pylons: 1,
        apps: clients,
        per_realm: clients,
    })?;
    let mut apps = Vec::new();
    for nth in 0..clients {
        apps.push(relay.app(nth)?);
    }
    let mut pylon = relay.pylon(1)?;
    pylon.poll_only()?;
    for app in &apps {
        app.poll_only()?;
    }
    settle(&mut apps, QUIET)?;
    let before = cpu(relay.pid());
    let begin = Instant::now();
    let mut run = Run {
        one: frame(&message(None)),
        ready: Vec::new(),
        sent: 0,
        got: vec![0; clients],
        messages,
        scratch: Vec::new(),
    };
    let mut last = Instant::now();
    while run.slowest() < messages {
        run.speak(&mut pylon, begin.elapsed(), tempo)?;
        if run.hear(&mut apps, &pylon, tempo)? {
            last = Instant::now();
        } else if last.elapsed() > PATIENCE {
            return Err(format!("only {} of {messages} messages arrived", run.slowest()).into());
        }
    }
    let wall = begin.elapsed();
    let spent = cpu(relay.pid()).saturating_sub(before);
    if run.got.iter().any(|got| *got != messages) {
        return Err(format!("some got more than was sent: {:?}", run.got).into());
    }
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let deliveries = (messages * clients) as f64;
    Ok(json!({
        "deliveries_per_s": deliveries / wall.as_secs_f64(),
        "cpu_s_per_million": spent.as_secs_f64() * 1e6 / deliveries,
        "busy": spent.as_secs_f64() / wall.as_secs_f64(),
        "rss_kb": resident_kb(relay.pid()),
    }))
}

/// How far it is.
struct Run {
    /// A message as it is sent.
    one: Vec<u8>,
    /// What the socket has not taken yet.
    ready: Vec<u8>,
    sent: usize,
    got: Vec<usize>,
    messages: usize,
    scratch: Vec<u8>,
}

impl Run {
    fn slowest(&self) -> usize {
        self.got.iter().copied().min().unwrap_or_default()
    }

    /// Sends what is due.
    fn speak(&mut self, pylon: &mut Client, elapsed: Duration, tempo: Tempo) -> Outcome<()> {
        let due = match tempo {
            Tempo::Flood => self.slowest() + WINDOW,
            Tempo::PerSecond(rate) => {
                usize::try_from(elapsed.as_micros() * u128::from(rate) / 1_000_000)?
            }
        };
        while self.ready.len() < AT_ONCE * self.one.len() && self.sent < due.min(self.messages) {
            self.ready.extend_from_slice(&self.one);
            self.sent += 1;
        }
        if !self.ready.is_empty() {
            let written = pylon.send_some(&self.ready)?;
            self.ready.drain(..written);
        }
        Ok(())
    }

    /// Takes what has come; false if nothing has.
    fn hear(&mut self, apps: &mut [Client], pylon: &Client, tempo: Tempo) -> Outcome<bool> {
        let may_send = self.sent < self.messages.min(self.slowest() + WINDOW);
        let is_eager = matches!(tempo, Tempo::Flood) && may_send;
        let writers: &[&Client] = if is_eager || !self.ready.is_empty() {
            &[pylon]
        } else {
            &[]
        };
        // A paced sender must not oversleep.
        wait(apps, writers, Duration::from_millis(1))?;
        let mut has_come = false;
        for (app, got) in apps.iter_mut().zip(&mut self.got) {
            let texts = app.count_texts(&mut self.scratch)?;
            *got += texts;
            has_come |= texts > 0;
        }
        Ok(has_come)
    }
}
