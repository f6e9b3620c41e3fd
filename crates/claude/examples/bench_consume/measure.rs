//! What a run took: wall clock, processor time of this process alone, and memory.
//!
//! The processor time is the process's own clock and not what a parent sees at its end, because that would
//! include the replayer, which is a child of this process.

use std::fmt;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// What was delivered to the consumer.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) messages: usize,
    pub(crate) deltas: usize,
}

/// Started right before a conversation is.
pub(crate) struct Clocks {
    wall: Instant,
    cpu: u128,
    base_kb: u64,
}

/// The line that the benchmark reads.
#[derive(Debug)]
pub(crate) struct Report {
    delivered: Delivered,
    wall_ns: u128,
    cpu_ns: u128,
    peak_kb: u64,
    base_kb: u64,
    rss_kb: u64,
}

impl Clocks {
    pub(crate) fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_ns(),
            base_kb: memory_kb("VmRSS"),
        }
    }

    pub(crate) fn stop(&self, delivered: Delivered) -> Report {
        Report {
            delivered,
            wall_ns: self.wall.elapsed().as_nanos(),
            cpu_ns: cpu_ns() - self.cpu,
            peak_kb: memory_kb("VmHWM"),
            base_kb: self.base_kb,
            rss_kb: memory_kb("VmRSS"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Delivered { messages, deltas } = self.delivered;
        write!(
            f,
            "{{\"messages\":{messages},\"deltas\":{deltas},\"wall_ns\":{},\"cpu_ns\":{},\"peak_kb\":{},\
             \"base_kb\":{},\"rss_kb\":{}}}",
            self.wall_ns, self.cpu_ns, self.peak_kb, self.base_kb, self.rss_kb
        )
    }
}

fn cpu_ns() -> u128 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let part = |part: i64| u128::try_from(part).unwrap_or_default();
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

fn memory_kb(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| {
        line.strip_prefix(field)
            .and_then(|rest| rest.strip_prefix(':'))
    });
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse().ok())
        .unwrap_or_default()
}
