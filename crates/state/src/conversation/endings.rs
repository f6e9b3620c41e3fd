//! How runs begin and end, and what people are told about it.

use estelle_proto::decisions::DecisionState;
use estelle_proto::events::{ClaudeAborted, ClaudeEvent, ErrorEvent, InterruptedMessage};
use estelle_proto::runs::{PauseReason, ProcessPaused, SessionReset};
use estelle_proto::waiting::MessageCancelled;
use estelle_proto::{Generation, Timestamp};
use serde::{Deserialize, Serialize};

use super::messages::Place;
use super::record::{Durable, Entry, MessageId, Record, RunExit, StopReason};
use super::{Conversation, Run};

/// How the last run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndedRun {
    /// Its number.
    pub generation: Generation,
    /// When that was known.
    pub at: Timestamp,
    /// How.
    pub exit: RunExit,
    /// Why we ended it, if we did.
    pub why: Option<StopReason>,
    /// It had begun a turn.
    pub had_turn: bool,
    /// The session it was to take up did not exist.
    pub resume_failed: bool,
}

impl EndedRun {
    /// Whether a person who asked for the run still waits for one: it never lived, or it could not take its session up.
    pub(super) fn is_still_wanted(run: &Run, exit: &RunExit) -> bool {
        let is_asked_for = run.wanted && run.stopping.is_none();
        is_asked_for && (Self::never_lived(exit) || run.resume_failed)
    }

    fn never_lived(exit: &RunExit) -> bool {
        matches!(exit, RunExit::NeverStarted { retry: true, .. })
    }

    /// Where messages go that the run did not take. Nobody restarts a process that died, except for one that never lived
    /// and one whose session was gone.
    pub(super) fn place(run: &Run, exit: &RunExit) -> Place {
        let by_request = matches!(
            run.stopping,
            Some(
                StopReason::NewSession
                    | StopReason::Rewinding
                    | StopReason::Disobeyed
                    | StopReason::Trusted
                    | StopReason::Reconfigured { .. }
                    | StopReason::Paused {
                        reason: PauseReason::IdleTimeout,
                        ..
                    }
            )
        );
        if Self::never_lived(exit) || run.resume_failed || by_request {
            Place::Waiting
        } else {
            Place::Held
        }
    }
}

impl StopReason {
    /// Whether a run that is being ended for this is ended for the other instead: who begins a new session wants the old one
    /// forgotten, whoever ended its process first. What people must be told of an end stays its reason.
    pub(super) fn gives_way_to(&self, other: &Self) -> bool {
        let is_silent = match self {
            Self::Paused { .. } | Self::Rewinding | Self::Disobeyed | Self::Trusted => true,
            Self::NewSession | Self::Tampered { .. } | Self::Reconfigured { .. } => false,
        };
        is_silent && *other == Self::NewSession
    }
}

impl Conversation {
    /// A run is about to be started. Nothing if there is one, or if nobody waits for one any more.
    pub fn intend(&mut self, at: Timestamp) -> Option<Entry> {
        if !self.is_run_needed() {
            return None;
        }
        let record = Record::Intended {
            generation: Generation(self.last_generation.0 + 1),
            resume: self.session.clone(),
        };
        Some(self.commit(at, record, Vec::new()))
    }

    /// Its process is there. Nothing if that is known.
    pub fn started(&mut self, at: Timestamp, pid: u32, start_ticks: u64) -> Option<Entry> {
        let run = self.run.as_ref().filter(|run| run.process.is_none())?;
        let record = Record::Started {
            generation: run.generation,
            pid,
            start_ticks,
        };
        Some(self.commit(at, record, Vec::new()))
    }

    /// The run is over. `in_transcript` tells which of the messages it was handed it had begun to work on.
    pub fn ended_run(
        &mut self,
        at: Timestamp,
        exit: RunExit,
        in_transcript: impl Fn(&MessageId) -> bool,
    ) -> Option<Entry> {
        let run = self.run.as_ref()?;
        let generation = run.generation;
        let handed = self
            .messages
            .in_place(|place| matches!(place, Place::Handed(_)));
        let (interrupted, left): (Vec<_>, Vec<_>) = handed.into_iter().partition(in_transcript);
        // They were meant for the talk that is forgotten, or a person called them back and the process is gone before it
        // could say that it will not begin them.
        let is_forgotten = run.stopping == Some(StopReason::NewSession);
        let is_unwanted = |id: &MessageId| is_forgotten || run.called_back.contains(id);
        let dropped: Vec<_> = left.into_iter().filter(is_unwanted).collect();
        let mut events = self.told_dropped(&dropped);
        events.extend(self.farewell(run, &exit, &interrupted));
        let record = Record::Ended {
            generation,
            exit,
            interrupted,
            dropped,
        };
        let events = events.into_iter().map(Durable::from).collect();
        Some(self.commit(at, record, events))
    }

