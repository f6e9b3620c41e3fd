//! How long to wait before a lost connection is tried again.
//!
//! For ever, doubling, with jitter, up to a cap. A connection that was good for a while begins anew; one that is
//! accepted and cut at once, over and over, does not, so that two peers that throw each other out do not spin.

use std::time::Duration;

/// The figures of a [`Backoff`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The longest first wait; the shortest is half of it.
    pub first: Duration,
    /// The longest wait of all.
    pub cap: Duration,
    /// A connection that was good for so long begins anew.
    pub steady: Duration,
}

impl Default for Pace {
    /// The first try within 50 to 100 ms, at most 5 s between two.
    fn default() -> Self {
        Self {
            first: Duration::from_millis(100),
            cap: Duration::from_secs(5),
            steady: Duration::from_secs(1),
        }
    }
}

/// Counts failures and turns them into waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backoff {
    pace: Pace,
    failures: u32,
}

impl Backoff {
    /// Before the first failure.
    pub fn new(pace: Pace) -> Self {
        Self { pace, failures: 0 }
    }

    /// The connection is gone after it was good for `lasted`, which is zero if it never was. Says how long to wait;
    /// `roll` is any random number.
    pub fn wait_after(&mut self, lasted: Duration, roll: u64) -> Duration {
        if lasted >= self.pace.steady {
            self.failures = 0;
        }
        let factor = 2u32.saturating_pow(self.failures);
        let longest = self.pace.first.saturating_mul(factor).min(self.pace.cap);
        self.failures = self.failures.saturating_add(1);
        let half = longest / 2;
        let spread = u64::try_from(half.as_micros()).unwrap_or(u64::MAX);
        half + Duration::from_micros(roll % spread.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_waits_double_up_to_the_cap() {
        let mut backoff = Backoff::new(Pace::default());
        let waits: Vec<_> = (0..9)
            .map(|_| backoff.wait_after(Duration::ZERO, 0).as_millis())
            .collect();
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 2500, 2500, 2500]);
    }

    #[test]
    fn a_good_connection_begins_anew_and_a_short_one_does_not() {
        let mut backoff = Backoff::new(Pace::default());
        for _ in 0..20 {
            let _ = backoff.wait_after(Duration::from_millis(999), 0);
        }
        assert_eq!(backoff.wait_after(Duration::ZERO, 0).as_millis(), 2500);
        assert_eq!(
            backoff.wait_after(Duration::from_secs(1), 0).as_millis(),
            50
        );
    }

    proptest! {
        /// The first try comes after 50 to 100 ms, and no wait is ever longer than the cap, however long it goes on.
        #[test]
        fn every_wait_is_within_its_bounds(rolls in proptest::collection::vec(any::<u64>(), 1..80)) {
            let mut backoff = Backoff::new(Pace::default());
            for (failures, roll) in rolls.into_iter().enumerate() {
                let wait = backoff.wait_after(Duration::ZERO, roll);
                let longest = if failures < 6 { 100 << failures } else { 5000 };
                prop_assert!(wait <= Duration::from_millis(longest), "{wait:?}");
                prop_assert!(wait >= Duration::from_millis(longest / 2), "{wait:?}");
            }
        }
    }
}
