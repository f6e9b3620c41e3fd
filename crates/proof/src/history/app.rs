//! What one app sent and got over the relay, in order, over all its connections; and the rows a Pylon keeps.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::history::HistoryMessage;
use estelle_proto::{
    AppToPylon, ClientMessageId, ConversationId, Epoch, PylonToApp, RequestId, Seq, ToolUseId,
};

/// An app: a person's device behind the relay.
#[derive(Debug, Clone, Default)]
pub struct App {
    /// Its name, for people.
    pub name: String,
    /// Whether it belongs to another realm, so that nothing at all may reach it.
    pub outsider: bool,
    /// What happened to it.
    pub steps: Vec<AppStep>,
}

/// Something that happened to an app.
#[derive(Debug, Clone, PartialEq)]
pub enum AppStep {
    /// The relay let it in.
    Connected,
    /// It said something.
    Sent(Box<AppToPylon>),
    /// A Pylon told it something.
    Got(Box<PylonToApp>),
    /// Something died, which an app is not told.
    Died(Part),
    /// The connection ended.
    Lost,
}

/// A part that may die without the connection of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Pieces of a text may come again, or be missing until the app looks again.
    Host,
    /// Who looks at what is forgotten, so the app has to look again.
    Pylon,
}

/// A message was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged {
    /// The number it got, if that was said.
    pub seq: Option<Seq>,
}

/// A message that an app sent.
#[derive(Debug, Clone, Copy)]
pub struct AppMessage<'a> {
    /// In which conversation.
    pub conversation: &'a ConversationId,
    /// The id that the app gave it.
    pub id: Option<&'a ClientMessageId>,
    /// What it says.
    pub prompt: &'a str,
    /// Whether it was acknowledged, and how.
    pub acknowledged: Option<Acknowledged>,
}

impl App {
    /// The messages that it sent.
    pub fn messages(&self) -> Vec<AppMessage<'_>> {
        let sent = self.steps.iter().filter_map(|step| match step {
            AppStep::Sent(request) => match request.as_ref() {
                AppToPylon::ClaudeSend(send) => Some(send),
                _ => None,
            },
            _ => None,
        });
        sent.map(|send| AppMessage {
            conversation: &send.conversation_id,
            id: send.client_message_id.as_ref(),
            prompt: send.message.as_str(),
            acknowledged: self.acknowledged(send.request_id.as_ref()),
        })
        .collect()
    }

    fn acknowledged(&self, id: Option<&RequestId>) -> Option<Acknowledged> {
        self.got().find_map(|message| match message {
            PylonToApp::ClaudeSendResult(result)
                if result.success && result.request_id.as_ref() == id =>
            {
                Some(Acknowledged { seq: result.seq })
            }
            _ => None,
        })
    }

    /// The calls whose answer by this app was the first.
    pub fn won(&self) -> impl Iterator<Item = (&ConversationId, &ToolUseId)> {
        self.got().filter_map(|message| match message {
            PylonToApp::ClaudePermissionResult(result) if result.success => {
                Some((&result.conversation_id, &result.tool_use_id))
            }
            PylonToApp::ClaudeAnswerResult(result) if result.success => {
                Some((&result.conversation_id, &result.tool_use_id))
            }
            _ => None,
        })
    }

    fn got(&self) -> impl Iterator<Item = &PylonToApp> {
        self.steps.iter().filter_map(|step| match step {
            AppStep::Got(message) => Some(message.as_ref()),
            _ => None,
        })
    }
}

/// What a Pylon keeps of one conversation.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// Which conversation.
    pub conversation: ConversationId,
    /// The epoch of the last event that was taken in.
    pub epoch: Option<Epoch>,
    /// Its number.
    pub seq: Seq,
    /// The rows in their order.
    pub rows: Vec<ShelfRow>,
}

/// A row of history.
#[derive(Debug, Clone, PartialEq)]
pub struct ShelfRow {
    /// The epoch of the event it tells of.
    pub epoch: Epoch,
    /// The number of that event.
    pub seq: Seq,
    /// What it says.
    pub message: HistoryMessage,
}
