//! A client that records everything it sends and gets, over all its connections.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{
    Hello, HostEvent, HostToPylon, MessagePayload, PermissionResponse, PylonReconnected,
    PylonToHost, RequestResult, SendMessage, Subscribe, parse_line, to_line,
};
use estelle_proto::{
    ClientMessageId, ConversationId, DeviceId, PathText, Prompt, RequestId, ToolUseId, WorkspaceId,
};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::recording::Recording;
use crate::history::{Client, Step};

/// Longest wait for anything.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// The version of the protocol that it speaks.
const PROTOCOL: u32 = 1;

/// Whether a client reads what it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// It does.
    On,
    /// It does not, and the host will notice.
    Off,
}

/// A client.
#[derive(Debug)]
pub struct Viewer {
    name: String,
    device: DeviceId,
    socket: PathBuf,
    place: PathBuf,
    record: Arc<Recording<Step>>,
    writer: Option<OwnedWriteHalf>,
    readers: JoinSet<()>,
    requests: u32,
    /// Whether it reads what it is sent.
    reads: watch::Sender<bool>,
}

/// What a client recorded, for somebody else than the one who moves it.
#[derive(Debug, Clone)]
pub struct ViewerWitness {
    name: String,
    record: Arc<Recording<Step>>,
}

impl ViewerWitness {
    /// How many steps were recorded.
    pub fn mark(&self) -> usize {
        self.record.steps().len()
    }

    /// What it recorded so far.
    pub fn client(&self) -> Client {
        Client {
            name: self.name.clone(),
            steps: self.record.steps().clone(),
        }
    }
}

impl Viewer {
    pub(super) fn new(name: &str, device: u32, data: &Path, place: &Path) -> Self {
        Self {
            name: name.to_owned(),
            device: DeviceId(device),
            socket: data.join("host.sock"),
            place: place.to_owned(),
            record: Arc::default(),
            writer: None,
            readers: JoinSet::new(),
            requests: 0,
            reads: watch::Sender::new(true),
        }
    }

    /// From now on it does not read, or reads again.
    pub fn reads(&self, whether: Reads) {
        self.reads.send_replace(whether == Reads::On);
    }

    /// What it records, for somebody else.
    pub fn witness(&self) -> ViewerWitness {
        ViewerWitness {
            name: self.name.clone(),
            record: Arc::clone(&self.record),
        }
    }

    /// What it recorded.
    pub fn client(&self) -> Client {
        self.witness().client()
    }

    /// Connects, greets, and asks for everything that is open.
    pub async fn connect(&mut self) -> anyhow::Result<()> {
        self.disconnect().await;
        let stream = UnixStream::connect(&self.socket)
            .await
            .context("connect to the host")?;
        let (reader, writer) = stream.into_split();
        self.writer = Some(writer);
        let from = self.len();
        self.record.push(Step::Connected);
        let reads = self.reads.subscribe();
        self.readers
            .spawn(read(reader, Arc::clone(&self.record), reads));
        self.send(Hello::new(PROTOCOL, "proof".to_owned(), Vec::new()))
            .await?;
        self.send(PylonReconnected::default()).await?;
        self.wait_from(from, "the status", |message| match message {
            HostToPylon::StatusResponse(_) => Some(Ok(())),
            HostToPylon::Error(error) => Some(Err(anyhow::anyhow!("refused: {error:?}"))),
            _ => None,
        })
        .await?
    }

    /// Ends the connection, if there is one.
    pub async fn disconnect(&mut self) {
        self.writer = None;
        self.readers.shutdown().await;
        let ended = matches!(self.record.steps().last(), None | Some(Step::Lost));
        let open = {
            let steps = self.record.steps();
            let last = steps
                .iter()
                .rev()
                .find(|step| matches!(step, Step::Connected | Step::Lost));
            matches!(last, Some(Step::Connected))
        };
        if !ended && open {
            self.record.push(Step::Lost);
        }
    }

