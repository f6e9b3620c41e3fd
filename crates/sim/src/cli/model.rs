//! The model's side of a turn: one request, its stream of events, its blocks.
//!
//! Prints what the CLI prints while an answer arrives and gives back the calls it made. API errors and retries are in
//! [`super::api_errors`], deeds that no model does in [`super::mischief`].

use super::cursor::{Cursor, Next, plain_answer};
use super::json::{Json, obj};
use super::state::{Abort, Sim, State};
use super::tools::Call;
use super::turn::Turn;
use crate::script::{Action, Answer, Gate, PLAIN_ANSWER, Step};

/// What came of one request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// An answer.
    Answer(Said),
    /// The API refused for good; the text was printed.
    Refused(super::api_errors::Refusal),
}

/// The parts of an answer that matter to the turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Said {
    /// Its text.
    pub(crate) text: Option<String>,
    /// Its tool calls.
    pub(crate) calls: Vec<Call>,
    /// Its stop reason.
    pub(crate) stop: String,
}

/// One answer on its way.
pub(crate) struct Stream<'a> {
    answer: &'a Answer,
    gate: Option<&'a Gate>,
    /// The message's id.
    pub(crate) id: String,
    /// The request's id.
    pub(crate) request: String,
    /// The model that speaks.
    pub(crate) model: String,
    /// The block that is on its way.
    pub(crate) index: usize,
}

/// The usage in a message whose answer is not complete.
pub(crate) fn message_usage() -> Json {
    obj! {
        "input_tokens" => super::usage::INPUT_TOKENS,
        "output_tokens" => 1,
        "cache_creation_input_tokens" => 0,
        "cache_read_input_tokens" => 0,
    }
}

impl Sim {
    /// Sends one request and prints what comes back.
    pub(crate) async fn request(
        &self,
        turn: &mut Turn,
        cursor: &mut Cursor,
    ) -> Result<Reply, Abort> {
        if turn.is_main() {
            self.print_requesting(&turn.uuids);
        }
        let began = self.now();
        turn.moments.requested.get_or_insert(began);
        let step = loop {
            match cursor.next() {
                Next::Say(text) => {
                    break Step {
                        action: Action::Answer(plain_answer(&text)),
                        gate: None,
                    };
                }
                Next::Step(step) => break step,
                Next::Error(error) => {
                    if let Some(refusal) = self.api_error(turn, &error).await? {
                        return Ok(Reply::Refused(refusal));
                    }
                }
            }
        };
        if self.is_325() {
            turn.echo(self);
        }
        let said = match &step.action {
            Action::Answer(answer) => self.stream(turn, answer, step.gate.as_ref()).await?,
            Action::Malformed(raw) => self.fall_back(turn, raw),
            Action::Mischief(mischief) => self.mischief(turn, mischief, step.gate.as_ref()).await?,
            Action::Http(_) => Said::default(),
        };
        self.print_let_through();
        cursor.advance();
        turn.requests += 1;
        turn.stop_reason = Some(said.stop.clone());
        let model = self.with(|state| state.chat.model.clone());
        self.with(|state| {
            let took = state.now - began;
            state.totals.count(state.setup.version, &model, took);
        });
        Ok(Reply::Answer(said))
    }

    /// A stream that makes no sense is asked for again without streaming.
    fn fall_back(&self, turn: &mut Turn, raw: &str) -> Said {
        if let Some(broken) = raw.lines().find_map(|line| line.strip_prefix("data: ")) {
            let text = format!("Could not parse message into JSON: {broken}\n");
            self.with(|state| state.effects.push(super::state::Effect::Stderr(text)));
        }
        let answer = plain_answer(PLAIN_ANSWER);
        let stream = self.open_stream(&answer, None);
        self.finish_block(turn, &stream, &text_block(PLAIN_ANSWER), Some("end_turn"));
        Said {
            text: Some(PLAIN_ANSWER.to_owned()),
            calls: Vec::new(),
            stop: "end_turn".to_owned(),
        }
    }

    fn open_stream<'a>(&self, answer: &'a Answer, gate: Option<&'a Gate>) -> Stream<'a> {
        self.with(|state| Stream {
            answer,
            gate,
            id: state.ids.message(),
            request: state.ids.request(),
            model: state.chat.model.replace("[1m]", ""),
            index: 0,
        })
    }

