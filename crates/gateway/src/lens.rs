//! What a client of a session sees of what happens in it: a pure fold from events to messages.
//!
//! Text of the agent becomes `output`, once: pieces are shown as they come, and what was shown in pieces is not shown
//! again when it is complete. Remarks that people can read get `[System]` before them; failures become `error`, decisions
//! `permission_request`. Results, echoes of the user and everything else never reach a client. Text of a sub-agent goes
//! by its name.

use std::collections::BTreeMap;

use estelle_proto::events::{ClaudeEvent, ErrorEvent, TextComplete, TextDelta, ToolInfo};
use estelle_proto::ipc::ServerShutdown;
use estelle_proto::runs::PauseReason;
use estelle_proto::writing::{BlockKind, OpenBlock};
use estelle_proto::{
    ClientMessageId, ConversationId, DeviceId, Generation, HistoryMessage, Json,
    PermissionDecision, Role, ToolUseId,
};
use serde::{Deserialize, Serialize};

use crate::shape::{Permission, QUESTION, SessionState, questions};

/// What goes down to a client.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Down {
    /// Something said. Until it is `final` it is provisional: a client that comes back drops it and is told anew.
    Output {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sub_agent: Option<SubAgent>,
        #[serde(rename = "final")]
        is_final: bool,
        /// It is the whole, and what was provisional before it is void: the text turned out to be another one.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replaces: bool,
    },
    PermissionRequest {
        permission: Permission,
    },
    /// A permission no longer waits.
    PermissionResolved {
        request_id: ToolUseId,
        #[serde(skip_serializing_if = "Option::is_none")]
        decision: Option<PermissionDecision>,
        /// The device whose answer counts; absent when nobody answered, or a rule did.
        #[serde(skip_serializing_if = "Option::is_none")]
        answered_by: Option<DeviceId>,
    },
    StatusChange {
        status: SessionState,
    },
    Error {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// Which message of the client it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        about: Option<String>,
    },
    #[serde(rename_all = "camelCase")]
    ProcessPaused {
        session_id: ConversationId,
        reason: PauseReason,
        idle_minutes: u64,
        can_resume: bool,
    },
    #[serde(rename_all = "camelCase")]
    ProcessResumed {
        session_id: ConversationId,
        resumed_with_history: bool,
    },
    #[serde(rename_all = "camelCase")]
    ServerShutdown {
        reason: String,
        grace_period_seconds: u64,
    },
    /// The process will be stopped soon, because nothing happens.
    #[serde(rename_all = "camelCase")]
    IdleWarning {
        session_id: ConversationId,
        seconds_left: u64,
    },
    /// All that was missed and all that waits was told; what follows is live. A decision that was told before and not
    /// again waits no longer.
    CaughtUp {},
    /// What the client said is in the log and will run once.
    Accepted {
        client_message_id: ClientMessageId,
    },
}

impl Down {
    /// What is asked, if something is.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "nothing else asks for anything"
    )]
    pub(crate) fn into_permission(self) -> Option<Permission> {
        match self {
            Self::PermissionRequest { permission } => Some(permission),
            _ => None,
        }
    }
}

impl From<ServerShutdown> for Down {
    fn from(notice: ServerShutdown) -> Self {
        Self::ServerShutdown {
            reason: notice.reason,
            grace_period_seconds: notice.grace_period_seconds,
        }
    }
}

/// Something that a sub-agent said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SubAgent {
    name: String,
    output: String,
}

/// A sub-agent whose call was not seen.
const NAMELESS: &str = "sub-agent";

/// Whether what was said may still be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Provisional,
    Final,
    /// Final, and in the place of what was shown of it.
    Whole,
}

/// A block of text that is being written, as far as the client has it.
#[derive(Debug)]
struct Open {
    parent: Option<ToolUseId>,
    generation: Option<Generation>,
    block: Option<u64>,
    shown: String,
}

/// One client's view of a session.
#[derive(Debug)]
pub(crate) struct Lens {
    session: ConversationId,
    /// Oldest first: blocks complete in order.
    open: Vec<Open>,
    names: BTreeMap<ToolUseId, String>,
}

