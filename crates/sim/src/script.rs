//! The script grammar: a user prompt that says what the model is to answer.
//!
//! A prompt may hold `SCRIPT:` followed by a JSON array of steps; one step is one model response, that is one request to
//! the Messages API. This module owns the types, the words of the plain answers and which step answers which
//! request. Reading and writing the JSON is in `parse`, cutting a text in `deltas`, holding it back in `gate`.
//!
//! It does no IO beyond gate files and knows neither HTTP nor the CLI's lines: the fake API and the simulated CLI both
//! play the same script, each in its own way.

mod deltas;
mod gate;
mod parse;

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

pub use deltas::Deltas;
pub use gate::{GATES_ENV, Gate, GateError, Gates};
pub use parse::ParseScriptError;

/// What precedes the JSON array in a prompt.
pub const MARKER: &str = "SCRIPT:";
/// The answer to a prompt that holds no script.
pub const PLAIN_ANSWER: &str = "ok";
/// The answer to a request past the last step.
pub const SCRIPT_END: &str = "[script end]";
/// Deltas of a text when the step does not say how many.
pub const DEFAULT_CHUNKS: usize = 3;
/// Most deltas one step may ask for.
pub const MAX_CHUNKS: usize = 1_000_000;
/// Most steps one script may have.
pub const MAX_STEPS: usize = 10_000;
/// Shortest piece of a tool input that is streamed; a long input goes in about four pieces.
const MIN_JSON_PIECE: usize = 20;

/// A list of steps; step *n* is the *n*-th model response after the prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// One model response.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What the response is.
    pub action: Action,
    /// Holds the response back until somebody opens the gate.
    pub gate: Option<Gate>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Thinking, text and tool calls, each optional.
    Answer(Answer),
    /// An API error instead of an answer.
    Http(HttpError),
    /// This text as the body of the event stream; a request that does not stream gets the plain answer.
    Malformed(String),
    /// Something only the simulated CLI can do.
    Mischief(Mischief),
}

/// The content of one model response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// A thinking block before the text.
    pub think: Option<String>,
    /// The text block.
    pub say: Option<String>,
    /// Number of text deltas, [`DEFAULT_CHUNKS`] if absent.
    pub chunks: Option<usize>,
    /// Milliseconds between text deltas.
    pub delay_ms: u64,
    /// Each delta is `"<i>:<unix µs> "` instead of a piece of the text.
    pub stamp: bool,
    /// The stop reason; `end_turn`, or `tool_use` with tool calls, if absent.
    pub stop: Option<String>,
    /// The connection is cut after the text deltas, before the block ends.
    pub drop: bool,
    /// Tool calls after the text, in parallel when there are several.
    pub calls: Vec<ToolCall>,
}

/// One tool call of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name as the model calls it.
    pub name: String,
    /// Its input.
    pub input: ToolInput,
}

/// The input of a tool call as the JSON text of the script: order of keys and spacing are kept.
#[derive(Debug, Clone)]
pub struct ToolInput(Box<RawValue>);

/// An API error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpError {
    /// The HTTP status.
    pub status: u16,
    /// `error.type` of the body.
    pub etype: String,
    /// `error.message` of the body.
    pub msg: String,
    /// How many requests get it before the script goes on; forever if absent.
    pub times: Option<u32>,
    /// Extra response headers such as `retry-after`.
    pub headers: BTreeMap<String, String>,
}

/// What only the simulated CLI can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mischief {
    /// Nothing for this many milliseconds, or for ever.
    Stall(Option<u64>),
    /// The process exits with a code.
    Exit(i32),
    /// The process dies of a signal, by name (`SIGKILL`).
    Signal(String),
    /// A raw line on standard output.
    Garbage(String),
    /// A line that is not UTF-8.
    InvalidUtf8,
    /// This many deltas at full speed.
    Flood(u64),
    /// One line of this many bytes.
    Huge(u64),
    /// A line without its end, then exit.
    HalfLine(String),
    /// A request to the host, as JSON with its `subtype`; the answer is said. A gate takes the request back.
    Ask(String),
}

/// Which part of a script answers one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned<'a> {
    /// Errors with `times` that come first, with their step index; each is used up before the next counts.
    pub errors_first: Vec<(usize, &'a HttpError)>,
    /// What answers when they are used up.
    pub response: Response<'a>,
}

/// The answer proper to one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Response<'a> {
    /// A step with its index.
    Step(usize, &'a Step),
    /// The script ended with an error that has been given this often: [`recovered`] is the text.
    Recovered(u32),
    /// Past the last step: [`SCRIPT_END`] is the text.
    End,
}

/// The answer after an error that was the last step and has been used up.
pub fn recovered(times: u32) -> String {
    format!("recovered after {times}")
}

/// The plain answer that shows a person why a script was not played.
pub fn unreadable(error: &ParseScriptError) -> String {
    format!("[script error] {error}")
}

