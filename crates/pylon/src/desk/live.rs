//! What is under way in a conversation: its state, since when, what is being written, and what a person has to decide.
//!
//! Folded from the host's events and corrected by its snapshots. Nothing here is kept: after a restart the host tells
//! it all again.

use std::collections::BTreeSet;

use estelle_proto::conversations::ProcessState;
use estelle_proto::events::{
    Activity, ActivityState, PermissionAsked, QuestionAsked, StateChanged, StateUpdate,
};
use estelle_proto::ipc::{PermissionRequest, ProcessStatus, QuestionRequest, SessionStatus};
use estelle_proto::waiting::{Waiting, WaitingMessage};
use estelle_proto::writing::BlockKind;
use estelle_proto::{ClaudeEvent, ConversationStatus, Timestamp, ToolUseId};

use super::writing::Writing;

/// What waits for a person.
#[derive(Debug, Clone, PartialEq)]
struct Open {
    id: ToolUseId,
    /// As it was asked.
    event: ClaudeEvent,
    /// Since when, if that was said.
    since: Option<Timestamp>,
}

/// An event that somebody who comes later is told, with the moment it is of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) event: ClaudeEvent,
    pub(super) at: Option<Timestamp>,
}

impl From<ClaudeEvent> for Standing {
    fn from(event: ClaudeEvent) -> Self {
        let at = None;
        Self { event, at }
    }
}

/// One conversation, now.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Live {
    /// None until the host said something.
    status: Option<ConversationStatus>,
    /// Since when a turn is under way, if the host said so.
    pub(super) working_since: Option<Timestamp>,
    /// What waits for a person, oldest first.
    decisions: Vec<Open>,
    /// What the agent is at, while a turn is under way.
    activity: Option<ActivityState>,
    writing: Writing,
    /// Messages that wait until the agent is free.
    waiting: Vec<WaitingMessage>,
    /// Why the host does not trust what it knows of the process, if it does not.
    suspect: Option<String>,
}

impl Live {
    /// The state; what the host said nothing about does nothing.
    pub(super) fn status(&self) -> ConversationStatus {
        self.status.clone().unwrap_or(ConversationStatus::Idle)
    }

    /// What the agent is at, while a turn is under way.
    pub(super) fn activity(&self) -> Option<ActivityState> {
        self.activity.clone().filter(|_| self.is_active())
    }

    /// Whether the agent is at something else than before. While a person is waited for that is no news.
    pub(super) fn is_at_other(&self, before: Option<&ActivityState>) -> bool {
        self.decisions.is_empty() && self.activity().as_ref() != before
    }

    /// That the facts about its process contradict each other, if they do.
    pub(super) fn suspect(&self) -> Option<ProcessState> {
        let why = self.suspect.clone()?;
        Some(ProcessState {
            why: Some(why),
            ..ProcessState::new(ProcessStatus::Suspect)
        })
    }

