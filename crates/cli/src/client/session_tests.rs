//! A session against a relay that is played: what it still hears when numbers begin anew, and when a machine comes back.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Packet;

use super::*;
use futures_util::{SinkExt as _, StreamExt as _};

const FIRST: &str = "2026-01-25T10:00:00.000Z";
const SECOND: &str = "2026-01-25T11:00:00.000Z";

/// The other side of one connection.
struct Relay {
    socket: WebSocketStream<TcpStream>,
    /// Since when the machine is connected.
    since: &'static str,
    /// What the next requests for history give.
    pages: VecDeque<Value>,
}

fn fixture(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn page(epoch: u64, head: u64, messages: &[Value]) -> Value {
    let mut page = fixture(include_str!(
        "../../../../fixtures/proto/v1/history_result.json"
    ));
    page["payload"]["messages"] = messages.into();
    page["payload"]["epoch"] = epoch.into();
    page["payload"]["headSeq"] = head.into();
    page
}

fn entry(seq: u64, text: &str) -> Value {
    json!({"role": "assistant", "type": "text", "content": text, "timestamp": 1, "seq": seq})
}

impl Relay {
    async fn accept(listener: &TcpListener, since: &'static str, pages: &[Value]) -> Self {
        let (stream, _) = listener.accept().await.unwrap();
        Self {
            socket: tokio_tungstenite::accept_async(stream).await.unwrap(),
            since,
            pages: pages.iter().cloned().collect(),
        }
    }

    async fn say(&mut self, frame: &Value) {
        let packet = Packet::text(frame.to_string());
        self.socket.send(packet).await.unwrap();
    }

    async fn tell(&mut self, epoch: u64, seq: u64, text: &str) {
        let mut event = fixture(include_str!(
            "../../../../fixtures/proto/v1/claude_event.numbered.json"
        ));
        event["payload"]["event"]["text"] = text.into();
        event["payload"]["epoch"] = epoch.into();
        event["payload"]["seq"] = seq.into();
        self.say(&event).await;
    }

    fn devices(&self, mut frame: Value) -> Value {
        frame["payload"]["devices"][0]["connectedAt"] = self.since.into();
        frame
    }

    async fn status(&mut self) {
        let status = include_str!("../../../../fixtures/proto/v1/device_status.json");
        let status = self.devices(fixture(status));
        self.say(&status).await;
    }

    /// Answers until a page of history was given for each that there is.
    async fn serve(&mut self) {
        while !self.pages.is_empty() {
            let asked = self.socket.next().await.unwrap().unwrap();
            let asked = fixture(asked.to_text().unwrap());
            let mut answer = match asked["type"].as_str().unwrap() {
                "auth" => fixture(include_str!(
                    "../../../../fixtures/proto/v1/auth_result.json"
                )),
                "get_devices" => self.devices(fixture(include_str!(
                    "../../../../fixtures/proto/v1/device_list.json"
                ))),
                "workspace_list" => fixture(include_str!(
                    "../../../../fixtures/proto/v1/workspace_list_result.json"
                )),
                "conversation_select" | "history_request" => self.pages.pop_front().unwrap(),
                other => panic!("{other}"),
            };
            answer["payload"]["requestId"] = asked["payload"]["requestId"].clone();
            self.say(&answer).await;
        }
    }
}

struct Stage {
    listener: TcpListener,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn new() -> Self {
        Self {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Somebody who looks at the conversation, and the relay that let them in.
    async fn looking(&self, first: Value) -> (Session, Relay) {
        let file = self.folder.path().join("token");
        std::fs::write(&file, "a".repeat(43)).unwrap();
        let address = self.listener.local_addr().unwrap();
        let (url, folder) = (format!("ws://{address}"), self.folder.path().to_owned());
        let client = ClientArgs::of_relay(url, file, folder);
        let find = async {
            let mut session = Session::find(&client, "conv-1").await.unwrap();
            session.look().await.unwrap();
            session
        };
        let served = async {
            let mut relay = Relay::accept(&self.listener, FIRST, &[first]).await;
            relay.serve().await;
            relay
        };
        tokio::join!(find, served)
    }
}

fn said(message: &ClaudeEventMessage) -> &str {
    if let ClaudeEvent::TextComplete(text) = &message.event {
        return &text.text;
    }
    message.event.kind()
}

#[tokio::test]
async fn whoever_watches_hears_on_after_the_conversation_was_cleared() {
    let stage = Stage::new().await;
    let (mut session, mut relay) = stage.looking(page(1, 7, &[])).await;
    relay.tell(1, 7, "seen").await;
    relay.tell(2, 1, "anew").await;
    relay.tell(1, 8, "late").await;
    relay.tell(2, 1, "anew").await;
    relay.tell(2, 2, "on").await;
    assert_eq!(said(&session.next().await.unwrap()), "anew");
    assert_eq!(said(&session.next().await.unwrap()), "on");
}

#[tokio::test]
async fn what_was_missed_of_a_cleared_conversation_is_read_from_its_beginning() {
    let stage = Stage::new().await;
    let (mut session, relay) = stage.looking(page(1, 7, &[])).await;
    drop(relay);
    let lost = session.next().await.unwrap_err();
    let pages = [page(2, 1, &[]), page(2, 1, &[entry(1, "anew")])];
    let served = async {
        let mut relay = Relay::accept(&stage.listener, SECOND, &pages).await;
        relay.serve().await;
        relay
    };
    let (missed, _relay) = tokio::join!(session.again(lost), served);
    let missed = missed.unwrap();
    let missed: Vec<&str> = missed.iter().map(said).collect();
    assert_eq!(missed, ["anew", "state"]);
}

#[tokio::test]
async fn a_machine_that_came_back_without_having_been_away_is_asked_again() {
    let stage = Stage::new().await;
    let (mut session, mut relay) = stage.looking(page(1, 7, &[])).await;
    relay.status().await;
    relay.tell(1, 8, "next").await;
    assert_eq!(
        said(&session.next().await.unwrap()),
        "next",
        "it is the same"
    );
    relay.since = SECOND;
    relay.status().await;
    let lost = session.next().await.unwrap_err();
    assert!(is_away(&lost), "{lost}");
    let pages = [page(1, 9, &[]), page(1, 9, &[entry(9, "missed")])];
    let served = async {
        let mut relay = Relay::accept(&stage.listener, SECOND, &pages).await;
        relay.serve().await;
        relay.status().await;
        relay.tell(1, 10, "on").await;
        relay
    };
    let (missed, _relay) = tokio::join!(session.again(lost), served);
    let missed = missed.unwrap();
    let missed: Vec<&str> = missed.iter().map(said).collect();
    assert_eq!(missed, ["missed", "state"]);
    assert_eq!(said(&session.next().await.unwrap()), "on");
}