impl Lens {
    pub(crate) fn new(session: ConversationId) -> Self {
        Self {
            session,
            open: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// Something happens.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not named here never reaches a client"
    )]
    pub(crate) fn event(&mut self, event: &ClaudeEvent) -> Option<Down> {
        match event {
            ClaudeEvent::Text(piece) => self.piece(piece),
            ClaudeEvent::TextComplete(text) => Some(self.complete(text)),
            ClaudeEvent::ToolInfo(call) => {
                self.learn(call);
                None
            }
            ClaudeEvent::Task(task) => {
                let summary = task.summary.as_deref().filter(|text| !text.is_empty());
                summary.map(remark)
            }
            ClaudeEvent::Remark(said) => Some(remark(&said.text)),
            ClaudeEvent::SessionReset(_) => Some(remark("a new session begins")),
            ClaudeEvent::Error(error) => Some(failure(error)),
            ClaudeEvent::PermissionAsked(asked) => Some(Down::PermissionRequest {
                permission: Permission {
                    request_id: asked.tool_use_id.clone(),
                    action: asked.tool_name.clone(),
                    details: asked.tool_input.clone(),
                    input_hash: asked.input_hash.clone(),
                    reason: asked.reason.clone(),
                },
            }),
            ClaudeEvent::QuestionAsked(asked) => Some(Down::PermissionRequest {
                permission: Permission {
                    request_id: asked.tool_use_id.clone(),
                    action: QUESTION.to_owned(),
                    details: questions(&asked.questions),
                    input_hash: asked.input_hash.clone(),
                    reason: None,
                },
            }),
            ClaudeEvent::DecisionAnswered(answered) => Some(Down::PermissionResolved {
                request_id: answered.tool_use_id.clone(),
                decision: answered.decision.clone(),
                answered_by: answered.device_id,
            }),
            _ => self.lifecycle(event),
        }
    }

