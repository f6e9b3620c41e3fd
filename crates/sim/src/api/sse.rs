//! An answer as the Messages API sends it: as an event stream, or whole.
//!
//! [`events`] is the plan of a stream: events, pauses, gates and cuts in order, made lazily so that a million deltas
//! cost no memory. [`body`] plays the plan on a clock. [`message`] is the same answer without streaming. The figures of
//! usage are fixed, because tests compare costs.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use futures_util::stream;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::script::{Answer, Deltas, Gate, Gates};

const SIGNATURE: &str = "c2ln";
const OUTPUT_TOKENS: u64 = 25;
/// Time for the client to read what came before a cut: it may throw away what it has not read by then.
const BEFORE_CUT_MS: u64 = 50;

/// Names that an answer needs.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) message: String,
    pub(super) model: String,
    /// One for each tool call.
    pub(super) calls: Vec<String>,
}

/// One element of the plan of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Emit {
    /// An event with its data.
    Event(&'static str, Value),
    /// Text delta `index` of content block `block`; made when it is sent, since it may hold the time.
    Text { block: usize, index: usize },
    /// Bytes that need not be an event.
    Raw(String),
    /// Nothing for this many milliseconds.
    Pause(u64),
    /// Nothing until a gate is open.
    Hold(String),
    /// The end of the connection.
    Cut,
}

/// What is sent, in order.
pub(super) type Plan = Box<dyn Iterator<Item = Emit> + Send + Sync>;

/// One event in the framing of an event stream.
pub(super) fn frame(event: &str, data: &Value) -> String {
    let data = super::order::print(data);
    format!("event: {event}\ndata: {data}\n\n")
}

fn usage(output: u64) -> Value {
    json!({
        "input_tokens": 100,
        "output_tokens": output,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    })
}

/// The answer as one message.
pub(super) fn message(answer: &Answer, names: &Names) -> Value {
    let mut content = Vec::new();
    if let Some(thought) = &answer.think {
        content.push(json!({"type": "thinking", "thinking": thought, "signature": SIGNATURE}));
    }
    if answer.say.is_some() {
        let mut deltas = answer.deltas();
        let text: String = std::iter::from_fn(|| deltas.next(now_us())).collect();
        content.push(json!({"type": "text", "text": text}));
    }
    for (call, id) in answer.calls.iter().zip(&names.calls) {
        content.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": call.input.to_value()}));
    }
    json!({
        "id": names.message,
        "type": "message",
        "role": "assistant",
        "model": names.model,
        "content": content,
        "stop_reason": answer.stop_reason(),
        "stop_sequence": null,
        "usage": usage(OUTPUT_TOKENS),
    })
}

/// The plan of the stream of an answer.
pub(super) fn events(answer: &Answer, names: &Names, gate: Option<&Gate>) -> Plan {
    let mut block = 0;
    let mut plan: Vec<Emit> = vec![start_of_message(names)];
    // Without a text there is no delta to wait before, so the whole content waits.
    if let (Some(gate), None) = (gate, &answer.say) {
        plan.push(Emit::Hold(gate.name.clone()));
    }
    if let Some(thought) = &answer.think {
        plan.extend(thinking(block, thought));
        block += 1;
    }
    let mut tail = Vec::new();
    let text = answer.say.is_some().then(|| {
        plan.push(start_of_block(block, &json!({"type": "text", "text": ""})));
        let deltas = text_deltas(block, answer, gate.cloned());
        if answer.drop {
            tail.extend([Emit::Pause(BEFORE_CUT_MS), Emit::Cut]);
        }
        tail.push(end_of_block(block));
        block += 1;
        deltas
    });
    for (call, id) in answer.calls.iter().zip(&names.calls) {
        let start = json!({"type": "tool_use", "id": id, "name": call.name, "input": {}});
        tail.push(start_of_block(block, &start));
        let delta = |piece| {
            delta(
                block,
                &json!({"type": "input_json_delta", "partial_json": piece}),
            )
        };
        tail.extend(call.input.pieces().into_iter().map(delta));
        tail.push(end_of_block(block));
        block += 1;
    }
    tail.extend(end_of_message(answer));
    Box::new(
        plan.into_iter()
            .chain(text.into_iter().flatten())
            .chain(tail),
    )
}

