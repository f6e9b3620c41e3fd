//! The task of one conversation: waits for commands, output and deadlines, and does what is due after each.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use estelle_proto::ipc::{ClaimCall, GrantedTool, HostToPylon, PylonToHost, SessionStatus};
use estelle_proto::{ApiError, Epoch, ErrorCode, Retry, Seq, Timestamp};
use estelle_state::conversation::{Conversation, Due, Entry, Rewind, Unconfirmed};
use estelle_state::idle::{IdleTimeout, IdleWatch};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::book::{Book, View};
use super::calls::Claimants;
use super::context::Context;
use super::lending::LentTo;
use super::live::Live;
use super::mending::Trouble;
use super::requests::AfterEnd;
use super::rewinding::Rewinding;
use super::running::{Phase, Wake};
use super::stopping::Stopping;
use super::writer::LineKey;
use crate::failpoint::{self, Step};
use crate::ipc::{Done, Refusal};
use crate::log::{AppendError, Sync};
use crate::mailbox::{Letter, Mailbox};
use crate::translate::lines;

/// How often a run is looked at without being woken, when its output or its end would not wake us.
const SAFETY_POLL: Duration = Duration::from_secs(1);

/// How often a run is looked at without being woken, when its output and its end would wake us.
const WATCHED_POLL: Duration = Duration::from_secs(5);

/// Where the result of a command goes.
pub(crate) type Reply = oneshot::Sender<Result<Done, Refusal>>;

/// What the task is asked.
#[derive(Debug)]
pub(crate) enum Command {
    /// A command of a client.
    Submit(Box<PylonToHost>, Reply),
    /// How the conversation is.
    Status(oneshot::Sender<SessionStatus>),
    /// What people have allowed for it.
    Granted(oneshot::Sender<Vec<GrantedTool>>),
    /// What waits for people.
    Decisions(oneshot::Sender<Vec<HostToPylon>>),
    /// Tell a client what waits for people, in its place among everything else that it is told.
    TellDecisions(Mailbox, oneshot::Sender<()>),
    /// What a replay needs.
    View(oneshot::Sender<Result<View, ApiError>>),
    /// Join the listeners, if everything up to `seq` is known; otherwise a new view to go on with.
    Join {
        seq: Seq,
        epoch: Epoch,
        mailbox: Mailbox,
        joined: oneshot::Sender<Option<View>>,
    },
    /// Leave the listeners.
    Leave(Mailbox),
    /// A client wants to carry a call out.
    Claim {
        claim: ClaimCall,
        mailbox: Mailbox,
        granted: oneshot::Sender<Result<(), ApiError>>,
    },
    /// A minute has passed.
    Tick,
    /// The host goes down and takes the runs along; the reply comes when this one is gone.
    ShutDown(oneshot::Sender<Ended>),
    /// Whether the conversation can go on from before a message.
    MayRewind(Seq, oneshot::Sender<Result<Rewind, ApiError>>),
    /// Let it go on from there.
    Rewind(Rewinding, Reply),
    /// Let a terminal go on with it.
    Lend(LentTo),
    /// Fail as only a mistake in this program can.
    #[cfg(test)]
    Fail,
}

/// What a shutdown found to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A run, which is gone now.
    Run,
    /// Nothing.
    Nothing,
}

#[cfg(test)]
fn fail() {
    panic!("asked for");
}

/// The machine is ahead of the disk and must be thrown away.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error("failed to read or write a run")]
    Io(#[from] io::Error),
    #[error("a line for the agent has no JSON form")]
    Json(#[from] serde_json::Error),
}

/// Whether the task goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    On,
    End,
}

