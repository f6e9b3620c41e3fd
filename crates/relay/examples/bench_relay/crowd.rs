//! Many connections: what each takes while nothing happens, and what joining costs where many are there already.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Outcome;
use crate::candidate::{Candidate, Guests, Place};
use crate::client::{Client, settle};
use crate::meter::{cpu, resident_kb};

/// Devices of a household.
const HOUSEHOLD: usize = 50;
/// How often those who have joined are read from while others join.
const AT_ONCE: usize = 10;
const QUIET: Duration = Duration::from_millis(500);

/// Memory of idle connections, in households.
pub(crate) fn idle(place: &Place, count: usize) -> Outcome<Value> {
    let relay = place.start(Guests {
        pylons: 0,
        apps: count,
        per_realm: HOUSEHOLD,
    })?;
    // Whatever a relay makes for the first connections belongs to all of them.
    let mut clients = enter(&relay, 0..HOUSEHOLD)?;
    settle(&mut clients, QUIET)?;
    let before = resident_kb(relay.pid());
    clients.extend(enter(&relay, HOUSEHOLD..count)?);
    settle(&mut clients, QUIET)?;
    let after = resident_kb(relay.pid());
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let each = after.saturating_sub(before) as f64 / (count - HOUSEHOLD) as f64;
    Ok(json!({"connections": count, "kb_each": each, "rss_kb": after}))
}

/// Processor time of joining one realm, in which everybody is told who is there.
pub(crate) fn join(place: &Place, count: usize) -> Outcome<Value> {
    let relay = place.start(Guests {
        pylons: 0,
        apps: count,
        per_realm: count,
    })?;
    let before = cpu(relay.pid());
    let mut clients = enter(&relay, 0..count)?;
    settle(&mut clients, QUIET)?;
    let spent = cpu(relay.pid()).saturating_sub(before);
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let each = spent.as_secs_f64() * 1e3 / count as f64;
    Ok(json!({"connections": count, "cpu_ms_each": each}))
}

fn enter(relay: &Candidate, which: std::ops::Range<usize>) -> Outcome<Vec<Client>> {
    let mut clients = Vec::new();
    let mut scratch = Vec::new();
    for nth in which {
        let client = relay.app(nth)?;
        client.poll_only()?;
        clients.push(client);
        if nth % AT_ONCE == 0 {
            for client in &mut clients {
                client.count_texts(&mut scratch)?;
            }
        }
    }
    Ok(clients)
}
