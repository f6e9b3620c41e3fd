//! What one client sent and got, in order, over all its connections.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::RequestId;
use estelle_proto::ipc::{HostToPylon, PylonToHost, RequestResult};

/// A client.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// Its name, for people.
    pub name: String,
    /// What happened to it.
    pub steps: Vec<Step>,
}

/// Something that happened to a client.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A connection was made.
    Connected,
    /// It said something.
    Sent(Box<PylonToHost>),
    /// It was told something.
    Got(Box<HostToPylon>),
    /// The connection ended.
    Lost,
}

/// A command and the result it got, if it got one.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// The command.
    pub command: &'a PylonToHost,
    /// The result.
    pub result: Option<&'a RequestResult>,
}

impl Client {
    /// A client of this name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            steps: Vec::new(),
        }
    }

    /// Its commands with their results.
    pub fn exchanges(&self) -> impl Iterator<Item = Exchange<'_>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Sent(command) => Some(Exchange {
                command,
                result: request_id(command).and_then(|id| self.result(id)),
            }),
            Step::Connected | Step::Got(_) | Step::Lost => None,
        })
    }

    fn result(&self, id: &RequestId) -> Option<&RequestResult> {
        self.steps.iter().find_map(|step| match step {
            Step::Got(message) => match message.as_ref() {
                HostToPylon::RequestResult(result) if result.request_id.as_ref() == Some(id) => {
                    Some(result)
                }
                _ => None,
            },
            Step::Connected | Step::Sent(_) | Step::Lost => None,
        })
    }
}

fn request_id(command: &PylonToHost) -> Option<&RequestId> {
    match command {
        PylonToHost::SendMessage(command) => command.request_id.as_ref(),
        PylonToHost::PermissionResponse(command) => command.request_id.as_ref(),
        PylonToHost::QuestionResponse(command) => command.request_id.as_ref(),
        PylonToHost::StopSession(command) => command.request_id.as_ref(),
        _ => None,
    }
}