/// The task of one conversation.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(super) context: Arc<Context>,
    pub(super) folder: PathBuf,
    pub(super) book: Book,
    pub(super) inbox: mpsc::Receiver<Command>,
    pub(super) listeners: Vec<Mailbox>,
    /// What the listeners have.
    pub(super) published: Published,
    pub(super) phase: Phase,
    /// Counts on a clock that nobody can set: a jump of the time of day stops no process.
    pub(super) idle: IdleWatch,
    since: Instant,
    pub(super) stopping: Stopping,
    pub(super) after_end: Vec<AfterEnd>,
    /// Who carries calls of our own tools out.
    pub(super) claimants: Claimants,
    /// People who wait to hear whether a resume worked.
    pub(super) resuming: Vec<Reply>,
    /// Who wants to know what the turn has cost, by the request that the CLI was asked with.
    pub(super) costing: Vec<(String, Reply, Instant)>,
    /// The reserve of the disk could not be kept.
    pub(super) disk_full: bool,
    /// More of the journal is there than was read in one go.
    pub(super) has_more: bool,
    /// When messages that nobody took were last written again.
    pub(super) nudged: Instant,
    /// The messages that wait, as those who look were told.
    pub(super) told_waiting: Vec<estelle_proto::waiting::WaitingMessage>,
    /// There is no such conversation any more.
    pub(super) is_deleted: bool,
    /// Why nothing can be done for now.
    pub(super) trouble: Option<Trouble>,
    /// What was asked meanwhile and is not for nothing.
    pub(super) put_off: Vec<Command>,
}

/// The newest event that was published, which may be behind the machine's while something is being written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) epoch: Epoch,
    pub(super) seq: Seq,
}

impl Published {
    /// Everything is.
    pub(super) fn of(conversation: &Conversation) -> Self {
        Self {
            epoch: conversation.epoch(),
            seq: conversation.seq(),
        }
    }
}

/// The time of entries.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    });
    Timestamp(now.saturating_add(failpoint::clock_skew_ms()))
}

/// The idle time of a conversation whose newest entry was written then, on a clock that begins now.
fn idle_since(last: Timestamp, now: Timestamp, timeout: IdleTimeout) -> IdleWatch {
    let passed = u64::try_from(now.0.saturating_sub(last.0)).unwrap_or(0);
    IdleWatch::idle_for(Timestamp(0), Duration::from_millis(passed), timeout)
}

impl Actor {
    pub(crate) fn new(
        context: Arc<Context>,
        folder: PathBuf,
        book: Book,
        inbox: mpsc::Receiver<Command>,
    ) -> Self {
        let idle = idle_since(book.conversation().last_at(), now(), context.settings.idle);
        Self {
            stopping: Stopping::new(context.settings.grace),
            context,
            folder,
            published: Published::of(book.conversation()),
            idle,
            book,
            inbox,
            listeners: Vec::new(),
            phase: Phase::Quiet,
            since: Instant::now(),
            after_end: Vec::new(),
            claimants: Claimants::default(),
            resuming: Vec::new(),
            costing: Vec::new(),
            disk_full: false,
            has_more: false,
            nudged: Instant::now(),
            told_waiting: Vec::new(),
            is_deleted: false,
            trouble: None,
            put_off: Vec::new(),
        }
    }

    /// Somebody typed, the process printed, or a client came back.
    pub(super) fn touch(&mut self) {
        let now = self.elapsed();
        self.idle.touch(now);
    }

    /// The time on the clock of the idle watch.
    pub(super) fn elapsed(&self) -> Timestamp {
        let passed = i64::try_from(self.since.elapsed().as_millis()).unwrap_or(i64::MAX);
        Timestamp(passed.saturating_add(failpoint::idle_ahead_ms()))
    }

    /// Goes on until the conversation is deleted or the host lets go of it. `first` is obeyed before anything else.
    pub(super) async fn go(&mut self, first: Option<Command>) {
        let mut outcome = self.begin(first).await;
        loop {
            match outcome {
                Ok(Flow::On) => outcome = self.step().await,
                Ok(Flow::End) => return,
                Err(broken) => outcome = self.reopen(&broken).await,
            }
        }
    }

    async fn begin(&mut self, first: Option<Command>) -> Result<Flow, Broken> {
        if self.begin_again().await == Flow::End {
            return Ok(Flow::End);
        }
        self.recover().await?;
        self.take_up().await?;
        match first {
            Some(first) => self.obey(first).await,
            None => Ok(Flow::On),
        }
    }