    /// Something happened.
    pub(super) fn fold(&mut self, event: &ClaudeEvent, at: Option<Timestamp>) {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other events leave this as it is"
        )]
        match event {
            ClaudeEvent::State(change) => self.enter(&change.state, at),
            ClaudeEvent::PermissionAsked(asked) => {
                self.ask(asked.tool_use_id.clone(), event.clone(), at);
            }
            ClaudeEvent::QuestionAsked(asked) => {
                self.ask(asked.tool_use_id.clone(), event.clone(), at);
            }
            ClaudeEvent::DecisionAnswered(answered) => {
                self.decisions
                    .retain(|open| open.id != answered.tool_use_id);
            }
            ClaudeEvent::Waiting(waiting) => self.waiting.clone_from(&waiting.messages),
            _ => self.write(event),
        }
    }

    /// What is being written goes on, or ends.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events leave this as it is"
    )]
    fn write(&mut self, event: &ClaudeEvent) {
        match event {
            ClaudeEvent::Text(piece) => self.writing.grow(piece.into()),
            ClaudeEvent::Thinking(piece) => self.writing.grow(piece.into()),
            ClaudeEvent::TextComplete(text) => {
                let parent = text.parent_tool_use_id.as_ref();
                self.writing.complete(&BlockKind::Text, parent);
            }
            ClaudeEvent::ThinkingComplete(thought) => {
                let parent = thought.parent_tool_use_id.as_ref();
                self.writing.complete(&BlockKind::Thinking, parent);
            }
            ClaudeEvent::StateUpdate(update) if update.parent_tool_use_id.is_none() => {
                self.activity = Some(update.state.clone());
            }
            ClaudeEvent::Result(_)
            | ClaudeEvent::Aborted(_)
            | ClaudeEvent::Paused(_)
            | ClaudeEvent::SessionReset(_) => self.writing.clear(),
            _ => {}
        }
    }

    fn enter(&mut self, status: &ConversationStatus, at: Option<Timestamp>) {
        match status {
            ConversationStatus::Idle => {
                self.working_since = None;
                self.decisions.clear();
                self.activity = None;
                self.writing.clear();
            }
            ConversationStatus::Working
            | ConversationStatus::Permission
            | ConversationStatus::Unknown(_) => self.working_since = self.working_since.or(at),
        }
        self.status = Some(status.clone());
    }

    /// The calls that wait for a person.
    pub(super) fn open_calls(&self) -> BTreeSet<ToolUseId> {
        self.decisions.iter().map(|open| open.id.clone()).collect()
    }

    /// Whether the state is another one than the host says.
    pub(super) fn is_changed_by(&self, status: &SessionStatus) -> bool {
        self.status.as_ref() != Some(&status.state) || self.suspect != suspicion(status)
    }

    /// What the host says counts.
    pub(super) fn correct(&mut self, status: &SessionStatus) {
        self.status = Some(status.state.clone());
        self.suspect = suspicion(status);
        self.activity.clone_from(&status.activity);
        self.working_since = status.start_time;
        let is_open = |id: &ToolUseId| {
            let permissions = status.pending_permissions.iter().flatten();
            let questions = status.pending_questions.iter().flatten();
            let oldest = status.pending_permission.iter();
            permissions
                .map(|open| &open.tool_use_id)
                .chain(questions.map(|open| &open.tool_use_id))
                .chain(oldest.map(|open| &open.tool_use_id))
                .any(|open| open == id)
        };
        self.decisions.retain(|open| is_open(&open.id));
    }

    /// The host says what is being written, in its place among the events. Tells whether that is something else than
    /// those who look have: they missed some of it, while the host was away.
    pub(super) fn catch_up(&mut self, status: &SessionStatus) -> bool {
        let known = self.writing.clone();
        self.activity.clone_from(&status.activity);
        self.writing
            .replace(status.open.clone().unwrap_or_default());
        self.waiting = status.waiting.clone().unwrap_or_default();
        self.writing != known
    }

    /// What somebody who begins to look has to be told of the turn under way.
    pub(super) fn under_way(&self) -> Option<ClaudeEvent> {
        if !self.is_active() {
            return None;
        }
        let activity = self.activity.clone();
        let activity = activity.unwrap_or_else(|| ActivityState::new(Activity::Thinking));
        let update = StateUpdate {
            open: Some(self.writing.blocks()),
            ..StateUpdate::new(activity, self.writing.text())
        };
        Some(update.into())
    }

    /// The messages that wait, if there are some.
    pub(super) fn waiting(&self) -> Option<ClaudeEvent> {
        let is_any = !self.waiting.is_empty();
        is_any.then(|| Waiting::new(self.waiting.clone()).into())
    }

    /// The host repeats an open permission. Gives it as an event if it was not known.
    pub(super) fn permission(&mut self, open: PermissionRequest) -> Option<ClaudeEvent> {
        let id = open.tool_use_id.clone();
        let event = PermissionAsked {
            kind: open.kind,
            input_hash: open.input_hash,
            reason: open.reason,
            why: open.why,
            parent_tool_use_id: open.parent_tool_use_id,
            ..PermissionAsked::new(open.tool_name, open.tool_input, open.tool_use_id)
        };
        self.ask(id, event.into(), open.opened_at)
    }

    /// The host repeats open questions. Gives them as an event if they were not known.
    pub(super) fn question(&mut self, open: QuestionRequest) -> Option<ClaudeEvent> {
        let id = open.tool_use_id.clone();
        let event = QuestionAsked {
            input_hash: open.input_hash,
            parent_tool_use_id: open.parent_tool_use_id,
            ..QuestionAsked::new(open.tool_use_id, open.questions)
        };
        self.ask(id, event.into(), open.opened_at)
    }

    fn ask(
        &mut self,
        id: ToolUseId,
        event: ClaudeEvent,
        since: Option<Timestamp>,
    ) -> Option<ClaudeEvent> {
        if self.decisions.iter().any(|open| open.id == id) {
            return None;
        }
        let asked = event.clone();
        self.decisions.push(Open { id, event, since });
        Some(asked)
    }

    /// What somebody who begins to look has to be told beside the history: the state and what waits for a person.
    pub(super) fn pending(&self) -> Vec<Standing> {
        if self.decisions.is_empty() {
            return Vec::new();
        }
        let state: ClaudeEvent = StateChanged::new(ConversationStatus::Permission).into();
        let asked = self.decisions.iter().map(|open| Standing {
            event: open.event.clone(),
            at: open.since,
        });
        std::iter::once(state.into()).chain(asked).collect()
    }

    /// Whether a turn is under way.
    pub(super) fn is_active(&self) -> bool {
        self.status() != ConversationStatus::Idle
    }
}

