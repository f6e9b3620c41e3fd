//! A relay to test with, and clients for it. Every wait has a limit, so that a lost message fails a test.

use std::net::SocketAddr;
use std::time::Duration;

use estelle_proto::{DeviceId, DeviceKey, Name, Right, Token};
use estelle_relay::{Config, NewDevice, PylonProfile, RealmName, Registry, Relay};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Longer than any answer takes, on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn realm(name: &str) -> RealmName {
    RealmName::parse(name).unwrap()
}

pub(crate) fn profile(id: u32) -> PylonProfile {
    PylonProfile {
        device_id: DeviceId(id),
        name: Name::parse("Selene").unwrap(),
        icon: "🌙".to_owned(),
        role: "home".to_owned(),
    }
}

/// A running relay with its folder.
pub(crate) struct House {
    pub(crate) relay: Relay,
    pub(crate) folder: TempDir,
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with(Config::default()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let relay = open(&folder, config).await;
        Self { relay, folder }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.relay.local_addr()
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::open(self.address()).await
    }

    /// A Pylon of a realm, connected.
    pub(crate) async fn pylon(&self, name: &str, id: u32) -> Client {
        let token = self
            .relay
            .put_pylon(realm(name), profile(id))
            .await
            .unwrap();
        self.pylon_with(&token, id).await
    }

    pub(crate) async fn pylon_with(&self, token: &Token, id: u32) -> Client {
        let mut client = self.connect().await;
        client
            .send(&json!({"type":"auth","payload":{"deviceType":"pylon","deviceId":id,"token":token.reveal()}}))
            .await;
        let result = client.expect("auth_result").await;
        assert_eq!(result["success"], true, "{result}");
        client
    }

    pub(crate) async fn device(&self, name: &str, rights: &[Right]) -> (DeviceKey, Token) {
        let device = NewDevice {
            name: Name::parse("Phone").unwrap(),
            rights: rights.to_vec(),
            expires_at: None,
        };
        let issued = self.relay.add_device(realm(name), device).await.unwrap();
        (issued.device_key, issued.token)
    }

    /// An app of a realm, connected, with its id.
    pub(crate) async fn app(&self, name: &str, rights: &[Right]) -> (Client, u64) {
        let (_, token) = self.device(name, rights).await;
        self.app_with(&token).await
    }

    pub(crate) async fn app_with(&self, token: &Token) -> (Client, u64) {
        let mut client = self.connect().await;
        client.log_in(token).await;
        let result = client.expect("auth_result").await;
        assert_eq!(result["success"], true, "{result}");
        let id = result["device"]["deviceId"].as_u64().unwrap();
        (client, id)
    }

    /// One counter of the relay.
    pub(crate) fn count(&self, name: &str) -> u64 {
        let text = self.relay.metrics();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("estelle_relay_{name} ")));
        line.unwrap().parse().unwrap()
    }

    /// Waits until a counter has a value, with something to do in between.
    pub(crate) async fn reaches(&self, name: &str, value: u64) {
        let reached = async {
            while self.count(name) != value {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, reached).await;
        assert!(waited.is_ok(), "{name} is {}", self.count(name));
    }
}

pub(crate) async fn open(folder: &TempDir, config: Config) -> Relay {
    let registry = Registry::open(folder.path().join("relay.json")).unwrap();
    Relay::bind(config, registry).await.unwrap()
}

pub(crate) const ALL: [Right; 5] = [
    Right::View,
    Right::Prompt,
    Right::Approve,
    Right::Terminal,
    Right::Admin,
];

/// A device that talks to the relay.
pub(crate) struct Client {
    socket: WebSocketStream<TcpStream>,
}

/// What became of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// With a close frame.
    Code(u16),
    /// Without one.
    Broken,
}

impl Client {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/ws");
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        let mut client = Self { socket };
        client.expect("connected").await;
        client
    }

    pub(crate) async fn log_in(&mut self, token: &Token) {
        let payload = json!({"deviceType": "app", "token": token.reveal()});
        self.send(&json!({"type": "auth", "payload": payload}))
            .await;
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.send_raw(Message::text(text)).await.unwrap();
    }

    pub(crate) async fn send_raw(&mut self, message: Message) -> Result<(), Error> {
        tokio::time::timeout(PATIENCE, self.socket.send(message))
            .await
            .expect("the relay reads")
    }

    /// The next message of any kind, as it came; the way the connection ended, if it did.
    pub(crate) async fn next(&mut self) -> Result<String, Closed> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            match next.expect("something comes in time") {
                Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
                Some(Ok(Message::Close(Some(frame)))) => {
                    return Err(Closed::Code(frame.code.into()));
                }
                Some(Ok(Message::Close(None)) | Err(_)) | None => return Err(Closed::Broken),
                Some(Ok(_)) => {}
            }
        }
    }

    /// The next message that is not `device_status`.
    pub(crate) async fn message(&mut self) -> Value {
        loop {
            let text = self.next().await.expect("the connection lives");
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["type"] != "device_status" {
                return message;
            }
        }
    }

    /// The payload of the next message, which has this type.
    pub(crate) async fn expect(&mut self, kind: &str) -> Value {
        let message = self.message().await;
        assert_eq!(message["type"], kind, "{message}");
        message["payload"].clone()
    }

    /// The next `error`, by its code.
    pub(crate) async fn expect_error(&mut self, code: &str) -> Value {
        let payload = self.expect("error").await;
        assert_eq!(payload["errorCode"], code, "{payload}");
        payload
    }

    /// Proves that nothing else is under way: the relay answers in order.
    pub(crate) async fn expect_nothing(&mut self) {
        self.send(&json!({"type": "ping"})).await;
        let message = self.message().await;
        assert_eq!(message["type"], "pong", "{message}");
    }

    /// How the connection ends, whatever comes before.
    pub(crate) async fn closed(&mut self) -> Closed {
        loop {
            if let Err(closed) = self.next().await {
                return closed;
            }
        }
    }

    /// The socket itself.
    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        self.socket.get_mut()
    }
}
