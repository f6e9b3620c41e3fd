//! From the CLI's lines to our own events: the one place where vendor shapes become ours.
//!
//! A [`Translator`] belongs to one run and folds its messages in order. It is pure: the same lines give the same
//! events and facts, so a journal can be read again after a crash. It keeps only what later lines need: the open message
//! of the agent and of each sub-agent, the names of called tools, the cost so far, the plan and the mode. It does not decide:
//! states, decisions and numbering belong to the conversation. [`lines`] is the other direction.

mod called;
mod control;
mod digest;
mod form;
pub mod lines;
mod open;
mod outcome;
mod plan;
mod remarks;
mod results;

use std::collections::BTreeMap;

use estelle_claude::wire::system::TaskStatus;
use estelle_claude::wire::{
    Body, ContentBlock, Message, PermissionMode as WireMode, StreamEventMessage, SystemMessage,
    UserMessage,
};
use estelle_proto::events::{ClaudeEvent, Init, TextComplete, ToolComplete, ToolInfo};
use estelle_proto::limits::{LIVE_ERROR_CHARS, LIVE_RESULT_CHARS, cut};
use estelle_proto::runs::TaskUpdate;
use estelle_proto::writing::{BlockKind, OpenBlock, ThinkingComplete};
use estelle_proto::{ClaudeSessionId, Generation, Json, ToolUseId};

use estelle_state::conversation::{
    Conversation, Durable, Message as UserPrompt, MessageId, Place, Seen,
};

use called::CalledTools;
pub use digest::digest_of_answer;
use open::OpenMessages;
use outcome::Costs;
use plan::Plan;
use results::Given;

/// Which way of reading a journal this is; it stands beside everything that was read.
pub const READER: u32 = 4;

/// What a line comes to.
#[derive(Debug, Default, PartialEq)]
pub struct Translation {
    /// Facts for the conversation.
    pub seen: Vec<Seen>,
    /// Events that are kept.
    pub durable: Vec<Durable>,
    /// Events that are only for those who look now.
    pub passing: Vec<ClaudeEvent>,
    /// Calls of the CLI's own tools that came back well, with the names of their tools.
    pub ran: Vec<(ToolUseId, String)>,
    /// What the running turn has cost so far, as an answer to the request of this id.
    pub cost: Option<(String, Option<f64>)>,
}

/// How the id of a request begins that asks for the cost. Its answer leaves nothing in the log.
pub const COST_REQUEST: &str = "cost-";

impl Translation {
    /// Whether the line leaves nothing in the log.
    pub fn is_passing(&self) -> bool {
        self.seen.is_empty() && self.durable.is_empty()
    }

    /// Whether the line only answers a request of ours: nobody did anything for it.
    pub fn is_reply(&self) -> bool {
        let is_response = |seen: &Seen| matches!(seen, Seen::Response { .. });
        let is_alone = self.durable.is_empty() && self.passing.is_empty();
        let is_cost = self.cost.is_some() && self.seen.is_empty();
        is_alone && is_cost
            || is_alone && !self.seen.is_empty() && self.seen.iter().all(is_response)
    }

    fn take(&mut self, events: Vec<ClaudeEvent>) {
        for event in events {
            if event.is_passing() {
                self.passing.push(event);
            } else {
                self.durable.push(event.into());
            }
        }
    }
}

/// The most of a tool's output that is kept; a line of the IPC holds it even when every character is escaped.
const KEPT_CHARS: usize = 1024 * 1024;

/// The name of a tool whose call was not seen.
const UNKNOWN_TOOL: &str = "Unknown";

/// Folds the messages of one run.
#[derive(Debug)]
pub struct Translator {
    generation: Generation,
    open: OpenMessages,
    /// Names of called tools by call, until they come back.
    tools: CalledTools,
    costs: Costs,
    plan: Plan,
    /// The session, model and tools last announced.
    announced: Option<Init>,
    /// The CLI's own permission mode.
    mode: Option<String>,
    /// Messages that the run was given and has not shown to have.
    given: BTreeMap<String, Echo>,
    /// The calls that began the sub-agents, by the CLI's ids of these.
    agents: BTreeMap<String, ToolUseId>,
    /// Whether the run tells what is being written as stream events; pieces outside of them would be the same text again.
    streams: bool,
}

