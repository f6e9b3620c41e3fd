//! What is done when the log cannot be written, or when the task itself fails: the machine is thrown away and folded from
//! the log again.
//!
//! Nobody waits meanwhile. What only looks is answered from what is known to be kept, what would change something is
//! refused, and what was kept but not published before the failure reaches the listeners afterwards, once.

use std::io;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::ipc::{HostToPylon, Subscribed};
use estelle_proto::{ApiError, ErrorCode, Retry, Seq};
use futures_util::FutureExt;
use tokio::time::{Instant, sleep_until};

use super::actor::{Actor, Broken, Command, Ended, Flow, Published, disk_trouble, now};
use super::book::{Book, View};
use super::running::Phase;
use crate::launch::run_marker;
use crate::log::Sync;
use crate::mailbox::Letter;
use crate::run::{RunFolder, clean_up};

/// How long a conversation waits after a failure before it tries again.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// So many failures of the task within [`WINDOW`] are forgiven.
const FAILURES: usize = 3;

/// How long a failure counts.
const WINDOW: Duration = Duration::from_mins(10);

/// How many events are read in one go.
const PORTION: usize = 256;

/// Why nothing can be done for a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Its log cannot be written.
    Disk,
    /// Its task failed, and begins again in a moment.
    Failed,
    /// Its task failed too often.
    GivenUp,
}

impl Trouble {
    /// For whoever asks how the conversation is.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Disk => "its log cannot be written; it is tried again every second",
            Self::Failed => "a mistake in the host hit it; it is taken up again from its log",
            Self::GivenUp => {
                "a mistake in the host hit it again and again; only a restart of the host takes it up"
            }
        }
    }

    /// For whoever wants something done.
    pub(crate) fn refusal(self) -> ApiError {
        let text = match self {
            Self::Disk => return disk_trouble(),
            Self::Failed => {
                "a mistake in the host hit this conversation; look whether this was done, then try again"
            }
            Self::GivenUp => {
                "a mistake in the host hits this conversation again and again; restart the host, its log is whole"
            }
        };
        ApiError::new(ErrorCode::Internal, text.to_owned(), Retry::Later)
    }
}

impl Actor {
    /// Runs until the conversation is deleted or the host lets go of it. A task that fails is begun again from the log,
    /// and left alone when that does not help.
    pub(crate) async fn run(mut self, mut first: Option<Command>) {
        let mut failures: Vec<Instant> = Vec::new();
        loop {
            let is_given_up = self.trouble == Some(Trouble::GivenUp);
            let went = if is_given_up {
                AssertUnwindSafe(self.only_answer()).catch_unwind().await
            } else {
                AssertUnwindSafe(self.go(first.take())).catch_unwind().await
            };
            if went.is_ok() {
                return;
            }
            failures.retain(|at| at.elapsed() < WINDOW);
            failures.push(Instant::now());
            let id = self.book.conversation().id().clone();
            tracing::error!(conversation = %id, failures = failures.len(), "bug: the task of a conversation failed");
            self.context.note_failure(&id);
            self.phase = Phase::Quiet;
            self.stopping.clear();
            self.trouble = Some(Trouble::Failed);
            if is_given_up || failures.len() > FAILURES {
                self.give_up();
            }
        }
    }

    /// After a failure of the task nothing in its memory is trusted but who listens and who waits.
    pub(super) async fn begin_again(&mut self) -> Flow {
        if self.trouble != Some(Trouble::Failed) {
            return Flow::On;
        }
        loop {
            match self.open_again(Trouble::Failed).await {
                Ok(flow) => return flow,
                Err(error) => {
                    let id = self.book.conversation().id();
                    tracing::error!(conversation = %id, %error, "the log could not be opened");
                }
            }
        }
    }

    fn give_up(&mut self) {
        self.trouble = Some(Trouble::GivenUp);
        let refusal = Trouble::GivenUp.refusal();
        let event = ClaudeEvent::Error(ErrorEvent::new(refusal.message.clone()));
        let id = self.book.conversation().id().clone();
        let event = HostToPylon::Event(estelle_proto::ipc::HostEvent::new(id, event));
        self.tell_resumed(&Err(refusal.into()));
        // Whoever waits for an end hears that none comes: its channel is closed.
        self.after_end.clear();
        self.publish(vec![Letter::message(&event)]);
    }

