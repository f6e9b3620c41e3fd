//! A device that speaks the protocol in plain JSON, so that shapes are checked as they are on the wire.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// Longer than anything takes, on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// A connection that was let in.
pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
    requests: u32,
    /// Everything that came, in order.
    pub(crate) seen: Vec<Value>,
    /// What came while an answer was waited for, and is still to be looked at.
    unread: VecDeque<Value>,
}

impl Client {
    /// Connects and authenticates.
    pub(crate) async fn open(address: &str, token: &str) -> Self {
        let mut client = Self::stranger(address).await;
        let auth = json!({"type": "auth", "payload": {"deviceType": "app", "token": token}});
        client.send(&auth).await;
        let result = client.until(|frame| frame["type"] == "auth_result").await;
        assert_eq!(result["payload"]["success"], true, "{result}");
        client
    }

    /// Connects, and says nothing about itself.
    pub(crate) async fn stranger(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/ws");
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        let mut client = Self {
            socket,
            requests: 0,
            seen: Vec::new(),
            unread: VecDeque::new(),
        };
        client.until(|frame| frame["type"] == "connected").await;
        client
    }

    pub(crate) async fn send(&mut self, frame: &Value) {
        let text = Message::text(frame.to_string());
        let sent = tokio::time::timeout(PATIENCE, self.socket.send(text)).await;
        sent.unwrap().unwrap();
    }

    /// The next frame.
    async fn next(&mut self) -> Value {
        if let Some(frame) = self.unread.pop_front() {
            return frame;
        }
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    self.seen.push(frame.clone());
                    return frame;
                }
                Some(Ok(_)) => {}
                other => panic!("{other:?} after {:#?}", self.kinds()),
            }
        }
    }

    fn kinds(&self) -> Vec<String> {
        let kinds = self.seen.iter().map(|frame| {
            let event = &frame["payload"]["event"]["type"];
            format!("{} {event} {}", frame["type"], frame["payload"]["error"])
        });
        kinds.collect()
    }

    /// Reads on until a frame is as wanted.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let waiting = async {
            loop {
                let frame = self.next().await;
                if wanted(&frame) {
                    return frame;
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, waiting).await;
        found.unwrap_or_else(|_| panic!("nothing of the kind came: {:#?}", self.kinds()))
    }

    /// Where the first frame from a place on is that is as wanted, whether it came already or is still to come.
    pub(crate) async fn place(&mut self, from: usize, wanted: impl Fn(&Value) -> bool) -> usize {
        if let Some(found) = self.seen[from..].iter().position(&wanted) {
            return from + found;
        }
        self.unread.clear();
        self.until(wanted).await;
        self.seen.len() - 1
    }

    /// Asks the Pylon and waits for what carries the same `requestId`.
    pub(crate) async fn ask(&mut self, kind: &str, mut payload: Value) -> Value {
        self.requests += 1;
        let id = format!("r{}", self.requests);
        payload["requestId"] = json!(id);
        // The relay cannot read the payload, so what it answers itself is named outside.
        let frame = json!({
            "type": kind, "to": {"deviceId": 1}, "requestId": id, "payload": payload,
        });
        self.send(&frame).await;
        let answer = self
            .until(|frame| frame["payload"]["requestId"] == json!(id))
            .await;
        answer["payload"].clone()
    }

    /// The same, and it must have gone well.
    pub(crate) async fn done(&mut self, kind: &str, payload: Value) -> Value {
        let answer = self.ask(kind, payload).await;
        assert_eq!(answer["success"], true, "{kind}: {answer}");
        answer
    }

    /// The same for what has effects: they may come before the answer, and can be waited for after it.
    pub(crate) async fn brings_about(&mut self, kind: &str, payload: Value) -> Value {
        let from = self.seen.len();
        let answer = self.done(kind, payload).await;
        let before = from..self.seen.len() - 1;
        self.unread = self.seen[before].iter().cloned().collect();
        answer
    }

    /// Waits for an event of the agent.
    pub(crate) async fn event(&mut self, kind: &str) -> Value {
        let frame = self
            .until(|frame| {
                frame["type"] == "claude_event" && frame["payload"]["event"]["type"] == kind
            })
            .await;
        frame["payload"]["event"].clone()
    }

    /// Waits until the conversation does nothing.
    pub(crate) async fn idle(&mut self) {
        self.until(|frame| {
            frame["type"] == "conversation_status" && frame["payload"]["status"] == "idle"
        })
        .await;
    }

    /// The numbers of all durable events, in the order in which they came.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let events = self.seen.iter();
        let events = events.filter(|frame| frame["type"] == "claude_event");
        events
            .filter_map(|frame| frame["payload"]["seq"].as_u64())
            .collect()
    }
}
