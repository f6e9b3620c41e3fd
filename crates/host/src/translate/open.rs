//! The messages that are being written: one of the agent, one of each sub-agent.
//!
//! A piece of text or thinking carries the place where it belongs, counted from the start of its block, so that whoever
//! missed a piece notices. A block is open until it is told as complete. Everything here begins anew with
//! `message_start`: nothing of it is durable.

use std::collections::BTreeMap;

use estelle_claude::wire::{ContentBlock, Delta, StreamEvent};
use estelle_proto::events::{Activity, ActivityState, ClaudeEvent, StateUpdate, TextDelta};
use estelle_proto::writing::{BlockKind, OpenBlock, ThinkingDelta};
use estelle_proto::{Generation, ToolUseId};

/// So many agents write at once at most, each so many blocks, and so much of a block is kept; models write far less. What
/// is beyond is not shown while it is written, and complete when it is complete.
const MOST_WRITERS: usize = 256;
const MOST_BLOCKS: usize = 1024;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The open messages by the call of their sub-agent; none for the agent itself.
#[derive(Debug, Default)]
pub(super) struct OpenMessages(BTreeMap<Option<String>, OpenMessage>);

#[derive(Debug, Default)]
struct OpenMessage {
    /// Where its first line begins in the journal.
    from: u64,
    /// Its blocks that are not complete, by their number.
    blocks: BTreeMap<u64, Block>,
}

#[derive(Debug)]
struct Block {
    kind: BlockKind,
    content: String,
    /// Length of the content in UTF-16 code units.
    length: u64,
}

impl OpenMessages {
    /// The turn is over; nothing is being written.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Where the oldest of them begins.
    pub(super) fn from(&self) -> Option<u64> {
        self.0.values().map(|open| open.from).min()
    }

    /// What the agent itself has written of its open message.
    pub(super) fn text(&self) -> String {
        self.0
            .get(&None)
            .map_or_else(String::new, OpenMessage::text)
    }

    /// Every block that is not complete, of the agent first.
    pub(super) fn blocks(&self, generation: Generation) -> Vec<OpenBlock> {
        let mut found = Vec::new();
        for (writer, open) in &self.0 {
            let parent = writer.as_deref().and_then(|id| ToolUseId::parse(id).ok());
            found.extend(open.blocks.iter().map(|(number, block)| OpenBlock {
                parent_tool_use_id: parent.clone(),
                ..OpenBlock::new(
                    block.kind.clone(),
                    generation,
                    *number,
                    block.content.clone(),
                )
            }));
        }
        found
    }

    /// The oldest block of this kind is complete. Blocks complete in order, and a complete one does not tell its number.
    pub(super) fn complete(&mut self, kind: &BlockKind, parent: Option<&ToolUseId>) {
        let writer = parent.map(ToString::to_string);
        let Some(open) = self.0.get_mut(&writer) else {
            return;
        };
        let mut blocks = open.blocks.iter();
        let oldest = blocks.find(|(_, block)| block.kind == *kind);
        if let Some(number) = oldest.map(|(number, _)| *number) {
            open.blocks.remove(&number);
        }
    }

