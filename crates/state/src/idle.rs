//! When an idle process is stopped.
//!
//! Time counts only while a conversation is idle: no turn, no open decision, no background task. So a long silent tool,
//! or a permission that waits over the weekend, never costs a process. The shell looks once a minute and reports
//! activity; this module has no clock.

use std::time::Duration;

use estelle_proto::Timestamp;

/// How often the shell looks.
pub const CHECK_EVERY: Duration = Duration::from_mins(1);

/// How long before the stop people are warned.
pub const WARN_BEFORE: Duration = Duration::from_mins(2);

const DEFAULT_MINUTES: u64 = 30;
/// Less than this counts as this.
pub const LEAST_MINUTES: u64 = 5;

/// After how long an idle process is stopped; none means never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleTimeout(Option<Duration>);

impl Default for IdleTimeout {
    fn default() -> Self {
        Self(Some(Duration::from_mins(DEFAULT_MINUTES)))
    }
}

impl IdleTimeout {
    /// From a setting in minutes: 0 switches it off, less than 5 means 5, nonsense means 30.
    pub fn from_setting(minutes: Option<&str>) -> Self {
        match minutes.map(|text| text.trim().parse::<u64>()) {
            Some(Ok(0)) => Self(None),
            Some(Ok(minutes)) => Self(Some(Duration::from_secs(
                minutes.max(LEAST_MINUTES).saturating_mul(60),
            ))),
            Some(Err(_)) | None => Self::default(),
        }
    }

    /// The time, unless it is switched off.
    pub fn get(self) -> Option<Duration> {
        self.0
    }
}

/// Whether anything goes on in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occupation {
    /// A turn runs, a decision is open, or a background task goes on.
    Busy,
    /// Nothing does.
    Idle,
}

/// What to do about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleVerdict {
    /// Nothing.
    Leave,
    /// Tell people that it will be stopped, this many seconds from now. Said once for each idle stretch.
    Warn {
        /// Seconds left.
        seconds_left: u64,
    },
    /// Stop it.
    Stop {
        /// How long it was idle.
        idle_minutes: u64,
    },
}

/// The idle time of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleWatch {
    last_activity: Timestamp,
    warned: bool,
}

impl IdleWatch {
    /// Begins with an activity now.
    pub fn new(now: Timestamp) -> Self {
        Self {
            last_activity: now,
            warned: false,
        }
    }

    /// Begins with an activity that was so long ago, as the log of another host tells. A time of day may have jumped, so
    /// nobody is stopped for it before people were warned.
    pub fn idle_for(now: Timestamp, idle: Duration, timeout: IdleTimeout) -> Self {
        let most = timeout
            .get()
            .map_or(idle, |timeout| timeout.saturating_sub(WARN_BEFORE));
        let idle = i64::try_from(idle.min(most).as_millis()).unwrap_or(i64::MAX);
        Self {
            last_activity: Timestamp(now.0.saturating_sub(idle)),
            warned: false,
        }
    }

    /// Somebody typed, the process printed, or a client came back.
    pub fn touch(&mut self, now: Timestamp) {
        // A clock that went back must not make an old activity new.
        if now.0 >= self.last_activity.0 {
            self.last_activity = now;
        }
        self.warned = false;
    }

    /// When something last happened.
    pub fn last_activity(&self) -> Timestamp {
        self.last_activity
    }