    /// Streams an answer.
    pub(crate) async fn stream(
        &self,
        turn: &mut Turn,
        answer: &Answer,
        gate: Option<&Gate>,
    ) -> Result<Said, Abort> {
        let mut stream = self.open_stream(answer, gate);
        // A gate before the first delta of an answer without a text stands before the answer itself.
        if let Some(gate) = gate.filter(|_| answer.say.is_none()) {
            self.gate(turn.scope, &gate.name).await?;
        }
        self.print_message_start(turn, &stream);
        if let Some(thought) = &answer.think {
            self.stream_thought(turn, &stream, thought);
            stream.index += 1;
        }
        let mut said = Said {
            stop: answer.stop_reason().to_owned(),
            ..Said::default()
        };
        if answer.say.is_some() {
            said.text = Some(self.stream_text(turn, &stream).await?);
            stream.index += 1;
            if answer.drop {
                return Ok(said);
            }
        }
        for call in &answer.calls {
            let id = self.with(|state| state.ids.tool_use());
            let given = Json::parse(call.input.as_str()).unwrap_or_else(|_| Json::empty());
            let call = Call {
                id,
                tool: call.name.clone(),
                input: super::schema::ordered(&call.name, given),
            };
            self.stream_call(turn, &stream, &call);
            stream.index += 1;
            said.calls.push(self.as_run(call));
        }
        self.print_message_end(turn, &stream, &said.stop);
        Ok(said)
    }

    /// The input a tool really gets: its defaults are filled in, and a plan is taken out by the newer CLI.
    fn as_run(&self, mut call: Call) -> Call {
        if call.tool == "Edit" && call.input.get("replace_all").is_none() {
            call.input.set("replace_all", false);
        }
        if call.tool == "AskUserQuestion" {
            call.input = super::schema::ordered_questions(call.input);
        }
        if call.tool == "ExitPlanMode" && self.is_325() {
            call.input = Json::empty();
        }
        call
    }

    fn print_message_start(&self, turn: &Turn, stream: &Stream<'_>) {
        let message = obj! {
            "id" => &stream.id,
            "type" => "message",
            "role" => "assistant",
            "model" => &stream.model,
            "content" => Json::List(Vec::new()),
            "stop_reason" => Json::Null,
            "stop_sequence" => Json::Null,
            "usage" => message_usage(),
        };
        let ttft = self.now() - turn.moments.requested.unwrap_or(turn.started);
        let mut more = obj! { "ttft_ms" => ttft };
        if self.is_325() {
            more.set("thinking_display", "updates");
            more.set("api_message_id", &stream.id);
            if !turn.uuids.is_empty() && !turn.named {
                more = turn
                    .name_messages(more)
                    .with("owed_rows", Json::List(Vec::new()));
            }
        }
        let event = obj! { "type" => "message_start", "message" => message };
        turn.event(self, &stream.id, event, more);
    }

    fn print_message_end(&self, turn: &Turn, stream: &Stream<'_>, stop: &str) {
        let delta = obj! {
            "type" => "message_delta",
            "delta" => obj! { "stop_reason" => stop, "stop_sequence" => Json::Null },
            "usage" => obj! { "output_tokens" => super::usage::OUTPUT_TOKENS },
        };
        turn.event(self, &stream.id, delta, Json::empty());
        let stop = obj! { "type" => "message_stop" };
        turn.event(self, &stream.id, stop, Json::empty());
    }

    fn block_start(&self, turn: &Turn, stream: &Stream<'_>, block: Json) {
        let event = obj! {
            "type" => "content_block_start",
            "index" => stream.index,
            "content_block" => block,
        };
        let more = self.thinking_display(&event, "content_block");
        turn.event(self, &stream.id, event, more);
    }

    /// The newer CLI says how thinking is meant to be shown.
    fn thinking_display(&self, event: &Json, part: &str) -> Json {
        let kind = event.at(&[part, "type"]).and_then(Json::as_text);
        let thinking = matches!(kind, Some("thinking" | "thinking_delta"));
        obj! { "thinking_display" if thinking && self.is_325() => "updates" }
    }

    fn block_delta(&self, turn: &mut Turn, stream: &Stream<'_>, delta: Json) {
        turn.moments.first_content.get_or_insert(self.now());
        let event = obj! {
            "type" => "content_block_delta",
            "index" => stream.index,
            "delta" => delta,
        };
        let more = self.thinking_display(&event, "delta");
        turn.event(self, &stream.id, event, more);
    }