/// Whether the CLI shows that it has a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Echo {
    Certain,
    /// 2.1.197 takes it for output of a command of its own and answers it without a word of having it.
    Doubtful,
}

/// How output of the CLI's own commands begins.
const LOCAL_COMMAND: &str = "<local-command-";

impl Translator {
    /// For a run of this generation, at the beginning of its journal.
    pub fn new(generation: Generation) -> Self {
        Self {
            generation,
            open: OpenMessages::default(),
            tools: CalledTools::default(),
            costs: Costs::default(),
            plan: Plan::default(),
            announced: None,
            mode: None,
            given: BTreeMap::new(),
            agents: BTreeMap::new(),
            streams: false,
        }
    }

    /// For a run that a conversation knows already: with what its earlier lines said.
    pub fn resume(generation: Generation, conversation: &Conversation) -> Self {
        let mut tools = CalledTools::default();
        for (id, name) in conversation.tools() {
            tools.add(id.as_str(), name);
        }
        let mut translator = Self {
            tools,
            costs: conversation.run().map(Costs::of).unwrap_or_default(),
            announced: conversation.init().cloned(),
            agents: begun(conversation),
            ..Self::new(generation)
        };
        let handed = conversation.messages().iter();
        let handed = handed.filter(|one| one.place == Place::Handed(generation));
        handed.for_each(|one| translator.give(&one.message));
        translator
    }

    /// A message is on its way to the run.
    pub fn give(&mut self, message: &UserPrompt) {
        if self.given.contains_key(&message.id.0) {
            return;
        }
        let is_doubtful = message.content.trim_start().starts_with(LOCAL_COMMAND);
        let echo = if is_doubtful {
            Echo::Doubtful
        } else {
            Echo::Certain
        };
        self.given.insert(message.id.0.clone(), echo);
    }

    /// A turn is over: whatever of the messages would not have been echoed counts as taken into it.
    fn take_silent(&mut self) -> Vec<Seen> {
        let silent: Vec<String> = self
            .given
            .iter()
            .filter(|(_, echo)| **echo == Echo::Doubtful)
            .map(|(id, _)| id.clone())
            .collect();
        let taken = silent.into_iter().map(|id| {
            self.given.remove(&id);
            Seen::Taken {
                message: MessageId(id),
            }
        });
        taken.collect()
    }

    /// Where the oldest message begins that is still being written.
    pub fn open_from(&self) -> Option<u64> {
        self.open.from()
    }

    /// The text that is being written by the agent itself.
    pub fn partial_text(&self) -> String {
        self.open.text()
    }

    /// All that is being written, by the agent and its sub-agents.
    pub fn open_blocks(&self) -> Vec<OpenBlock> {
        self.open.blocks(self.generation)
    }

