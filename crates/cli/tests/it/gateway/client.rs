//! A client of the gateway that writes its requests byte by byte, so that bad ones can be written as well.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::up::stage::Machine;

/// Longer than anything takes, on the busiest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }
}

/// A gateway as somebody with a token sees it.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    /// Host and port.
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Api {
    /// The gateway of a machine, with all rights.
    pub(crate) fn of(machine: &Machine) -> Self {
        let address = machine.greeting["gateway"].as_str().unwrap();
        let token = std::fs::read_to_string(machine.path("data/gateway.token")).unwrap();
        Self {
            address: address.strip_prefix("http://").unwrap().to_owned(),
            token: token.trim().to_owned(),
        }
    }

    /// Sends these bytes and reads until the gateway closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Answer {
        let all = async {
            let mut stream = TcpStream::connect(&self.address).await.unwrap();
            stream.write_all(bytes).await.unwrap();
            let mut all = Vec::new();
            // A connection that is cut off is an answer too.
            let _ = stream.read_to_end(&mut all).await;
            String::from_utf8_lossy(&all).into_owned()
        };
        let all = tokio::time::timeout(PATIENCE, all).await.unwrap();
        let (head, text) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Answer {
            status: status.unwrap_or(0),
            head: head.to_ascii_lowercase(),
            text: text.to_owned(),
        }
    }

    /// A request with these header lines beside `Host` and the end of the connection.
    pub(crate) async fn plain(&self, line: &str, headers: &str, body: &str) -> Answer {
        let host = &self.address;
        let text =
            format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n{body}");
        self.raw(text.as_bytes()).await
    }

    /// A request with the token.
    pub(crate) async fn call(&self, line: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| body.to_string());
        let length = body.as_ref().map(|body| {
            let length = body.len();
            format!("Content-Type: application/json\r\nContent-Length: {length}\r\n")
        });
        let (token, length) = (&self.token, length.unwrap_or_default());
        let headers = format!("Authorization: Bearer {token}\r\n{length}");
        self.plain(line, &headers, &body.unwrap_or_default()).await
    }

    /// A request that must work.
    pub(crate) async fn done(&self, line: &str, body: Option<Value>) -> Value {
        let answer = self.call(line, body).await;
        assert!((200..300).contains(&answer.status), "{line}: {answer:?}");
        answer.json()
    }

    /// A request that is refused with this status and code.
    pub(crate) async fn refused(&self, line: &str, body: Option<Value>) -> (u16, String) {
        let answer = self.call(line, body).await;
        let told = answer.json();
        assert!(told["error"].is_string(), "{line}: {answer:?}");
        (answer.status, told["code"].as_str().unwrap().to_owned())
    }

    /// Makes a workspace of the folder `work` and gives its first session.
    pub(crate) async fn session(&self, machine: &Machine) -> String {
        let wanted = json!({"name": "Project", "path": machine.path("work")});
        let made = self.done("POST /api/workspaces", Some(wanted)).await;
        made["workspace"]["session_ids"][0]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Opens the WebSocket of a session, with these header lines.
    pub(crate) async fn knock(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<WebSocketStream<TcpStream>, Error> {
        let stream = TcpStream::connect(&self.address).await.unwrap();
        let mut request = format!("ws://{}{path}", self.address).into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let opened = tokio_tungstenite::client_async(request, stream).await?;
        Ok(opened.0)
    }

    /// Looks at a session over its WebSocket.
    pub(crate) async fn watch(&self, session: &str, query: &str) -> Watcher {
        let path = format!("/ws/sessions/{session}{query}");
        let bearer = format!("Bearer {}", self.token);
        let socket = self.knock(&path, &[("authorization", &bearer)]).await;
        Watcher {
            socket: socket.unwrap(),
            seen: Vec::new(),
        }
    }
}

/// Somebody who looks at a session.
pub(crate) struct Watcher {
    pub(crate) socket: WebSocketStream<TcpStream>,
    /// Everything that came, in order.
    pub(crate) seen: Vec<Value>,
}

impl Watcher {
    pub(crate) async fn say(&mut self, message: Value) {
        let text = Message::text(message.to_string());
        self.socket.send(text).await.unwrap();
    }

    /// The next message, or how the connection ended.
    pub(crate) async fn next(&mut self) -> Result<Value, Option<CloseFrame>> {
        let next = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Text(text))) => {
                        let message: Value = serde_json::from_str(&text).unwrap();
                        self.seen.push(message.clone());
                        return Ok(message);
                    }
                    Some(Ok(Message::Close(frame))) => return Err(frame),
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Err(None),
                }
            }
        };
        let next = tokio::time::timeout(PATIENCE, next).await;
        next.unwrap_or_else(|_| panic!("nothing came after {:#?}", self.seen))
    }

    /// Reads on until a message is as wanted.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.next().await {
                Ok(message) if wanted(&message) => return message,
                Ok(_) => {}
                Err(frame) => panic!("closed with {frame:?} after {:#?}", self.seen),
            }
        }
    }

    /// Reads on until a message of this type.
    pub(crate) async fn kind(&mut self, kind: &str) -> Value {
        self.until(|message| message["type"] == kind).await
    }

    /// Reads on until the session has this status.
    pub(crate) async fn status(&mut self, status: &str) {
        let wanted =
            |message: &Value| message["type"] == "status_change" && message["status"] == status;
        self.until(wanted).await;
    }

    /// How the connection ended.
    pub(crate) async fn end(&mut self) -> Option<u16> {
        loop {
            if let Err(frame) = self.next().await {
                return frame.map(|frame| frame.code.into());
            }
        }
    }

    /// All output of the agent itself, put together.
    pub(crate) fn text(&self) -> String {
        let outputs = self
            .seen
            .iter()
            .filter(|message| message["type"] == "output");
        outputs
            .filter_map(|message| message["content"].as_str())
            .collect()
    }
}
