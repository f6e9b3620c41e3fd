//! The journal: every line becomes facts and events, in the log before anybody hears of them.

use std::time::Duration;

use estelle_proto::ToolUseId;
use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::ipc::{HostEvent, HostToPylon};
use estelle_state::conversation::{Conversation, Place, RunExit, Seen, StopReason};
use estelle_state::decisions::{Decision, DecisionKey};
use rustix::process::Signal;
use tokio::time::Instant;

use super::actor::{Actor, Broken, now};
use super::live::Live;
use super::running::{Phase, Wake};
use super::writer::LineKey;
use crate::log::Sync;
use crate::mailbox::Letter;
use crate::run::send_signal;
use crate::translate::{Translation, digest_of_answer, lines};

/// How long a CLI may leave a message lying before it is written again.
const PATIENCE: Duration = Duration::from_secs(15);

/// How many lines are read before commands get their turn.
const BATCH: usize = 256;

impl Live {
    /// Waits for output, for the end, or for a line that could not be written.
    pub(super) async fn wake(&mut self) -> Wake {
        let (bell, death, writer) = self.sources();
        tokio::select! {
            () = bell.notified() => Wake::Output,
            () = death.heard() => Wake::Output,
            failure = writer.failure() => Wake::Unwritten(failure),
        }
    }
}

impl Actor {
    /// Reads what is there, up to a batch; notices the end of the run.
    pub(super) async fn read_journal(&mut self) -> Result<(), Broken> {
        self.has_more = false;
        self.look_for_start().await?;
        let (mut count, mut is_activity) = (0, false);
        while let Some(line) = self.next_line()? {
            is_activity |= !line.is_reply();
            self.take_line(line).await?;
            count += 1;
            if count == BATCH {
                self.has_more = true;
                break;
            }
        }
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        if count > 0 {
            self.disk_full = live.refill().is_err();
            if is_activity {
                self.touch();
            }
            return Ok(());
        }
        self.nudge().await?;
        self.look_after_log().await?;
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        // The end is looked for before the file is read again: what was written before it is then seen.
        if live.is_alive()? {
            live.look_after_shim();
        } else {
            self.drain().await?;
        }
        Ok(())
    }

    /// A message that the CLI was given, and that begins no turn, contradicts itself. One that it did not take is written
    /// again, which harms nothing; one that it took was answered before, and is done.
    async fn nudge(&mut self) -> Result<(), Broken> {
        let conversation = self.book.conversation();
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        let is_quiet = live.last_output.elapsed() > PATIENCE && self.nudged.elapsed() > PATIENCE;
        if !is_quiet || conversation.occupied().turn.is_some() {
            return Ok(());
        }
        self.nudged = Instant::now();
        let mut known = Vec::new();
        for one in conversation.messages() {
            let id = &one.message.id;
            if one.place == Place::Handed(live.generation) {
                tracing::warn!(message = %id.0, "a message was not taken; writing it again");
                live.unwrite(&LineKey::Message(id.clone()));
            } else if one.place == Place::Taken(live.generation) {
                known.push(id.clone());
            }
        }
        if known.is_empty() {
            return Ok(());
        }
        let entry = self.book.decide().withdraw(now(), known);
        self.record(entry, Sync::Later).await
    }

    fn next_line(&mut self) -> Result<Option<Translation>, Broken> {
        match &mut self.phase {
            Phase::Live(live) => Ok(live.next()?),
            Phase::Quiet | Phase::Preparing(_) | Phase::Spawning(_) | Phase::Sweeping(_) => {
                Ok(None)
            }
        }
    }

    async fn take_line(&mut self, line: Translation) -> Result<(), Broken> {
        if let Some((request, cost)) = &line.cost {
            self.tell_cost(request, *cost);
        }
        for event in &line.passing {
            self.pass(event);
        }
        if line.is_passing() {
            return Ok(());
        }
        self.keep(line).await
    }

