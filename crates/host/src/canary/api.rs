//! A tiny Messages API on the loopback: answers the trial's conversation with its calls, everything else with a word.
//!
//! It knows as much HTTP as the CLI uses: one request a connection, a body with its length. Nothing but the trial talks
//! to it, and it ends with it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::plan::{Call, MARK};

/// Most bytes of one request body; a real one has some hundred kilobytes.
const MAX_BODY_BYTES: u64 = 32 * 1024 * 1024;
/// Most bytes of a request line with its headers.
const MAX_HEAD_BYTES: u64 = 64 * 1024;
/// How long nobody is let in after a connection could not be taken.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The running API; dropping it ends it.
#[derive(Debug)]
pub(super) struct Api {
    url: String,
    _ends: DropGuard,
}

impl Api {
    /// Listens on a port of the system's choice.
    pub(super) async fn start(calls: Vec<Call>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let ends = CancellationToken::new();
        let tasks = TaskTracker::new();
        tasks.spawn(serve(
            listener,
            Arc::new(calls),
            ends.clone(),
            tasks.clone(),
        ));
        Ok(Self {
            url,
            _ends: ends.drop_guard(),
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

async fn serve(
    listener: TcpListener,
    calls: Arc<Vec<Call>>,
    ends: CancellationToken,
    tasks: TaskTracker,
) {
    loop {
        let accepted = tokio::select! {
            biased;
            () = ends.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // No descriptor is free; the trial goes on when there is one again, or runs out of time.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (calls, ends) = (Arc::clone(&calls), ends.clone());
        tasks.spawn(async move {
            // A connection that breaks shows as a failed trial.
            let _ = ends.run_until_cancelled(exchange(stream, &calls)).await;
        });
    }
}

async fn exchange(stream: TcpStream, calls: &[Call]) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = (&mut stream).take(MAX_HEAD_BYTES);
    let mut length = 0;
    let mut line = String::new();
    head.read_line(&mut line).await?;
    let is_message = line.starts_with("POST /v1/messages") && !line.contains("count_tokens");
    loop {
        line.clear();
        if head.read_line(&mut line).await? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    if length > MAX_BODY_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut body = Vec::new();
    (&mut stream).take(length).read_to_end(&mut body).await?;
    let (kind, answer) = match serde_json::from_slice::<Request>(&body) {
        Ok(request) if is_message => answer(&request, calls),
        Ok(_) | Err(_) => ("application/json", json!({ "input_tokens": 1 }).to_string()),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(answer.as_bytes()).await?;
    stream.flush().await
}

/// The part of a request that matters.
#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    model: Value,
    #[serde(default)]
    messages: Vec<Value>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    tools: Vec<Value>,
}

fn answer(request: &Request, calls: &[Call]) -> (&'static str, String) {
    let block = block(request, calls);
    let stop = if block["type"] == "tool_use" {
        "tool_use"
    } else {
        "end_turn"
    };
    // Answers with the same id would be taken for one.
    let id = format!("msg_canary_{}", request.messages.len());
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let mut message = json!({
        "id": id, "type": "message", "role": "assistant", "model": request.model,
        "content": [block], "stop_reason": stop, "stop_sequence": null, "usage": usage,
    });
    if !request.stream {
        return ("application/json", message.to_string());
    }
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let (start, delta) = streamed(&block);
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ];
    let lines = events.map(|event| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    });
    ("text/event-stream", lines.concat())
}

/// The next call of the trial, or a word for a request that is not of its conversation or past its end.
fn block(request: &Request, calls: &[Call]) -> Value {
    let is_prompt =
        |message: &Value| message["role"] == "user" && message.to_string().contains(MARK);
    let asked = request.messages.iter().position(is_prompt);
    let step = asked.map(|asked| {
        let after = request.messages.iter().skip(asked);
        after
            .filter(|message| message["role"] == "assistant")
            .count()
    });
    match step.and_then(|step| calls.get(step).map(|call| (step, call))) {
        Some((step, call)) if !request.tools.is_empty() => json!({
            "type": "tool_use", "id": format!("toolu_canary_{step}"), "name": call.tool, "input": call.input,
        }),
        Some(_) | None => json!({ "type": "text", "text": "done" }),
    }
}

/// The empty block that a stream begins with, and the delta that fills it.
fn streamed(block: &Value) -> (Value, Value) {
    let mut start = block.clone();
    if block["type"] == "tool_use" {
        start["input"] = json!({});
        let delta =
            json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() });
        return (start, delta);
    }
    start["text"] = "".into();
    (
        start,
        json!({ "type": "text_delta", "text": block["text"] }),
    )
}
