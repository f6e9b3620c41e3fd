//! Places in the code where a host dies on request, for tests that cannot hit them by timing.
//!
//! `ESTELLE_FAILPOINT=<name>[:<nth>]:kill` makes the host kill itself when it reaches the place for the nth time (the
//! first, if not said), and with `fail` the disk refuses there once; `ESTELLE_CLOCK_SKEW_MS` makes its wall clock wrong. Without these variables a place costs one
//! look at a flag. Nothing is promised about the names: they are for `crates/proof` alone.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use estelle_state::conversation::{Entry, Record};
use rustix::process::{Signal, getpid, kill_process};

/// What happens at the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// The process dies.
    Kill,
    /// The disk refuses.
    Fail,
}

/// The place at which something happens to this process.
#[derive(Debug)]
struct Armed {
    name: String,
    act: Act,
    /// How often it may still be passed.
    left: AtomicU64,
}

impl Armed {
    /// Reads `<name>[:<nth>]:kill` or `:fail`.
    fn parse(text: &str) -> Option<Self> {
        let (place, act) = text.rsplit_once(':')?;
        let act = match act {
            "kill" => Act::Kill,
            "fail" => Act::Fail,
            _ => return None,
        };
        let (name, nth) = match place.split_once(':') {
            Some((name, nth)) => (name, nth.parse().ok()?),
            None => (place, 1),
        };
        Some(Self {
            name: name.to_owned(),
            act,
            left: AtomicU64::new(nth),
        })
    }

    fn is_due(&self, name: &str, act: Act) -> bool {
        self.name == name && self.act == act && self.left.fetch_sub(1, Ordering::Relaxed) == 1
    }
}

fn armed() -> Option<&'static Armed> {
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    let read = || Armed::parse(&std::env::var("ESTELLE_FAILPOINT").ok()?);
    ARMED.get_or_init(read).as_ref()
}

fn is_due(name: &str, act: Act) -> bool {
    armed().is_some_and(|armed| armed.is_due(name, act))
}

/// Dies here, if that was requested.
pub(crate) fn reach(name: &str) {
    if is_due(name, Act::Kill) {
        die();
    }
}

/// How far a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It was written to the log.
    Appended,
    /// It is on the disk, if it has to be.
    Kept,
    /// Everybody was told.
    Published,
}

/// Dies when a record has come so far, if that was requested as `<kind>-<step>`.
pub(crate) fn at_record(record: &Record, step: Step) {
    if armed().is_some() {
        let step = match step {
            Step::Appended => "appended",
            Step::Kept => "kept",
            Step::Published => "published",
        };
        reach(&format!("{}-{step}", kind(record)));
    }
}

/// The same for several records that go together.
pub(crate) fn at_records(entries: &[Entry], step: Step) {
    for entry in entries {
        at_record(&entry.record, step);
    }
}

fn kind(record: &Record) -> String {
    let name = match serde_json::to_value(record) {
        Ok(serde_json::Value::String(name)) => Some(name),
        Ok(serde_json::Value::Object(object)) => object.into_iter().next().map(|(name, _)| name),
        Ok(_) | Err(_) => None,
    };
    name.unwrap_or_default()
}

/// Writes the first half and dies, or fails as a full disk does, if that was requested.
pub(crate) fn tear(name: &str, file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let (dies, fails) = (is_due(name, Act::Kill), is_due(name, Act::Fail));
    if dies || fails {
        file.write_all(&bytes[..bytes.len() / 2])?;
        file.flush()?;
    }
    if dies {
        die();
    }
    refuse_if(fails)
}

/// Fails as a full disk does, if that was requested.
pub(crate) fn refuse(name: &str) -> io::Result<()> {
    refuse_if(is_due(name, Act::Fail))
}

fn refuse_if(fails: bool) -> io::Result<()> {
    if fails {
        return Err(io::ErrorKind::StorageFull.into());
    }
    Ok(())
}

fn die() {
    // As from outside: nothing is flushed and nobody is told.
    let _ = kill_process(getpid(), Signal::KILL);
}

/// How wrong the wall clock is to be, in milliseconds.
pub(crate) fn clock_skew_ms() -> i64 {
    static SKEW: OnceLock<i64> = OnceLock::new();
    let read = || std::env::var("ESTELLE_CLOCK_SKEW_MS").ok()?.parse().ok();
    *SKEW.get_or_init(|| read().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_due_once_and_at_the_right_time() {
        let armed = Armed::parse("read:3:kill").unwrap();
        let reached =
            ["read", "other", "read", "read", "read"].map(|name| armed.is_due(name, Act::Kill));
        assert_eq!(reached, [false, false, false, true, false]);
        let failing = Armed::parse("read:fail").unwrap();
        assert!(!failing.is_due("read", Act::Kill) && failing.is_due("read", Act::Fail));
        assert!(Armed::parse("read:kill").unwrap().is_due("read", Act::Kill));
        assert!(Armed::parse("read").is_none() && Armed::parse("read:other").is_none());
    }
}
