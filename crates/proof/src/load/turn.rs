//! A turn of one text that counts: the prompt that asks for it, and what an app got of it.
//!
//! An app puts the pieces together as the protocol says: by where each of them begins, and anew when it is told all that was
//! written so far. Whatever is missing, doubled or swapped on the way shows in the numbers.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// A prompt of some bytes that makes the simulator say this many pieces, each with its number and its moment.
pub(super) fn prompt(pieces: usize) -> String {
    format!(r#"SCRIPT:[{{"say":"","chunks":{pieces},"stamp":true}}]"#)
}

/// A prompt that makes any stand-in say this many numbers in so many pieces: a long text of which few pieces are made.
pub(super) fn long_prompt(numbers: usize, pieces: usize) -> String {
    let mut text = String::new();
    for number in 0..numbers {
        // Writing to a string does not fail.
        let _ = write!(text, "{number}:0 ");
    }
    format!(r#"SCRIPT:[{{"say":"{text}","chunks":{pieces}}}]"#)
}

/// What an app got of a turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) events: usize,
    text: String,
    /// How long the last piece of each event was on its way.
    pub(super) delays: Vec<Duration>,
    /// How often all that was written so far was told anew.
    pub(super) retold: usize,
    /// The number of the last durable event, and whether anything was missing or came twice.
    seq: Option<u64>,
    pub(super) is_torn: bool,
}

impl Turn {
    /// Takes an event; true when it is the last.
    pub(super) fn take(&mut self, payload: &Value) -> bool {
        let event = &payload["event"];
        self.events += 1;
        if let Some(seq) = payload["seq"].as_u64() {
            self.is_torn |= self.seq.is_some_and(|before| seq != before + 1);
            self.seq = Some(seq);
        }
        match event["type"].as_str() {
            Some("text") => self.grow(event),
            Some("stateUpdate") => self.replace(event),
            _ => {}
        }
        event["type"] == "result"
    }

    /// A piece: what begins before the end is known, what begins behind it lacks what is between.
    fn grow(&mut self, event: &Value) {
        let content = event["content"].as_str().unwrap_or_default();
        let at = event["at"].as_u64().and_then(|at| usize::try_from(at).ok());
        if at.is_some_and(|at| at < self.text.len()) {
            return;
        }
        self.is_torn |= at.is_some_and(|at| at > self.text.len());
        self.text.push_str(content);
        self.delays.extend(delay(content));
    }

    fn replace(&mut self, event: &Value) {
        let blocks = event["open"].as_array().into_iter().flatten();
        let mut texts = blocks.filter(|block| block["kind"] == "text");
        let Some(text) = texts.find_map(|block| block["content"].as_str()) else {
            return;
        };
        if text.len() > self.text.len() {
            text.clone_into(&mut self.text);
            self.retold += 1;
        }
    }

    /// Whether it counts that far, every number once and in order.
    pub(super) fn is_whole(&self, numbers: usize) -> bool {
        let mut count = 0;
        let is_dense = self.text.split_terminator(' ').all(|stamp| {
            let number = stamp.split_once(':').map(|(number, _)| number.parse());
            let is_next = number == Some(Ok(count));
            count += 1;
            is_next
        });
        !self.is_torn && is_dense && count == numbers
    }

    /// How much text it is.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }
}

/// How long ago the last stamp was made.
fn delay(content: &str) -> Option<Duration> {
    let (_, stamp) = content.trim_end().rsplit_once(':')?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(now.saturating_sub(Duration::from_micros(stamp.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn played(events: &[Value]) -> Turn {
        let mut turn = Turn::default();
        for event in events {
            turn.take(&json!({"event": event}));
        }
        turn
    }

    fn piece(at: usize, content: &str) -> Value {
        json!({"type": "text", "content": content, "at": at})
    }

    #[test]
    fn pieces_count_once_and_in_order_however_they_are_joined() {
        let whole = played(&[piece(0, "0:5 1:5 "), piece(8, "2:6 ")]);
        assert!(whole.is_whole(3) && !whole.is_whole(2) && !whole.is_whole(4));
        let known = played(&[piece(0, "0:5 "), piece(0, "0:5 "), piece(4, "1:5 ")]);
        assert!(known.is_whole(2), "what is known is not taken twice");
        let lost = played(&[piece(0, "0:5 "), piece(8, "2:6 ")]);
        assert!(lost.is_torn && !lost.is_whole(2));
        let swapped = played(&[piece(0, "1:5 "), piece(4, "0:5 ")]);
        assert!(!swapped.is_whole(2));
    }

    #[test]
    fn what_was_written_so_far_may_be_told_anew() {
        let open = json!([{"kind": "text", "generation": 1, "block": 0, "content": "0:5 1:5 "}]);
        let update = json!({"type": "stateUpdate", "open": open});
        let turn = played(&[piece(0, "0:5 "), update, piece(8, "2:6 ")]);
        assert!(turn.is_whole(3));
        assert_eq!(turn.retold, 1);
    }
}
