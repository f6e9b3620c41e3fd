//! Ending a turn, a run, and everything: who is asked, and what happens when nobody obeys.
//!
//! When and how hard somebody is pushed is decided by [`Escalation`]; here are its clock and its signals. A host that died
//! in between goes on with telling.

use std::time::Duration;

use estelle_proto::conversations::ConversationStatus;
use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::runs::{IdleWarning, PauseReason};
use estelle_proto::{ApiError, ErrorCode, Retry};
use estelle_state::conversation::{Control, Conversation, StopReason};
use estelle_state::escalation::{Escalation, Push};
use estelle_state::idle::IdleVerdict;
use rustix::process::Signal;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::actor::{Actor, Broken, Ended, Flow, now};
use super::requests::{AfterEnd, Background};
use super::running::Phase;
use crate::log::Sync;
use crate::run::send_signal;

/// The deadlines of a conversation, by the clock.
#[derive(Debug)]
pub(super) struct Stopping {
    began: Instant,
    escalation: Escalation,
}

impl Stopping {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            began: Instant::now(),
            escalation: Escalation::new(grace),
        }
    }

    /// When to look next.
    pub(super) fn next(&self) -> Option<Instant> {
        let wake_at = self.escalation.wake_at()?;
        Some(self.began + wake_at)
    }

    /// A turn was told to end.
    fn interrupted(&mut self) {
        self.escalation.interrupted(self.began.elapsed());
    }

    /// Nothing is left of what was told to end.
    pub(super) fn turn_ended(&mut self) {
        self.escalation.turn_ended();
    }

    /// What a host before this one wanted to end, and must still.
    pub(super) fn go_on(&mut self, conversation: &Conversation) {
        let time = self.began.elapsed();
        match conversation.run().and_then(|run| run.stopping.as_ref()) {
            Some(StopReason::Tampered { .. }) => self.escalation.condemn(time),
            Some(_) => self.escalation.go_on(time),
            None if conversation.is_interrupted() => self.escalation.interrupted(time),
            None => {}
        }
    }

    /// The process must not live.
    pub(super) fn condemn(&mut self) {
        self.escalation.condemn(self.began.elapsed());
    }

    /// It is gone.
    pub(super) fn clear(&mut self) {
        self.escalation.gone();
    }
}

impl Actor {
    /// Breaks the turn off: messages that wait in the CLI first, so that none of them begins.
    pub(super) async fn interrupt(
        &mut self,
        cancel: Vec<estelle_state::conversation::MessageId>,
    ) -> Result<(), Broken> {
        for message in cancel {
            self.control(Control::Cancel { message }).await?;
        }
        self.control(Control::Interrupt).await?;
        self.stopping.interrupted();
        Ok(())
    }

    /// A start that nobody waits for any more is given up; a process that does not even greet back has its grace to do so.
    pub(super) fn give_up_start(&mut self) {
        let conversation = self.book.conversation();
        let is_needed = conversation.run().is_some() || conversation.is_run_needed();
        match &self.phase {
            Phase::Quiet | Phase::Preparing(_) if !is_needed => {
                self.phase = Phase::Quiet;
                let message = "it was stopped before its process was there".to_owned();
                let error = ApiError::new(ErrorCode::Conflict, message, Retry::Never);
                self.tell_resumed(&Err(error.into()));
            }
            Phase::Live(_) if !self.is_ready() => self.stopping.interrupted(),
            Phase::Quiet
            | Phase::Preparing(_)
            | Phase::Spawning(_)
            | Phase::Live(_)
            | Phase::Sweeping(_) => {}
        }
    }

    /// Ends the run: asks it first. What it has not begun, it is not to begin.
    pub(super) async fn stop_run(&mut self, why: StopReason) -> Result<(), Broken> {
        let is_told = self.is_stopping();
        let Some(entry) = self.book.decide().stop_run(now(), why) else {
            return Ok(());
        };
        self.record(entry, Sync::Now).await?;
        if is_told {
            // It ends for another reason now, and no later.
            return Ok(());
        }
        // 2.1.197 would run what is queued in it before it ends.
        for message in self.book.conversation().queued_in_cli() {
            self.control(Control::Cancel { message }).await?;
        }
        self.control(Control::End).await?;
        let time = self.stopping.began.elapsed();
        self.stopping.escalation.asked(time);
        Ok(())
    }

