//! What follows from the events of a conversation for somebody who watches it: what to show, what waits for a person, and
//! how the turn ended that is waited for. It waits for nothing and prints nothing.

use std::collections::VecDeque;

use estelle_proto::{ClaudeEvent, ClientMessageId, ConversationStatus};

use crate::chat::piece::Piece;
use crate::host::attach::answer::Open;
use crate::host::attach::view::View;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    Failed,
    Stopped,
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Awaited {
    /// Nothing: it is watched until somebody leaves.
    Nothing,
    /// That nothing is under way.
    Quiet,
    /// The end of the work that this message causes.
    Turn(ClientMessageId),
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The message was not seen yet.
    Before,
    /// It was.
    UnderWay,
    Over,
}

/// Somebody who watches.
#[derive(Debug)]
pub(super) struct Follow {
    awaited: Awaited,
    stage: Stage,
    ending: Ending,
    view: View,
    open: VecDeque<Open>,
}

impl Follow {
    pub(super) fn new(awaited: Awaited) -> Self {
        let stage = match awaited {
            Awaited::Turn(_) => Stage::Before,
            Awaited::Nothing | Awaited::Quiet => Stage::UnderWay,
        };
        Self {
            awaited,
            stage,
            ending: Ending::Done,
            view: View::default(),
            open: VecDeque::new(),
        }
    }

    /// What is shown, for history.
    pub(super) fn view(&mut self) -> &mut View {
        &mut self.view
    }

    /// How it ended, once it has.
    pub(super) fn ending(&self) -> Option<Ending> {
        (self.stage == Stage::Over).then_some(self.ending)
    }

    /// The oldest decision that waits.
    pub(super) fn open(&mut self) -> Option<&mut Open> {
        self.open.front_mut()
    }

    /// It was answered here.
    pub(super) fn answered(&mut self) {
        self.open.pop_front();
    }

    /// Something happened.
    pub(super) fn event(&mut self, event: &ClaudeEvent) -> Vec<Piece> {
        if let Some(open) = Open::of(event) {
            if !self.open.iter().any(|known| known.call == open.call) {
                self.open.push_back(open);
            }
            return Vec::new();
        }
        if let ClaudeEvent::DecisionAnswered(answered) = event {
            self.open.retain(|open| open.call != answered.tool_use_id);
            return Vec::new();
        }
        self.judge(event);
        if self.is_own(event) {
            return Vec::new();
        }
        self.view.event(event)
    }

    fn is_own(&self, event: &ClaudeEvent) -> bool {
        let (Awaited::Turn(own), ClaudeEvent::UserMessage(message)) = (&self.awaited, event) else {
            return false;
        };
        message.client_message_id.as_ref() == Some(own)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events say nothing about the end"
    )]
    fn judge(&mut self, event: &ClaudeEvent) {
        if self.stage == Stage::Before {
            if self.is_own(event) {
                self.stage = Stage::UnderWay;
            }
            return;
        }
        match event {
            ClaudeEvent::Result(result) if result.subtype == "success" => {
                self.ending = Ending::Done;
            }
            ClaudeEvent::Result(_) | ClaudeEvent::Error(_) => self.ending = Ending::Failed,
            ClaudeEvent::Aborted(_) => self.ending = Ending::Stopped,
            ClaudeEvent::State(change) if change.state == ConversationStatus::Idle => {
                self.open.clear();
                if self.awaited != Awaited::Nothing {
                    self.stage = Stage::Over;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::events::{
        ClaudeAborted, DecisionAnswered, PermissionAsked, StateChanged, TurnResult, UserMessage,
    };
    use estelle_proto::{DecisionState, Json, Timestamp, ToolUseId, Usage};

    use super::*;

    fn id(text: &str) -> ClientMessageId {
        ClientMessageId::parse(text).unwrap()
    }

    fn said(by: &str) -> ClaudeEvent {
        UserMessage {
            client_message_id: Some(id(by)),
            ..UserMessage::new("hello".to_owned(), Timestamp(0))
        }
        .into()
    }

    fn state(state: ConversationStatus) -> ClaudeEvent {
        StateChanged::new(state).into()
    }

    fn result(subtype: &str) -> ClaudeEvent {
        TurnResult::new(subtype.to_owned(), 0, 0.0, 1, Usage::new(0, 0, 0, 0)).into()
    }

    fn after(awaited: Awaited, events: &[ClaudeEvent]) -> Option<Ending> {
        let mut follow = Follow::new(awaited);
        for event in events {
            let _ = follow.event(event);
        }
        follow.ending()
    }

    #[test]
    fn the_turn_of_somebody_else_is_not_ours() {
        let own = Awaited::Turn(id("own"));
        let mut events = vec![
            said("other"),
            result("error_during_execution"),
            state(ConversationStatus::Idle),
            said("own"),
        ];
        assert_eq!(after(own.clone(), &events), None);
        events.push(result("success"));
        assert_eq!(
            after(own.clone(), &events),
            None,
            "a background task may go on"
        );
        events.push(state(ConversationStatus::Idle));
        assert_eq!(after(own, &events), Some(Ending::Done));
    }

    #[test]
    fn how_it_ended_is_what_was_said_last() {
        let own = || Awaited::Turn(id("own"));
        let idle = || state(ConversationStatus::Idle);
        let failed = [said("own"), result("error_max_turns"), idle()];
        assert_eq!(after(own(), &failed), Some(Ending::Failed));
        let aborted = ClaudeAborted::new("user".to_owned()).into();
        let stopped = [said("own"), aborted, idle()];
        assert_eq!(after(own(), &stopped), Some(Ending::Stopped));
        assert_eq!(after(Awaited::Quiet, &[idle()]), Some(Ending::Done));
        assert_eq!(after(Awaited::Nothing, &[idle()]), None);
    }

    #[test]
    fn a_decision_waits_once_and_until_somebody_answers() {
        let mut follow = Follow::new(Awaited::Nothing);
        let call = ToolUseId::parse("t1").unwrap();
        let input = Json::parse("{}").unwrap();
        let asked = PermissionAsked::new("Bash".to_owned(), input, call.clone()).into();
        let _ = follow.event(&asked);
        let _ = follow.event(&asked);
        assert_eq!(follow.open.len(), 1);
        let answered = DecisionAnswered::new(call, DecisionState::Answered).into();
        let _ = follow.event(&answered);
        assert!(follow.open().is_none());
    }
}
