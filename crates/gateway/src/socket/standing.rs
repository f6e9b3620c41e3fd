//! How the process of a session stands, as far as what happened tells: pure.
//!
//! A status that is told in its place among the events is never ahead of them: `waiting_input` comes after the last word of
//! a turn. How a process ended the events do not say, so then the host is asked.

use estelle_proto::ConversationStatus;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::SessionStatus;

use crate::shape::SessionState;

/// What an event tells about the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Unchanged,
    Status(SessionState),
    /// Ask the host.
    Unclear,
}

/// What is known of the process.
#[derive(Debug)]
pub(super) struct Standing {
    coarse: ConversationStatus,
    /// Whether it is known to have begun, and not known to have ended.
    is_alive: bool,
}

impl Standing {
    pub(super) fn new(coarse: ConversationStatus) -> Self {
        let is_alive = coarse != ConversationStatus::Idle;
        Self { coarse, is_alive }
    }

    /// The host was asked.
    pub(super) fn learn(&mut self, coarse: &ConversationStatus, host: Option<&SessionStatus>) {
        let has_process = host.is_some_and(|host| host.process.is_some());
        self.is_alive = has_process && SessionState::of(coarse, host, None).is_alive();
    }

    /// Whether nothing is under way. Then the host cannot be ahead of what is still to be told of a turn.
    pub(super) fn is_quiet(&self) -> bool {
        self.coarse == ConversationStatus::Idle
    }

    /// Whether the state is another one than the events said.
    pub(super) fn is_another(&self, coarse: &ConversationStatus) -> bool {
        self.coarse != *coarse
    }

    /// Something happened.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "nothing else says anything about the process"
    )]
    pub(super) fn after(&mut self, event: &ClaudeEvent) -> Known {
        match event {
            ClaudeEvent::State(change) => {
                self.coarse.clone_from(&change.state);
                self.coarse_status()
            }
            ClaudeEvent::Init(_) => {
                let was_starting = !self.is_alive && self.coarse == ConversationStatus::Working;
                self.is_alive = true;
                if was_starting {
                    Known::Status(SessionState::Running)
                } else {
                    Known::Unchanged
                }
            }
            ClaudeEvent::Paused(_) => {
                self.is_alive = false;
                Known::Status(SessionState::Stopped)
            }
            ClaudeEvent::Aborted(aborted) if aborted.reason == "session_ended" => {
                self.is_alive = false;
                Known::Unclear
            }
            ClaudeEvent::Error(error)
                if error.exit_code.is_some() || self.coarse == ConversationStatus::Idle =>
            {
                self.is_alive = false;
                Known::Unclear
            }
            // Told again when a process has ended in good order, which is no event.
            ClaudeEvent::Waiting(_) if self.is_quiet() && self.is_alive => Known::Unclear,
            ClaudeEvent::Resumed(_) | ClaudeEvent::SessionReset(_) => Known::Unclear,
            _ => Known::Unchanged,
        }
    }

    fn coarse_status(&self) -> Known {
        match (&self.coarse, self.is_alive) {
            (ConversationStatus::Working, true) => Known::Status(SessionState::Running),
            (ConversationStatus::Working, false) => Known::Status(SessionState::Initializing),
            (ConversationStatus::Permission, _) | (ConversationStatus::Idle, true) => {
                Known::Status(SessionState::WaitingInput)
            }
            (ConversationStatus::Idle, false) | (ConversationStatus::Unknown(_), _) => {
                Known::Unclear
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::ClaudeSessionId;
    use estelle_proto::events::{ClaudeAborted, ErrorEvent, Init, StateChanged};
    use estelle_proto::runs::{PauseReason, ProcessPaused};
    use estelle_proto::waiting::Waiting;

    use super::*;

    fn state(state: ConversationStatus) -> ClaudeEvent {
        StateChanged::new(state).into()
    }

    #[test]
    fn a_first_turn_is_told_from_its_start_to_its_end() {
        let session = ClaudeSessionId::parse("s").unwrap();
        let init = Init::new(session, "m".to_owned(), Vec::new());
        let mut standing = Standing::new(ConversationStatus::Idle);
        let events = [
            (
                state(ConversationStatus::Working),
                SessionState::Initializing,
            ),
            (init.into(), SessionState::Running),
            (
                state(ConversationStatus::Permission),
                SessionState::WaitingInput,
            ),
            (state(ConversationStatus::Working), SessionState::Running),
            (state(ConversationStatus::Idle), SessionState::WaitingInput),
        ];
        for (event, status) in events {
            assert_eq!(standing.after(&event), Known::Status(status), "{event:?}");
        }
        assert!(!standing.is_another(&ConversationStatus::Idle));
    }

    #[test]
    fn how_a_process_ended_is_for_the_host_to_say() {
        let mut standing = Standing::new(ConversationStatus::Working);
        let aborted = ClaudeAborted::new("session_ended".to_owned());
        assert_eq!(standing.after(&aborted.into()), Known::Unclear);
        assert_eq!(
            standing.after(&state(ConversationStatus::Idle)),
            Known::Unclear
        );
        let gone = ErrorEvent::new("it is gone".to_owned());
        assert_eq!(standing.after(&gone.into()), Known::Unclear);
        let paused = ProcessPaused::new(PauseReason::Manual, 0, true);
        assert_eq!(
            standing.after(&paused.into()),
            Known::Status(SessionState::Stopped)
        );
    }

    #[test]
    fn a_process_that_may_have_ended_in_silence_is_looked_at() {
        let waiting = || ClaudeEvent::from(Waiting::new(Vec::new()));
        let mut standing = Standing::new(ConversationStatus::Working);
        assert_eq!(standing.after(&waiting()), Known::Unchanged);
        standing.after(&state(ConversationStatus::Idle));
        assert_eq!(standing.after(&waiting()), Known::Unclear);
    }

    #[test]
    fn an_error_within_a_turn_ends_nothing() {
        let mut standing = Standing::new(ConversationStatus::Working);
        let error = ErrorEvent::new("overloaded".to_owned());
        assert_eq!(standing.after(&error.into()), Known::Unchanged);
        assert_eq!(
            standing.after(&state(ConversationStatus::Idle)),
            Known::Status(SessionState::WaitingInput)
        );
    }
}
