//! What is being written in a conversation: its open blocks, folded from pieces.
//!
//! A snapshot of the host says all of it; pieces go on from there, and a complete text ends its block. A block of which
//! a piece is missing is left out, because its whole comes anyway.

use estelle_proto::events::TextDelta;
use estelle_proto::writing::{BlockKind, OpenBlock, ThinkingDelta};
use estelle_proto::{Generation, ToolUseId};

/// The blocks that are open, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Writing(Vec<OpenBlock>);

/// A piece of a block.
#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    kind: BlockKind,
    content: &'a str,
    generation: Option<Generation>,
    block: Option<u64>,
    at: Option<u64>,
    parent: Option<&'a ToolUseId>,
}

impl<'a> From<&'a TextDelta> for Piece<'a> {
    fn from(delta: &'a TextDelta) -> Self {
        Self {
            kind: BlockKind::Text,
            content: &delta.content,
            generation: delta.generation,
            block: delta.block,
            at: delta.at,
            parent: delta.parent_tool_use_id.as_ref(),
        }
    }
}

impl<'a> From<&'a ThinkingDelta> for Piece<'a> {
    fn from(delta: &'a ThinkingDelta) -> Self {
        Self {
            kind: BlockKind::Thinking,
            content: &delta.content,
            generation: delta.generation,
            block: delta.block,
            at: delta.at,
            parent: delta.parent_tool_use_id.as_ref(),
        }
    }
}

impl Writing {
    /// The host says what is open; that counts.
    pub(super) fn replace(&mut self, blocks: Vec<OpenBlock>) {
        self.0 = blocks;
    }

    /// Nothing is being written any more.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The next piece of a block. One without a place cannot be told from one that is known, and is left out.
    pub(super) fn grow(&mut self, piece: Piece<'_>) {
        let (Some(generation), Some(number), Some(at)) = (piece.generation, piece.block, piece.at)
        else {
            return;
        };
        let is_of = |block: &OpenBlock| {
            block.generation == generation
                && block.block == number
                && block.parent_tool_use_id.as_ref() == piece.parent
        };
        let known = self.0.iter().position(is_of);
        let Some(block) = known.and_then(|index| self.0.get_mut(index)) else {
            if at == 0 {
                self.0.push(OpenBlock {
                    parent_tool_use_id: piece.parent.cloned(),
                    ..OpenBlock::new(piece.kind, generation, number, piece.content.to_owned())
                });
            }
            return;
        };
        match continued(&block.content, at, piece.content) {
            Some(content) => {
                block.kind = piece.kind;
                block.content = content;
            }
            None => self.0.retain(|block| !is_of(block)),
        }
    }

    /// The oldest block of this kind is complete: blocks complete in order.
    pub(super) fn complete(&mut self, kind: &BlockKind, parent: Option<&ToolUseId>) {
        let mut blocks = self.0.iter();
        let done = blocks
            .position(|block| block.kind == *kind && block.parent_tool_use_id.as_ref() == parent);
        if let Some(index) = done {
            self.0.remove(index);
        }
    }

    /// All blocks.
    pub(super) fn blocks(&self) -> Vec<OpenBlock> {
        self.0.clone()
    }

    /// What the agent itself says.
    pub(super) fn text(&self) -> String {
        let own = self
            .0
            .iter()
            .filter(|block| block.kind == BlockKind::Text && block.parent_tool_use_id.is_none());
        own.map(|block| block.content.as_str()).collect()
    }
}

/// A text with a piece put in its place, or nothing if something is missing between them.
///
/// A piece may be known in part, when a host tells its journal again; one at the start that is another one belongs to a
/// new message, because the last one was broken off.
fn continued(known: &str, at: u64, piece: &str) -> Option<String> {
    let index = byte_of(known, at)?;
    let (before, behind) = known.split_at(index);
    if behind.starts_with(piece) {
        return Some(known.to_owned());
    }
    (piece.starts_with(behind) || at == 0).then(|| format!("{before}{piece}"))
}

/// Where in a text a place is, which is counted in UTF-16 code units.
fn byte_of(text: &str, at: u64) -> Option<usize> {
    let mut units = 0;
    for (index, c) in text.char_indices() {
        if units == at {
            return Some(index);
        }
        units += c.len_utf16() as u64;
    }
    (units == at).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(block: u64, at: u64, content: &str) -> TextDelta {
        TextDelta {
            generation: Some(Generation(1)),
            block: Some(block),
            at: Some(at),
            ..TextDelta::new(content.to_owned())
        }
    }

    #[test]
    fn pieces_go_on_where_the_last_one_ends_and_known_ones_change_nothing() {
        let mut writing = Writing::default();
        for (at, content) in [(0, "a😀"), (3, "b"), (3, "b"), (0, "a😀b"), (3, "bc")] {
            writing.grow((&piece(0, at, content)).into());
        }
        assert_eq!(writing.text(), "a😀bc");
    }

    #[test]
    fn a_block_with_a_hole_is_not_shown() {
        let mut writing = Writing::default();
        writing.grow((&piece(0, 0, "abc")).into());
        writing.grow((&piece(0, 5, "f")).into());
        writing.grow((&piece(1, 2, "x")).into());
        assert_eq!(writing.blocks(), []);
    }

    #[test]
    fn a_message_that_begins_again_replaces_the_one_that_was_broken_off() {
        let mut writing = Writing::default();
        writing.grow((&piece(0, 0, "one")).into());
        writing.grow((&piece(0, 0, "two")).into());
        assert_eq!(writing.text(), "two");
    }

    #[test]
    fn a_complete_text_ends_its_block_and_thinking_is_no_text() {
        let mut writing = Writing::default();
        let thought = ThinkingDelta {
            generation: Some(Generation(1)),
            block: Some(0),
            at: Some(0),
            ..ThinkingDelta::new("hm".to_owned())
        };
        writing.grow((&thought).into());
        writing.grow((&piece(1, 0, "said")).into());
        assert_eq!(writing.text(), "said");
        writing.complete(&BlockKind::Text, None);
        let left = writing.blocks();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].kind, BlockKind::Thinking);
    }
}
