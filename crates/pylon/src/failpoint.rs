//! Places in the code where a Pylon dies on request, for tests that cannot hit them by timing.
//!
//! `ESTELLE_FAILPOINT=<name>[:<nth>]:kill`, as in the host, which has places of its own. Without the variable a place costs
//! one look at a flag. Nothing is promised about the names: they are for tests alone.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// The place at which this process dies.
#[derive(Debug)]
struct Armed {
    name: String,
    /// How often it may still be passed.
    left: AtomicU64,
}

impl Armed {
    fn parse(text: &str) -> Option<Self> {
        let place = text.strip_suffix(":kill")?;
        let (name, nth) = match place.split_once(':') {
            Some((name, nth)) => (name, nth.parse().ok()?),
            None => (place, 1),
        };
        Some(Self {
            name: name.to_owned(),
            left: AtomicU64::new(nth),
        })
    }
}

/// Dies here, if that was requested.
pub(crate) fn reach(name: &str) {
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    let read = || Armed::parse(&std::env::var("ESTELLE_FAILPOINT").ok()?);
    let Some(armed) = ARMED.get_or_init(read) else {
        return;
    };
    if armed.name == name && armed.left.fetch_sub(1, Ordering::Relaxed) == 1 {
        let _ = kill_process(getpid(), Signal::KILL);
    }
}
