//! What a process takes, from `/proc`, and what many timings sum up to.

use std::fs;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};

use crate::Outcome;

/// Keeps this process on one core; it has one thread.
pub(crate) fn pin(core: usize) -> Outcome<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    Ok(sched_setaffinity(None, &cores)?)
}

/// Allows as many open files as the system lets us, here and in the relay that is started.
pub(crate) fn open_many_files() -> Outcome<()> {
    let most = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// A line of `/proc/<pid>/status` like `VmRSS:   123 kB`.
fn field(pid: u32, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.map(|line| line.trim().trim_end_matches("kB").trim());
    number
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

/// Memory that is resident, in kB.
pub(crate) fn resident_kb(pid: u32) -> u64 {
    field(pid, "VmRSS")
}

/// From now on, the most that was resident is counted anew.
pub(crate) fn forget_peak(pid: u32) -> Outcome<()> {
    Ok(fs::write(format!("/proc/{pid}/clear_refs"), "5")?)
}

/// The most that was resident, in kB.
pub(crate) fn peak_kb(pid: u32) -> u64 {
    field(pid, "VmHWM")
}

/// Processor time of all threads that are there.
pub(crate) fn cpu(pid: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let nanoseconds = threads.into_iter().flatten().flatten().map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        let first = text
            .split(' ')
            .next()
            .and_then(|text| text.parse::<u64>().ok());
        first.unwrap_or_default()
    });
    Duration::from_nanos(nanoseconds.sum())
}

/// The middle and the bad end of some timings, in microseconds.
pub(crate) fn quantiles(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |part: usize| {
        let last = times.len().saturating_sub(1);
        let time = times.get((times.len() * part / 1000).min(last));
        time.map(|time| time.as_secs_f64() * 1e6)
    };
    json!({"count": times.len(), "p50_us": at(500), "p99_us": at(990), "max_us": at(1000)})
}
