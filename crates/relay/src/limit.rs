//! The token bucket: how much may come, in the long run and at once.
//!
//! Pure: time is handed in, so that the same rule can pace one sender and end another.

use std::time::Duration;

use crate::config::Rate;

/// What is left of a rate, in frames and in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    rate: Rate,
    frames: f64,
    bytes: f64,
    at: Duration,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(rate: Rate, now: Duration) -> Self {
        let (frames, bytes) = full(rate);
        Self {
            rate,
            frames,
            bytes,
            at: now,
        }
    }

    /// Takes a frame out. The debt, if any, is how long the sender should have waited.
    pub(crate) fn take(&mut self, now: Duration, length: usize) -> Option<Duration> {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        let (most_frames, most_bytes) = full(self.rate);
        let refilled =
            |left: f64, rate: u32, most: f64| (left + passed * f64::from(rate)).min(most);
        self.frames = refilled(self.frames, self.rate.frames, most_frames) - 1.0;
        self.bytes = refilled(self.bytes, self.rate.bytes, most_bytes) - precise(length);
        self.at = now;
        let debt = |left: f64, rate: u32| (-left).max(0.0) / f64::from(rate.max(1));
        let wait = debt(self.frames, self.rate.frames).max(debt(self.bytes, self.rate.bytes));
        (wait > 0.0).then(|| Duration::from_secs_f64(wait.min(60.0)))
    }
}

fn full(rate: Rate) -> (f64, f64) {
    let burst = f64::from(rate.burst.max(1));
    (
        f64::from(rate.frames) * burst,
        f64::from(rate.bytes) * burst,
    )
}

fn precise(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate {
        frames: 10,
        bytes: 1000,
        burst: 2,
    };

    #[test]
    fn a_burst_passes_and_the_long_run_is_held() {
        let mut bucket = Bucket::new(RATE, Duration::ZERO);
        for _ in 0..20 {
            assert_eq!(bucket.take(Duration::ZERO, 1), None);
        }
        let wait = bucket.take(Duration::ZERO, 1).unwrap();
        assert_eq!(wait, Duration::from_millis(100));
        assert_eq!(bucket.take(Duration::from_secs(1), 1), None);
    }

    #[test]
    fn bytes_count_as_well_as_frames() {
        let mut bucket = Bucket::new(RATE, Duration::ZERO);
        assert_eq!(bucket.take(Duration::ZERO, 2000), None);
        assert_eq!(
            bucket.take(Duration::ZERO, 500),
            Some(Duration::from_millis(500))
        );
    }

    #[test]
    fn a_clock_that_stands_still_or_goes_back_gives_nothing() {
        let mut bucket = Bucket::new(RATE, Duration::from_secs(9));
        for _ in 0..20 {
            bucket.take(Duration::from_secs(9), 0);
        }
        assert!(bucket.take(Duration::from_secs(3), 0).is_some());
    }
}
