//! What a process takes, from `/proc`, and what many timings sum up to.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::Outcome;

/// Length of a clock tick of `/proc/<pid>/stat`, which is the same on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// Unix microseconds.
pub(crate) fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    })
}

/// The middle and the bad end of some timings in microseconds.
pub(crate) fn quantiles(mut micros: Vec<u64>) -> Value {
    micros.sort_unstable();
    let at = |part: usize| micros.get((micros.len() * part / 1000).min(micros.len() - 1));
    json!({"count": micros.len(), "p50_us": at(500), "p99_us": at(990), "max_us": micros.last()})
}

/// A line of `/proc/<pid>/<file>` like `VmRSS:   123 kB`.
fn field(pid: u32, file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
    let line = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.strip_prefix(':')
    })?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Memory that is resident, in kB.
pub(crate) fn resident_kb(pid: u32) -> u64 {
    field(pid, "status", "VmRSS").unwrap_or_default()
}

/// Of that what is the process's own, in kB.
pub(crate) fn anonymous_kb(pid: u32) -> u64 {
    field(pid, "status", "RssAnon").unwrap_or_default()
}

/// Of that what are pages of files, the program's above all, in kB.
pub(crate) fn mapped_kb(pid: u32) -> u64 {
    field(pid, "status", "RssFile").unwrap_or_default()
}

/// Memory that would be free without the process, pages of others counted in part, in kB.
pub(crate) fn proportional_kb(pid: u32) -> u64 {
    field(pid, "smaps_rollup", "Pss").unwrap_or_default()
}

/// The most that was resident, in kB.
pub(crate) fn peak_kb(pid: u32) -> u64 {
    field(pid, "status", "VmHWM").unwrap_or_default()
}

/// The peak is counted from now on.
pub(crate) fn forget_peak(pid: u32) -> Outcome<()> {
    Ok(fs::write(format!("/proc/{pid}/clear_refs"), "5")?)
}

/// Processor time of all threads that ever were, in seconds, to a hundredth.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may hold spaces; what follows it does not.
    let behind = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = |nth| {
        let text = behind.split_ascii_whitespace().nth(nth);
        text.and_then(|text| text.parse::<u64>().ok())
            .unwrap_or_default()
    };
    #[expect(clippy::cast_precision_loss, reason = "hundredths of seconds are few")]
    let seconds = (ticks(11) + ticks(12)) as f64 / TICKS_PER_SECOND as f64;
    seconds
}

/// Processor time and the number of times it went to sleep, of the threads that are there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Activity {
    pub(crate) cpu_ns: u64,
    pub(crate) sleeps: u64,
}

pub(crate) fn activity(pid: u32) -> Activity {
    let mut sum = Activity::default();
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    for thread in threads.into_iter().flatten().flatten() {
        let read = |file: &str| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let first = read("schedstat");
        let cpu = first
            .split(' ')
            .next()
            .and_then(|text| text.parse::<u64>().ok());
        sum.cpu_ns += cpu.unwrap_or_default();
        let status = read("status");
        let sleeps = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
            .and_then(|text| text.trim().parse::<u64>().ok());
        sum.sleeps += sleeps.unwrap_or_default();
    }
    sum
}
