//! What processes and folders take, and what many figures sum up to.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Memory that is resident, in kB.
pub(super) fn resident_kb(pid: u32) -> u64 {
    status_kb(pid, "VmRSS:")
}

/// The most that was resident since [`forget_peak`], in kB.
pub(super) fn peak_kb(pid: u32) -> u64 {
    status_kb(pid, "VmHWM:")
}

/// Lets the most that was resident count from now on.
pub(super) fn forget_peak(pid: u32) -> anyhow::Result<()> {
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").context("forget the peak of its memory")
}

fn status_kb(pid: u32, key: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.map(|line| line.trim().trim_end_matches("kB").trim());
    let number = number.and_then(|text| text.parse().ok());
    number.unwrap_or_default()
}

/// Open descriptors.
pub(super) fn descriptors(pid: u32) -> u64 {
    let folder = std::fs::read_dir(format!("/proc/{pid}/fd"));
    folder.map_or(0, Iterator::count) as u64
}

/// What lies in a folder, in kB as the disk counts them: a file with a hole takes less than its length.
pub(super) fn folder_kb(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => folder_kb(&entry.path()),
        Ok(found) => found.blocks() / 2,
        Err(_) => 0,
    });
    sizes.sum()
}

/// Allows as many open files as the system lets us, here and in what is started, and says how many that is.
pub(super) fn open_many_files() -> anyhow::Result<u64> {
    let most = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    setrlimit(Resource::Nofile, limit)?;
    Ok(most.unwrap_or(u64::MAX))
}

/// The middle, the bad end and the worst of some timings.
pub(super) struct Quantiles {
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    pub(super) max: Duration,
}

impl Quantiles {
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let last = times.len().saturating_sub(1);
        let at = |part: usize| {
            let time = times.get((times.len() * part / 100).min(last));
            time.copied().unwrap_or_default()
        };
        Self {
            p50: at(50),
            p99: at(99),
            max: at(100),
        }
    }

    pub(super) fn told(&self) -> String {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        format!(
            "p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms",
            ms(self.p50),
            ms(self.p99),
            ms(self.max)
        )
    }
}

/// How fast something grows, per hour: the straight line through (seconds, value) that fits best.
pub(super) fn slope_per_hour(samples: &[(f64, f64)]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    let count = samples.len().max(1) as f64;
    let mean = |value: fn(&(f64, f64)) -> f64| samples.iter().map(value).sum::<f64>() / count;
    let (at, level) = (mean(|sample| sample.0), mean(|sample| sample.1));
    let spread: f64 = samples.iter().map(|sample| (sample.0 - at).powi(2)).sum();
    let joint: f64 = samples
        .iter()
        .map(|sample| (sample.0 - at) * (sample.1 - level))
        .sum();
    if spread > 0.0 {
        joint / spread * 3600.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_through_noise() {
        let samples: Vec<(f64, f64)> = (0..10)
            .map(|nth| {
                let at = f64::from(nth) * 60.0;
                (at, 100.0 + at / 3600.0 * 7.0)
            })
            .collect();
        assert!((slope_per_hour(&samples) - 7.0).abs() < 1e-6);
        assert!(slope_per_hour(&[(0.0, 5.0)]).abs() < 1e-9);
    }

    #[test]
    fn the_worst_is_the_worst() {
        let times = (1..=200).map(Duration::from_millis).collect();
        let found = Quantiles::of(times);
        assert_eq!(found.max, Duration::from_millis(200));
        assert_eq!(found.p50, Duration::from_millis(101));
    }
}
