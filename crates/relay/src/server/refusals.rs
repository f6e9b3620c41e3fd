//! How often somebody was refused: a line for the first, and for all others of a minute one line together.
//!
//! A stranger decides how often it is refused. With a line for each it would decide how fast the log grows.

use std::time::Duration;

/// For how long refusals are counted before they are told.
const TOGETHER: Duration = Duration::from_mins(1);

/// What somebody was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Login,
    Pairing,
    Message,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Login => "login refused",
            Self::Pairing => "pairing refused",
            Self::Message => "message forbidden",
        })
    }
}

/// All kinds.
const KINDS: [Refused; 3] = [Refused::Login, Refused::Pairing, Refused::Message];

/// What was refused and not told yet.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    counts: [u64; KINDS.len()],
    /// When they are told; none while nobody is refused.
    due: Option<Duration>,
}

impl Refusals {
    /// Whether this one is told at once; otherwise it is counted.
    pub(super) fn is_first(&mut self, now: Duration, what: Refused) -> bool {
        if self.due.is_none() {
            self.due = Some(now + TOGETHER);
            return true;
        }
        let counts = KINDS.iter().zip(&mut self.counts);
        for (_, count) in counts.filter(|(kind, _)| **kind == what) {
            *count += 1;
        }
        false
    }

    /// When to ask for what is due.
    pub(super) fn wake_at(&self) -> Option<Duration> {
        self.due
    }

    /// What is to be told now.
    pub(super) fn due(&mut self, now: Duration) -> Vec<(Refused, u64)> {
        if self.due.is_none_or(|due| due > now) {
            return Vec::new();
        }
        let counts = std::mem::take(&mut self.counts);
        let told = KINDS.into_iter().zip(counts);
        let told: Vec<_> = told.filter(|(_, count)| *count > 0).collect();
        self.due = (!told.is_empty()).then_some(now + TOGETHER);
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_a_line_a_minute() {
        let mut refusals = Refusals::default();
        let at = Duration::from_secs;
        let mut lines = 0;
        for second in 0..600 {
            for _ in 0..1000 {
                lines += usize::from(refusals.is_first(at(second), Refused::Login));
            }
            lines += refusals.due(at(second)).len();
        }
        assert_eq!(lines, 10);
        let rest = refusals.due(at(600));
        assert_eq!(rest.len(), 1);
        assert_eq!(refusals.due(at(660)), []);
        assert_eq!(refusals.wake_at(), None);
        assert!(refusals.is_first(at(700), Refused::Pairing));
    }
}
