//! An app behind the relay that records everything it sends and gets, over all its connections.
//!
//! It behaves as an app must: it comes back when the relay is gone, looks again at what it looked at, and sends a message
//! again under the same id until that is acknowledged.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

mod tries;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use estelle_proto::claude::{ClaudeEventMessage, ClaudeSend};
use estelle_proto::conversations::ConversationSelect;
use estelle_proto::decisions::{ClaudePermission, ClaudePermissionResult, PermissionDecision};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::workspaces::{WorkspaceCreate, WorkspaceList};
use estelle_proto::{
    AppInbox, AppToPylon, ClientMessageId, ConversationId, DeviceId, Envelope, Name, PathText,
    Prompt, PylonToApp, RelayToDevice, RequestId, To, ToolUseId, WorkspaceId,
};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

pub use tries::Tried;

use super::recording::Recording;
use super::viewer::PATIENCE;
use crate::history::{App as Recorded, AppStep, Part};

/// The Pylon of every rig.
const PYLON: DeviceId = DeviceId(1);

/// How often something is tried again that needs a part which is away.
const AGAIN: Duration = Duration::from_millis(20);
/// How long an answer is waited for before the request is sent again.
const ANSWER: Duration = Duration::from_millis(400);

type Socket = WebSocketStream<TcpStream>;

/// A conversation and the workspace it is in.
#[derive(Debug, Clone)]
pub struct Talk {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The conversation.
    pub id: ConversationId,
}

/// An app.
#[derive(Debug)]
pub struct App {
    name: String,
    address: String,
    /// Where it really connects to, if something lies between it and the relay.
    via: Option<String>,
    token: String,
    outsider: bool,
    record: Arc<Recording<AppStep>>,
    sink: Option<SplitSink<Socket, Message>>,
    readers: JoinSet<()>,
    requests: u32,
}

/// What an app recorded, for somebody else than the one who moves it.
#[derive(Debug, Clone)]
pub struct AppWitness {
    name: String,
    outsider: bool,
    record: Arc<Recording<AppStep>>,
}

impl AppWitness {
    /// How many steps were recorded.
    pub fn mark(&self) -> usize {
        self.record.steps().len()
    }

    /// What it recorded so far.
    pub fn recorded(&self) -> Recorded {
        Recorded {
            name: self.name.clone(),
            outsider: self.outsider,
            steps: self.record.steps().clone(),
        }
    }

    /// A part died that apps do not hear of; noted for the checker.
    pub fn note(&self, part: Part) {
        self.record.push(AppStep::Died(part));
    }
}

/// Connections.
impl App {
    pub(super) fn new(name: &str, address: String, token: String) -> Self {
        Self {
            name: name.to_owned(),
            address,
            via: None,
            token,
            outsider: false,
            record: Arc::default(),
            sink: None,
            readers: JoinSet::new(),
            requests: 0,
        }
    }

    /// It belongs to another realm than the Pylon.
    pub(super) fn into_outsider(mut self) -> Self {
        self.outsider = true;
        self
    }

    /// From now on it connects through something that lies between it and the relay.
    pub fn goes_through(&mut self, proxy: &super::Proxy) {
        self.via = Some(proxy.address().to_string());
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it records, for somebody else.
    pub fn witness(&self) -> AppWitness {
        AppWitness {
            name: self.name.clone(),
            outsider: self.outsider,
            record: Arc::clone(&self.record),
        }
    }

    /// Looks at what is recorded from a place on.
    pub fn scan(&self, from: usize, mut show: impl FnMut(&AppStep)) {
        self.record.steps().iter().skip(from).for_each(&mut show);
    }

    /// What it recorded.
    pub fn recorded(&self) -> Recorded {
        self.witness().recorded()
    }

    /// A part died that apps do not hear of; noted for the checker.
    pub fn note(&self, part: Part) {
        self.record.push(AppStep::Died(part));
    }

    /// How many steps were recorded.
    pub fn mark(&self) -> usize {
        self.record.steps().len()
    }

    /// Whether the connection stands, as far as it knows.
    pub fn is_connected(&self) -> bool {
        let steps = self.record.steps();
        let last = steps
            .iter()
            .rev()
            .find(|step| matches!(step, AppStep::Connected | AppStep::Lost));
        matches!(last, Some(AppStep::Connected))
    }

    /// Connects and is let in, as soon as there is a relay.
    pub async fn connect(&mut self) -> anyhow::Result<()> {
        self.sink = None;
        self.readers.shutdown().await;
        if self.is_connected() {
            self.record.push(AppStep::Lost);
        }
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            match self.try_connect().await {
                Err(_) if tokio::time::Instant::now() < deadline => {
                    tokio::time::sleep(AGAIN).await;
                }
                connected => return connected,
            }
        }
    }