    async fn step(&mut self) -> Result<Flow, Broken> {
        self.read_journal().await?;
        if self.is_deleted || self.has_waited() {
            return self.catch_up_on_commands().await;
        }
        // Whoever has a deadline keeps it, however much there is to read.
        self.overdue().await?;
        self.adjust().await?;
        self.look_after_calls().await?;
        self.do_due().await?;
        self.flush()?;
        if self.has_more {
            return match self.inbox.try_recv() {
                Ok(command) => self.obey(command).await,
                Err(mpsc::error::TryRecvError::Empty) => {
                    tokio::task::yield_now().await;
                    Ok(Flow::On)
                }
                Err(mpsc::error::TryRecvError::Disconnected) => Ok(Flow::End),
            };
        }
        let deadline = self.deadline();
        let wake = tokio::select! {
            biased;
            command = self.inbox.recv() => Wake::Command(command),
            wake = self.phase.wake() => wake,
            () = sleep_until(deadline) => Wake::Deadline,
        };
        match wake {
            Wake::Command(Some(command)) => self.obey(command).await,
            Wake::Command(None) => Ok(Flow::End),
            Wake::Output | Wake::Deadline => Ok(Flow::On),
            Wake::Unwritten(line) => self.unwritten(line).await,
            Wake::Prepared(prepared) => self.prepared(prepared).await,
            Wake::Swept(exit) => {
                self.end(exit).await?;
                Ok(Flow::On)
            }
        }
    }

    fn deadline(&self) -> Instant {
        let poll = match &self.phase {
            Phase::Quiet | Phase::Preparing(_) | Phase::Sweeping(_) => Duration::from_hours(1),
            Phase::Live(live) if live.is_watched() => WATCHED_POLL,
            Phase::Spawning(_) | Phase::Live(_) => SAFETY_POLL,
        };
        let poll = Instant::now() + poll;
        let retry = match &self.phase {
            Phase::Live(live) => live.retry_at(),
            Phase::Quiet | Phase::Preparing(_) | Phase::Spawning(_) | Phase::Sweeping(_) => None,
        };
        let sooner = self.stopping.next().into_iter().chain(retry);
        sooner.fold(poll, Instant::min)
    }

    pub(super) async fn obey(&mut self, command: Command) -> Result<Flow, Broken> {
        match command {
            // It belongs to the next process, which is not started before nothing is left of this one, or to the next log.
            command if self.must_wait(&command) => self.put_off.push(command),
            Command::Submit(command, reply) => return self.submit(*command, reply).await,
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
            Command::Claim {
                claim,
                mailbox,
                granted,
            } => {
                let outcome = self.claim_call(&claim, mailbox).await?;
                let _ = granted.send(outcome);
            }
            Command::Tick => self.tick().await?,
            Command::ShutDown(reply) => self.shut_down(reply).await?,
            Command::MayRewind(before, reply) => {
                let _ = reply.send(self.may_rewind(before));
            }
            Command::Rewind(wanted, reply) => self.rewind(wanted, reply).await?,
            Command::Lend(to) => self.lend(to).await?,
            #[cfg(test)]
            Command::Fail => fail(),
        }
        Ok(Flow::On)
    }

    /// Does what the machine says is due, until nothing is.
    async fn do_due(&mut self) -> Result<(), Broken> {
        loop {
            let Some(due) = self.book.conversation().due() else {
                return Ok(());
            };
            match due {
                Due::Start
                    if matches!(self.phase, Phase::Quiet) && !self.context.is_going_down() =>
                {
                    self.prepare();
                    return Ok(());
                }
                Due::Start => return Ok(()),
                Due::Judge(key) => {
                    let key = key.clone();
                    self.judge(&key).await?;
                }
                Due::Hand(message) => {
                    let id = message.id.clone();
                    if !matches!(self.phase, Phase::Live(_)) || self.end_reconfigured().await? {
                        return Ok(());
                    }
                    let Some(entry) = self.book.decide().hand(now(), id) else {
                        return Ok(());
                    };
                    self.record(entry, Sync::Now).await?;
                }
                Due::Interrupt => {
                    let Some(entry) = self.book.decide().make_way(now()) else {
                        return Ok(());
                    };
                    self.record(entry, Sync::Now).await?;
                    self.interrupt(Vec::new()).await?;
                }
                Due::Call(id, _) => {
                    let id = id.to_owned();
                    self.begin_call(id).await?;
                }
                Due::Act(key) => {
                    let key = key.clone();
                    self.act(&key).await?;
                }
            }
        }
    }

