//! The requests that wait for an answer of the host.
//!
//! Each has a number, which names it on the wire. When a connection breaks, those that are safe to repeat wait for the
//! next one and the others are told that their outcome is unknown. Whoever asked may have given up meanwhile; nothing
//! is sent on behalf of somebody who no longer listens.

use std::collections::BTreeMap;

use estelle_proto::ipc::{self, RequestResult, StatusResponse};
use estelle_proto::{ConversationId, Key, PylonToHost, RequestId, limits};
use tokio::sync::oneshot;

use super::RequestError;

/// More requests than this do not wait: something is badly stuck.
const MAX_WAITING: usize = 1024;
/// What the names of our requests begin with.
const PREFIX: &str = "pylon-";

/// What the host answered.
#[derive(Debug)]
pub(super) enum Reply {
    Result(Box<RequestResult>),
    Status(StatusResponse),
}

type Answer = Result<Reply, RequestError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Safe,
    Never,
}

/// One request that is open.
#[derive(Debug)]
pub(super) struct Waiting {
    line: String,
    conversation: Option<ConversationId>,
    repeat: Repeat,
    is_sent: bool,
    answer: oneshot::Sender<Answer>,
}

/// All requests that are open.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last: u64,
    waiting: BTreeMap<u64, Waiting>,
}

impl Requests {
    /// Takes a request up; it is sent with [`Requests::take_lines`].
    pub(super) fn add(&mut self, mut command: PylonToHost, answer: oneshot::Sender<Answer>) {
        if self.waiting.len() >= MAX_WAITING {
            self.waiting
                .retain(|_, waiting| !waiting.answer.is_closed());
        }
        if self.waiting.len() >= MAX_WAITING {
            return tell(answer, Err(RequestError::Busy));
        }
        self.last += 1;
        if let Ok(id) = RequestId::parse(&format!("{PREFIX}{}", self.last)) {
            command.set_request_id(id);
        }
        let line = match ipc::to_line(&command) {
            Ok(line) => line,
            Err(error) => return tell(answer, Err(error.into())),
        };
        let length = line.len() - 1;
        if length > limits::MAX_IPC_LINE_BYTES {
            return tell(answer, Err(RequestError::TooLarge { length }));
        }
        let waiting = Waiting {
            line,
            conversation: conversation(&command),
            repeat: repeat(&command),
            is_sent: false,
            answer,
        };
        self.waiting.insert(self.last, waiting);
    }

    /// What has to go to the host now, in the order in which it was asked for.
    pub(super) fn take_lines(&mut self) -> Vec<String> {
        let unsent = |waiting: &Waiting| !waiting.is_sent;
        let has_unsent = self.waiting.values().next_back().is_some_and(unsent);
        if !has_unsent {
            return Vec::new();
        }
        self.waiting
            .retain(|_, waiting| waiting.is_sent || !waiting.answer.is_closed());
        let unsent = self.waiting.values_mut().filter(|waiting| !waiting.is_sent);
        let lines = unsent.map(|waiting| {
            waiting.is_sent = true;
            waiting.line.clone()
        });
        lines.collect()
    }

    /// The connection is gone.
    pub(super) fn lost(&mut self) {
        for (number, mut waiting) in std::mem::take(&mut self.waiting) {
            if waiting.is_sent && waiting.repeat == Repeat::Never {
                tell(waiting.answer, Err(RequestError::Lost));
            } else {
                waiting.is_sent = false;
                self.waiting.insert(number, waiting);
            }
        }
    }

    /// The request of this name, if it is one of ours and still open.
    pub(super) fn take(&mut self, id: Option<&RequestId>) -> Option<Waiting> {
        let number = id?.as_str().strip_prefix(PREFIX)?.parse().ok()?;
        self.waiting.remove(&number)
    }
}

impl Waiting {
    /// Tells whoever asked. Gives the conversation that the request was about.
    pub(super) fn settle(self, answer: Answer) -> Option<ConversationId> {
        tell(self.answer, answer);
        self.conversation
    }
}

/// Whoever asked may have given up, which is their right.
fn tell(answer: oneshot::Sender<Answer>, result: Answer) {
    drop(answer.send(result));
}

fn conversation(command: &PylonToHost) -> Option<ConversationId> {
    match command.key() {
        Key::Conversation(conversation) => Some(conversation.clone()),
        Key::Workspace(_) | Key::Terminal(_) | Key::Machine | Key::None => None,
    }
}

/// Whether a command may reach the host twice. A message runs once by its id and the first answer to a decision
/// wins, and what is deleted stays deleted; but a second stop would hit the next turn.
fn repeat(command: &PylonToHost) -> Repeat {
    match command {
        PylonToHost::SendMessage(command) if command.payload.client_message_id.is_none() => {
            Repeat::Never
        }
        PylonToHost::SendMessage(_)
        | PylonToHost::PermissionResponse(_)
        | PylonToHost::QuestionResponse(_)
        | PylonToHost::GetStatus(_)
        | PylonToHost::PylonReconnected(_)
        | PylonToHost::SetPermissionMode(_)
        | PylonToHost::SetModel(_)
        | PylonToHost::CancelMessage(_)
        | PylonToHost::ForkSession(_)
        | PylonToHost::RewindSession(_)
        | PylonToHost::DeleteSession(_)
        | PylonToHost::Touch(_)
        | PylonToHost::GetCost(_)
        | PylonToHost::ClaimCall(_)
        | PylonToHost::ToolResult(_)
        | PylonToHost::GetRules(_)
        | PylonToHost::SetRule(_)
        | PylonToHost::RemoveRule(_)
        | PylonToHost::RevokeTool(_)
        | PylonToHost::OpenTerminal(_)
        | PylonToHost::ListTerminals(_)
        | PylonToHost::ListSaved(_)
        | PylonToHost::ReadSaved(_)
        | PylonToHost::CloseTerminal(_)
        | PylonToHost::Subscribe(_)
        | PylonToHost::Unsubscribe(_) => Repeat::Safe,
        PylonToHost::StopSession(_)
        | PylonToHost::ResumeSession(_)
        | PylonToHost::NewSession(_)
        | PylonToHost::ClearSession(_)
        | PylonToHost::CopySaved(_)
        | PylonToHost::Shutdown(_)
        | PylonToHost::Hello(_)
        | PylonToHost::Unknown(_) => Repeat::Never,
    }
}