    /// What a line that begins at `from` comes to.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the vendor's list is open and most of it makes no event"
    )]
    pub fn translate(&mut self, message: &Message, from: u64) -> Translation {
        let mut found = Translation::default();
        match &message.body {
            Body::StreamEvent(event) => {
                self.streams = true;
                found.take(self.streamed(event, from));
            }
            Body::Assistant(answer) => {
                self.plan.answered(answer);
                let parent = tool_use_id(answer.parent_tool_use_id.as_deref());
                self.blocks(&answer.message.content, parent.as_ref(), &mut found);
            }
            Body::User(user) => self.returned(user, &mut found),
            Body::UserReplay(user) => {
                self.returned(user, &mut found);
                let echoed = control::echoed(user, |id| self.given.contains_key(id));
                if let Some(Seen::Taken { message }) = &echoed {
                    self.given.remove(&message.0);
                }
                found.seen.extend(echoed);
            }
            Body::Result(result) => {
                self.open.clear();
                found.seen.extend(self.take_silent());
                found.seen.push(outcome::ended(result));
                if outcome::is_resume_failure(result) {
                    found.seen.push(Seen::ResumeFailed);
                }
                let why = self.plan.why(result);
                found.take(self.costs.outcome(result, self.generation, why));
            }
            Body::System(system) => self.system(system, &mut found),
            Body::RateLimitEvent(event) => {
                let told = self.plan.limits(&event.rate_limit_info);
                found.take(told.into_iter().collect());
            }
            Body::CommandLifecycle(life) => {
                let is_given = self.given.contains_key(&life.command_uuid);
                let told = control::lifecycle(&life.command_uuid, &life.state, is_given);
                if told.is_some() {
                    self.given.remove(&life.command_uuid);
                } else if let Some(echo) = self.given.get_mut(&life.command_uuid) {
                    // This version tells of every message.
                    *echo = Echo::Certain;
                }
                found.seen.extend(told);
            }
            Body::ControlRequest(request) => {
                let asked = control::asked(request, message.raw(), &self.agents);
                found.seen.push(asked);
            }
            Body::ControlResponse(response) => match control::usage(response) {
                Some((request, usage)) => {
                    let cost = usage.map(|usage| self.costs.so_far(&usage));
                    found.cost = Some((request, cost));
                }
                None => found.seen.extend(control::responded(response)),
            },
            Body::ControlCancelRequest(cancel) => found.seen.push(Seen::Withdrew {
                request_id: cancel.request_id.clone(),
            }),
            Body::Unknown(unknown) => {
                let told = remarks::foreign(unknown);
                let is_again = self.streams && matches!(told, Some(ClaudeEvent::Text(_)));
                found.take(told.filter(|_| !is_again).into_iter().collect());
            }
            _ => {}
        }
        found
    }

    fn streamed(&mut self, event: &StreamEventMessage, from: u64) -> Vec<ClaudeEvent> {
        let parent = tool_use_id(event.parent_tool_use_id.as_deref());
        self.open.fold(&event.event, parent, self.generation, from)
    }

    fn blocks(
        &mut self,
        blocks: &[ContentBlock],
        parent: Option<&ToolUseId>,
        found: &mut Translation,
    ) {
        for block in blocks {
            match results::served(block) {
                Some(done) => {
                    let done = self.complete(done.id, done.failed, done.output, parent);
                    found.durable.push(done);
                }
                None => found.take(self.block(block, parent).into_iter().collect()),
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "hidden thinking and unknown blocks make no event"
    )]
    fn block(&mut self, block: &ContentBlock, parent: Option<&ToolUseId>) -> Option<ClaudeEvent> {
        match block {
            ContentBlock::Text(text) => {
                self.open.complete(&BlockKind::Text, parent);
                Some(ClaudeEvent::TextComplete(TextComplete {
                    parent_tool_use_id: parent.cloned(),
                    ..TextComplete::new(text.text.clone())
                }))
            }
            ContentBlock::Thinking(thought) => {
                self.open.complete(&BlockKind::Thinking, parent);
                // Models that keep their thoughts to themselves send the signature alone.
                let is_told = !thought.thinking.trim().is_empty();
                is_told.then(|| {
                    ClaudeEvent::ThinkingComplete(ThinkingComplete {
                        parent_tool_use_id: parent.cloned(),
                        ..ThinkingComplete::new(thought.thinking.clone())
                    })
                })
            }
            ContentBlock::ToolUse(call) => {
                self.called(&call.id, &call.name, call.input.as_str(), parent)
            }
            ContentBlock::ServerToolUse(call) => {
                self.called(&call.id, &call.name, call.input.as_str(), parent)
            }
            ContentBlock::McpToolUse(call) => {
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
        self.tools.add(id, name);
        let input = Json::parse(input).ok()?;
        Some(ClaudeEvent::ToolInfo(ToolInfo {
            tool_use_id: tool_use_id(Some(id)),
            parent_tool_use_id: parent.cloned(),
            ..ToolInfo::new(name.to_owned(), input)
        }))
    }

    /// Tools that came back; what the user typed makes no event here, for it has one since it was sent.
    fn returned(&mut self, user: &UserMessage, found: &mut Translation) {
        let parent = tool_use_id(user.parent_tool_use_id.as_deref());
        for block in user.message.content.blocks() {
            let ContentBlock::ToolResult(result) = block else {
                continue;
            };
            let output = result.content.as_ref().map(Given::by);
            let failed = result.is_error.unwrap_or_default();
            let id = result.tool_use_id.as_str();
            let done = self.complete(id, failed, output.unwrap_or_default(), parent.as_ref());
            if let ClaudeEvent::ToolComplete(tool) = &done.event
                && let Some(id) = tool.tool_use_id.clone().filter(|_| tool.success)
            {
                found.ran.push((id, tool.tool_name.clone()));
            }
            found.durable.push(done);
        }
    }

    fn complete(
        &mut self,
        id: &str,
        failed: bool,
        given: Given,
        parent: Option<&ToolUseId>,
    ) -> Durable {
        let name = self.tools.take(id);
        let output = given.words.as_str();
        let (shown, images): (Vec<_>, Vec<_>) = given.images.into_iter().unzip();
        let head = cut(output, LIVE_RESULT_CHARS);
        let event = ClaudeEvent::ToolComplete(ToolComplete {
            truncated: (head.len() < output.len()).then_some(true),
            error: failed.then(|| cut(output, LIVE_ERROR_CHARS).to_owned()),
            tool_use_id: tool_use_id(Some(id)),
            parent_tool_use_id: parent.cloned(),
            images: (!shown.is_empty()).then_some(shown),
            ..ToolComplete::new(
                name.unwrap_or_else(|| UNKNOWN_TOOL.to_owned()),
                !failed,
                head.to_owned(),
            )
        });
        let shown = if failed {
            LIVE_ERROR_CHARS
        } else {
            LIVE_RESULT_CHARS
        };
        let is_cut = cut(output, shown).len() < output.len();
        let full = is_cut.then(|| cut(output, KEPT_CHARS).to_owned());
        Durable {
            event,
            full,
            images,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the vendor's list is open and most of it makes no event"
    )]
    fn system(&mut self, system: &SystemMessage, found: &mut Translation) {
        let event = match system {
            SystemMessage::Init(init) => {
                if let Ok(session) = ClaudeSessionId::parse(&init.session_id) {
                    found.seen.push(Seen::TurnBegan { session });
                }
                let mode = init.permission_mode.as_ref();
                found.seen.extend(self.mode_is(mode.map(WireMode::as_str)));
                self.announce(init)
            }
            SystemMessage::Status(status) => {
                let mode = status.permission_mode.as_ref();
                found.seen.extend(self.mode_is(mode.map(WireMode::as_str)));
                None
            }
            SystemMessage::ApiRetry(retry) => Some(plan::retry(retry)),
            SystemMessage::TaskStarted(task) => {
                if let Some(call) = tool_use_id(task.tool_use_id.as_deref()) {
                    self.agents.insert(task.task_id.clone(), call);
                }
                Some(task_update(
                    &task.task_id,
                    "started",
                    task.description.as_deref(),
                    task.tool_use_id.as_deref(),
                ))
            }
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
            SystemMessage::TaskNotification(task) => {
                self.agents.remove(&task.task_id);
                Some(task_update(
                    &task.task_id,
                    task.status.as_str(),
                    task.summary.as_deref(),
                    task.tool_use_id.as_deref(),
                ))
            }
            _ => remarks::remark(system),
        };
        found.take(event.into_iter().collect());
    }

    /// The CLI names its mode at every turn; only a change says something.
    fn mode_is(&mut self, mode: Option<&str>) -> Option<Seen> {
        let mode = mode?;
        if self.mode.as_deref() == Some(mode) {
            return None;
        }
        self.mode = Some(mode.to_owned());
        Some(Seen::Mode {
            mode: mode.to_owned(),
        })
    }

    /// The CLI repeats itself at every turn; what did not change is not said again.
    fn announce(&mut self, init: &estelle_claude::wire::system::Init) -> Option<ClaudeEvent> {
        let session = ClaudeSessionId::parse(&init.session_id).ok()?;
        let said = Init {
            generation: Some(self.generation),
            slash_commands: init.slash_commands.clone(),
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

/// The calls that began what goes on in the background.
fn begun(conversation: &Conversation) -> BTreeMap<String, ToolUseId> {
    let tasks = conversation.tasks().iter();
    let begun = tasks.filter_map(|(task, call)| Some((task.clone(), call.clone()?)));
    begun.collect()
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