    /// Forgets the oldest message if there are too many: its writer was broken off long ago.
    fn make_room(&mut self) {
        if self.0.len() < MOST_WRITERS {
            return;
        }
        let oldest = self.0.iter().filter(|(writer, _)| writer.is_some());
        let oldest = oldest.min_by_key(|(_, open)| open.from);
        if let Some(writer) = oldest.map(|(writer, _)| writer.clone()) {
            self.0.remove(&writer);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events of a stream make none of ours"
    )]
    pub(super) fn fold(
        &mut self,
        event: &StreamEvent,
        parent: Option<ToolUseId>,
        generation: Generation,
        from: u64,
    ) -> Vec<ClaudeEvent> {
        let writer = parent.as_ref().map(ToString::to_string);
        if matches!(event, StreamEvent::MessageStop(_)) {
            self.0.remove(&writer);
            return Vec::new();
        }
        if !self.0.contains_key(&writer) {
            self.make_room();
        }
        let open = self
            .0
            .entry(writer)
            .or_insert_with(|| OpenMessage::at(from));
        match event {
            StreamEvent::MessageStart(_) => {
                *open = OpenMessage::at(from);
                vec![open.state(Activity::Thinking, None, parent)]
            }
            StreamEvent::ContentBlockStart(start) => {
                let (activity, tool) = activity(&start.content_block);
                vec![open.state(activity, tool, parent)]
            }
            StreamEvent::ContentBlockDelta(delta) => match &delta.delta {
                Delta::Text(text) => {
                    let at = open.grow(BlockKind::Text, delta.index, &text.text);
                    vec![ClaudeEvent::Text(TextDelta {
                        generation: Some(generation),
                        block: Some(delta.index),
                        at: Some(at),
                        parent_tool_use_id: parent,
                        ..TextDelta::new(text.text.clone())
                    })]
                }
                Delta::Thinking(piece) => {
                    let at = open.grow(BlockKind::Thinking, delta.index, &piece.thinking);
                    vec![ClaudeEvent::Thinking(ThinkingDelta {
                        generation: Some(generation),
                        block: Some(delta.index),
                        at: Some(at),
                        parent_tool_use_id: parent,
                        ..ThinkingDelta::new(piece.thinking.clone())
                    })]
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

impl OpenMessage {
    fn at(from: u64) -> Self {
        Self {
            from,
            ..Self::default()
        }
    }

    fn state(
        &self,
        activity: Activity,
        tool: Option<String>,
        parent: Option<ToolUseId>,
    ) -> ClaudeEvent {
        let state = ActivityState {
            tool_name: tool,
            ..ActivityState::new(activity)
        };
        ClaudeEvent::StateUpdate(StateUpdate {
            parent_tool_use_id: parent,
            ..StateUpdate::new(state, self.text())
        })
    }

    fn text(&self) -> String {
        let blocks = self.blocks.values();
        let texts = blocks.filter(|block| block.kind == BlockKind::Text);
        texts.map(|block| block.content.as_str()).collect()
    }

    /// Adds a piece and tells where it belongs.
    fn grow(&mut self, kind: BlockKind, number: u64, piece: &str) -> u64 {
        if self.blocks.len() >= MOST_BLOCKS && !self.blocks.contains_key(&number) {
            self.blocks.pop_first();
        }
        let block = self.blocks.entry(number).or_insert_with(|| Block {
            kind,
            content: String::new(),
            length: 0,
        });
        let at = block.length;
        block.length += piece.encode_utf16().count() as u64;
        if block.content.len() + piece.len() <= MOST_BYTES {
            block.content.push_str(piece);
        }
        at
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else the model begins is not visible yet"
)]
fn activity(block: &ContentBlock) -> (Activity, Option<String>) {
    match block {
        ContentBlock::Text(_) => (Activity::Responding, None),
        ContentBlock::ToolUse(call) => (Activity::Tool, Some(call.name.clone())),
        ContentBlock::ServerToolUse(call) => (Activity::Tool, Some(call.name.clone())),
        _ => (Activity::Thinking, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_written_has_an_end() {
        let mut open = OpenMessages::default();
        for number in 0..3 * MOST_WRITERS as u64 {
            let writer = (number > 0).then(|| format!("toolu_{number}"));
            open.make_room();
            open.0.insert(writer, OpenMessage::at(number));
        }
        assert_eq!(open.0.len(), MOST_WRITERS);
        assert!(open.0.contains_key(&None), "the agent itself is kept");
        let message = open.0.entry(None).or_default();
        let piece = "x".repeat(MOST_BYTES / 4);
        for nth in 0..10 {
            let at = message.grow(BlockKind::Text, 0, &piece);
            assert_eq!(at, nth * piece.len() as u64, "places go on");
        }
        assert_eq!(message.blocks[&0].content.len(), MOST_BYTES);
        for number in 0..3 * MOST_BLOCKS as u64 {
            message.grow(BlockKind::Text, number, "x");
        }
        assert_eq!(message.blocks.len(), MOST_BLOCKS);
    }
}
