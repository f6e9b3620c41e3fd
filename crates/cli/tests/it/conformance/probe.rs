//! A scripted device: it speaks plain JSON over a WebSocket and shares no type with the programs it looks at.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// Longer than anything takes, on the busiest machine: a real CLI goes through its trial first.
const PATIENCE: Duration = Duration::from_secs(100);

/// Frames that may wait until the script looks at them: more than a test sends to one device.
const WAITING: usize = 16 * 1024;

type Socket = WebSocketStream<TcpStream>;

/// A connection to the relay, and everything that came over it.
pub(crate) struct Probe {
    sink: SplitSink<Socket, Message>,
    frames: mpsc::Receiver<String>,
    /// Reads all the time: a device that does not answer the relay's pings is taken for dead.
    _reader: JoinSet<()>,
    requests: u32,
    /// How far [`Self::until`] is.
    read: usize,
    /// The `auth_result`.
    pub(crate) admitted: Value,
    /// Everything that came, in order, as it came and as JSON.
    pub(crate) seen: Vec<(String, Value)>,
}

impl Probe {
    pub(crate) async fn stranger(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/ws");
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        let (sink, stream) = socket.split();
        let (to_script, frames) = mpsc::channel(WAITING);
        let mut reader = JoinSet::new();
        reader.spawn(read(stream, to_script));
        Self {
            sink,
            frames,
            _reader: reader,
            requests: 0,
            read: 0,
            admitted: Value::Null,
            seen: Vec::new(),
        }
    }

    pub(crate) async fn app(address: &str, token: &str) -> Self {
        let mut probe = Self::stranger(address).await;
        probe
            .enter(json!({"deviceType": "app", "token": token}))
            .await;
        probe
    }

    /// Authenticates, and must be let in.
    pub(crate) async fn enter(&mut self, auth: Value) {
        self.send(&json!({"type": "auth", "payload": auth})).await;
        self.admitted = self.until(|frame| frame["type"] == "auth_result").await;
        assert_eq!(
            self.admitted["payload"]["success"], true,
            "{}",
            self.admitted
        );
    }

    /// The number that the relay knows it by.
    pub(crate) fn id(&self) -> u64 {
        self.admitted["payload"]["device"]["deviceId"]
            .as_u64()
            .unwrap()
    }

    pub(crate) async fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, frame: &str) {
        let sent = tokio::time::timeout(PATIENCE, self.sink.send(Message::text(frame))).await;
        sent.unwrap().unwrap();
    }

    /// The next frame; nothing when the relay has closed the connection.
    async fn next(&mut self) -> Option<()> {
        let text = self.frames.recv().await?;
        let frame: Value = serde_json::from_str(&text).unwrap();
        self.seen.push((text, frame));
        Some(())
    }

    /// Where a frame is that is as wanted, from a place on.
    async fn find(&mut self, mut at: usize, wanted: impl Fn(&Value) -> bool) -> usize {
        let searching = async {
            loop {
                let place = self.seen[at..].iter().position(|(_, frame)| wanted(frame));
                if let Some(place) = place {
                    return Some(at + place);
                }
                at = self.seen.len();
                self.next().await?;
            }
        };
        let found = tokio::time::timeout(PATIENCE, searching).await;
        found.ok().flatten().unwrap_or_else(|| {
            let last = self.mark().saturating_sub(40);
            panic!("it did not come after {:#?}", self.kinds(last))
        })
    }

    /// The next frame that is as wanted, of those after the one that this gave last. What an answer was waited for with
    /// in between is not passed over.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let at = self.find(self.read, wanted).await;
        self.read = at + 1;
        self.seen[at].1.clone()
    }

    /// A frame that is as wanted, whenever it came.
    pub(crate) async fn ever(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let at = self.find(0, wanted).await;
        self.seen[at].1.clone()
    }

    /// Reads until the relay hangs up.
    pub(crate) async fn ended(&mut self) {
        let ended = async { while self.next().await.is_some() {} };
        tokio::time::timeout(PATIENCE, ended).await.unwrap();
    }

    /// Where it is now, for [`Self::since`].
    pub(crate) fn mark(&self) -> usize {
        self.seen.len()
    }

    /// What came since then.
    pub(crate) fn since(&self, mark: usize) -> impl Iterator<Item = &Value> + Clone {
        self.seen[mark..].iter().map(|(_, frame)| frame)
    }

    /// What came since then, in short.
    pub(crate) fn kinds(&self, mark: usize) -> Vec<String> {
        self.since(mark).map(kind).collect()
    }

    /// Everything that the relay had for it when it was asked is in [`Self::seen`].
    pub(crate) async fn fence(&mut self) {
        let (id, mark) = (self.new_id(), self.mark());
        self.send(&json!({"type": "ping", "payload": {"requestId": id}}))
            .await;
        self.find(mark, |frame| frame["payload"]["requestId"] == id)
            .await;
    }

    pub(crate) fn new_id(&mut self) -> String {
        self.requests += 1;
        format!("r{}", self.requests)
    }

    /// The answer to a request that was sent; the whole frame.
    pub(crate) async fn answer(&mut self, id: &str) -> Value {
        let at = self
            .find(0, |frame| frame["payload"]["requestId"] == id)
            .await;
        self.seen[at].1.clone()
    }

    /// Asks a Pylon; the whole frame of the answer.
    pub(crate) async fn ask(&mut self, pylon: u32, kind: &str, payload: &Value) -> Value {
        let (id, mark) = (self.new_id(), self.mark());
        self.send(&request(pylon, kind, payload, &id)).await;
        let at = self
            .find(mark, |frame| frame["payload"]["requestId"] == id)
            .await;
        self.seen[at].1.clone()
    }

    /// The same; it must have gone well. The payload of the answer.
    pub(crate) async fn done(&mut self, pylon: u32, kind: &str, payload: &Value) -> Value {
        let answer = self.ask(pylon, kind, payload).await;
        assert_eq!(
            answer["type"],
            format!("{}_result", answered_by(kind)),
            "{answer}"
        );
        assert_eq!(answer["payload"]["success"], true, "{kind}: {answer}");
        answer["payload"].clone()
    }

    /// Waits for an event of a conversation; the whole frame.
    pub(crate) async fn event(&mut self, conversation: &Value, kind: &str) -> Value {
        self.until(|frame| is_event(frame, conversation, kind))
            .await
    }

    /// The first event of this kind, whatever came after it.
    pub(crate) async fn find_event(&mut self, conversation: &Value, kind: &str) -> Value {
        let at = self
            .find(0, |frame| is_event(frame, conversation, kind))
            .await;
        self.seen[at].1.clone()
    }

    /// Waits until a conversation has come to rest after its first turn.
    pub(crate) async fn find_idle(&mut self, conversation: &Value) {
        self.find(0, |frame| {
            is_event(frame, conversation, "state") && frame["payload"]["event"]["state"] == "idle"
        })
        .await;
    }

    /// Waits until a conversation has this status.
    pub(crate) async fn status(&mut self, conversation: &Value, status: &str) -> Value {
        self.until(|frame| {
            frame["type"] == "conversation_status"
                && frame["payload"]["conversationId"] == *conversation
                && frame["payload"]["status"] == status
                && frame["payload"]["unread"].is_null()
        })
        .await
    }
}

