//! Pieces of text: they follow each other, and together they are the text that replaces them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeMap;

use estelle_proto::events::{ClaudeEvent, TextComplete, TextDelta};

/// Why a turn is broken off that somebody stopped.
pub(super) const BY_A_PERSON: &str = "user";

/// The open texts of one subscription, by sub-agent, run and block.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    open: BTreeMap<(Option<String>, u64, u64), Open>,
    /// The text that a snapshot showed, until its whole comes.
    shown: Option<String>,
    /// Texts of sub-agents may have begun before the snapshot, which does not show them.
    late: bool,
}

#[derive(Debug, Default)]
struct Open {
    /// Where the first piece stood, in UTF-16 code units.
    start: usize,
    text: Vec<u16>,
}

impl Pieces {
    /// A snapshot shows an open text of the agent.
    pub(super) fn begin_with(&mut self, text: &str) {
        self.shown = Some(text.to_owned()).filter(|text| !text.is_empty());
    }

    /// A subscription begins here, or goes on here after the host has opened its log again: what the snapshot shows counts,
    /// and pieces go on from there.
    pub(super) fn begin(&mut self) {
        *self = Self {
            late: true,
            ..Self::default()
        };
    }

    /// Takes an event; what does not fit is said.
    pub(super) fn take(&mut self, event: &ClaudeEvent) -> Option<String> {
        match event {
            ClaudeEvent::Text(piece) => self.piece(piece),
            ClaudeEvent::TextComplete(whole) => self.whole(whole),
            // What the CLI wrote before it heard of a stop still comes.
            ClaudeEvent::Aborted(aborted) if aborted.reason == BY_A_PERSON => None,
            ClaudeEvent::Result(_) | ClaudeEvent::Aborted(_) | ClaudeEvent::Error(_) => {
                self.open.clear();
                self.shown = None;
                self.late = false;
                None
            }
            _ => None,
        }
    }

    fn piece(&mut self, piece: &TextDelta) -> Option<String> {
        let at = usize::try_from(piece.at?).ok()?;
        let parent = piece.parent_tool_use_id.as_ref().map(ToString::to_string);
        let run = piece.generation.map_or(0, |generation| generation.0);
        let key = (parent, run, piece.block.unwrap_or_default());
        let known = self.shown.as_deref().unwrap_or_default();
        let start = match &key.0 {
            Some(_) if self.late => at,
            Some(_) => 0,
            None => known.encode_utf16().count(),
        };
        let open = self.open.entry(key).or_insert_with(|| Open {
            start,
            text: Vec::new(),
        });
        let end = open.start + open.text.len();
        if at > end {
            return Some(format!("a piece at {at} after {end}"));
        }
        // One that stands earlier is known already, and is ignored.
        if at == end {
            open.text.extend(piece.content.encode_utf16());
        }
        None
    }

    fn whole(&mut self, whole: &TextComplete) -> Option<String> {
        let parent = whole.parent_tool_use_id.as_ref().map(ToString::to_string);
        let text: Vec<u16> = whole.text.encode_utf16().collect();
        let fits = |open: &Open| {
            let end = open.start + open.text.len();
            end == text.len() && text[open.start..] == open.text[..]
        };
        let of_parent: Vec<_> = self
            .open
            .keys()
            .filter(|(of, ..)| *of == parent)
            .cloned()
            .collect();
        let fitting = of_parent
            .iter()
            .find(|key| self.open.get(key).is_some_and(fits));
        let torn = !of_parent.is_empty() && fitting.is_none();
        // Blocks complete in order, so the others of the same message are still to come.
        match fitting.cloned() {
            Some(key) => {
                self.open.remove(&key);
            }
            None => self.open.retain(|(of, ..), _| *of != parent),
        }
        let shown = self.shown.take_if(|_| parent.is_none());
        let other = shown.is_some_and(|shown| !whole.text.starts_with(&shown));
        (torn || other).then(|| format!("the pieces are not those of {:?}", whole.text))
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::Generation;

    use super::*;

    fn piece(at: u64, content: &str) -> ClaudeEvent {
        ClaudeEvent::Text(TextDelta {
            generation: Some(Generation(1)),
            block: Some(0),
            at: Some(at),
            ..TextDelta::new(content.to_owned())
        })
    }

    /// Pieces of somebody who had a beginning when the host opened its log again, and was shown this.
    fn shown_again(text: &str) -> Pieces {
        let mut pieces = Pieces::default();
        pieces.begin();
        assert_eq!(pieces.take(&piece(0, "one")), None);
        pieces.begin();
        pieces.begin_with(text);
        pieces
    }

    #[test]
    fn pieces_go_on_from_what_a_later_snapshot_shows() {
        for (shown, at, rest) in [("", 0, "one two"), ("one", 3, " two"), ("one tw", 6, "o")] {
            let mut pieces = shown_again(shown);
            assert_eq!(pieces.take(&piece(at, rest)), None);
            let whole = TextComplete::new("one two".to_owned());
            assert_eq!(pieces.take(&ClaudeEvent::TextComplete(whole)), None);
        }
    }

    #[test]
    fn a_later_snapshot_that_shows_too_little_leaves_a_hole() {
        let mut pieces = shown_again("");
        assert!(pieces.take(&piece(3, " two")).is_some());
    }
}