    fn stream_thought(&self, turn: &mut Turn, stream: &Stream<'_>, thought: &str) {
        let start = obj! { "type" => "thinking", "thinking" => "", "signature" => "" };
        self.block_start(turn, stream, start);
        if turn.is_main() && self.setup().args.partial {
            let tokens = thought.len().div_ceil(4);
            let body = obj! { "estimated_tokens" => tokens, "estimated_tokens_delta" => tokens };
            let line = self.system("thinking_tokens", body);
            let last = turn.uuids.last().filter(|_| self.is_325());
            self.emit(&line.with_some("user_message_uuid", last));
        }
        let delta = obj! { "type" => "thinking_delta", "thinking" => thought };
        self.block_delta(turn, stream, delta);
        let signature = obj! { "type" => "signature_delta", "signature" => "c2ln" };
        self.block_delta(turn, stream, signature);
        let block = obj! { "type" => "thinking", "thinking" => thought, "signature" => "c2ln" };
        self.finish_block(turn, stream, &block, None);
    }

    async fn stream_text(&self, turn: &mut Turn, stream: &Stream<'_>) -> Result<String, Abort> {
        self.block_start(turn, stream, obj! { "type" => "text", "text" => "" });
        let mut text = String::new();
        let streamed = self.stream_deltas(turn, stream, &mut text).await;
        if let Err(abort) = streamed {
            self.print_cut_text(turn, stream, &text, abort);
            return Err(abort);
        }
        if turn.is_main() {
            let body = obj! {
                "turn_id" => &turn.display_id,
                "message_id" => self.uuid(),
                "index" => 0,
                "final" => true,
                "delta" => &text,
            };
            self.call_hooks(turn, "MessageDisplay", "", body).await?;
        }
        let stop = stream.answer.drop.then_some("end_turn");
        self.finish_block(turn, stream, &text_block(&text), stop);
        Ok(text)
    }

    async fn stream_deltas(
        &self,
        turn: &mut Turn,
        stream: &Stream<'_>,
        text: &mut String,
    ) -> Result<(), Abort> {
        let count = stream.answer.delta_count();
        for index in 0..count {
            if let Some(gate) = stream.gate.filter(|gate| gate.at == index) {
                self.gate(turn.scope, &gate.name).await?;
            }
            let now_us = self.with(State::now_us);
            let piece = stream.answer.delta(index, now_us);
            text.push_str(&piece);
            self.block_delta(
                turn,
                stream,
                obj! { "type" => "text_delta", "text" => piece },
            );
            if stream.answer.delay_ms > 0 {
                self.sleep_in(turn.scope, stream.answer.delay_ms).await?;
            } else if index % FLOOD_STRIDE == FLOOD_STRIDE - 1 {
                self.breathe(turn.scope).await?;
            }
        }
        Ok(())
    }

    fn stream_call(&self, turn: &mut Turn, stream: &Stream<'_>, call: &Call) {
        let start = obj! {
            "type" => "tool_use",
            "id" => &call.id,
            "name" => &call.tool,
            "input" => Json::empty(),
        };
        self.block_start(turn, stream, start);
        let pieces = crate::script::ToolInput::from(
            serde_json::from_str::<serde_json::Value>(&call.input.to_string()).unwrap_or_default(),
        )
        .pieces();
        for piece in pieces {
            let delta = obj! { "type" => "input_json_delta", "partial_json" => piece };
            self.block_delta(turn, stream, delta);
        }
        let block = obj! {
            "type" => "tool_use",
            "id" => &call.id,
            "name" => &call.tool,
            "input" => with_defaults(call),
        };
        self.finish_block(turn, stream, &block, None);
    }
}

/// The line of a call shows the defaults of its input in front.
fn with_defaults(call: &Call) -> Json {
    if call.tool != "Edit" || call.input.get("replace_all").is_some() {
        return call.input.clone();
    }
    let mut fields = vec![("replace_all".to_owned(), Json::Bool(false))];
    fields.extend(call.input.fields().iter().cloned());
    Json::Object(fields)
}

/// After so many deltas without a delay the input is looked at.
const FLOOD_STRIDE: usize = 64;

/// A text block.
pub(crate) fn text_block(text: &str) -> Json {
    obj! { "type" => "text", "text" => text }
}
