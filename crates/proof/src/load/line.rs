//! A connection of an app with as little of its own as possible: it asks, and reads what comes.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::turn::Turn;

/// An answer comes sooner, or never.
const PATIENCE: Duration = Duration::from_mins(2);
/// The Pylon.
const PYLON: u32 = 1;

/// A conversation and its workspace.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) workspace: Value,
    pub(super) conversation: Value,
}

impl Place {
    pub(super) fn with(&self, more: &Value) -> Value {
        let mut payload =
            json!({"workspaceId": self.workspace, "conversationId": self.conversation});
        for (name, value) in more.as_object().into_iter().flatten() {
            payload[name] = value.clone();
        }
        payload
    }
}

/// A connection that was let in.
#[derive(Debug)]
pub(super) struct Line {
    socket: WebSocketStream<TcpStream>,
    /// Tells the requests of connections apart: some answers go to everybody.
    name: u32,
    asked: u32,
}

impl Line {
    pub(super) async fn open(address: &str, token: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        Self::over(address, token, stream).await
    }

    /// The same with room for very little of what was not read yet.
    pub(super) async fn open_narrow(address: &str, token: &str) -> anyhow::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4096)?;
        let stream = socket.connect(address.parse()?).await?;
        Self::over(address, token, stream).await
    }

    async fn over(address: &str, token: &str, stream: TcpStream) -> anyhow::Result<Self> {
        stream.set_nodelay(true)?;
        let url = format!("ws://{address}/ws");
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await?;
        let name = stream_name(socket.get_ref())?;
        let mut line = Self {
            socket,
            name,
            asked: 0,
        };
        let payload = json!({"deviceType": "app", "token": token});
        line.send(&json!({"type": "auth", "payload": payload}))
            .await?;
        let is_it = |frame: &Value| (frame["type"] == "auth_result").then(|| frame.clone());
        let result = line.until(is_it).await?;
        ensure!(result["payload"]["success"] == true, "{result}");
        Ok(line)
    }

    async fn send(&mut self, frame: &Value) -> anyhow::Result<()> {
        self.socket.send(Message::text(frame.to_string())).await?;
        Ok(())
    }

    /// The next text.
    pub(super) async fn next(&mut self) -> anyhow::Result<Value> {
        loop {
            let frame = self.socket.next().await.context("the relay hung up")??;
            if let Message::Text(text) = frame {
                return Ok(serde_json::from_str(&text)?);
            }
        }
    }

    /// Reads what has come so far, without waiting for more.
    pub(super) async fn skip(&mut self) -> anyhow::Result<()> {
        tokio::task::yield_now().await;
        while let Some(frame) = self.next().now_or_never() {
            frame?;
        }
        Ok(())
    }

    /// Reads on until something fits.
    pub(super) async fn until<T>(
        &mut self,
        mut fits: impl FnMut(&Value) -> Option<T>,
    ) -> anyhow::Result<T> {
        let found = async {
            loop {
                if let Some(found) = fits(&self.next().await?) {
                    return anyhow::Ok(found);
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, found).await;
        found.context("what was waited for did not come")?
    }

    /// How long the relay itself takes to answer.
    pub(super) async fn ping(&mut self) -> anyhow::Result<Duration> {
        let begin = tokio::time::Instant::now();
        self.send(&json!({"type": "ping"})).await?;
        self.until(|frame| (frame["type"] == "pong").then_some(()))
            .await?;
        Ok(begin.elapsed())
    }

    /// Says something to the Pylon; the answer is found by the id.
    pub(super) async fn say(&mut self, kind: &str, payload: &Value) -> anyhow::Result<String> {
        self.asked += 1;
        let id = format!("load-{}-{}", self.name, self.asked);
        let mut payload = payload.clone();
        payload["requestId"] = json!(id);
        let frame = json!({"type": kind, "to": PYLON, "requestId": id, "payload": payload});
        self.send(&frame).await?;
        Ok(id)
    }

    /// Asks the Pylon, and waits for a good answer.
    pub(super) async fn ask(&mut self, kind: &str, payload: &Value) -> anyhow::Result<Value> {
        let id = self.say(kind, payload).await?;
        // A look at a conversation is answered by its newest page.
        let result = match kind {
            "conversation_select" | "history_request" => "history_result".to_owned(),
            other => format!("{other}_result"),
        };
        let answer = self.until(|frame| {
            let is_answer = frame["type"] == result.as_str() || frame["type"] == "error";
            let is_it = is_answer && frame["payload"]["requestId"] == id.as_str();
            is_it.then(|| frame.clone())
        });
        let answer = answer.await.with_context(|| kind.to_owned())?;
        let is_good = answer["type"] != "error" && answer["payload"]["success"] != false;
        ensure!(is_good, "{kind}: {answer}");
        Ok(answer["payload"].clone())
    }

    /// Waits until a Pylon answers.
    pub(super) async fn is_served(&mut self) -> anyhow::Result<()> {
        let begin = tokio::time::Instant::now();
        loop {
            match self.ask("workspace_list", &json!({})).await {
                Ok(_) => return Ok(()),
                Err(error) if begin.elapsed() > PATIENCE => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// A workspace in a folder, with its first conversation.
    pub(super) async fn begin(&mut self, folder: &std::path::Path) -> anyhow::Result<Place> {
        std::fs::create_dir_all(folder)?;
        let wanted = json!({"name": "Load", "workingDir": folder});
        let made = self.ask("workspace_create", &wanted).await?;
        Ok(Place {
            workspace: made["workspace"]["workspaceId"].clone(),
            conversation: made["conversation"]["conversationId"].clone(),
        })
    }

    /// Looks at a conversation.
    pub(super) async fn look(&mut self, place: &Place) -> anyhow::Result<()> {
        let wanted = place.with(&json!({}));
        self.ask("conversation_select", &wanted).await.map(|_| ())
    }

    /// Begins a turn.
    pub(super) async fn prompt(&mut self, place: &Place, text: &str) -> anyhow::Result<()> {
        self.say("claude_send", &place.with(&json!({"message": text})))
            .await
            .map(|_| ())
    }

    /// Reads a turn to its end.
    pub(super) async fn turn(&mut self, place: &Place) -> anyhow::Result<Turn> {
        let mut turn = Turn::default();
        let refused = self.until(|frame| {
            let payload = &frame["payload"];
            if is_refusal(frame) {
                return Some(Some(payload.clone()));
            }
            if frame["type"] != "claude_event" || payload["conversationId"] != place.conversation {
                return None;
            }
            turn.take(payload).then_some(None)
        });
        let refused = refused.await?;
        ensure!(refused.is_none(), "the message was not taken: {refused:?}");
        Ok(turn)
    }

    /// Begins a turn in each of these conversations, and waits until every one of them was taken.
    pub(super) async fn prompt_all(&mut self, places: &[Place], text: &str) -> anyhow::Result<()> {
        let mut asked = BTreeSet::new();
        for place in places {
            let payload = place.with(&json!({"message": text}));
            asked.insert(self.say("claude_send", &payload).await?);
        }
        let refused = self.until(|frame| {
            if is_refusal(frame) {
                return Some(Some(frame.clone()));
            }
            if frame["type"] == "claude_send_result" {
                asked.remove(frame["payload"]["requestId"].as_str().unwrap_or_default());
            }
            asked.is_empty().then_some(None)
        });
        let refused = refused.await?;
        ensure!(refused.is_none(), "a message was not taken: {refused:?}");
        Ok(())
    }

    /// Reads whatever is left until the relay hangs up; false if it does not within a while.
    pub(super) async fn is_cut_off(&mut self, within: Duration) -> bool {
        let end = async { while matches!(self.socket.next().await, Some(Ok(_))) {} };
        tokio::time::timeout(within, end).await.is_ok()
    }
}

/// Something that was said was not taken, by the relay or by the Pylon.
fn is_refusal(frame: &Value) -> bool {
    let is_answer = frame["type"] == "claude_send_result";
    frame["type"] == "error" || (is_answer && frame["payload"]["success"] == false)
}

/// The port that a connection comes from: no two have the same.
fn stream_name(stream: &TcpStream) -> anyhow::Result<u32> {
    Ok(stream.local_addr()?.port().into())
}