impl Script {
    /// An empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text answer.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.answer(Answer {
            say: Some(text.into()),
            ..Answer::default()
        })
    }

    /// Adds a text answer after thinking.
    #[must_use]
    pub fn think_and_say(self, thought: impl Into<String>, text: impl Into<String>) -> Self {
        self.answer(Answer {
            think: Some(thought.into()),
            say: Some(text.into()),
            ..Answer::default()
        })
    }

    /// Adds one tool call.
    #[must_use]
    pub fn tool(self, name: impl Into<String>, input: Value) -> Self {
        self.tools([ToolCall::new(name, input)])
    }

    /// Adds one response with several tool calls.
    #[must_use]
    pub fn tools(self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.answer(Answer {
            calls: calls.into_iter().collect(),
            ..Answer::default()
        })
    }

    /// Adds any answer.
    #[must_use]
    pub fn answer(self, answer: Answer) -> Self {
        self.step(Action::Answer(answer))
    }

    /// Adds an API error for ever.
    #[must_use]
    pub fn http(self, status: u16, etype: impl Into<String>, msg: impl Into<String>) -> Self {
        self.step(Action::Http(HttpError {
            status,
            etype: etype.into(),
            msg: msg.into(),
            times: None,
            headers: BTreeMap::new(),
        }))
    }

    /// Adds any action.
    #[must_use]
    pub fn step(mut self, action: Action) -> Self {
        self.steps.push(Step { action, gate: None });
        self
    }

    /// Puts a gate before the first delta of the last step; without a step it does nothing.
    #[must_use]
    pub fn gated(self, name: impl Into<String>) -> Self {
        self.gated_at(name, 0)
    }

    /// Puts a gate before delta `at` (from 0) of the last step.
    #[must_use]
    pub fn gated_at(mut self, name: impl Into<String>, at: usize) -> Self {
        if let Some(step) = self.steps.last_mut() {
            step.gate = Some(Gate {
                name: name.into(),
                at,
            });
        }
        self
    }

    /// The prompt text that makes a stand-in play this script.
    pub fn prompt(&self) -> String {
        self.prompt_after("")
    }

    /// The same with words in front.
    pub fn prompt_after(&self, words: &str) -> String {
        format!("{words}{MARKER}{}", self.to_json())
    }

    /// What answers the request with `answered` assistant messages since the prompt.
    ///
    /// An error with `times` leaves no assistant message behind, so it does not count as a response of its own.
    pub fn plan(&self, answered: usize) -> Planned<'_> {
        let mut errors_first = Vec::new();
        let mut left = answered;
        for (index, step) in self.steps.iter().enumerate() {
            match &step.action {
                Action::Http(error) if error.times.is_some() => errors_first.push((index, error)),
                Action::Answer(_)
                | Action::Http(_)
                | Action::Malformed(_)
                | Action::Mischief(_)
                    if left == 0 =>
                {
                    return Planned {
                        errors_first,
                        response: Response::Step(index, step),
                    };
                }
                Action::Answer(_)
                | Action::Http(_)
                | Action::Malformed(_)
                | Action::Mischief(_) => {
                    left -= 1;
                    errors_first.clear();
                }
            }
        }
        let response = match errors_first.last().and_then(|(_, error)| error.times) {
            Some(times) if left == 0 => Response::Recovered(times),
            Some(_) | None => Response::End,
        };
        if left > 0 {
            errors_first.clear();
        }
        Planned {
            errors_first,
            response,
        }
    }
}

impl Answer {
    /// The stop reason that ends this answer.
    pub fn stop_reason(&self) -> &str {
        let natural = if self.calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        };
        self.stop.as_deref().unwrap_or(natural)
    }
}

impl ToolCall {
    /// A call of a tool with an input.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self {
            name: name.into(),
            input: ToolInput::from(input),
        }
    }
}

impl ToolInput {
    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The parsed value (keys sorted).
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }

    /// The text in the pieces in which it is streamed.
    pub fn pieces(&self) -> Vec<String> {
        let chars: Vec<char> = self.as_str().chars().collect();
        let size = MIN_JSON_PIECE.max(chars.len() / 4);
        chars
            .chunks(size)
            .map(|piece| piece.iter().collect())
            .collect()
    }
}

impl From<Value> for ToolInput {
    fn from(value: Value) -> Self {
        Self(serde_json::value::to_raw_value(&value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl PartialEq for ToolInput {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// The headers of a refusal because a window of the plan is used up until then, in Unix seconds.
pub fn used_up(window: &str, resets_at: u64) -> BTreeMap<String, String> {
    let header = |name: &str, value: &str| {
        (
            format!("anthropic-ratelimit-unified-{name}"),
            value.to_owned(),
        )
    };
    BTreeMap::from([
        header("status", "rejected"),
        header("reset", &resets_at.to_string()),
        header("representative-claim", window),
    ])
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
