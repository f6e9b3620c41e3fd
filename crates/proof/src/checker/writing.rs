//! Pieces of text at an app: each once, each at its place, together the text that replaces them.
//!
//! An app that begins to look is told what is being written, and goes on from there; until then it may get pieces from the
//! middle. If nothing is being written it is told nothing, and the next turn is new to everybody.
//!
//! A host that dies takes pieces with it that it had read and nobody had got. The whole text comes nevertheless, and the
//! pieces before the death are its beginning: that alone is excused. Where the text goes on in pieces, the Pylon first
//! tells what is written by then, unless nothing is missing; so a piece that leaves a hole or comes again is a fault, host
//! or no host.

use std::collections::BTreeMap;

use estelle_proto::events::{TextComplete, TextDelta};
use estelle_proto::writing::{BlockKind, OpenBlock};

use super::rule::Rule;

/// A block by its writer, run and place in the message.
type Key = (Option<String>, u64, u64);

/// What is being written in one conversation, as far as an app knows.
#[derive(Debug, Default)]
pub(super) struct Writing {
    open: BTreeMap<Key, Vec<u16>>,
    /// It came in the middle and was not told yet what is being written.
    awaits: bool,
    /// The host died since it was last told, and the rest of a text may have gone with it.
    shaken: bool,
}

impl Writing {
    /// It has a page; what is being written follows, if anything is.
    pub(super) fn begins(&mut self) {
        *self = Self {
            awaits: true,
            ..Self::default()
        };
    }

    /// It is told what is being written.
    pub(super) fn told(&mut self, blocks: &[OpenBlock]) {
        *self = Self::default();
        for block in blocks.iter().filter(|block| block.kind == BlockKind::Text) {
            let parent = block.parent_tool_use_id.as_ref().map(ToString::to_string);
            let key = (parent, block.generation.0, block.block);
            self.open
                .insert(key, block.content.encode_utf16().collect());
        }
    }

    /// The host died.
    pub(super) fn shake(&mut self) {
        self.shaken = true;
    }

    /// A turn begins: whatever is written from here on is written before its eyes.
    pub(super) fn anew(&mut self) {
        if self.awaits {
            *self = Self {
                shaken: self.shaken,
                ..Self::default()
            };
        }
    }

    /// A piece comes.
    pub(super) fn piece(&mut self, piece: &TextDelta) -> Option<(Rule, String)> {
        let at = usize::try_from(piece.at?).ok()?;
        let parent = piece.parent_tool_use_id.as_ref().map(ToString::to_string);
        let run = piece.generation.map_or(0, |generation| generation.0);
        let key = (parent, run, piece.block.unwrap_or_default());
        let text = self.open.entry(key).or_default();
        if at > text.len() {
            let known = text.len();
            let detail = format!("a piece at {at} after {known}");
            return (!self.awaits).then_some((Rule::TextTorn, detail));
        }
        if at < text.len() {
            let known = text.len();
            let detail = format!("a piece at {at} though {known} are known");
            return (!self.awaits).then_some((Rule::PieceTwice, detail));
        }
        text.extend(piece.content.encode_utf16());
        None
    }

    /// A text is complete.
    pub(super) fn whole(&mut self, whole: &TextComplete) -> Option<(Rule, String)> {
        let parent = whole.parent_tool_use_id.as_ref().map(ToString::to_string);
        let text: Vec<u16> = whole.text.encode_utf16().collect();
        let keys: Vec<Key> = self
            .open
            .keys()
            .filter(|key| key.0 == parent)
            .cloned()
            .collect();
        let fits = |key: &&Key| {
            let pieces = self.open.get(*key);
            pieces == Some(&text)
                || self.shaken && pieces.is_some_and(|pieces| text.starts_with(pieces))
        };
        let fitting = keys.iter().find(fits);
        let torn = !keys.is_empty() && fitting.is_none() && !self.awaits;
        match fitting.cloned() {
            Some(key) => drop(self.open.remove(&key)),
            None => self.open.retain(|key, _| key.0 != parent),
        }
        torn.then(|| {
            (
                Rule::TextTorn,
                format!("the pieces are not those of {:?}", whole.text),
            )
        })
    }

    /// The turn is over. Whoever has no page yet may still have missed the beginning of the next one.
    pub(super) fn over(&mut self, has_page: bool) {
        *self = Self {
            awaits: self.awaits && !has_page,
            ..Self::default()
        };
    }
}
