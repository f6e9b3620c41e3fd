//! How fast a terminal may speak: a relay closes the connection of an app that says more than it takes, so what is said
//! waits here instead. Pure: time is handed in.

use std::time::Duration;

/// Frames a second, in the long run: a little less than a relay takes of an app.
const FRAMES: f64 = 90.0;
/// Bytes a second, in the long run; the same.
const BYTES: f64 = 900.0 * 1024.0;
/// How many seconds' worth may be said at once; a relay takes more.
const BURST: f64 = 8.0;

/// What may be said at once, and what was.
#[derive(Debug)]
pub(super) struct Pace {
    frames: f64,
    bytes: f64,
    at: Duration,
}

impl Pace {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            frames: FRAMES * BURST,
            bytes: BYTES * BURST,
            at: now,
        }
    }

    /// Counts a frame, and gives how long it has to wait before it is said.
    pub(super) fn wait(&mut self, now: Duration, length: usize) -> Duration {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        let length = f64::from(u32::try_from(length).unwrap_or(u32::MAX));
        self.frames = (self.frames + passed * FRAMES).min(FRAMES * BURST) - 1.0;
        self.bytes = (self.bytes + passed * BYTES).min(BYTES * BURST) - length;
        self.at = now;
        let debt = |left: f64, rate: f64| (-left).max(0.0) / rate;
        let wait = debt(self.frames, FRAMES).max(debt(self.bytes, BYTES));
        Duration::from_secs_f64(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says frames of a length as fast as the pace lets it, and gives the moments.
    fn moments(count: usize, length: usize) -> Vec<Duration> {
        let mut now = Duration::from_secs(7);
        let mut pace = Pace::new(now);
        let said = (0..count).map(|_| {
            now += pace.wait(now, length);
            now
        });
        said.collect()
    }

    /// What is said within any stretch of time is less than a relay takes: ten seconds' worth, and then its rate.
    #[track_caller]
    fn check(moments: &[Duration], length: f64) {
        for (first, from) in moments.iter().enumerate().step_by(37) {
            for (last, until) in moments.iter().enumerate().skip(first).step_by(11) {
                let frames = f64::from(u32::try_from(last - first + 1).unwrap());
                let seconds = until.saturating_sub(*from).as_secs_f64();
                assert!(
                    frames <= 1000.0 + 100.0 * seconds,
                    "{frames} in {seconds} s"
                );
                let taken = 1_048_576.0 * (10.0 + seconds);
                assert!(frames * length <= taken, "{frames} in {seconds} s");
            }
        }
    }

    #[test]
    fn a_relay_takes_everything_that_is_said_at_this_pace() {
        check(&moments(5000, 100), 100.0);
        check(&moments(600, 90_000), 90_000.0);
    }

    #[test]
    fn little_is_said_at_once() {
        let said = moments(700, 1000);
        assert_eq!(said.first(), said.last());
    }
}