    /// A line that leaves something in the log.
    async fn keep(&mut self, mut found: Translation) -> Result<(), Broken> {
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        let stretch = live.stretch(&found);
        let open_from = stretch.open_from;
        let is_end = found
            .seen
            .iter()
            .any(|seen| matches!(seen, Seen::TurnEnded { .. }));
        let durable = std::mem::take(&mut found.durable);
        let unasked = self.alarm(&found.ran, stretch.from).await?;
        let known = self.history();
        self.warn_of_failed_resume(&found.seen);
        let decided = self.book.decide();
        let (entry, suspicion) = decided.read(now(), stretch, durable, digest_of_answer);
        self.record(entry, Sync::Later).await?;
        // The session may have changed; a conversation that works on one cannot be refused it.
        let _ = self.claim();
        if let Some(with_history) = self.history().filter(|now| Some(*now) != known) {
            self.tell_resumed(&Ok(with_history));
            self.warn_of_other_session(with_history);
        } else if known.is_none() && self.is_ready_for_nothing() {
            // What it was to begin with was taken back: nothing more will be known.
            let run = self.book.conversation().run();
            let is_resumed = run.is_some_and(|run| run.resume.is_some() && !run.resume_failed);
            self.tell_resumed(&Ok(is_resumed));
        }
        if !self.book.conversation().is_interrupted() {
            self.stopping.turn_ended();
        }
        if is_end {
            self.book.sync().await?;
            if let Phase::Live(live) = &mut self.phase {
                live.give_back(open_from);
            }
        }
        if let Some(what) = unasked {
            self.kill_run(StopReason::Tampered {
                what,
                is_unasked: true,
            })
            .await?;
        } else if let Some(suspicion) = suspicion {
            self.tampered(suspicion.to_string()).await?;
        } else if is_end && !self.end_reconfigured().await? {
            self.end_trusted().await?;
        }
        Ok(())
    }

    /// A tool that succeeded although nobody allowed it: the gate was gone around. What it did is done, but no longer in
    /// secret. Says what ran, because nothing more may: there is no gate.
    async fn alarm(
        &mut self,
        ran: &[(ToolUseId, String)],
        from: u64,
    ) -> Result<Option<String>, Broken> {
        let conversation = self.book.conversation();
        let forgiven = conversation.run().map_or(0, |run| run.forgiven_to);
        // The log does not know all that was allowed before.
        if from < forgiven {
            return Ok(None);
        }
        let unallowed: Vec<_> = ran
            .iter()
            .filter(|(id, _)| !is_allowed(conversation, id))
            .collect();
        let names: Vec<_> = unallowed.iter().map(|(_, tool)| tool.as_str()).collect();
        let unasked = (!names.is_empty()).then(|| names.join(", "));
        for (id, tool) in unallowed {
            let what = format!(
                "{tool} ran without being allowed by Estelle ({id}): the agent did not ask, or somebody else answered \
                 it; look at what it did before going on"
            );
            tracing::error!(conversation = %self.book.conversation().id(), %what, "a tool ran unasked");
            let event = ClaudeEvent::Error(ErrorEvent::new(what.clone()));
            let entry = self.book.decide().repair(now(), what, vec![event]);
            self.record(entry, Sync::Now).await?;
        }
        Ok(unasked)
    }

    pub(super) fn is_ready(&self) -> bool {
        let run = self.book.conversation().run();
        run.is_some_and(estelle_state::conversation::Run::is_ready)
    }

    /// Whether the run is there and has nothing to begin with.
    fn is_ready_for_nothing(&self) -> bool {
        let mut messages = self.book.conversation().messages().iter();
        self.is_ready()
            && !messages.any(|one| matches!(one.place, Place::Waiting | Place::Handed(_)))
    }

    /// Whether the run knows what was said before it, once that is known.
    fn history(&self) -> Option<bool> {
        self.book.conversation().run()?.history
    }

