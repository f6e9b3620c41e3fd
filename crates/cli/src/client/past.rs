//! Entries of history: read page by page, and shown as what they were when they happened, so that one view shows both.

use estelle_proto::claude::ClaudeEventMessage;
use estelle_proto::events::{
    ClaudeAborted, ErrorEvent, TextComplete, ToolComplete, ToolInfo, TurnResult, UserMessage,
};
use estelle_proto::history::{HistoryRequest, RewoundStretch};
use estelle_proto::{ClaudeEvent, HistoryMessage, Role, Seq, Usage, limits};

use super::fleet::Spot;
use super::session::Session;
use crate::chat::piece::{Piece, Tone};
use crate::host::attach::view::View;

/// A part of a history.
pub(super) struct Past {
    /// The entries, oldest first.
    pub(super) entries: Vec<HistoryMessage>,
    rewound: Vec<RewoundStretch>,
}

impl Past {
    /// Whether an entry was taken back.
    pub(super) fn is_rewound(&self, seq: Seq) -> bool {
        let holds = |one: &RewoundStretch| (one.from_seq..one.to_seq).contains(&seq);
        self.rewound.iter().any(holds)
    }

    /// An entry for a program, which says itself whether it was taken back.
    pub(super) fn marked(&self, entry: &HistoryMessage) -> anyhow::Result<serde_json::Value> {
        let mut value = serde_json::to_value(entry)?;
        if seq(entry).is_some_and(|seq| self.is_rewound(seq))
            && let Some(object) = value.as_object_mut()
        {
            object.insert("rewound".to_owned(), true.into());
        }
        Ok(value)
    }
}

/// Entries from the end backwards, given oldest first.
pub(super) async fn read(
    session: &mut Session,
    wanted: usize,
    mut before: Option<Seq>,
) -> anyhow::Result<Past> {
    let mut pages: Vec<Vec<HistoryMessage>> = Vec::new();
    let mut rewound = Vec::new();
    let mut missing = wanted;
    while missing > 0 {
        let (workspace, conversation) = (&session.spot.workspace, &session.spot.conversation);
        let limit = u32::try_from(missing).unwrap_or(u32::MAX);
        let request = HistoryRequest {
            limit: Some(limit.min(limits::MAX_HISTORY_PAGE)),
            before_seq: before,
            ..HistoryRequest::new(workspace.clone(), conversation.clone())
        };
        let page = session.ask(request).await?;
        let messages = page.messages;
        rewound.extend(page.rewound.into_iter().flatten());
        missing = missing.saturating_sub(messages.len());
        before = messages.iter().find_map(seq);
        let is_over = !page.has_more || messages.is_empty() || before.is_none();
        pages.push(messages);
        if is_over {
            break;
        }
    }
    let entries = pages.into_iter().rev().flatten().collect();
    Ok(Past { entries, rewound })
}

/// The number of an entry.
pub(super) fn seq(entry: &HistoryMessage) -> Option<Seq> {
    match entry {
        HistoryMessage::Text(entry) => entry.seq,
        HistoryMessage::Thinking(entry) => entry.seq,
        HistoryMessage::ToolStart(entry) => entry.seq,
        HistoryMessage::ToolComplete(entry) => entry.seq,
        HistoryMessage::TurnResult(entry) => entry.seq,
        HistoryMessage::Error(entry) => entry.seq,
        HistoryMessage::Aborted(entry) => entry.seq,
        HistoryMessage::UserResponse(entry) => entry.seq,
        HistoryMessage::System(entry) => entry.seq,
        HistoryMessage::Unknown(_) => None,
    }
}

/// An entry as it is shown.
pub(super) fn show(view: &mut View, entry: &HistoryMessage) -> Vec<Piece> {
    if let Some(event) = event(entry) {
        return view.event(&event);
    }
    let remark = match entry {
        HistoryMessage::Text(entry) => &entry.content,
        HistoryMessage::UserResponse(entry) => &entry.content,
        HistoryMessage::System(entry) => &entry.content,
        HistoryMessage::Thinking(_)
        | HistoryMessage::ToolStart(_)
        | HistoryMessage::ToolComplete(_)
        | HistoryMessage::TurnResult(_)
        | HistoryMessage::Error(_)
        | HistoryMessage::Aborted(_)
        | HistoryMessage::Unknown(_) => return Vec::new(),
    };
    vec![Piece::line(Tone::Dim, format!("· {remark}"))]
}

/// An entry as the message that brought it, for somebody who was away.
pub(super) fn message(spot: &Spot, entry: &HistoryMessage) -> Option<ClaudeEventMessage> {
    let event = event(entry)?;
    let (workspace, conversation) = (spot.workspace.clone(), spot.conversation.clone());
    Some(ClaudeEventMessage {
        seq: seq(entry),
        ..ClaudeEventMessage::new(workspace, conversation, event)
    })
}

/// An entry as an event; nothing for remarks and thoughts.
fn event(entry: &HistoryMessage) -> Option<ClaudeEvent> {
    Some(match entry {
        HistoryMessage::Text(text) => match text.role {
            Role::User => UserMessage {
                client_message_id: text.client_message_id.clone(),
                device_id: text.device_id,
                ..UserMessage::new(text.content.clone(), text.timestamp)
            }
            .into(),
            Role::Assistant => TextComplete {
                parent_tool_use_id: text.parent_tool_use_id.clone(),
                ..TextComplete::new(text.content.clone())
            }
            .into(),
            Role::System | Role::Unknown(_) => return None,
        },
        HistoryMessage::ToolStart(start) => ToolInfo {
            tool_use_id: start.tool_use_id.clone(),
            parent_tool_use_id: start.parent_tool_use_id.clone(),
            ..ToolInfo::new(start.tool_name.clone(), start.tool_input.clone())
        }
        .into(),
        HistoryMessage::ToolComplete(done) => ToolComplete {
            error: done.error.clone(),
            tool_use_id: done.tool_use_id.clone(),
            parent_tool_use_id: done.parent_tool_use_id.clone(),
            truncated: done.truncated,
            ..ToolComplete::new(done.tool_name.clone(), done.success, done.output.clone())
        }
        .into(),
        HistoryMessage::TurnResult(turn) => {
            let usage = Usage::new(
                turn.usage.input_tokens,
                turn.usage.output_tokens,
                turn.usage.cache_read_input_tokens,
                turn.usage.cache_creation_input_tokens.unwrap_or(0),
            );
            let subtype = turn.subtype.clone();
            TurnResult::new(
                subtype.unwrap_or_else(|| "success".to_owned()),
                turn.duration_ms,
                turn.total_cost_usd.unwrap_or(0.0),
                turn.num_turns.unwrap_or(0),
                usage,
            )
            .into()
        }
        HistoryMessage::Error(error) => ErrorEvent::new(error.content.clone()).into(),
        HistoryMessage::Aborted(aborted) => ClaudeAborted::new(aborted.reason.clone()).into(),
        HistoryMessage::Thinking(_)
        | HistoryMessage::UserResponse(_)
        | HistoryMessage::System(_)
        | HistoryMessage::Unknown(_) => return None,
    })
}