    /// Looks. While the conversation is not idle, the time begins anew.
    pub fn look(
        &mut self,
        now: Timestamp,
        occupation: Occupation,
        timeout: IdleTimeout,
    ) -> IdleVerdict {
        if occupation == Occupation::Busy {
            self.touch(now);
            return IdleVerdict::Leave;
        }
        let Some(timeout) = timeout.get() else {
            return IdleVerdict::Leave;
        };
        let elapsed =
            Duration::from_millis(u64::try_from(now.0 - self.last_activity.0).unwrap_or(0));
        if elapsed > timeout {
            return IdleVerdict::Stop {
                idle_minutes: elapsed.as_secs() / 60,
            };
        }
        let left = timeout.saturating_sub(elapsed);
        if left > WARN_BEFORE || self.warned {
            return IdleVerdict::Leave;
        }
        self.warned = true;
        IdleVerdict::Warn {
            seconds_left: left.as_secs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn minutes(minutes: i64) -> Timestamp {
        Timestamp(minutes * 60_000)
    }

    #[test]
    fn what_was_idle_under_another_host_goes_on_being_idle() {
        let timeout = IdleTimeout::default();
        let mut watch = IdleWatch::idle_for(minutes(0), Duration::from_mins(20), timeout);
        let mut look = |minute| watch.look(minutes(minute), Occupation::Idle, timeout);
        assert_eq!(look(7), IdleVerdict::Leave);
        assert_eq!(look(8), IdleVerdict::Warn { seconds_left: 120 });
        assert_eq!(look(10), IdleVerdict::Leave);
        assert_eq!(look(11), IdleVerdict::Stop { idle_minutes: 31 });
    }

    #[test]
    fn what_was_idle_for_too_long_under_no_host_is_stopped_after_a_warning() {
        let timeout = IdleTimeout::default();
        let mut watch = IdleWatch::idle_for(minutes(0), Duration::from_hours(20), timeout);
        let mut look = |minute| watch.look(minutes(minute), Occupation::Idle, timeout);
        assert_eq!(look(0), IdleVerdict::Warn { seconds_left: 120 });
        assert_eq!(look(2), IdleVerdict::Leave);
        assert_eq!(look(3), IdleVerdict::Stop { idle_minutes: 31 });
        let off = IdleTimeout::from_setting(Some("0"));
        let mut watch = IdleWatch::idle_for(minutes(0), Duration::from_hours(20), off);
        assert_eq!(
            watch.look(minutes(9), Occupation::Idle, off),
            IdleVerdict::Leave
        );
    }

    #[test]
    fn the_setting_is_read_as_people_mean_it() {
        let read = |text| {
            IdleTimeout::from_setting(text)
                .get()
                .map(|time| time.as_secs() / 60)
        };
        let cases = [
            (None, Some(30)),
            (Some("45"), Some(45)),
            (Some("0"), None),
            (Some("1"), Some(5)),
            (Some("4"), Some(5)),
            (Some("5"), Some(5)),
            (Some("-3"), Some(30)),
            (Some("soon"), Some(30)),
            (Some(""), Some(30)),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_idle_process_is_announced_once_and_then_stopped() {
        let mut watch = IdleWatch::new(minutes(0));
        let timeout = IdleTimeout::default();
        let verdicts: Vec<_> = (1..=31)
            .map(|now| watch.look(minutes(now), Occupation::Idle, timeout))
            .collect();
        assert!(
            verdicts[..27]
                .iter()
                .all(|verdict| *verdict == IdleVerdict::Leave)
        );
        assert_eq!(
            verdicts[27..],
            [
                IdleVerdict::Warn { seconds_left: 120 },
                IdleVerdict::Leave,
                IdleVerdict::Leave,
                IdleVerdict::Stop { idle_minutes: 31 },
            ]
        );
    }

    #[test]
    fn a_permission_that_waits_for_an_hour_costs_no_process() {
        let mut watch = IdleWatch::new(minutes(0));
        let timeout = IdleTimeout::default();
        for now in 1..=60 {
            assert_eq!(
                watch.look(minutes(now), Occupation::Busy, timeout),
                IdleVerdict::Leave
            );
        }
        assert_eq!(
            watch.look(minutes(75), Occupation::Idle, timeout),
            IdleVerdict::Leave,
            "the time begins with the answer"
        );
    }

    #[test]
    fn an_activity_takes_the_warning_back() {
        let mut watch = IdleWatch::new(minutes(0));
        let timeout = IdleTimeout::from_setting(Some("5"));
        assert_eq!(
            watch.look(minutes(4), Occupation::Idle, timeout),
            IdleVerdict::Warn { seconds_left: 60 }
        );
        watch.touch(minutes(4));
        assert_eq!(
            watch.look(minutes(5), Occupation::Idle, timeout),
            IdleVerdict::Leave
        );
        assert_eq!(
            watch.look(minutes(8), Occupation::Idle, timeout),
            IdleVerdict::Warn { seconds_left: 60 }
        );
    }

    proptest! {
        /// Whatever the clock does, a process that is not idle, or was touched this minute, is left alone.
        #[test]
        fn a_jumping_clock_stops_nothing_that_is_in_use(jumps in proptest::collection::vec(-100_000_000i64..100_000_000, 1..20)) {
            let mut watch = IdleWatch::new(minutes(0));
            for now in jumps {
                prop_assert_eq!(watch.look(Timestamp(now), Occupation::Busy, IdleTimeout::default()), IdleVerdict::Leave);
                watch.touch(Timestamp(now));
                let idle = watch.look(Timestamp(now), Occupation::Idle, IdleTimeout::default());
                prop_assert_eq!(idle, IdleVerdict::Leave);
            }
        }
    }
}