    /// Appends an entry and publishes its events. `Sync::Now` waits for the disk without holding others up.
    pub(super) async fn record(&mut self, entry: Entry, sync: Sync) -> Result<(), Broken> {
        let letters = self.book.append(&entry, Sync::Later)?;
        failpoint::at_record(&entry.record, Step::Appended);
        if sync == Sync::Now {
            self.book.sync().await?;
        }
        failpoint::at_record(&entry.record, Step::Kept);
        self.publish_all(letters);
        self.announce(&entry);
        self.tell_waiting();
        failpoint::at_record(&entry.record, Step::Published);
        Ok(())
    }

    /// Appends several entries; one wait for the disk serves all.
    pub(super) async fn record_all(&mut self, entries: Vec<Entry>) -> Result<(), Broken> {
        if entries.is_empty() {
            return Ok(());
        }
        // The numbers of events are counted from the machine's, which is ahead by all of these entries.
        let letters = self.book.append_all(&entries)?;
        failpoint::at_records(&entries, Step::Appended);
        self.book.sync().await?;
        failpoint::at_records(&entries, Step::Kept);
        self.publish_all(letters);
        for entry in &entries {
            self.announce(entry);
        }
        self.tell_waiting();
        failpoint::at_records(&entries, Step::Published);
        Ok(())
    }

    /// Publishes everything up to where the machine is.
    fn publish_all(&mut self, letters: Vec<Letter>) {
        self.published = Published::of(self.book.conversation());
        self.publish(letters);
    }

    pub(super) fn publish(&mut self, letters: Vec<Letter>) {
        for letter in letters {
            self.listeners
                .retain(|listener| listener.post(letter.clone()).is_ok());
        }
    }

    /// Gives the run every line that its CLI may not have.
    fn flush(&mut self) -> Result<(), Broken> {
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        live.retry();
        let lines = self.book.conversation().unconfirmed();
        live.forget_written(|| lines.iter().map(key_of).collect());
        for line in lines {
            write_line(live, line)?;
        }
        Ok(())
    }
}

/// What a line is.
fn key_of(unconfirmed: &Unconfirmed<'_>) -> LineKey {
    match unconfirmed {
        Unconfirmed::Message(message) => LineKey::Message(message.id.clone()),
        Unconfirmed::Answer(answer) => LineKey::Answer(answer.key.tool_use_id.to_string()),
        Unconfirmed::Result(id, _) => LineKey::Result((*id).to_owned()),
        Unconfirmed::Refusal(id, _) => LineKey::Refusal((*id).to_owned()),
    }
}

/// Writes a line that the CLI may not have; `Live` remembers what this host has written.
fn write_line(live: &mut Live, unconfirmed: Unconfirmed<'_>) -> Result<(), Broken> {
    let mut failure = None;
    let mut keep =
        |text: Result<String, serde_json::Error>| text.map_err(|error| failure = Some(error)).ok();
    let key = key_of(&unconfirmed);
    match unconfirmed {
        Unconfirmed::Message(message) => {
            live.give(message);
            live.write(key, || keep(lines::message(message)));
        }
        Unconfirmed::Answer(answer) => {
            live.write(key, || Some(answer.line.clone()));
        }
        Unconfirmed::Result(_, text) => {
            live.write(key, || Some(text.to_owned()));
        }
        Unconfirmed::Refusal(id, subtype) => {
            live.write(key, || keep(lines::refusal(id, subtype)));
        }
    }
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// The answer to everything while the disk fails.
pub(crate) fn disk_trouble() -> ApiError {
    ApiError::new(
        ErrorCode::DiskFull,
        "the disk of the host's data folder is full or fails; make room, then try again".to_owned(),
        Retry::Later,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_time_of_a_host_before_this_one_is_not_begun_anew() {
        let timeout = IdleTimeout::default();
        let minutes = |minutes: i64| Timestamp(minutes * 60_000);
        let last = |at| idle_since(minutes(100), minutes(at), timeout).last_activity();
        assert_eq!(last(100), minutes(0));
        assert_eq!(last(120), minutes(-20));
        assert_eq!(last(1000), minutes(-28), "there is time for a warning");
        assert_eq!(last(90), minutes(0), "the time of day went back");
    }
}