    async fn try_connect(&mut self) -> anyhow::Result<()> {
        let address = self.via.as_ref().unwrap_or(&self.address);
        let stream = TcpStream::connect(address).await?;
        // As every app does: a message does not wait for others.
        stream.set_nodelay(true)?;
        let url = format!("ws://{}/ws", self.address);
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await?;
        let payload = json!({"deviceType": "app", "token": self.token});
        let auth = json!({"type": "auth", "payload": payload});
        socket.send(Message::text(auth.to_string())).await?;
        loop {
            let frame = socket.next().await.context("the relay hung up")??;
            let Message::Text(text) = frame else { continue };
            let frame: Value = serde_json::from_str(&text)?;
            if frame["type"] == "auth_result" {
                ensure!(frame["payload"]["success"] == true, "{frame}");
                break;
            }
        }
        self.record.push(AppStep::Connected);
        let (sink, stream) = socket.split();
        self.sink = Some(sink);
        self.readers.spawn(read(stream, Arc::clone(&self.record)));
        Ok(())
    }

    /// Waits until it has noticed that the connection is gone.
    pub async fn lost(&mut self) -> anyhow::Result<()> {
        let ended = async { while self.readers.join_next().await.is_some() {} };
        let ended = tokio::time::timeout(PATIENCE, ended).await;
        ended.context("the connection did not end")
    }

    async fn send(&mut self, id: &RequestId, request: impl Into<AppToPylon>) -> anyhow::Result<()> {
        let mut envelope = Envelope::<AppToPylon>::to(To::device(PYLON), request);
        envelope.request_id = Some(id.clone());
        let text = envelope.to_json()?;
        // Recorded first: what is lost on the way was sent all the same.
        self.record.push(AppStep::Sent(Box::new(envelope.message)));
        let sink = self.sink.as_mut().context("not connected")?;
        sink.send(Message::text(text)).await.context("send")
    }
}

/// Waiting.
impl App {
    /// Waits for a message from a place of the recording on.
    pub async fn wait<T>(
        &self,
        from: usize,
        what: &str,
        mut fits: impl FnMut(&PylonToApp) -> Option<T>,
    ) -> anyhow::Result<T> {
        let found = self.record.find(from, |step| match step {
            AppStep::Got(message) => fits(message),
            _ => None,
        });
        match tokio::time::timeout(PATIENCE, found).await {
            Ok(found) => Ok(found),
            Err(_) => bail!("{}: {what} did not come: {}", self.name, self.record.tail()),
        }
    }

    /// Waits for an event of a conversation from a place of the recording on.
    pub async fn event<T>(
        &self,
        from: usize,
        talk: &Talk,
        what: &str,
        mut fits: impl FnMut(&ClaudeEventMessage) -> Option<T>,
    ) -> anyhow::Result<T> {
        self.wait(from, what, |message| match message {
            PylonToApp::ClaudeEventMessage(event) if event.conversation_id == talk.id => {
                fits(event)
            }
            _ => None,
        })
        .await
    }

    /// Waits for a piece of text.
    pub async fn piece(&self, from: usize, talk: &Talk) -> anyhow::Result<()> {
        self.event(from, talk, "a piece of text", |message| {
            matches!(message.event, ClaudeEvent::Text(_)).then_some(())
        })
        .await
    }

    /// Waits for a prompt that is not one of these.
    pub async fn prompt(
        &self,
        from: usize,
        talk: &Talk,
        before: &[ToolUseId],
    ) -> anyhow::Result<ToolUseId> {
        self.event(from, talk, "a prompt", |message| match &message.event {
            ClaudeEvent::PermissionAsked(asked) if !before.contains(&asked.tool_use_id) => {
                Some(asked.tool_use_id.clone())
            }
            _ => None,
        })
        .await
    }

    async fn answer<T>(&self, from: usize, fits: impl Fn(&PylonToApp) -> Option<T>) -> Option<T> {
        let found = self.record.find(from, |step| match step {
            AppStep::Got(message) => fits(message),
            _ => None,
        });
        tokio::time::timeout(ANSWER, found).await.ok()
    }
}

