//! Cutting an answer's text into the deltas in which it is streamed.
//!
//! A text of *n* characters in *k* deltas is cut at every `i * n / k`, so the pieces are nearly equal and a text shorter
//! than *k* has empty ones. One pass over the text makes them all, however long it is.

use super::{Answer, DEFAULT_CHUNKS};

/// The text deltas of an answer, one after the other.
#[derive(Debug, Clone)]
pub struct Deltas {
    text: String,
    stamp: bool,
    chars: usize,
    count: usize,
    index: usize,
    /// Where the next piece begins, in bytes and in characters.
    byte: usize,
    nth: usize,
}

impl Deltas {
    pub(super) fn new(answer: &Answer) -> Self {
        let text = answer.say.clone().unwrap_or_default();
        let chars = text.chars().count();
        let count = answer.delta_count();
        Self {
            text,
            stamp: answer.stamp,
            chars,
            count,
            index: 0,
            byte: 0,
            nth: 0,
        }
    }

    /// The next delta; `now_us` (unix µs) is printed only when the step asks for stamps.
    pub fn next(&mut self, now_us: u128) -> Option<String> {
        if self.index >= self.count {
            return None;
        }
        let index = self.index;
        self.index += 1;
        if self.stamp {
            return Some(format!("{index}:{now_us} "));
        }
        let end = self.index.saturating_mul(self.chars) / self.count;
        let piece: String = self
            .text
            .get(self.byte..)?
            .chars()
            .take(end - self.nth)
            .collect();
        self.byte += piece.len();
        self.nth = end;
        Some(piece)
    }

    fn skip_to(&mut self, index: usize) {
        self.index = index.min(self.count);
        self.nth = self.index.saturating_mul(self.chars) / self.count.max(1);
        let cut = self.text.char_indices().nth(self.nth);
        self.byte = cut.map_or(self.text.len(), |(byte, _)| byte);
    }
}

impl Answer {
    /// How many text deltas it has; none without a text.
    pub fn delta_count(&self) -> usize {
        if self.say.is_some() {
            self.chunks.unwrap_or(DEFAULT_CHUNKS).max(1)
        } else {
            0
        }
    }

    /// One delta on its own, at the cost of a pass over the text: for all of them use [`Answer::deltas`].
    pub fn delta(&self, index: usize, now_us: u128) -> String {
        let mut deltas = self.deltas();
        deltas.skip_to(index);
        deltas.next(now_us).unwrap_or_default()
    }

    /// Its text deltas in order.
    pub fn deltas(&self) -> Deltas {
        Deltas::new(self)
    }
}
