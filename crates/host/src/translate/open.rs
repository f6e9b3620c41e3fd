//! The messages that are being written: one of the agent, one of each sub-agent.
//!
//! A piece of text carries the place where it belongs, counted from the start of its message, so that whoever missed a
//! piece notices. Everything here begins anew with `message_start`: nothing of it is durable.

use std::collections::BTreeMap;

use estelle_claude::wire::{ContentBlock, Delta, StreamEvent};
use estelle_proto::events::{Activity, ActivityState, ClaudeEvent, StateUpdate, TextDelta};
use estelle_proto::{Generation, ToolUseId};

/// The open messages by the call of their sub-agent; none for the agent itself.
#[derive(Debug, Default)]
pub(super) struct OpenMessages(BTreeMap<Option<String>, OpenMessage>);

#[derive(Debug, Default)]
struct OpenMessage {
    /// Where its first line begins in the journal.
    from: u64,
    /// Length of each block's text so far, in UTF-16 code units.
    lengths: BTreeMap<u64, u64>,
    text: String,
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
    pub(super) fn text(&self) -> &str {
        self.0.get(&None).map_or("", |open| open.text.as_str())
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
                Delta::Text(text) => vec![open.grow(delta.index, &text.text, parent, generation)],
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
            ..StateUpdate::new(state, self.text.clone())
        })
    }

    fn grow(
        &mut self,
        block: u64,
        piece: &str,
        parent: Option<ToolUseId>,
        generation: Generation,
    ) -> ClaudeEvent {
        let length = self.lengths.entry(block).or_default();
        let at = *length;
        *length += piece.encode_utf16().count() as u64;
        self.text.push_str(piece);
        ClaudeEvent::Text(TextDelta {
            generation: Some(generation),
            block: Some(block),
            at: Some(at),
            parent_tool_use_id: parent,
            ..TextDelta::new(piece.to_owned())
        })
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