/// Hands on every frame until the connection is closed.
async fn read(mut stream: SplitStream<Socket>, to_script: mpsc::Sender<String>) {
    while let Some(Ok(packet)) = stream.next().await {
        let sent = match packet {
            Message::Text(text) => to_script.send(text.to_string()).await,
            Message::Close(_) => return,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(()),
        };
        if sent.is_err() {
            return;
        }
    }
}

/// A request to a Pylon. The relay cannot read the payload, so the request is named outside as well.
pub(crate) fn request(pylon: u32, kind: &str, payload: &Value, id: &str) -> Value {
    let mut payload = payload.clone();
    if payload.is_object() {
        payload["requestId"] = json!(id);
    }
    json!({"type": kind, "to": {"deviceId": pylon}, "requestId": id, "payload": payload})
}

/// The first part of the type of the answer.
fn answered_by(kind: &str) -> &str {
    match kind {
        "conversation_select" | "history_request" => "history",
        "conversation_fork" => "conversation_create",
        "usage_request" => "usage",
        "rules_request" | "rule_change" | "tool_revoke" => "rules",
        "version_check_request" => "version_check",
        "app_update_request" => "app_update",
        "budget_request" | "budget_set" => "budget",
        "notifications_request"
        | "notifications_set"
        | "push_subscribe"
        | "push_unsubscribe"
        | "push_test" => "notifications",
        other => other,
    }
}

/// Whether a frame is an event of this kind.
pub(crate) fn is_event(frame: &Value, conversation: &Value, kind: &str) -> bool {
    frame["type"] == "claude_event"
        && frame["payload"]["conversationId"] == *conversation
        && frame["payload"]["event"]["type"] == kind
}

/// A frame in short: its type, and that of the event in it.
pub(crate) fn kind(frame: &Value) -> String {
    let kind = frame["type"].as_str().unwrap_or_default();
    let payload = &frame["payload"];
    match kind {
        "claude_event" => {
            let (event, state) = (&payload["event"]["type"], &payload["event"]["state"]);
            let event = event.as_str().unwrap_or_default();
            state
                .as_str()
                .map_or_else(|| event.to_owned(), |state| format!("{event} {state}"))
        }
        "conversation_status" => {
            format!("status {}", payload["status"].as_str().unwrap_or_default())
        }
        "error" => format!("error {payload}"),
        other => other.to_owned(),
    }
}