/// Requests.
impl App {
    /// Waits until a Pylon serves it: one that joins says what there is.
    pub async fn is_served(&mut self) -> anyhow::Result<()> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while tokio::time::Instant::now() < deadline {
            let (from, id) = (self.mark(), self.request()?);
            let list = WorkspaceList {
                request_id: Some(id.clone()),
            };
            self.send(&id, list).await?;
            let is_list = |message: &PylonToApp| match message {
                PylonToApp::WorkspaceListResult(_) => Some(()),
                _ => None,
            };
            if self.answer(from, is_list).await.is_some() {
                return Ok(());
            }
        }
        bail!("{}: no Pylon is there", self.name)
    }

    fn request(&mut self) -> anyhow::Result<RequestId> {
        self.requests += 1;
        let id = format!("{}-{}", self.name, self.requests);
        Ok(RequestId::parse(&id)?)
    }

    /// Makes a workspace in a folder, with its first conversation.
    pub async fn begin(&mut self, folder: &std::path::Path) -> anyhow::Result<Talk> {
        let (from, id) = (self.mark(), self.request()?);
        let create = WorkspaceCreate {
            request_id: Some(id.clone()),
            ..WorkspaceCreate::new(
                Name::parse("Proof")?,
                PathText::parse(&folder.to_string_lossy())?,
            )
        };
        self.send(&id, create).await?;
        let made = self
            .wait(from, "the workspace", |message| match message {
                PylonToApp::WorkspaceCreateResult(result) => Some(result.clone()),
                _ => None,
            })
            .await?;
        let conversation = made.conversation.context("no conversation was made")?;
        Ok(Talk {
            workspace: made.workspace.context("no workspace")?.workspace_id.clone(),
            id: conversation.conversation_id,
        })
    }

    /// Looks at a conversation, as soon as somebody shows it.
    pub async fn look(&mut self, talk: &Talk) -> anyhow::Result<()> {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while tokio::time::Instant::now() < deadline {
            let (from, id) = (self.mark(), self.request()?);
            let select = ConversationSelect {
                request_id: Some(id.clone()),
                ..ConversationSelect::new(talk.workspace.clone(), talk.id.clone())
            };
            self.send(&id, select).await?;
            let page = self.answer(from, |message| match message {
                PylonToApp::HistoryResult(page) if page.request_id.as_ref() == Some(&id) => {
                    Some(page.success)
                }
                _ => None,
            });
            if page.await == Some(true) {
                return Ok(());
            }
            tokio::time::sleep(AGAIN).await;
        }
        bail!("{}: nobody shows {}", self.name, talk.id)
    }

    /// Sends a message and waits for nothing. Gives the place of the recording from which its answer comes.
    pub async fn ask(&mut self, talk: &Talk, prompt: &str) -> anyhow::Result<usize> {
        let (from, id) = (self.mark(), self.request()?);
        let (workspace, conversation) = (talk.workspace.clone(), talk.id.clone());
        let message = ClaudeSend {
            client_message_id: Some(ClientMessageId::parse(id.as_str())?),
            request_id: Some(id.clone()),
            ..ClaudeSend::new(workspace, conversation, Prompt::parse(prompt)?)
        };
        self.send(&id, message).await?;
        Ok(from)
    }

    /// Sends a message until it is acknowledged.
    pub async fn say(&mut self, talk: &Talk, prompt: &str) -> anyhow::Result<()> {
        let name = format!("{}-m{}", self.name, self.requests);
        let message = ClientMessageId::parse(&name)?;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while tokio::time::Instant::now() < deadline {
            let (from, id) = (self.mark(), self.request()?);
            let outgoing = ClaudeSend {
                request_id: Some(id.clone()),
                client_message_id: Some(message.clone()),
                ..ClaudeSend::new(
                    talk.workspace.clone(),
                    talk.id.clone(),
                    Prompt::parse(prompt)?,
                )
            };
            self.send(&id, outgoing).await?;
            let taken = self.wait(from, "the acknowledgement", |message| match message {
                PylonToApp::ClaudeSendResult(result) if result.request_id.as_ref() == Some(&id) => {
                    Some(result.clone())
                }
                _ => None,
            });
            if taken.await?.success {
                return Ok(());
            }
            tokio::time::sleep(AGAIN).await;
        }
        bail!("{}: the message was not taken", self.name)
    }

    /// Allows or denies a call.
    pub async fn decide(
        &mut self,
        talk: &Talk,
        call: &ToolUseId,
        word: PermissionDecision,
    ) -> anyhow::Result<ClaudePermissionResult> {
        let (from, id) = (self.mark(), self.request()?);
        let (workspace, conversation) = (talk.workspace.clone(), talk.id.clone());
        let decision = ClaudePermission {
            request_id: Some(id.clone()),
            ..ClaudePermission::new(workspace, conversation, call.clone(), word)
        };
        self.send(&id, decision).await?;
        self.wait(from, "the result of an answer", |message| match message {
            PylonToApp::ClaudePermissionResult(result)
                if result.request_id.as_ref() == Some(&id) =>
            {
                Some(result.clone())
            }
            _ => None,
        })
        .await
    }
}

/// Reads until the connection ends, and says so.
async fn read(mut stream: SplitStream<Socket>, record: Arc<Recording<AppStep>>) {
    while let Some(Ok(frame)) = stream.next().await {
        let Message::Text(text) = frame else { continue };
        match AppInbox::parse(&text) {
            Ok(AppInbox::Pylon(envelope)) => {
                record.push(AppStep::Got(Box::new(envelope.message)));
            }
            Ok(AppInbox::Relay(RelayToDevice::DeviceStatus(status))) => {
                let mut devices = status.devices.iter();
                if !devices.any(|device| device.device_id == PYLON) {
                    record.push(AppStep::Died(Part::Pylon));
                }
            }
            Ok(AppInbox::Relay(_) | AppInbox::Stray(_)) | Err(_) => {}
        }
    }
    record.push(AppStep::Lost);
}
