//! A client that reads nothing, beside one that does: what the first costs, and how long the other waits; and how long it
//! waits where it is alone.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::candidate::{Guests, Place, message};
use crate::client::{frame, settle, wait};
use crate::meter::{forget_peak, peak_kb, quantiles, resident_kb};

/// Messages that the healthy client may be behind.
const WINDOW: usize = 64;
const QUIET: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(10);

/// Who is there besides the client that reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Stalled,
    Nobody,
}

pub(crate) fn measure(place: &Place, beside: Beside, messages: usize) -> Outcome<Value> {
    let relay = place.start(Guests {
        pylons: 1,
        apps: 2,
        per_realm: 2,
    })?;
    let mut healthy = [relay.app(0)?];
    let _stalled = match beside {
        Beside::Stalled => Some(relay.app(1)?),
        Beside::Nobody => None,
    };
    let mut pylon = relay.pylon(1)?;
    healthy[0].poll_only()?;
    settle(&mut healthy, QUIET)?;
    // Whatever it took to start is not what it grows by.
    forget_peak(relay.pid())?;
    let before = resident_kb(relay.pid());
    let one = frame(&message(None));
    let mut sent_at: Vec<Instant> = Vec::with_capacity(messages);
    let mut times = Vec::with_capacity(messages);
    let mut scratch = Vec::new();
    let mut last = Instant::now();
    while times.len() < messages {
        while sent_at.len() < messages.min(times.len() + WINDOW) {
            sent_at.push(Instant::now());
            pylon.send(&one)?;
        }
        wait(&healthy, &[], Duration::from_millis(100))?;
        let texts = healthy[0].count_texts(&mut scratch)?;
        let now = Instant::now();
        for _ in 0..texts {
            let Some(sent) = sent_at.get(times.len()) else {
                // The news that the other was cut off.
                continue;
            };
            times.push(now - *sent);
        }
        if texts > 0 {
            last = now;
        } else if last.elapsed() > PATIENCE {
            return Err(format!("only {} of {messages} messages arrived", times.len()).into());
        }
    }
    let mut run = quantiles(times);
    run["base_kb"] = json!(before);
    run["grown_kb"] = json!(resident_kb(relay.pid()).saturating_sub(before));
    run["peak_grown_kb"] = json!(peak_kb(relay.pid()).saturating_sub(before));
    Ok(run)
}