    /// The log is left alone; what only looks is answered.
    async fn only_answer(&mut self) {
        for command in std::mem::take(&mut self.put_off) {
            self.answer_only(command).await;
        }
        while let Some(command) = self.inbox.recv().await {
            self.answer_only(command).await;
        }
    }

    async fn answer_only(&mut self, command: Command) {
        if let Command::ShutDown(reply) = command {
            let _ = reply.send(self.end_by_force().await);
        } else {
            self.answer_aside(command, Trouble::GivenUp);
        }
    }

    /// Ends a run that nobody leads any more. The next host finds that it is gone.
    async fn end_by_force(&mut self) -> Ended {
        let conversation = self.book.conversation();
        let Some(run) = conversation.run() else {
            return Ended::Nothing;
        };
        let folder = RunFolder::open(self.runs().join(run.generation.0.to_string()));
        let marker = run_marker(conversation.id(), run.generation, folder.path());
        clean_up(&folder, &marker).await;
        Ended::Run
    }

    /// The log could not be written: it is opened again, as long as it takes.
    pub(super) async fn reopen(&mut self, broken: &Broken) -> Result<Flow, Broken> {
        let id = self.book.conversation().id().clone();
        tracing::error!(conversation = %id, error = %broken, "the log could not be written; opening it again");
        self.phase = Phase::Quiet;
        self.disk_full = true;
        self.trouble = Some(Trouble::Disk);
        let flow = self.open_again(Trouble::Disk).await?;
        self.disk_full = false;
        if flow == Flow::End {
            return Ok(Flow::End);
        }
        self.recover().await?;
        self.take_up().await
    }

    /// Everything is as before the failure: listeners see it, and what was put off is done.
    ///
    /// They had pieces of what is being written. The snapshot tells them all of it that is there, so that nothing of it is
    /// taken back or told twice, and the next piece goes on where it ends.
    pub(super) async fn take_up(&mut self) -> Result<Flow, Broken> {
        if let Phase::Live(live) = &mut self.phase
            && !self.listeners.is_empty()
        {
            live.read_ahead()?;
        }
        let letters = vec![self.snapshot()];
        self.publish(letters);
        self.catch_up_on_commands().await
    }

    /// Obeys what had to wait.
    pub(super) async fn catch_up_on_commands(&mut self) -> Result<Flow, Broken> {
        let mut waiting = std::mem::take(&mut self.put_off).into_iter();
        while !self.is_deleted
            && let Some(command) = waiting.next()
        {
            self.obey(command).await?;
        }
        self.put_off.extend(waiting);
        if self.is_deleted {
            self.refuse_put_off();
            return Ok(Flow::End);
        }
        Ok(Flow::On)
    }

    /// Folds the log again and publishes what is in it and was not; then rests for a moment.
    async fn open_again(&mut self, trouble: Trouble) -> Result<Flow, Broken> {
        let until = Instant::now() + TRY_AGAIN;
        let opened = self.fold_again(trouble).await;
        loop {
            tokio::select! {
                command = self.inbox.recv() => match command {
                    Some(command) => self.answer_aside(command, trouble),
                    None => return Ok(Flow::End),
                },
                () = sleep_until(until) => break,
            }
        }
        opened?;
        self.trouble = None;
        Ok(Flow::On)
    }

    async fn fold_again(&mut self, trouble: Trouble) -> Result<(), Broken> {
        self.book = self.opened_again().await?;
        if trouble == Trouble::Failed {
            let text = "a mistake in the host interrupted its work on this conversation; it goes on from its log";
            let event = ClaudeEvent::Error(ErrorEvent::new(text.to_owned()));
            let entry = self
                .book
                .decide()
                .repair(now(), text.to_owned(), vec![event]);
            self.book.append(&entry, Sync::Later)?;
        }
        let head = Published::of(self.book.conversation());
        if head.epoch == self.published.epoch && head.seq < self.published.seq {
            let text = "the end of this conversation's log is gone; its numbers begin anew";
            let entry = self.book.decide().shorten(now(), text.to_owned(), None);
            self.book.append(&entry, Sync::Later)?;
        }
        // Only what is kept is published.
        self.book.sync().await?;
        self.catch_up().await
    }