    /// Sends a command.
    pub async fn send(&mut self, command: impl Into<PylonToHost>) -> anyhow::Result<()> {
        let command = command.into();
        let line = to_line(&command)?;
        // Recorded first: what is lost on the way was sent all the same.
        self.record.push(Step::Sent(Box::new(command)));
        let writer = self.writer.as_mut().context("not connected")?;
        writer
            .write_all(line.as_bytes())
            .await
            .context("write to the host")
    }

    fn request(&mut self) -> anyhow::Result<RequestId> {
        self.requests += 1;
        Ok(RequestId::parse(&format!(
            "{}-{}",
            self.name, self.requests
        ))?)
    }

    /// Subscribes behind the last event that it has, and waits for the snapshot.
    pub async fn subscribe(&mut self, id: &ConversationId) -> anyhow::Result<()> {
        let last = self.last_event(id);
        let from = self.record.steps().len();
        self.send(Subscribe {
            epoch: last.as_ref().and_then(|event| event.epoch),
            seq: last.as_ref().and_then(|event| event.seq),
            chain_hash: last.and_then(|event| event.chain_hash),
            ..Subscribe::new(id.clone())
        })
        .await?;
        self.wait_from(from, "the snapshot", |message| match message {
            HostToPylon::Snapshot(snapshot) if snapshot.session_id == *id => Some(Ok(())),
            HostToPylon::RequestResult(result) if !result.success => {
                Some(Err(anyhow::anyhow!("refused: {:?}", result.error)))
            }
            _ => None,
        })
        .await?
    }

    fn last_event(&self, id: &ConversationId) -> Option<HostEvent> {
        let steps = self.record.steps();
        steps.iter().rev().find_map(|step| match step {
            Step::Got(message) => match message.as_ref() {
                HostToPylon::Event(event) if event.session_id == *id && event.seq.is_some() => {
                    Some(event.clone())
                }
                _ => None,
            },
            Step::Connected | Step::Sent(_) | Step::Lost => None,
        })
    }

    /// A message with an id of its own.
    pub fn message(&mut self, id: &ConversationId, prompt: &str) -> anyhow::Result<SendMessage> {
        let request_id = self.request()?;
        let work = self.place.join("work").join(id.as_str());
        let payload = MessagePayload {
            client_message_id: Some(ClientMessageId::parse(&uuid(&self.name, self.requests))?),
            device_id: Some(self.device),
            ..MessagePayload::new(
                Prompt::parse(prompt)?,
                PathText::parse(&work.to_string_lossy())?,
                WorkspaceId::parse("proof")?,
            )
        };
        Ok(SendMessage {
            request_id: Some(request_id),
            ..SendMessage::new(id.clone(), payload)
        })
    }

    /// Sends a message and waits for its acknowledgement.
    pub async fn say(&mut self, id: &ConversationId, prompt: &str) -> anyhow::Result<()> {
        let message = self.message(id, prompt)?;
        self.deliver(message).await
    }

    /// Sends a message, perhaps for the second time, and waits for its acknowledgement.
    pub async fn deliver(&mut self, message: SendMessage) -> anyhow::Result<()> {
        let request_id = message.request_id.clone().context("a request id")?;
        self.send(message).await?;
        let result = self.result(&request_id).await?;
        anyhow::ensure!(
            result.success,
            "the message was refused: {:?}",
            result.error
        );
        Ok(())
    }

    /// The result of a request.
    pub async fn result(&mut self, id: &RequestId) -> anyhow::Result<RequestResult> {
        self.wait("a result", |message| match message {
            HostToPylon::RequestResult(result) if result.request_id.as_ref() == Some(id) => {
                Some(result.clone())
            }
            _ => None,
        })
        .await
    }

    /// Sends any command with an id, and gives its result.
    pub async fn ask(&mut self, command: impl Into<PylonToHost>) -> anyhow::Result<RequestResult> {
        let request_id = self.request()?;
        let mut command = command.into();
        command.set_request_id(request_id.clone());
        self.send(command).await?;
        self.result(&request_id).await
    }

    /// The same, and it must have gone well.
    pub async fn done(&mut self, command: impl Into<PylonToHost>) -> anyhow::Result<()> {
        let result = self.ask(command).await?;
        anyhow::ensure!(result.success, "refused: {:?}", result.error);
        Ok(())
    }