    /// The session that was to be taken up is gone: the conversation goes on without its history, which somebody will miss.
    fn warn_of_failed_resume(&self, seen: &[Seen]) {
        let conversation = self.book.conversation();
        let session = conversation.run().and_then(|run| run.resume.as_ref());
        let is_believed = conversation.may_fail_to_resume() && seen.contains(&Seen::ResumeFailed);
        if let Some(session) = session.filter(|_| is_believed) {
            tracing::warn!(
                conversation = %conversation.id(), %session,
                "the agent's session does not exist any more; one is begun afresh, without its history"
            );
        }
    }

    /// The CLI was told to take a session up, and works on another.
    fn warn_of_other_session(&self, with_history: bool) {
        let conversation = self.book.conversation();
        let wanted = conversation.run().and_then(|run| run.resume.as_ref());
        let session = conversation.session();
        if let (Some(wanted), Some(session), false) = (wanted, session, with_history) {
            tracing::warn!(
                conversation = %conversation.id(), %wanted, %session,
                "the agent did not take up the session it was told to; it knows nothing of what was said before"
            );
        }
    }

    /// Somebody else wrote to the CLI: it is killed at once.
    async fn tampered(&mut self, what: String) -> Result<(), Broken> {
        let is_unasked = false;
        self.kill_run(StopReason::Tampered { what, is_unasked })
            .await
    }

    /// The process must not do anything more.
    pub(super) async fn kill_run(&mut self, why: StopReason) -> Result<(), Broken> {
        tracing::error!(conversation = %self.book.conversation().id(), ?why, "the run is killed");
        if let Some(entry) = self.book.decide().stop_run(now(), why) {
            self.record(entry, Sync::Now).await?;
        }
        if let Phase::Live(live) = &mut self.phase {
            live.closed = true;
            send_signal(&live.record, Signal::KILL);
        }
        self.stopping.condemn();
        Ok(())
    }

    /// The process is gone: the rest of its journal, then its end.
    async fn drain(&mut self) -> Result<(), Broken> {
        while let Some(line) = self.next_line()? {
            self.take_line(line).await?;
        }
        let rest = match &mut self.phase {
            Phase::Live(live) => live.rest()?,
            Phase::Quiet | Phase::Preparing(_) | Phase::Spawning(_) | Phase::Sweeping(_) => None,
        };
        if let Some(line) = rest {
            self.take_line(line).await?;
        }
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        let (exit, words) = (live.exit(), live.last_words());
        if live.has_loose_end() {
            self.keep(Translation::default()).await?;
        }
        // Whoever saw it end would have told what it said last.
        if exit == RunExit::Unknown && !words.is_empty() {
            let what = format!("the last words of the agent's process: {words}");
            let event = ClaudeEvent::Error(ErrorEvent::new(what.clone()));
            let entry = self.book.decide().repair(now(), what, vec![event]);
            self.record(entry, Sync::Now).await?;
        }
        self.sweep(exit);
        Ok(())
    }

    /// Passes an event on to those who look now.
    fn pass(&mut self, event: &ClaudeEvent) {
        if self.listeners.is_empty() {
            return;
        }
        let id = self.book.conversation().id().clone();
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "only what is streamed comes in pieces"
        )]
        let letter = match event {
            ClaudeEvent::Text(delta) => Letter::text(id, delta.clone()),
            ClaudeEvent::Thinking(delta) => Letter::thinking(id, delta.clone()),
            _ => Letter::message(&HostToPylon::Event(HostEvent::new(id, event.clone()))),
        };
        self.publish(vec![letter]);
    }
}

/// Whether we let a call of the run happen.
fn is_allowed(conversation: &Conversation, id: &ToolUseId) -> bool {
    let Some(run) = conversation.run() else {
        return false;
    };
    let key = DecisionKey {
        generation: run.generation,
        tool_use_id: id.clone(),
    };
    let decision = conversation.ledger().get(&key);
    let answer = decision.and_then(|decision| decision.answer.as_ref());
    // Of one that is over the line is no longer known.
    let is_over = decision.is_some_and(Decision::is_over);
    answer.is_some_and(|answer| is_over || lines::is_allow(&answer.line))
}
