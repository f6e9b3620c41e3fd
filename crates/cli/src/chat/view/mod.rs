//! The conversation as pieces: a pure fold over the CLI's messages.
//!
//! Owns what has to be remembered between messages to show the next one: the text that was already streamed, the
//! names and depths of running tools, the tasks in the background, model, mode and session. It does no IO and asks
//! nobody; questions are in [`super::ask`].

mod diff;
mod notice;
mod outcome;
pub(crate) mod tool;

use std::collections::{BTreeMap, HashMap};
use std::mem;

use estelle_claude::wire::content::ToolResultBlock;
use estelle_claude::wire::question::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use estelle_claude::wire::stream::StreamEvent;
use estelle_claude::wire::{
    AssistantError, AssistantMessage, Body, Content, ContentBlock, Json, ResultMessage,
    StreamEventMessage, UserMessage,
};

use super::clean;
use super::piece::{Piece, Tone};

/// What one level of sub-agents is indented by.
const RAIL: &str = "│ ";
/// What stands before the result of a tool.
const RESULT_INDENT: &str = "  ";

/// What the CLI said about the session.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The id to resume it with.
    pub(crate) session_id: Option<String>,
    /// The model that answers.
    pub(crate) model: Option<String>,
    /// When the CLI asks.
    pub(crate) mode: Option<String>,
}

/// The fold.
#[derive(Debug, Default)]
pub(crate) struct View {
    width: usize,
    facts: Facts,
    /// The text of the current block, as far as it was streamed.
    streamed: String,
    /// What came from elsewhere while the text was being streamed; it follows when the text is complete.
    deferred: Vec<Piece>,
    /// The input of the call that was shown last, if it was shown whole and nothing since.
    last_call: Option<Json>,
    tools: HashMap<String, Tool>,
    tasks: BTreeMap<String, String>,
    turn: Turn,
    cost: f64,
}

/// A tool call that was shown.
#[derive(Debug, Clone)]
struct Tool {
    name: String,
    depth: usize,
    /// Whether it was started to run on by itself.
    in_background: bool,
}

/// What is known about the running turn.
#[derive(Debug, Default)]
struct Turn {
    /// A message was sent or the CLI began by itself, and no result has come since.
    open: bool,
    /// A message was sent that no turn has begun for; it may be queued behind this one.
    expected: bool,
    /// The answer has text.
    answered: bool,
    /// What the answer was marked with.
    error: Option<AssistantError>,
}

impl View {
    /// A view for lines of this many characters.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    /// What the CLI said about the session.
    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether a turn runs.
    pub(crate) const fn is_busy(&self) -> bool {
        self.turn.open
    }

    /// What runs in the background, by task id.
    pub(crate) const fn tasks(&self) -> &BTreeMap<String, String> {
        &self.tasks
    }

    /// The permission mode was changed by us.
    pub(crate) fn set_mode(&mut self, mode: String) {
        self.facts.mode = Some(mode);
    }

    /// A message goes to the CLI.
    pub(crate) fn sent(&mut self) {
        self.turn.open = true;
        self.turn.expected = true;
    }

    /// Whether a call with this input is the last thing that was shown, and whole.
    pub(crate) fn just_showed(&self, input: &Json) -> bool {
        self.last_call.as_ref() == Some(input)
    }

    /// Something was shown that does not come from a message.
    pub(crate) fn interposed(&mut self) {
        self.last_call = None;
    }

    /// What to show for a message.
    pub(crate) fn show(&mut self, body: &Body) -> Vec<Piece> {
        let last_call = self.last_call.take();
        let was_streaming = !self.streamed.is_empty();
        let pieces = self.fold(body);
        let is_visible = |piece: &Piece| !matches!(piece, Piece::Status(_));
        if self.last_call.is_none() && !pieces.iter().any(is_visible) {
            self.last_call = last_call;
        }
        match (was_streaming, self.streamed.is_empty()) {
            // Only the text itself may be shown while it is being written.
            (true, false) if !matches!(body, Body::StreamEvent(_)) => {
                self.deferred.extend(pieces.into_iter().filter(is_visible));
                Vec::new()
            }
            (true, true) if !self.deferred.is_empty() => pieces
                .into_iter()
                .chain([Piece::Gap])
                .chain(mem::take(&mut self.deferred))
                .collect(),
            _ => pieces,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "most kinds of messages are not for people"
    )]
    fn fold(&mut self, body: &Body) -> Vec<Piece> {
        match body {
            Body::StreamEvent(event) => self.on_stream(event),
            Body::Assistant(message) => self.on_assistant(message),
            Body::User(message) => self.on_user(message),
            Body::Result(result) => self.on_result(result),
            Body::System(system) => self.on_system(system),
            other => notice::other(other),
        }
    }

