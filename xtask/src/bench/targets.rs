//! The figures to reach, and whether they were.
//!
//! All are ratios to a peer or to a raw limit of the same run, except for memory: absolute times say more about
//! the machine than about us.

use std::fmt::Write as _;

use super::consumers::{Consumer, Run};
use super::measured::{Measured, short};
use super::rounds::{Figures, Row};

/// One figure to reach.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) what: &'static str,
    pub(crate) wanted: String,
    pub(crate) reached: String,
    pub(crate) met: bool,
}

/// The median of one figure of one consumer.
pub(crate) fn median(rows: &[Row], consumer: Consumer, figure: fn(&Run) -> f64) -> Option<f64> {
    let (_, runs) = rows.iter().find(|(known, _)| *known == consumer)?;
    Measured::of(runs.iter().map(figure)).map(|measured| measured.median)
}

/// Judges a benchmark.
pub(crate) fn judge(figures: &Figures) -> Vec<Target> {
    let cpu = |consumer| median(&figures.blocks, consumer, cpu_per_million);
    let (typescript, limit) = (cpu(Consumer::TypeScript), cpu(Consumer::Memchr));
    let peak = |consumer| median(&figures.blocks, consumer, |run| run.peak_megabytes);
    let mut targets = vec![
        less(
            "processor time per line, peek, against the TypeScript SDK",
            typescript,
            cpu(Consumer::Peek),
            6.0,
        ),
        within(
            "processor time per line, peek, against read + memchr",
            cpu(Consumer::Peek),
            limit,
            4.0,
        ),
        less(
            "processor time per line, typed, against the TypeScript SDK",
            typescript,
            cpu(Consumer::Typed),
            2.5,
        ),
        at_most("memory while streaming, typed", peak(Consumer::Typed), 10.0),
        at_most("memory while streaming, peek", peak(Consumer::Peek), 10.0),
    ];
    for (rows, faster, close, names) in [
        (
            &figures.same_core,
            4.0,
            1.4,
            [
                "permission, same core, p50, against the TypeScript SDK",
                "permission, same core, p50, against a blocking loop",
            ],
        ),
        (
            &figures.two_cores,
            1.6,
            1.15,
            [
                "permission, two cores, p50, against the TypeScript SDK",
                "permission, two cores, p50, against a blocking loop",
            ],
        ),
    ] {
        let p50 = |consumer| median(rows, consumer, |run| run.p50_microseconds);
        let (peer, limit) = (p50(Consumer::TypeScript), p50(Consumer::Blocking));
        let ours = p50(Consumer::Typed);
        let mut against_peer = less(names[0], peer, ours, faster);
        // A factor that the limit does not reach either is out of reach on that machine, which is worth knowing.
        let most = short(ratio(peer, limit));
        let _ = write!(against_peer.reached, " (a blocking loop: {most}x)");
        targets.push(against_peer);
        targets.push(within(names[1], ours, limit, close));
    }
    targets
}

/// Processor time in seconds for a million messages.
pub(crate) fn cpu_per_million(run: &Run) -> f64 {
    run.cpu_seconds / run.messages * 1e6
}

fn less(what: &'static str, peer: Option<f64>, ours: Option<f64>, factor: f64) -> Target {
    let ratio = ratio(peer, ours);
    Target {
        what,
        wanted: format!("at least {factor}x less"),
        reached: format!("{}x less", short(ratio)),
        met: ratio >= factor,
    }
}

fn within(what: &'static str, ours: Option<f64>, limit: Option<f64>, factor: f64) -> Target {
    let ratio = ratio(ours, limit);
    Target {
        what,
        wanted: format!("at most {factor}x"),
        reached: format!("{}x", short(ratio)),
        met: ratio <= factor,
    }
}

fn at_most(what: &'static str, ours: Option<f64>, megabytes: f64) -> Target {
    let ours = ours.unwrap_or(f64::NAN);
    Target {
        what,
        wanted: format!("at most {megabytes} MB"),
        reached: format!("{} MB", short(ours)),
        met: ours <= megabytes,
    }
}

/// Not a number, and so never good enough, when either is missing.
fn ratio(above: Option<f64>, below: Option<f64>) -> f64 {
    above.unwrap_or(f64::NAN) / below.unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_met_or_not() {
        assert!(less("a", Some(6.0), Some(1.0), 6.0).met);
        assert!(!less("a", Some(5.9), Some(1.0), 6.0).met);
        assert!(within("a", Some(4.0), Some(1.0), 4.0).met);
        assert!(!within("a", Some(4.1), Some(1.0), 4.0).met);
        assert_eq!(within("a", Some(3.0), Some(2.0), 4.0).reached, "1.50x");
    }

    #[test]
    fn what_was_not_measured_is_not_met() {
        assert!(!less("a", None, Some(1.0), 2.0).met);
        assert!(!within("a", Some(1.0), None, 2.0).met);
        assert!(!at_most("a", None, 10.0).met);
    }
}
