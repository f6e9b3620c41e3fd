//! From the CLI's lines to our own events: the one place where vendor shapes become ours.
//!
//! A [`Translator`] belongs to one run and folds its messages in order. It is pure: the same lines give the same
//! events, so a journal can be read again after a crash. It keeps only what later lines need: the open message of the
//! agent and of each sub-agent, the names of called tools, and the cost so far. It does not decide: states, decisions
//! and numbering belong to the conversation.

mod open;
mod outcome;

use std::collections::HashMap;

use estelle_claude::wire::system::TaskStatus;
use estelle_claude::wire::{
    Body, ContentBlock, Message, StreamEventMessage, SystemMessage, UserMessage,
};
use estelle_proto::events::{ClaudeEvent, Init, TextComplete, ToolComplete, ToolInfo};
use estelle_proto::limits::{LIVE_ERROR_CHARS, LIVE_RESULT_CHARS, cut};
use estelle_proto::runs::TaskUpdate;
use estelle_proto::{ClaudeSessionId, Generation, Json, ToolUseId};

use open::OpenMessages;
use outcome::Costs;

/// The name of a tool whose call was not seen.
const UNKNOWN_TOOL: &str = "Unknown";

/// Folds the messages of one run.
#[derive(Debug)]
pub struct Translator {
    generation: Generation,
    open: OpenMessages,
    /// Names of called tools by call, until they come back.
    tools: HashMap<String, String>,
    costs: Costs,
    /// The session, model and tools last announced.
    announced: Option<Init>,
}

impl Translator {
    /// For a run of this generation, at the beginning of its journal.
    pub fn new(generation: Generation) -> Self {
        Self {
            generation,
            open: OpenMessages::default(),
            tools: HashMap::new(),
            costs: Costs::default(),
            announced: None,
        }
    }

    /// The events of one line, in order.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the vendor's list is open and most of it makes no event"
    )]
    pub fn translate(&mut self, message: &Message) -> Vec<ClaudeEvent> {
        match &message.body {
            Body::StreamEvent(event) => self.streamed(event),
            Body::Assistant(answer) => {
                let parent = tool_use_id(answer.parent_tool_use_id.as_deref());
                self.blocks(&answer.message.content, parent.as_ref())
            }
            Body::User(user) => self.returned(user),
            Body::Result(result) => {
                self.open.clear();
                self.costs.outcome(result, self.generation)
            }
            Body::System(system) => self.system(system),
            _ => Vec::new(),
        }
    }

    fn streamed(&mut self, event: &StreamEventMessage) -> Vec<ClaudeEvent> {
        let parent = tool_use_id(event.parent_tool_use_id.as_deref());
        self.open.fold(&event.event, parent, self.generation)
    }

    fn blocks(&mut self, blocks: &[ContentBlock], parent: Option<&ToolUseId>) -> Vec<ClaudeEvent> {
        blocks
            .iter()
            .filter_map(|block| self.block(block, parent))
            .collect()
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "thinking and unknown blocks make no event"
    )]
    fn block(&mut self, block: &ContentBlock, parent: Option<&ToolUseId>) -> Option<ClaudeEvent> {
        match block {
            ContentBlock::Text(text) => Some(ClaudeEvent::TextComplete(TextComplete {
                parent_tool_use_id: parent.cloned(),
                ..TextComplete::new(text.text.clone())
            })),
            ContentBlock::ToolUse(call) => {
                self.called(&call.id, &call.name, call.input.as_str(), parent)
            }
            ContentBlock::ServerToolUse(call) => {
                self.called(&call.id, &call.name, call.input.as_str(), parent)
            }
            _ => None,
        }
    }

    fn called(
        &mut self,
        id: &str,
        name: &str,
        input: &str,
        parent: Option<&ToolUseId>,
    ) -> Option<ClaudeEvent> {
        self.tools.insert(id.to_owned(), name.to_owned());
        let input = Json::parse(input).ok()?;
        Some(ClaudeEvent::ToolInfo(ToolInfo {
            tool_use_id: tool_use_id(Some(id)),
            parent_tool_use_id: parent.cloned(),
            ..ToolInfo::new(name.to_owned(), input)
        }))
    }

    /// Tools that came back; what the user typed makes no event here, for it has one since it was sent.
    fn returned(&mut self, user: &UserMessage) -> Vec<ClaudeEvent> {
        let parent = tool_use_id(user.parent_tool_use_id.as_deref());
        let mut events = Vec::new();
        for block in user.message.content.blocks() {
            let ContentBlock::ToolResult(result) = block else {
                continue;
            };
            let name = self.tools.remove(&result.tool_use_id);
            let output = result
                .content
                .as_ref()
                .map(estelle_claude::wire::Content::text)
                .unwrap_or_default();
            let failed = result.is_error.unwrap_or_default();
            events.push(ClaudeEvent::ToolComplete(ToolComplete {
                error: failed.then(|| cut(&output, LIVE_ERROR_CHARS).to_owned()),
                tool_use_id: tool_use_id(Some(&result.tool_use_id)),
                parent_tool_use_id: parent.clone(),
                ..ToolComplete::new(
                    name.unwrap_or_else(|| UNKNOWN_TOOL.to_owned()),
                    !failed,
                    cut(&output, LIVE_RESULT_CHARS).to_owned(),
                )
            }));
        }
        events
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the vendor's list is open and most of it makes no event"
    )]
    fn system(&mut self, system: &SystemMessage) -> Vec<ClaudeEvent> {
        let event = match system {
            SystemMessage::Init(init) => self.announce(init),
            SystemMessage::TaskStarted(task) => Some(task_update(
                &task.task_id,
                "started",
                task.description.as_deref(),
                task.tool_use_id.as_deref(),
            )),
            SystemMessage::TaskProgress(task) => {
                let summary = task.summary.as_deref().or(task.description.as_deref());
                Some(task_update(
                    &task.task_id,
                    "running",
                    summary,
                    task.tool_use_id.as_deref(),
                ))
            }
            SystemMessage::TaskUpdated(task) if task.patch.status == Some(TaskStatus::Running) => {
                Some(task_update(&task.task_id, "running", None, None))
            }
            SystemMessage::TaskNotification(task) => Some(task_update(
                &task.task_id,
                task.status.as_str(),
                task.summary.as_deref(),
                task.tool_use_id.as_deref(),
            )),
            _ => None,
        };
        event.into_iter().collect()
    }

    /// The CLI repeats itself at every turn; what did not change is not said again.
    fn announce(&mut self, init: &estelle_claude::wire::system::Init) -> Option<ClaudeEvent> {
        let session = ClaudeSessionId::parse(&init.session_id).ok()?;
        let said = Init {
            generation: Some(self.generation),
            ..Init::new(
                session,
                init.model.clone().unwrap_or_default(),
                init.tools.clone().unwrap_or_default(),
            )
        };
        if self.announced.as_ref() == Some(&said) {
            return None;
        }
        self.announced = Some(said.clone());
        Some(ClaudeEvent::Init(said))
    }
}

fn task_update(id: &str, status: &str, summary: Option<&str>, call: Option<&str>) -> ClaudeEvent {
    ClaudeEvent::Task(TaskUpdate {
        summary: summary.map(str::to_owned),
        tool_use_id: tool_use_id(call),
        ..TaskUpdate::new(id.to_owned(), status.to_owned())
    })
}

/// An id that does not fit ours is left out: the event still says what happened.
fn tool_use_id(id: Option<&str>) -> Option<ToolUseId> {
    ToolUseId::parse(id?).ok()
}

#[cfg(test)]
#[path = "translate_tests.rs"]
mod tests;