    fn on_stream(&mut self, message: &StreamEventMessage) -> Vec<Piece> {
        // Sub-agents work at the same time; their texts are shown when they are complete.
        if message.parent_tool_use_id.is_some() {
            return Vec::new();
        }
        if let Some(text) = message.text_delta() {
            let mut pieces = Vec::new();
            if self.streamed.is_empty() {
                pieces.push(Piece::Gap);
            }
            self.streamed.push_str(text);
            pieces.push(Piece::flow(text));
            return pieces;
        }
        let StreamEvent::ContentBlockStart(start) = &message.event else {
            return Vec::new();
        };
        let interrupted = !mem::take(&mut self.streamed).is_empty();
        let mut pieces = if interrupted {
            vec![Piece::Gap]
        } else {
            Vec::new()
        };
        if let ContentBlock::ToolUse(call) = &start.content_block {
            pieces.push(Piece::status(format!("… preparing {}", call.name)));
        } else if let ContentBlock::Thinking(_) = &start.content_block {
            pieces.push(Piece::status("… thinking"));
        }
        pieces
    }

    fn on_assistant(&mut self, message: &AssistantMessage) -> Vec<Piece> {
        let depth = self.depth(message.parent_tool_use_id.as_deref());
        if depth == 0 {
            self.turn.error.clone_from(&message.error);
            if message.error.is_some() {
                // The result says it again, with what to do about it.
                return Vec::new();
            }
        }
        let blocks = message.message.content.iter();
        blocks
            .flat_map(|block| self.on_block(block, depth))
            .collect()
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "blocks of the API's own tools are shown by their calls"
    )]
    fn on_block(&mut self, block: &ContentBlock, depth: usize) -> Vec<Piece> {
        match block {
            ContentBlock::Text(block) if depth == 0 => self.main_text(&block.text),
            ContentBlock::Text(block) => {
                let lines = block.text.trim().lines();
                lines
                    .map(|line| Piece::line(Tone::Plain, line).indented(&RAIL.repeat(depth)))
                    .collect()
            }
            ContentBlock::Thinking(block) => self.thought(&block.thinking, depth),
            ContentBlock::ToolUse(call) => self.tool_call(&call.id, &call.name, &call.input, depth),
            ContentBlock::ServerToolUse(call) => {
                self.tool_call(&call.id, &call.name, &call.input, depth)
            }
            ContentBlock::McpToolUse(call) => {
                self.tool_call(&call.id, &call.name, &call.input, depth)
            }
            _ => Vec::new(),
        }
    }

    /// The text of the answer, or what of it was not streamed.
    fn main_text(&mut self, text: &str) -> Vec<Piece> {
        self.turn.answered = true;
        let streamed = mem::take(&mut self.streamed);
        match text.strip_prefix(streamed.as_str()) {
            Some(rest) if !streamed.is_empty() => vec![Piece::flow(rest)],
            _ => vec![Piece::Gap, Piece::flow(text)],
        }
    }

    /// One line for all the thinking.
    fn thought(&self, thinking: &str, depth: usize) -> Vec<Piece> {
        let Some(first) = thinking.lines().find(|line| !line.trim().is_empty()) else {
            return Vec::new();
        };
        let words = thinking.split_whitespace().count();
        let suffix = format!(" ({})", tool::count(words, "word"));
        let rail = RAIL.repeat(depth);
        let room = self
            .width
            .saturating_sub(rail.chars().count() + suffix.chars().count() + 2);
        let line = format!("∴ {}{suffix}", clean::clip(first.trim(), room));
        vec![Piece::Gap, Piece::line(Tone::Dim, line).indented(&rail)]
    }

    fn tool_call(&mut self, id: &str, name: &str, input: &Json, depth: usize) -> Vec<Piece> {
        let known = Tool {
            name: name.to_owned(),
            depth,
            in_background: input
                .get("run_in_background")
                .is_some_and(|flag| flag.as_str() == "true"),
        };
        self.tools.insert(id.to_owned(), known);
        // It is shown as the question it is.
        if depth == 0 && name == ASK_USER_QUESTION {
            return Vec::new();
        }
        let rail = RAIL.repeat(depth);
        let call = tool::call(name, input);
        let (name, most) = match name {
            EXIT_PLAN_MODE => ("Plan", usize::MAX),
            other => (other, tool::CALL_LINES),
        };
        let headline = if call.headline.is_empty() {
            String::new()
        } else {
            format!("  {}", call.headline)
        };
        let head = Piece::spans([
            (Tone::Good, "● "),
            (Tone::Strong, name),
            (Tone::Plain, &headline),
        ]);
        let (body, missing) = tool::cut(call.body, most);
        let mut pieces = if depth == 0 {
            vec![Piece::Gap]
        } else {
            Vec::new()
        };
        pieces.push(head.indented(&rail));
        let inner = format!("{rail}{RESULT_INDENT}");
        pieces.extend(body.into_iter().map(|piece| piece.indented(&inner)));
        if missing > 0 {
            let note = tool::more(missing);
            pieces.push(Piece::line(Tone::Dim, note).indented(&inner));
        }
        pieces.push(Piece::status(format!("… {name} is running")));
        self.last_call = (missing == 0).then(|| input.clone());
        pieces
    }

    fn on_user(&mut self, message: &UserMessage) -> Vec<Piece> {
        let results = message
            .message
            .content
            .blocks()
            .iter()
            .filter_map(ContentBlock::as_tool_result);
        results
            .flat_map(|result| self.tool_result(result))
            .collect()
    }

    fn tool_result(&self, block: &ToolResultBlock) -> Vec<Piece> {
        let (name, depth) = match self.tools.get(&block.tool_use_id) {
            Some(tool) => (tool.name.as_str(), tool.depth),
            None => ("", 0),
        };
        let failed = block.is_error == Some(true);
        let text = match &block.content {
            // What follows the first block is written for the model.
            Some(Content::Blocks(blocks)) if matches!(name, "Agent" | "Task") => {
                let first = blocks
                    .iter()
                    .find_map(ContentBlock::as_text)
                    .unwrap_or_default();
                if first.starts_with("Async agent launched") {
                    "runs in the background"
                } else {
                    first
                }
                .to_owned()
            }
            Some(content) => content.text(),
            None => String::new(),
        };
        let inner = format!("{}{RESULT_INDENT}", RAIL.repeat(depth));
        let pieces = tool::result(name, &text, failed).into_iter();
        pieces.map(|piece| piece.indented(&inner)).collect()
    }

    fn on_result(&mut self, result: &ResultMessage) -> Vec<Piece> {
        let turn = mem::take(&mut self.turn);
        self.turn.expected = turn.expected;
        self.streamed.clear();
        let mut pieces = Vec::new();
        let text = result.text();
        if !turn.answered && !result.is_error() && !text.trim().is_empty() {
            pieces.extend([Piece::Gap, Piece::flow(&text)]);
        }
        let context = outcome::Context {
            model: self.facts.model.as_deref(),
            cost_before: self.cost,
            error: turn.error.as_ref(),
        };
        pieces.extend(outcome::lines(result, &context));
        self.cost = result.total_cost_usd().unwrap_or(self.cost);
        pieces
    }

    fn depth(&self, parent: Option<&str>) -> usize {
        let Some(parent) = parent else {
            return 0;
        };
        self.tools.get(parent).map_or(1, |tool| tool.depth + 1)
    }
}

pub(crate) use notice::unreadable;
pub(crate) use outcome::was_interrupted;

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