/// Why the facts about a process contradict each other, if the host says that they do.
fn suspicion(status: &SessionStatus) -> Option<String> {
    let is_suspect = status.process == Some(ProcessStatus::Suspect);
    let why = status.evidence.as_ref().and_then(|facts| facts.why.clone());
    is_suspect.then(|| why.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use estelle_proto::DecisionState;
    use estelle_proto::events::DecisionAnswered;
    use estelle_proto::writing::OpenBlock;
    use estelle_proto::{ConversationId, Json};

    use super::*;

    fn asked(id: &str) -> ClaudeEvent {
        let id = ToolUseId::parse(id).unwrap();
        PermissionAsked::new("Bash".to_owned(), Json::parse("{}").unwrap(), id).into()
    }

    fn kinds(live: &Live) -> Vec<String> {
        let pending = live.pending();
        pending
            .iter()
            .map(|standing| standing.event.kind().to_owned())
            .collect()
    }

    #[test]
    fn several_decisions_wait_at_once_and_each_until_it_is_answered() {
        let mut live = Live::default();
        assert!(kinds(&live).is_empty());
        live.fold(&asked("a"), None);
        live.fold(&asked("b"), None);
        live.fold(&asked("a"), None);
        assert_eq!(
            kinds(&live),
            ["state", "permission_request", "permission_request"]
        );
        let id = ToolUseId::parse("a").unwrap();
        live.fold(
            &DecisionAnswered::new(id, DecisionState::Answered).into(),
            None,
        );
        assert_eq!(live.pending()[1].event, asked("b"));
        live.fold(&StateChanged::new(ConversationStatus::Idle).into(), None);
        assert!(
            kinds(&live).is_empty(),
            "nothing waits in an idle conversation"
        );
    }

    #[test]
    fn what_the_host_no_longer_lists_is_no_longer_asked() {
        let mut live = Live::default();
        live.fold(&asked("a"), None);
        let id = ConversationId::parse("c").unwrap();
        let status = SessionStatus::new(id, ConversationStatus::Working);
        assert!(live.is_changed_by(&status));
        live.correct(&status);
        assert!(kinds(&live).is_empty());
        assert!(!live.is_changed_by(&status));
    }

    #[test]
    fn those_who_look_are_told_what_was_written_while_the_host_was_away() {
        let mut live = Live::default();
        let block = |text: &str| {
            let run = estelle_proto::Generation(1);
            OpenBlock::new(BlockKind::Text, run, 0, text.to_owned())
        };
        let id = ConversationId::parse("c").unwrap();
        let mut status = SessionStatus::new(id, ConversationStatus::Working);
        assert!(!live.catch_up(&status));
        status.open = Some(vec![block("one")]);
        assert!(live.catch_up(&status));
        assert!(!live.catch_up(&status), "it is known by now");
    }

    #[test]
    fn the_time_of_a_turn_begins_with_its_first_state() {
        let mut live = Live::default();
        let state = |state| StateChanged::new(state).into();
        live.fold(&state(ConversationStatus::Working), Some(Timestamp(5)));
        live.fold(&state(ConversationStatus::Permission), Some(Timestamp(9)));
        assert_eq!(live.working_since, Some(Timestamp(5)));
        live.fold(&state(ConversationStatus::Idle), Some(Timestamp(10)));
        assert_eq!(live.working_since, None);
    }
}