    /// The log as it is on the disk, written again first if it is not there any more. A long one takes a while, in which
    /// nobody else is held up.
    async fn opened_again(&self) -> io::Result<Book> {
        let (held, folder) = (self.book.held(), self.folder.clone());
        let open = move || {
            if held.is_lost()? {
                held.write_again(&folder, now())?;
            }
            let opened = Book::open(&folder, now()).map_err(io::Error::other)?;
            Ok(opened.book)
        };
        let opened = tokio::task::spawn_blocking(open).await;
        opened.map_err(io::Error::other)?
    }

    /// Publishes what is in the log and was not published.
    pub(super) async fn catch_up(&mut self) -> Result<(), Broken> {
        let before = self.published;
        self.published = Published::of(self.book.conversation());
        if before == self.published {
            return Ok(());
        }
        let view = self.view();
        let mut position = View::behind(before.seq);
        if before.epoch != view.epoch() {
            position = View::start();
            let id = self.book.conversation().id().clone();
            let subscribed = Subscribed::new(id, view.epoch(), view.head(), true);
            self.publish(vec![Letter::message(&HostToPylon::Subscribed(subscribed))]);
        }
        while position.seq < view.head() {
            let (letters, reached) = view.read(position, PORTION)?;
            self.publish(letters);
            if reached == position {
                break;
            }
            position = reached;
            tokio::task::yield_now().await;
        }
        for decision in self.decisions() {
            self.context.roster.post_to_all(&Letter::message(&decision));
        }
        Ok(())
    }

    /// Notices a log that was removed under us, and writes it again: what was promised is not lost.
    pub(super) async fn look_after_log(&mut self) -> Result<(), Broken> {
        if self.is_deleted || !self.book.held().is_lost()? {
            return Ok(());
        }
        self.book = self.opened_again().await?;
        let text = "the log of this conversation was removed or replaced; it was written again and nothing of it is lost";
        tracing::error!(conversation = %self.book.conversation().id(), "{text}");
        let event = ClaudeEvent::Error(ErrorEvent::new(text.to_owned()));
        let entry = self
            .book
            .decide()
            .repair(now(), text.to_owned(), vec![event]);
        self.record(entry, Sync::Now).await
    }

    /// Answers what only looks, and refuses what would change something.
    fn answer_aside(&mut self, command: Command, trouble: Trouble) {
        match command {
            Command::Submit(_, reply) | Command::Rewind(_, reply) => {
                let _ = reply.send(Err(trouble.refusal().into()));
            }
            Command::Claim { granted, .. } => {
                let _ = granted.send(Err(trouble.refusal()));
            }
            Command::MayRewind(_, reply) => {
                let _ = reply.send(Err(trouble.refusal()));
            }
            Command::Lend(to) => {
                let _ = to.send(Err(trouble.refusal()));
            }
            Command::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Command::Granted(reply) => {
                let _ = reply.send(self.granted());
            }
            Command::Decisions(reply) => {
                let _ = reply.send(self.decisions());
            }
            Command::TellDecisions(mailbox, told) => self.tell_decisions(&mailbox, told),
            Command::View(reply) => {
                let _ = reply.send(Ok(self.view()));
            }
            Command::Join {
                seq,
                epoch,
                mailbox,
                joined,
            } => self.join(seq, epoch, mailbox, joined),
            Command::Leave(mailbox) => self.listeners.retain(|one| !one.is(&mailbox)),
            Command::Tick => {}
            command @ Command::ShutDown(_) => self.put_off.push(command),
            #[cfg(test)]
            Command::Fail => {}
        }
    }

    /// What a replay needs: everything that was published.
    pub(super) fn view(&self) -> View {
        self.book.view(self.head())
    }

    /// The newest event that was published.
    pub(super) fn head(&self) -> Seq {
        let conversation = self.book.conversation();
        // A log that was cut or begun anew meanwhile has its own numbers.
        if self.published.epoch == conversation.epoch() {
            self.published.seq.min(conversation.seq())
        } else {
            conversation.seq()
        }
    }
}

#[cfg(test)]
#[path = "mending_tests.rs"]
mod tests;