    /// What becomes of the process and of what it was writing.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not named here never reaches a client"
    )]
    fn lifecycle(&mut self, event: &ClaudeEvent) -> Option<Down> {
        match event {
            ClaudeEvent::Paused(paused) => {
                self.open.clear();
                Some(Down::ProcessPaused {
                    session_id: self.session.clone(),
                    reason: paused.reason.clone(),
                    idle_minutes: paused.idle_minutes,
                    can_resume: paused.can_resume,
                })
            }
            ClaudeEvent::Resumed(resumed) => Some(Down::ProcessResumed {
                session_id: self.session.clone(),
                resumed_with_history: resumed.resumed_with_history,
            }),
            ClaudeEvent::IdleWarning(warning) => Some(Down::IdleWarning {
                session_id: self.session.clone(),
                seconds_left: warning.seconds_left,
            }),
            ClaudeEvent::Result(_) | ClaudeEvent::Aborted(_) => {
                self.open.clear();
                None
            }
            _ => None,
        }
    }

    /// What is being written, for a client that begins to look or that missed pieces.
    pub(crate) fn catch_up(&mut self, blocks: &[OpenBlock]) -> Vec<Down> {
        let texts = blocks.iter().filter(|block| block.kind == BlockKind::Text);
        let mut told = Vec::new();
        let mut now = Vec::new();
        for block in texts {
            let known = self.open.iter().position(|open| {
                open.parent == block.parent_tool_use_id
                    && open.generation == Some(block.generation)
                    && open.block == Some(block.block)
            });
            let shown = known.map(|index| self.open.remove(index).shown);
            let news = match &shown {
                None => Some(block.content.as_str()),
                Some(shown) => block.content.strip_prefix(shown.as_str()),
            };
            if let Some(news) = news.filter(|news| !news.is_empty()) {
                told.push(self.output(
                    news.to_owned(),
                    block.parent_tool_use_id.as_ref(),
                    Standing::Provisional,
                ));
            }
            now.push(Open {
                parent: block.parent_tool_use_id.clone(),
                generation: Some(block.generation),
                block: Some(block.block),
                // What cannot be continued is told whole when it is complete.
                shown: if news.is_some() {
                    block.content.clone()
                } else {
                    shown.unwrap_or_default()
                },
            });
        }
        self.open = now;
        told
    }

    /// An entry of history, for a client that comes back.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not named here never reaches a client"
    )]
    pub(crate) fn replay(&mut self, entry: &HistoryMessage) -> Option<Down> {
        match entry {
            HistoryMessage::Text(text) if text.role == Role::Assistant => {
                let parent = text.parent_tool_use_id.as_ref();
                Some(self.output(text.content.clone(), parent, Standing::Final))
            }
            HistoryMessage::Error(error) => Some(failure(&ErrorEvent::new(error.content.clone()))),
            HistoryMessage::System(text) => Some(remark(&text.content)),
            HistoryMessage::ToolStart(_) => {
                self.recall(entry);
                None
            }
            _ => None,
        }
    }

    /// Remembers who works for whom, from an entry that the client has already.
    pub(crate) fn recall(&mut self, entry: &HistoryMessage) {
        if let HistoryMessage::ToolStart(start) = entry
            && let Some(id) = &start.tool_use_id
        {
            self.name(&start.tool_name, id, &start.tool_input);
        }
    }

    fn learn(&mut self, call: &ToolInfo) {
        if let Some(id) = &call.tool_use_id {
            self.name(&call.tool_name, id, &call.input);
        }
    }

    fn name(&mut self, tool: &str, id: &ToolUseId, input: &Json) {
        #[derive(Deserialize)]
        struct Task {
            subagent_type: Option<String>,
            description: Option<String>,
        }
        if !matches!(tool, "Task" | "Agent") {
            return;
        }
        let task = input.decode::<Task>().ok();
        let name = task.and_then(|task| task.subagent_type.or(task.description));
        let name = name.unwrap_or_else(|| NAMELESS.to_owned());
        self.names.insert(id.clone(), name);
    }

    fn piece(&mut self, piece: &TextDelta) -> Option<Down> {
        let parent = piece.parent_tool_use_id.as_ref();
        let known = self.open.iter_mut().find(|open| {
            open.parent.as_ref() == parent
                && open.generation == piece.generation
                && open.block == piece.block
        });
        match known {
            None if piece.at.is_none_or(|at| at == 0) => {
                self.open.push(Open {
                    parent: parent.cloned(),
                    generation: piece.generation,
                    block: piece.block,
                    shown: piece.content.clone(),
                });
            }
            Some(open) if piece.at.is_none_or(|at| at == length(&open.shown)) => {
                open.shown.push_str(&piece.content);
            }
            // Known already, or something is missing before it: the whole comes anyway.
            None | Some(_) => return None,
        }
        Some(self.output(piece.content.clone(), parent, Standing::Provisional))
    }

    fn complete(&mut self, text: &TextComplete) -> Down {
        let parent = text.parent_tool_use_id.as_ref();
        let mut open = self.open.iter();
        let done = open.position(|open| open.parent.as_ref() == parent);
        let shown = done.map(|index| self.open.remove(index).shown);
        let Some(shown) = shown else {
            return self.output(text.text.clone(), parent, Standing::Final);
        };
        match text.text.strip_prefix(shown.as_str()) {
            Some(rest) => self.output(rest.to_owned(), parent, Standing::Final),
            None => self.output(text.text.clone(), parent, Standing::Whole),
        }
    }

    fn output(&self, text: String, parent: Option<&ToolUseId>, standing: Standing) -> Down {
        let (is_final, replaces) = match standing {
            Standing::Provisional => (false, false),
            Standing::Final => (true, false),
            Standing::Whole => (true, true),
        };
        let Some(parent) = parent else {
            return Down::Output {
                content: Some(text),
                sub_agent: None,
                is_final,
                replaces,
            };
        };
        let name = self.names.get(parent).map_or(NAMELESS, String::as_str);
        Down::Output {
            content: None,
            sub_agent: Some(SubAgent {
                name: name.to_owned(),
                output: text,
            }),
            is_final,
            replaces,
        }
    }
}

fn remark(text: &str) -> Down {
    Down::Output {
        content: Some(format!("[System] {text}")),
        sub_agent: None,
        is_final: true,
        replaces: false,
    }
}

fn failure(error: &ErrorEvent) -> Down {
    Down::Error {
        content: error.error.clone(),
        code: error
            .error_code
            .as_ref()
            .map(|code| code.as_str().to_owned()),
        exit_code: error.exit_code,
        about: None,
    }
}

/// How long a text is, as pieces count it.
fn length(text: &str) -> u64 {
    text.chars().map(|c| c.len_utf16() as u64).sum()
}

#[cfg(test)]
#[path = "lens_tests.rs"]
mod tests;
