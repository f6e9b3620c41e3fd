//! Ending a turn, a run, and everything: who is asked, and what happens when nobody obeys.
//!
//! A turn that does not end after an interrupt costs its process. A process is asked to end, then told, then killed,
//! each with its deadline. A host that died in between goes on with telling.

use std::time::Duration;

use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::{IdleWarning, PauseReason};
use estelle_state::conversation::{Control, StopReason};
use estelle_state::idle::IdleVerdict;
use rustix::process::Signal;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::actor::{Actor, Broken, Flow, now};
use super::requests::AfterEnd;
use super::running::Phase;
use crate::log::Sync;
use crate::run::send_signal;

/// A process that was asked to end has this part of the grace before it is told.
const ASKING_PART: u32 = 4;

/// The deadlines of a conversation.
#[derive(Debug)]
pub(super) struct Stopping {
    grace: Duration,
    /// When the turn must have ended.
    interrupt: Option<Instant>,
    /// What comes next for a process that is to end, and when.
    escalation: Option<(Instant, Escalation)>,
}

/// How hard a process is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escalation {
    Terminate,
    Kill,
    /// It is being killed; look again.
    Killed,
}

impl Stopping {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            grace,
            interrupt: None,
            escalation: None,
        }
    }

    /// When to look next.
    pub(super) fn next(&self) -> Option<Instant> {
        let escalation = self.escalation.map(|(at, _)| at);
        match (self.interrupt, escalation) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// A turn was told to end.
    fn interrupted(&mut self) {
        self.interrupt = Some(Instant::now() + self.grace);
    }

    /// It did.
    pub(super) fn turn_ended(&mut self) {
        self.interrupt = None;
    }

    /// A process was asked to end.
    fn asked(&mut self) {
        let at = Instant::now() + self.grace / ASKING_PART;
        self.escalation = Some((at, Escalation::Terminate));
    }

    /// A process is to end, and a host before this one asked it.
    pub(super) fn go_on(&mut self) {
        self.escalation = Some((Instant::now(), Escalation::Terminate));
    }

    /// It is gone.
    pub(super) fn clear(&mut self) {
        self.interrupt = None;
        self.escalation = None;
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

    /// Ends the run: asks it first.
    pub(super) async fn stop_run(&mut self, why: StopReason) -> Result<(), Broken> {
        let Some(entry) = self.book.decide().stop_run(now(), why) else {
            return Ok(());
        };
        self.record(entry, Sync::Now).await?;
        self.control(Control::End).await?;
        self.stopping.asked();
        Ok(())
    }

    /// A deadline has passed, or it is time to look.
    pub(super) async fn overdue(&mut self) -> Result<Flow, Broken> {
        let time = Instant::now();
        if self.stopping.interrupt.is_some_and(|at| at <= time) {
            self.stopping.interrupt = None;
            if self.book.conversation().is_interrupted() {
                self.stop_run(StopReason::Disobeyed).await?;
            }
        }
        if let Some((at, step)) = self.stopping.escalation
            && at <= time
        {
            self.escalate(step, time);
        }
        Ok(Flow::On)
    }

    fn escalate(&mut self, step: Escalation, time: Instant) {
        let Phase::Live(live) = &self.phase else {
            return;
        };
        let grace = self.context.settings.grace;
        let (signal, next) = match step {
            Escalation::Terminate => (Signal::TERM, Escalation::Kill),
            Escalation::Kill | Escalation::Killed => (Signal::KILL, Escalation::Killed),
        };
        send_signal(&live.record, signal);
        let wait = match next {
            Escalation::Killed => Duration::from_secs(1),
            Escalation::Terminate | Escalation::Kill => grace.saturating_sub(grace / ASKING_PART),
        };
        self.stopping.escalation = Some((time + wait, next));
    }

    /// A minute has passed.
    pub(super) async fn tick(&mut self) -> Result<(), Broken> {
        let Phase::Live(_) = &self.phase else {
            return Ok(());
        };
        let conversation = self.book.conversation();
        let occupation = conversation.occupation();
        match self
            .idle
            .look(now(), occupation, self.context.settings.idle)
        {
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

    /// The host goes down and takes the run along.
    pub(super) async fn shut_down(&mut self, reply: oneshot::Sender<()>) -> Result<(), Broken> {
        if self.book.conversation().run().is_none() {
            let _ = reply.send(());
            return Ok(());
        }
        self.stop_run(StopReason::Paused {
            reason: PauseReason::ServerShutdown,
            idle_minutes: 0,
        })
        .await?;
        self.after_end.push(AfterEnd::Tell(reply));
        Ok(())
    }
}
