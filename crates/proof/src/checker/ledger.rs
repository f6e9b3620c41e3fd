//! The decisions that a log tells of, folded by the checker itself.
//!
//! At rest or at any record: which are open, which were shown, who answered. It is deliberately another fold than the
//! host's.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeMap;

use estelle_proto::events::ClaudeEvent;
use estelle_proto::{DeviceId, Generation};
use estelle_state::conversation::{Entry, Record, Request, Seen};
use estelle_state::decisions::Fact;

/// One decision.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    pub(super) generation: Generation,
    pub(super) tool_use_id: String,
    pub(super) request_id: String,
    pub(super) request: Request,
    /// People were to be asked.
    pub(super) shown: bool,
    /// Events that tell people of it.
    pub(super) prompts: Vec<ClaudeEvent>,
    /// Answers, with their lines for the CLI.
    pub(super) answers: Vec<(Option<DeviceId>, String)>,
    /// Answers that came when it was over.
    pub(super) late: usize,
    pub(super) over: bool,
}

/// All decisions, by the CLI's request within its run.
#[derive(Debug, Clone, Default)]
pub(super) struct Decisions {
    pub(super) all: Vec<Decision>,
    /// Answers to nothing.
    pub(super) stray: Vec<String>,
    index: BTreeMap<(Generation, String), usize>,
}

impl Decisions {
    pub(super) fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut decisions = Self::default();
        entries.into_iter().for_each(|entry| decisions.take(entry));
        decisions
    }

    /// Takes the next entry of the log.
    pub(super) fn take(&mut self, entry: &Entry) {
        match &entry.record {
            Record::Read(stretch) => {
                for seen in &stretch.seen {
                    self.saw(seen, stretch.generation);
                }
            }
            Record::Asked(request) => self.asked(Generation(0), request),
            Record::Shown { key, .. } => {
                if let Some(decision) = self.at(key.generation, key.tool_use_id.as_str()) {
                    decision.shown = true;
                }
            }
            Record::Decided {
                fact: Fact::Answered(answered),
                ..
            } => {
                let (generation, call) = (answered.key.generation, &answered.key.tool_use_id);
                match self.at(generation, call.as_str()) {
                    Some(decision) => {
                        decision.late += usize::from(decision.over);
                        let answer = (answered.by, answered.line.clone());
                        decision.answers.push(answer);
                    }
                    None => self.stray.push(call.to_string()),
                }
            }
            Record::Ended { generation, .. } => {
                for decision in &mut self.all {
                    decision.over |= decision.generation == *generation;
                }
            }
            _ => {}
        }
        for durable in &entry.events {
            self.told(&durable.event);
        }
    }

    fn saw(&mut self, seen: &Seen, generation: Generation) {
        match seen {
            Seen::Asked(request) => self.asked(generation, request),
            Seen::Withdrew { request_id } => {
                for decision in &mut self.all {
                    decision.over |= decision.request_id == *request_id;
                }
            }
            _ => {}
        }
    }

    fn asked(&mut self, generation: Generation, request: &Request) {
        let tool_use_id = request.tool_use_id.to_string();
        let index = self.all.len();
        self.index.insert((generation, tool_use_id.clone()), index);
        self.all.push(Decision {
            generation,
            tool_use_id,
            request_id: request.request_id.clone(),
            request: request.clone(),
            shown: false,
            prompts: Vec::new(),
            answers: Vec::new(),
            late: 0,
            over: false,
        });
    }

    fn told(&mut self, event: &ClaudeEvent) {
        let call = match event {
            ClaudeEvent::PermissionAsked(asked) => &asked.tool_use_id,
            ClaudeEvent::QuestionAsked(asked) => &asked.tool_use_id,
            ClaudeEvent::ToolComplete(tool) => {
                let call = tool.tool_use_id.as_ref();
                for decision in &mut self.all {
                    let same = call.is_some_and(|call| call.as_str() == decision.tool_use_id);
                    decision.over |= same;
                }
                return;
            }
            _ => return,
        };
        let newest = self
            .all
            .iter_mut()
            .rev()
            .find(|decision| decision.tool_use_id == call.as_str());
        if let Some(decision) = newest {
            decision.prompts.push(event.clone());
        }
    }

    fn at(&mut self, generation: Generation, call: &str) -> Option<&mut Decision> {
        let index = *self.index.get(&(generation, call.to_owned()))?;
        self.all.get_mut(index)
    }
}

impl Decision {
    /// Whether people still have to answer.
    pub(super) fn is_open(&self) -> bool {
        self.answers.is_empty() && !self.over
    }
}