fn start_of_message(names: &Names) -> Emit {
    let message = json!({
        "id": names.message,
        "type": "message",
        "role": "assistant",
        "model": names.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(1),
    });
    Emit::Event(
        "message_start",
        json!({"type": "message_start", "message": message}),
    )
}

fn end_of_message(answer: &Answer) -> [Emit; 2] {
    let delta = json!({"stop_reason": answer.stop_reason(), "stop_sequence": null});
    let usage = json!({"output_tokens": OUTPUT_TOKENS});
    [
        Emit::Event(
            "message_delta",
            json!({"type": "message_delta", "delta": delta, "usage": usage}),
        ),
        Emit::Event("message_stop", json!({"type": "message_stop"})),
    ]
}

fn thinking(block: usize, thought: &str) -> [Emit; 5] {
    [
        start_of_block(
            block,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        Emit::Event("ping", json!({"type": "ping"})),
        delta(
            block,
            &json!({"type": "thinking_delta", "thinking": thought}),
        ),
        delta(
            block,
            &json!({"type": "signature_delta", "signature": SIGNATURE}),
        ),
        end_of_block(block),
    ]
}

fn text_deltas(
    block: usize,
    answer: &Answer,
    gate: Option<Gate>,
) -> impl Iterator<Item = Emit> + Send + Sync + use<> {
    let count = answer.delta_count();
    let delay = answer.delay_ms;
    // A gate past the last delta stands before the end of the text.
    (0..=count).flat_map(move |index| {
        let pause = (delay > 0 && index > 0 && index < count).then_some(Emit::Pause(delay));
        let gate = gate.as_ref().filter(|gate| gate.at.min(count) == index);
        let hold = gate.map(|gate| Emit::Hold(gate.name.clone()));
        let text = (index < count).then_some(Emit::Text { block, index });
        pause.into_iter().chain(hold).chain(text)
    })
}

fn start_of_block(index: usize, block: &Value) -> Emit {
    Emit::Event(
        "content_block_start",
        json!({"type": "content_block_start", "index": index, "content_block": block}),
    )
}

fn delta(index: usize, delta: &Value) -> Emit {
    Emit::Event(
        "content_block_delta",
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
    )
}

fn end_of_block(index: usize) -> Emit {
    Emit::Event(
        "content_block_stop",
        json!({"type": "content_block_stop", "index": index}),
    )
}

fn now_us() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_micros()
}

struct Player {
    plan: Plan,
    deltas: Deltas,
    gates: Gates,
    stop: CancellationToken,
}

/// The plan as a response body; it ends early when the server stops or the client goes away.
pub(super) fn body(plan: Plan, answer: &Answer, gates: Gates, stop: CancellationToken) -> Body {
    let player = Player {
        plan,
        deltas: answer.deltas(),
        gates,
        stop,
    };
    Body::from_stream(stream::unfold(player, |mut player| async move {
        let sent = player.next().await?;
        Some((sent, player))
    }))
}

impl Player {
    async fn next(&mut self) -> Option<Result<Bytes, io::Error>> {
        loop {
            match self.plan.next()? {
                Emit::Event(name, data) => return Some(Ok(frame(name, &data).into())),
                Emit::Text { block, .. } => return Some(Ok(self.text(block).into())),
                Emit::Raw(text) => return Some(Ok(text.into())),
                Emit::Pause(ms) => {
                    self.unless_stopped(tokio::time::sleep(Duration::from_millis(ms)))
                        .await?;
                }
                Emit::Hold(gate) => self.unless_stopped(self.gates.wait(&gate)).await?,
                Emit::Cut => {
                    return Some(Err(io::Error::new(
                        io::ErrorKind::ConnectionAborted,
                        "cut by the script",
                    )));
                }
            }
        }
    }

    fn text(&mut self, block: usize) -> String {
        let text = self.deltas.next(now_us()).unwrap_or_default();
        let data = json!({"type": "content_block_delta", "index": block, "delta": {"type": "text_delta", "text": text}});
        frame("content_block_delta", &data)
    }

    async fn unless_stopped(&self, waiting: impl Future<Output = ()>) -> Option<()> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            () = waiting => Some(()),
        }
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
