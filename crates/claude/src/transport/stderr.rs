//! The last of what a process printed on standard error, within a bound.
//!
//! When a CLI ends unexpectedly its reason stands here, so the tail goes into the error. It is a ring of
//! bytes: a process that floods its standard error costs no more than the bound.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How much is kept.
pub(super) const STDERR_LIMIT: usize = 64 * 1024;

/// A shared, bounded tail of standard error.
#[derive(Debug, Clone, Default)]
pub struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl StderrTail {
    /// Adds bytes and lets go of the oldest beyond the bound.
    pub fn push(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(STDERR_LIMIT)..];
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let excess = (kept.len() + bytes.len()).saturating_sub(STDERR_LIMIT);
        kept.drain(..excess);
        kept.extend(bytes);
    }

    /// The text kept, with what is not UTF-8 replaced.
    pub fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_within_the_bound() {
        let tail = StderrTail::default();
        for _ in 0..100 {
            tail.push(&[b'x'; 4096]);
        }
        tail.push(b"the reason");
        let text = tail.text();
        assert_eq!(text.len(), STDERR_LIMIT);
        assert!(text.ends_with("xthe reason"));
        tail.push(&vec![b'y'; 2 * STDERR_LIMIT]);
        assert_eq!(tail.text(), "y".repeat(STDERR_LIMIT));
    }
}
