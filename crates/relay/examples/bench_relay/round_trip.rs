//! Ping-pong between two Pylons: each round trip passes the relay twice.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::candidate::{Guests, Place, message};
use crate::client::{frame, settle};
use crate::meter::{cpu, quantiles};

/// Not counted: whatever happens the first time only.
const WARM_UP: usize = 500;
/// Longer than the relay waits with the news that somebody has joined.
const QUIET: Duration = Duration::from_millis(300);

pub(crate) fn measure(place: &Place, count: usize) -> Outcome<Value> {
    let relay = place.start(Guests {
        pylons: 2,
        apps: 0,
        per_realm: 1,
    })?;
    let mut pair = [relay.pylon(1)?, relay.pylon(2)?];
    for client in &pair {
        client.poll_only()?;
    }
    settle(&mut pair, QUIET)?;
    let [mut one, mut two] = pair;
    for client in [&one, &two] {
        client.wait_again()?;
    }
    let (there, back) = (frame(&message(Some(2))), frame(&message(Some(1))));
    let mut times = Vec::with_capacity(count);
    let mut before = Duration::ZERO;
    for nth in 0..count + WARM_UP {
        if nth == WARM_UP {
            before = cpu(relay.pid());
        }
        let begin = Instant::now();
        one.send(&there)?;
        two.next_text()?;
        two.send(&back)?;
        one.next_text()?;
        times.push(begin.elapsed());
    }
    let spent = cpu(relay.pid()).saturating_sub(before);
    let mut run = quantiles(times.split_off(WARM_UP));
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let hops = 2.0 * count as f64;
    run["cpu_us_per_hop"] = json!(spent.as_secs_f64() * 1e6 / hops);
    Ok(run)
}