    /// Answers a permission and gives the result.
    pub async fn answer(
        &mut self,
        id: &ConversationId,
        call: &ToolUseId,
        word: PermissionDecision,
    ) -> anyhow::Result<RequestResult> {
        let request_id = self.send_answer(id, call, word).await?;
        self.result(&request_id).await
    }

    /// Answers a permission without waiting for the result.
    pub async fn send_answer(
        &mut self,
        id: &ConversationId,
        call: &ToolUseId,
        word: PermissionDecision,
    ) -> anyhow::Result<RequestId> {
        let request_id = self.request()?;
        self.send(PermissionResponse {
            request_id: Some(request_id.clone()),
            device_id: Some(self.device),
            ..PermissionResponse::new(id.clone(), call.clone(), word)
        })
        .await?;
        Ok(request_id)
    }

    /// Waits for an event of a conversation, from the beginning of the recording.
    pub async fn event<T>(
        &mut self,
        id: &ConversationId,
        what: &str,
        mut fits: impl FnMut(&ClaudeEvent) -> Option<T>,
    ) -> anyhow::Result<T> {
        self.wait(what, |message| match message {
            HostToPylon::Event(event) if event.session_id == *id => fits(&event.event),
            _ => None,
        })
        .await
    }

    /// Waits for a message from the beginning of the recording on.
    pub async fn wait<T>(
        &mut self,
        what: &str,
        fits: impl FnMut(&HostToPylon) -> Option<T>,
    ) -> anyhow::Result<T> {
        self.wait_from(0, what, fits).await
    }

    /// Waits for a message from a place of the recording on.
    pub async fn wait_from<T>(
        &mut self,
        from: usize,
        what: &str,
        mut fits: impl FnMut(&HostToPylon) -> Option<T>,
    ) -> anyhow::Result<T> {
        let found = self.record.find(from, |step| match step {
            Step::Got(message) => fits(message),
            Step::Connected | Step::Sent(_) | Step::Lost => None,
        });
        match tokio::time::timeout(PATIENCE, found).await {
            Ok(found) => Ok(found),
            Err(_) => bail!("{}: {what} did not come: {}", self.name, self.record.tail()),
        }
    }

    /// Whether a message was recorded.
    pub fn has(&self, fits: impl Fn(&HostToPylon) -> bool) -> bool {
        let steps = self.record.steps();
        steps
            .iter()
            .any(|step| matches!(step, Step::Got(message) if fits(message)))
    }

    /// Shows everything that it got, in order.
    pub fn each(&self, mut show: impl FnMut(&HostToPylon)) {
        for step in self.record.steps().iter() {
            if let Step::Got(message) = step {
                show(message);
            }
        }
    }

    /// How many steps were recorded.
    pub fn len(&self) -> usize {
        self.record.steps().len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until the connection has ended.
    pub async fn lost(&mut self) -> anyhow::Result<()> {
        let ended = async { while self.readers.join_next().await.is_some() {} };
        tokio::time::timeout(PATIENCE, ended)
            .await
            .context("the connection did not end")
    }
}

/// Reads until the connection ends, and says so.
async fn read(
    reader: OwnedReadHalf,
    record: Arc<Recording<Step>>,
    mut reads: watch::Receiver<bool>,
) {
    let mut lines = BufReader::new(reader).lines();
    loop {
        if reads.wait_for(|reads| *reads).await.is_err() {
            break;
        }
        let Ok(Some(line)) = lines.next_line().await else {
            break;
        };
        match parse_line::<HostToPylon>(&line) {
            Ok(message) => record.push(Step::Got(Box::new(message))),
            // Cut in the middle by the host's death.
            Err(_) => break,
        }
    }
    record.push(Step::Lost);
}

/// A UUID that tells messages of all viewers apart.
fn uuid(name: &str, number: u32) -> String {
    let hash = name.bytes().fold(0_u64, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    format!(
        "00000000-0000-4000-8000-{:06x}{:06x}",
        hash & 0xff_ffff,
        number
    )
}
