//! What a process takes, from `/proc`, and what many timings sum up to.

use std::time::Duration;

use serde_json::{Value, json};

/// A line of a file below `/proc/<pid>` like `Pss:   123 kB`.
fn field(pid: u32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.map(|line| line.trim().trim_end_matches("kB").trim());
    let number = number.and_then(|text| text.parse().ok());
    number.unwrap_or_default()
}

/// Memory of a process, in kB: what is resident, and the same with shared pages counted in part.
pub(crate) fn memory(pid: u32) -> (u64, u64) {
    (
        field(pid, "status", "VmRSS"),
        field(pid, "smaps_rollup", "Pss"),
    )
}

/// The middle and the bad end of some timings, in milliseconds.
pub(crate) fn quantiles(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |part: usize| {
        let last = times.len().saturating_sub(1);
        let time = times.get((times.len() * part / 100).min(last));
        time.map(|time| time.as_secs_f64() * 1e3)
    };
    json!({"count": times.len(), "p50_ms": at(50), "p99_ms": at(99), "max_ms": at(100)})
}
