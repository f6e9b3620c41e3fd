//! Places in the code where a host dies on request, for tests that cannot hit them by timing.
//!
//! `ESTELLE_FAILPOINT=<name>[:<nth>]:kill` makes the host kill itself when it reaches the place for the nth time (the
//! first, if not said), and with `fail` the disk refuses there once; with `lose` it dies as in a power cut, with what its logs
//! had not brought to the disk. `ESTELLE_CLOCK_SKEW_MS` makes its wall clock wrong.
//! `ESTELLE_IDLE_CLOCK` names a file: so many milliseconds more have passed for what is idle, and the host looks at it all
//! the time. Without these variables a place costs one look at a flag. Nothing is promised about the names: they are for tests
//! alone. `estelle restore` has such places too.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use estelle_state::conversation::{Entry, Record};
use estelle_state::idle;
use rustix::process::{Signal, getpid, kill_process};

/// What happens at the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// The process dies.
    Kill,
    /// The disk refuses.
    Fail,
    /// The process dies, and what logs have only in the system's cache is gone.
    Lose,
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
    /// Reads `<name>[:<nth>]` with `:kill`, `:fail` or `:lose`.
    fn parse(text: &str) -> Option<Self> {
        let (place, act) = text.rsplit_once(':')?;
        let act = match act {
            "kill" => Act::Kill,
            "fail" => Act::Fail,
            "lose" => Act::Lose,
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
pub fn reach(name: &str) {
    if is_due(name, Act::Lose) {
        lose();
        die();
    }
    if is_due(name, Act::Kill) {
        die();
    }
}

/// How far each log is on the disk, by the number of its file; kept only where a power cut is to be played.
static ON_DISK: Mutex<Option<HashMap<u64, (File, u64)>>> = Mutex::new(None);

/// A log is on the disk up to here.
pub(crate) fn on_disk(log: &File, end: u64) {
    if armed().is_none_or(|armed| armed.act != Act::Lose) {
        return;
    }
    let (Ok(found), Ok(file)) = (log.metadata(), log.try_clone()) else {
        return;
    };
    let mut logs = ON_DISK.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, kept) = logs
        .get_or_insert_default()
        .entry(found.ino())
        .or_insert((file, 0));
    *kept = end.max(*kept);
}

/// Takes from each log what was never brought to the disk.
fn lose() {
    let logs = ON_DISK.lock().unwrap_or_else(PoisonError::into_inner);
    for (file, end) in logs.iter().flat_map(HashMap::values) {
        // A power cut cannot fail.
        let _ = file.set_len(*end);
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

/// The file that says how much more time has passed for what is idle.
fn idle_clock() -> Option<&'static Path> {
    static CLOCK: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || std::env::var_os("ESTELLE_IDLE_CLOCK").map(PathBuf::from);
    CLOCK.get_or_init(read).as_deref()
}

/// How much more time has passed for what is idle, in milliseconds.
pub(crate) fn idle_ahead_ms() -> i64 {
    let read = |path: &Path| std::fs::read_to_string(path).ok()?.trim().parse().ok();
    idle_clock().and_then(read).unwrap_or_default()
}

/// How often the host looks at what is idle.
pub(crate) fn idle_look() -> Duration {
    match idle_clock() {
        Some(_) => Duration::from_millis(50),
        None => idle::CHECK_EVERY,
    }
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
        let losing = Armed::parse("read:2:lose").unwrap();
        let reached = [Act::Kill, Act::Lose, Act::Lose].map(|act| losing.is_due("read", act));
        assert_eq!(reached, [false, false, true]);
        assert!(Armed::parse("read").is_none() && Armed::parse("read:other").is_none());
    }
}
