//! Assistant lines: one for each block of an answer, whole or cut off, and the end of a stream that was cut.

use super::json::{Json, obj};
use super::model::{Stream, message_usage, text_block};
use super::state::{Abort, Sim};
use super::tools::Call;
use super::turn::Turn;

impl Sim {
    /// What is printed of a text that was cut off.
    pub(crate) fn print_cut_text(
        &self,
        turn: &mut Turn,
        stream: &Stream<'_>,
        text: &str,
        abort: Abort,
    ) {
        let newer = self.is_325();
        text.clone_into(&mut turn.cut_text);
        let shown = abort == Abort::Interrupt || !newer;
        if shown && !text.is_empty() {
            turn.echo(self);
            self.print_assistant(
                turn,
                stream,
                &text_block(text),
                None,
                abort == Abort::Interrupt,
            );
        }
        if abort == Abort::Interrupt && turn.is_main() {
            super::play::print_interrupted(self, turn, "[Request interrupted by user]");
        }
        if newer {
            let event = obj! { "type" => "content_block_stop", "index" => stream.index };
            turn.event(self, &stream.id, event, Json::empty());
            self.print_cut_end(turn, stream);
        }
    }

    /// The newer CLI ends a cut stream by itself.
    fn print_cut_end(&self, turn: &Turn, stream: &Stream<'_>) {
        let usage = obj! {
            "output_tokens_details" => obj! { "thinking_tokens" => 0 },
            "cache_creation_input_tokens" => 0,
            "cache_read_input_tokens" => 0,
            "input_tokens" => super::usage::INPUT_TOKENS,
            "iterations" => Json::List(Vec::new()),
            "output_tokens" => 1,
            "server_tool_use" => obj! { "web_search_requests" => 0, "web_fetch_requests" => 0 },
            "fallback_credit" => Json::Null,
        };
        let delta = obj! {
            "container" => Json::Null,
            "stop_details" => Json::Null,
            "stop_reason" => Json::Null,
            "stop_sequence" => Json::Null,
        };
        let event = obj! {
            "type" => "message_delta",
            "context_management" => Json::Null,
            "delta" => delta,
            "usage" => usage,
        };
        turn.event(self, &stream.id, event, Json::empty());
        let abandoned = obj! {
            "api_message_id" => &stream.id,
            "from_block_index" => stream.index + 1,
        };
        let stop = obj! { "type" => "message_stop" };
        turn.event(
            self,
            &stream.id,
            stop,
            obj! { "abandoned_blocks" => abandoned },
        );
    }

    /// The assistant line of a block comes before the event that ends the block.
    pub(crate) fn finish_block(
        &self,
        turn: &mut Turn,
        stream: &Stream<'_>,
        block: &Json,
        stop: Option<&str>,
    ) {
        turn.echo(self);
        self.print_assistant(turn, stream, block, stop, false);
        if stop.is_none() {
            let event = obj! { "type" => "content_block_stop", "index" => stream.index };
            turn.event(self, &stream.id, event, Json::empty());
        }
    }

    fn print_assistant(
        &self,
        turn: &mut Turn,
        stream: &Stream<'_>,
        block: &Json,
        stop: Option<&str>,
        aborted: bool,
    ) {
        turn.moments.first_block.get_or_insert(self.now());
        if self.is_kept_back(turn, block) {
            return;
        }
        self.print_progress_before(turn, block);
        let message = obj! {
            "id" => &stream.id,
            "type" => "message",
            "role" => "assistant",
            "model" => &stream.model,
            "content" => vec![block.clone()],
            "stop_reason" => stop,
            "stop_sequence" => Json::Null,
            "usage" => message_usage(),
            "context_management" => Json::Null,
        };
        let meta = self.tool_use_meta(block);
        let mut line = self
            .assistant_line(turn, &message)
            .with("request_id", &stream.request);
        if block.text("type") == Some("thinking") && self.is_325() && turn.is_main() {
            line.set("thinking_duration_ms", 0);
            line.set("thinking_display", "updates");
        }
        let line = line.with_some("tool_use_meta", meta);
        let line = if aborted && self.is_325() {
            line.with("aborted", true)
        } else {
            line
        };
        self.send_assistant(turn, line, message);
    }

    /// What a sub-agent in the foreground says and thinks is printed for a host alone that asked for it. Its calls always
    /// are, and so is everything of a sub-agent behind the conversation.
    fn is_kept_back(&self, turn: &Turn, block: &Json) -> bool {
        let in_front = turn.agent().is_some_and(|agent| !agent.behind);
        let is_call = block.text("type") == Some("tool_use");
        in_front && !is_call && !self.with(|state| state.agent_text)
    }

    /// An assistant line up to the fields that differ.
    pub(crate) fn assistant_line(&self, turn: &Turn, message: &Json) -> Json {
        let newer = self.is_325();
        let agent = turn.agent();
        obj! {
            "type" => "assistant",
            "message" => message,
            "parent_tool_use_id" => turn.parent(),
            "agent_id" if newer && agent.is_some() => agent.map(|agent| agent.agent_id.clone()),
            "session_id" => self.session_id(),
            "uuid" => self.uuid(),
            "timestamp" if newer => self.with(|state| state.timestamp()),
        }
    }

    /// Prints an assistant line and keeps it in the transcript.
    pub(crate) fn send_assistant(&self, turn: &mut Turn, line: Json, message: Json) {
        let uuid = line.text("uuid").unwrap_or_default().to_owned();
        let mut line = if self.is_325() && turn.is_main() {
            turn.name_messages(line)
        } else {
            line
        };
        turn.named = true;
        if let Some(agent) = turn.agent() {
            line.set("subagent_type", &agent.kind);
            line.set("task_description", &agent.description);
        }
        self.emit(&line);
        if turn.is_main() {
            self.record("assistant", &uuid, message);
        }
    }

    fn tool_use_meta(&self, block: &Json) -> Option<Vec<Json>> {
        let name = block.text("name")?;
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        let call = Call {
            id: block.text("id").unwrap_or_default().to_owned(),
            tool: name.to_owned(),
            input: Json::Null,
        };
        Some(vec![obj! {
            "id" => &call.id,
            "display_name" => call.display_name(),
            "server_display_name" => server,
            "tool_name" if self.is_325() => tool,
        }])
    }
}
