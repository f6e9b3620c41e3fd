//! The prompts that both ends are measured with, and the stamps in the answers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};

/// An answer of a few words.
pub(crate) const SHORT: &str = r#"SCRIPT:[{"say":"one two three"}]"#;
/// Between two deltas: slow enough that nothing queues up.
const PACE_MS: u64 = 2;

/// A stream of stamped deltas.
pub(crate) fn paced(deltas: usize) -> String {
    format!(r#"SCRIPT:[{{"say":"","chunks":{deltas},"delay_ms":{PACE_MS},"stamp":true}}]"#)
}

/// The timings of one stream; every delta must arrive once and in order.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    next: usize,
    pub(crate) times: Vec<Duration>,
}

impl Stamps {
    /// Takes the stamps of a text like `7:1700000000000000 8:1700000000002000 `.
    pub(crate) fn take(&mut self, text: &str) -> anyhow::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        for stamp in text.split_ascii_whitespace() {
            let (index, at) = stamp.split_once(':').context("a delta without a stamp")?;
            let index: usize = index.parse()?;
            ensure!(index == self.next, "{index} came instead of {}", self.next);
            self.next += 1;
            self.times
                .push(now.saturating_sub(Duration::from_micros(at.parse()?)));
        }
        Ok(())
    }
}
