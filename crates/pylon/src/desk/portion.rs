//! How much of what the host said is taken in at once: as much as finds room on the way out, whatever it is.
//!
//! Between two portions the desk looks whether the relay keeps up. Pieces that waited with the host are long.

use std::collections::VecDeque;

use estelle_proto::ClaudeEvent;

use crate::link::host::FromHost;

/// Bytes of texts in a portion: a few of them fit what the way out keeps free, also if they are escaped.
const MOST: usize = 1024 * 1024;

/// Takes the next portion out: at least one message, if there is one.
pub(super) fn next(unread: &mut VecDeque<FromHost>) -> VecDeque<FromHost> {
    let mut portion = VecDeque::new();
    let mut bytes = 0;
    while bytes < MOST
        && let Some(message) = unread.pop_front()
    {
        bytes += text(&message);
        portion.push_back(message);
    }
    portion
}

/// The length of what may be long in a message that goes on to clients.
fn text(message: &FromHost) -> usize {
    let FromHost::Event(event) = message else {
        return 0;
    };
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events are short, or are cut when they are told"
    )]
    match &event.event {
        ClaudeEvent::Text(piece) => piece.content.len(),
        ClaudeEvent::Thinking(piece) => piece.content.len(),
        ClaudeEvent::TextComplete(whole) => whole.text.len(),
        ClaudeEvent::ThinkingComplete(whole) => whole.text.len(),
        ClaudeEvent::UserMessage(message) => message.content.len(),
        ClaudeEvent::ToolInfo(call) => call.input.get().len(),
        ClaudeEvent::PermissionAsked(asked) => asked.tool_input.get().len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::ConversationId;
    use estelle_proto::events::TextDelta;
    use estelle_proto::ipc::HostEvent;

    use super::*;

    fn piece(length: usize) -> FromHost {
        let id = ConversationId::parse("c").unwrap();
        let piece = TextDelta::new("x".repeat(length));
        FromHost::Event(HostEvent::new(id, piece.into()))
    }

    #[test]
    fn a_portion_holds_many_short_messages_or_a_few_long_ones() {
        let mut short: VecDeque<_> = (0..256).map(|_| piece(60)).collect();
        assert_eq!(next(&mut short).len(), 256);
        let mut long: VecDeque<_> = (0..256).map(|_| piece(64 * 1024)).collect();
        assert_eq!(next(&mut long).len(), 16);
        assert_eq!(long.len(), 240);
        let mut longest: VecDeque<_> = (0..2).map(|_| piece(2 * MOST)).collect();
        assert_eq!((next(&mut longest).len(), next(&mut longest).len()), (1, 1));
        assert!(next(&mut longest).is_empty());
    }
}