    /// A deadline has passed, or it is time to look.
    pub(super) async fn overdue(&mut self) -> Result<Flow, Broken> {
        let time = self.stopping.began.elapsed();
        while let Some(push) = self.stopping.escalation.overdue(time) {
            match push {
                // A turn that does not end, or a process that was told to stop before it said a word.
                Push::EndProcess
                    if self.book.conversation().is_interrupted() || !self.is_ready() =>
                {
                    self.stop_run(StopReason::Disobeyed).await?;
                }
                Push::EndProcess => {}
                Push::Terminate => self.signal(Signal::TERM),
                Push::Kill => self.kill(),
            }
        }
        Ok(Flow::On)
    }

    fn kill(&mut self) {
        match &mut self.phase {
            Phase::Spawning(spawning) => spawning.give_up(),
            Phase::Quiet | Phase::Preparing(_) | Phase::Live(_) | Phase::Sweeping(_) => {
                self.signal(Signal::KILL);
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if let Phase::Live(live) = &self.phase {
            send_signal(&live.record, signal);
        }
    }

    /// A minute has passed.
    pub(super) async fn tick(&mut self) -> Result<(), Broken> {
        self.look_after_log().await?;
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        live.listen_again(&self.context);
        let conversation = self.book.conversation();
        if let Some(limit) = self.context.settings.turn_limit
            && conversation.status() == ConversationStatus::Working
            && conversation.occupied().turn.is_some()
            && !conversation.is_interrupted()
            && live.last_output.elapsed() >= limit
        {
            return self.break_off_silent(limit).await;
        }
        let occupation = conversation.occupation();
        let time = self.elapsed();
        match self.idle.look(time, occupation, self.context.settings.idle) {
            IdleVerdict::Leave => Ok(()),
            IdleVerdict::Warn { seconds_left } => {
                let id = conversation.id().clone();
                let event = ClaudeEvent::IdleWarning(IdleWarning::new(seconds_left));
                let event = estelle_proto::ipc::HostEvent::new(id, event);
                let event = estelle_proto::ipc::HostToPylon::Event(event);
                self.publish(vec![crate::mailbox::Letter::message(&event)]);
                Ok(())
            }
            IdleVerdict::Stop { idle_minutes } => {
                tracing::info!(conversation = %conversation.id(), idle_minutes, "stopped for being idle");
                let reason = PauseReason::IdleTimeout;
                self.stop_run(StopReason::Paused {
                    reason,
                    idle_minutes,
                })
                .await
            }
        }
    }

    /// Nothing was heard from a turn for too long.
    async fn break_off_silent(&mut self, limit: Duration) -> Result<(), Broken> {
        let minutes = limit.as_secs() / 60;
        let what = format!(
            "the agent said nothing for {minutes} min, so its turn is broken off; host.turn_limit_minutes sets that"
        );
        let event = ClaudeEvent::Error(ErrorEvent::new(what.clone()));
        let entry = self.book.decide().repair(now(), what, vec![event]);
        self.record(entry, Sync::Now).await?;
        self.break_off(Background::GoesOn).await
    }

    /// The host goes down and takes the run along.
    pub(super) async fn shut_down(&mut self, reply: oneshot::Sender<Ended>) -> Result<(), Broken> {
        if matches!(self.phase, Phase::Preparing(_)) {
            // What it was for waits in the log.
            self.phase = Phase::Quiet;
        }
        if self.book.conversation().run().is_none() {
            let _ = reply.send(Ended::Nothing);
            return Ok(());
        }
        // One whose process is gone was not ended by us: its end is told as it was.
        if !matches!(self.phase, Phase::Sweeping(_)) {
            self.stop_run(StopReason::Paused {
                reason: PauseReason::ServerShutdown,
                idle_minutes: 0,
            })
            .await?;
        }
        if matches!(self.phase, Phase::Live(_)) {
            // A shutdown does not wait for an answer to its words: everybody is told at once, and has the whole grace.
            self.signal(Signal::TERM);
            let time = self.stopping.began.elapsed();
            self.stopping.escalation.told(time);
        }
        self.after_end.push(AfterEnd::Tell(reply));
        Ok(())
    }
}