    /// Nobody's message disappears without a word.
    pub(super) fn told_dropped(&self, dropped: &[MessageId]) -> Vec<ClaudeEvent> {
        let tracked = self.messages.tracked().iter().map(|one| &one.message);
        let tracked = tracked.filter(|message| dropped.contains(&message.id));
        tracked
            .map(|message| match &message.client_message_id {
                Some(id) => ClaudeEvent::MessageCancelled(MessageCancelled::new(id.clone())),
                None => ClaudeEvent::Error(ErrorEvent::new(format!(
                    "a message was not begun, because its session was ended before: {}",
                    beginning(&message.content)
                ))),
            })
            .collect()
    }

    /// What the process was working on when it ended, one by one: whoever sent it may send it again.
    fn broken_off(&self, in_transcript: &[MessageId]) -> Vec<InterruptedMessage> {
        let tracked = self.messages.tracked().iter();
        let begun = tracked.filter(|one| {
            matches!(one.place, Place::Taken(_)) || in_transcript.contains(&one.message.id)
        });
        begun
            .map(|one| InterruptedMessage {
                client_message_id: one.message.client_message_id.clone(),
                ..InterruptedMessage::new(beginning(&one.message.content))
            })
            .collect()
    }

    fn farewell(&self, run: &Run, exit: &RunExit, in_transcript: &[MessageId]) -> Vec<ClaudeEvent> {
        let mut events: Vec<ClaudeEvent> = self
            .pending
            .iter()
            .filter(|(key, pending)| key.generation == run.generation && pending.shown.is_some())
            .map(|(key, _)| Self::voided(key, DecisionState::Void))
            .collect();
        let messages = self.broken_off(in_transcript);
        let is_going_on = self.turn.is_some() || !messages.is_empty();
        if is_going_on && !self.is_interrupted() {
            events.push(ClaudeEvent::Aborted(ClaudeAborted {
                messages: Some(messages).filter(|messages| !messages.is_empty()),
                ..ClaudeAborted::new("session_ended".to_owned())
            }));
        }
        events.extend(trouble(run, exit));
        match &run.stopping {
            Some(StopReason::Paused {
                reason,
                idle_minutes,
            }) => events.push(ClaudeEvent::Paused(ProcessPaused::new(
                reason.clone(),
                *idle_minutes,
                self.session.is_some(),
            ))),
            Some(StopReason::NewSession) => {
                let reset = SessionReset::new("new_session".to_owned());
                events.push(ClaudeEvent::SessionReset(reset));
            }
            Some(
                StopReason::Rewinding
                | StopReason::Disobeyed
                | StopReason::Trusted
                | StopReason::Tampered { .. }
                | StopReason::Reconfigured { .. },
            )
            | None => {}
        }
        events
    }
}

/// The error that tells people of an end that nobody wanted.
fn trouble(run: &Run, exit: &RunExit) -> Option<ClaudeEvent> {
    if let Some(StopReason::Tampered { what, is_unasked }) = &run.stopping {
        let text = if *is_unasked {
            format!(
                "stopped: the agent ran {what} without asking, so nothing holds it back; look at what it did, then send a \
                 message to start it again"
            )
        } else {
            format!(
                "stopped: something other than Estelle wrote to the agent ({what}); look at what it ran last before going on"
            )
        };
        return Some(ClaudeEvent::Error(ErrorEvent::new(text)));
    }
    if let Some(StopReason::Reconfigured { what }) = &run.stopping {
        let text = format!(
            "stopped: {what}, and this version of the agent takes that in unasked; with the next message it is started \
             again, and you are asked whether it may be loaded"
        );
        return Some(ClaudeEvent::Error(ErrorEvent::new(text)));
    }
    if run.stopping.is_some() || run.resume_failed {
        return None;
    }
    let (text, code) = match exit {
        RunExit::NeverStarted { retry: true, .. } | RunExit::Code { code: 0, .. } => return None,
        RunExit::NeverStarted { reason, .. } => (reason.clone(), None),
        RunExit::Code { code, stderr } => {
            let text = format!(
                "the agent's process ended with code {code}{}",
                quoted(stderr)
            );
            (text, Some(*code))
        }
        RunExit::Signal { signal, stderr } => {
            let text = format!(
                "the agent's process was ended by signal {signal}{}",
                quoted(stderr)
            );
            (text, Some(128 + *signal))
        }
        RunExit::Unknown => {
            let text = "the agent's process is gone; nobody saw how it ended".to_owned();
            (text, None)
        }
    };
    Some(ClaudeEvent::Error(ErrorEvent {
        exit_code: code,
        ..ErrorEvent::new(text)
    }))
}

/// Enough of a message to tell which one it is.
fn beginning(content: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = content.chars().take(SHOWN).collect();
    if content.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn quoted(stderr: &str) -> String {
    let stderr = stderr.trim();
    if stderr.is_empty() {
        return String::new();
    }
    format!(": {stderr}")
}
