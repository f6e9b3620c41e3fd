//! A conversation whose log cannot be opened: too many open files, a disk that fails, a record of a newer version.
//!
//! Its task is there nevertheless. It lists the conversation with the reason, tries again after a while and whenever
//! somebody wants something of it, and makes way for the task of the conversation as soon as the log opens. A run that
//! lives is left alone meanwhile; a deletion or a shutdown ends it first.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use estelle_proto::conversations::ConversationStatus;
use estelle_proto::ipc::{Evidence, ProcessStatus, PylonToHost, SessionStatus};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Generation, Retry};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::actor::{Command, Ended, Flow};
use super::book::{Book, LOG, OpenBookError};
use super::context::Context;
use crate::ipc::Done;
use crate::opening;
use crate::run::RunFolder;
use crate::strays::{self, LivingRun};

/// How long it rests between two attempts of its own, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// So many times as long as an attempt took it rests, whoever asks: folding a long log keeps a core busy.
const REST: u32 = 10;

/// How long what was killed may take to let go of its lock, and how often that is looked at.
const GONE_WITHIN: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What came of an attempt.
#[derive(Debug)]
enum Attempt {
    Opened(Box<Book>),
    /// Somebody removed the log: there is nothing to open any more.
    Absent,
    Failed,
}

/// A log as it was when it was read: it must have changed before reading it again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    file: (u64, u64),
    length: u64,
    changed: (i64, i64),
}

impl Mark {
    fn of(log: &Path) -> Option<Self> {
        let found = std::fs::metadata(log).ok()?;
        Some(Self {
            file: (found.dev(), found.ino()),
            length: found.len(),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

/// A conversation whose log cannot be opened.
#[derive(Debug)]
struct Shut {
    context: Arc<Context>,
    id: ConversationId,
    folder: PathBuf,
    /// Why, and what to do about it.
    reason: String,
    retry: Retry,
    /// What was read and not understood.
    read: Option<Mark>,
    /// Whoever asks, it is not tried again before this.
    not_before: Instant,
    /// When it is tried again although nobody asks.
    next: Instant,
    pause: Duration,
}

/// Waits until a log can be opened: its book, and the command for which it was opened, if it was one.
///
/// None when the conversation is deleted or the host lets go of it.
pub(crate) async fn await_opening(
    context: &Arc<Context>,
    id: &ConversationId,
    inbox: &mut mpsc::Receiver<Command>,
    error: &OpenBookError,
) -> Option<(Book, Option<Command>)> {
    let mut shut = Shut::new(context, id);
    shut.note(error, None);
    loop {
        let command = tokio::select! {
            command = inbox.recv() => Some(command?),
            () = sleep_until(shut.next) => None,
        };
        if command.as_ref().is_none_or(needs_the_log) {
            match shut.attempt().await {
                Attempt::Opened(book) => return Some((*book, command)),
                Attempt::Absent => return None,
                Attempt::Failed => {}
            }
        }
        if let Some(command) = command
            && shut.obey(command).await == Flow::End
        {
            return None;
        }
    }
}

/// Whether a command cannot be carried out without the log.
fn needs_the_log(command: &Command) -> bool {
    match command {
        Command::Submit(..)
        | Command::View(_)
        | Command::Claim { .. }
        | Command::MayRewind(..)
        | Command::Rewind(..)
        | Command::Lend(_) => true,
        Command::Status(_)
        | Command::Granted(_)
        | Command::Decisions(_)
        | Command::TellDecisions(..)
        | Command::Join { .. }
        | Command::Leave(_)
        | Command::Tick
        | Command::ShutDown(_) => false,
        #[cfg(test)]
        Command::Fail => false,
    }
}

/// Opens a log as a host that starts does.
fn open(context: &Context, id: &ConversationId) -> Result<Option<Book>, OpenBookError> {
    let folder = context.conversation_folder(id.as_str());
    let mut book = match std::fs::metadata(folder.join(LOG)) {
        Err(error) if opening::is_absent(&error) => None,
        // Whatever else is wrong is found out by opening it.
        Ok(_) | Err(_) => Some(opening::open(&folder)?),
    };
    for run in living(context, id) {
        book = Some(run.settle(book, context)?);
    }
    Ok(book)
}

fn living(context: &Context, id: &ConversationId) -> impl Iterator<Item = LivingRun> {
    let runs = strays::living(&context.settings.data.join("conversations"));
    runs.into_iter().filter(move |run| run.conversation == *id)
}

impl Shut {
    fn new(context: &Arc<Context>, id: &ConversationId) -> Self {
        let now = Instant::now();
        let (pause, _) = PAUSE;
        Self {
            context: Arc::clone(context),
            id: id.clone(),
            folder: context.conversation_folder(id.as_str()),
            reason: String::new(),
            retry: Retry::Later,
            read: None,
            not_before: now,
            next: now + pause,
            pause,
        }
    }

    /// It could not be opened. `read` is what its log was then.
    fn note(&mut self, error: &OpenBookError, read: Option<Mark>) {
        let (retry, advice) = match error {
            OpenBookError::Io { source, .. } => (
                Retry::Later,
                format!(
                    " ({source}): it is tried again by itself; look at the permissions of the file, the limit of open \
                     files and the disk"
                ),
            ),
            OpenBookError::NoBeginning { .. } => (
                Retry::Never,
                ": put it back from a backup, or delete the conversation".to_owned(),
            ),
            OpenBookError::Unreadable { .. } => (
                Retry::Never,
                ": run that version of the host, or delete the conversation".to_owned(),
            ),
        };
        // What could not even be read may be readable at any time.
        self.read = read.filter(|_| retry == Retry::Never);
        self.retry = retry;
        let reason = format!("{error}{advice}");
        if self.reason != reason {
            tracing::error!(conversation = %self.id, %reason, "a conversation could not be opened");
        }
        self.reason = reason;
    }

    /// Tries to open the log, unless that was done just now or cannot help.
    async fn attempt(&mut self) -> Attempt {
        let began = Instant::now();
        if began < self.not_before {
            return Attempt::Failed;
        }
        let read = Mark::of(&self.folder.join(LOG));
        let mut outcome = Attempt::Failed;
        if read.is_none() || read != self.read {
            let (context, id) = (Arc::clone(&self.context), self.id.clone());
            let opened = tokio::task::spawn_blocking(move || open(&context, &id)).await;
            match opened {
                Ok(Ok(Some(book))) => outcome = Attempt::Opened(Box::new(book)),
                Ok(Ok(None)) => outcome = Attempt::Absent,
                Ok(Err(error)) => self.note(&error, read),
                Err(error) => {
                    tracing::error!(conversation = %self.id, %error, "bug: opening a log failed");
                }
            }
        }
        let (shortest, longest) = PAUSE;
        self.pause = (self.pause * 2).min(longest);
        self.not_before = Instant::now() + (began.elapsed() * REST).max(shortest);
        self.next = self.not_before.max(Instant::now() + self.pause);
        outcome
    }

    /// Answers what can be answered without the log. The end of the task is the end of the conversation.
    async fn obey(&self, command: Command) -> Flow {
        // Whoever left does not hear the answer.
        match command {
            Command::Submit(asked, reply) if matches!(*asked, PylonToHost::DeleteSession(_)) => {
                let deleted = self.delete().await;
                let flow = if deleted.is_ok() { Flow::End } else { Flow::On };
                let _ = reply.send(deleted.map(|()| Done::default()).map_err(Into::into));
                return flow;
            }
            Command::Submit(_, reply) | Command::Rewind(_, reply) => {
                let _ = reply.send(Err(self.refusal().into()));
            }
            Command::MayRewind(_, reply) => {
                let _ = reply.send(Err(self.refusal()));
            }
            Command::Lend(to) => {
                let _ = to.send(Err(self.refusal()));
            }
            Command::View(reply) => {
                let _ = reply.send(Err(self.refusal()));
            }
            Command::Claim { granted, .. } => {
                let _ = granted.send(Err(self.refusal()));
            }
            Command::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Command::Granted(reply) => {
                let _ = reply.send(Vec::new());
            }
            Command::Decisions(reply) => {
                let _ = reply.send(Vec::new());
            }
            // Everybody is told when the log can be opened.
            Command::TellDecisions(_, told) => {
                let _ = told.send(());
            }
            Command::ShutDown(reply) => {
                let ended = if self.end_runs().await > 0 {
                    Ended::Run
                } else {
                    Ended::Nothing
                };
                let _ = reply.send(ended);
            }
            // Nobody listens to it.
            Command::Join { .. } | Command::Leave(_) | Command::Tick => {}
            #[cfg(test)]
            Command::Fail => {}
        }
        Flow::On
    }

    fn refusal(&self) -> ApiError {
        ApiError::new(ErrorCode::Internal, self.reason.clone(), self.retry.clone())
    }

    fn status(&self) -> SessionStatus {
        let runs = self.runs().unwrap_or_default();
        let living = runs.into_iter().rev();
        let mut living = living.filter(|(_, run)| run.is_alive().unwrap_or_default());
        let living = living.next();
        let state = match living {
            Some(_) => ConversationStatus::Working,
            None => ConversationStatus::Idle,
        };
        let record = living.as_ref().and_then(|(_, run)| run.load_run().ok()?);
        SessionStatus {
            process: Some(ProcessStatus::Suspect),
            evidence: Some(Evidence {
                why: Some(self.reason.clone()),
                generation: living.as_ref().map(|(generation, _)| *generation),
                pid: record.map(|record| record.pid),
                ..Evidence::new(living.is_some(), false, 0, 0)
            }),
            ..SessionStatus::new(self.id.clone(), state)
        }
    }

    /// Its runs whose folders are there, the newest last.
    fn runs(&self) -> io::Result<Vec<(Generation, RunFolder)>> {
        let entries = match std::fs::read_dir(self.folder.join("runs")) {
            Ok(entries) => entries,
            Err(error) if opening::is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut runs = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if let Some(generation) = name.and_then(|name| name.parse().ok()) {
                runs.push((Generation(generation), RunFolder::open(path)));
            }
        }
        runs.sort_by_key(|(generation, _)| *generation);
        Ok(runs)
    }

    /// Ends whatever lives of it; how many runs there were.
    async fn end_runs(&self) -> usize {
        let (context, id) = (Arc::clone(&self.context), self.id.clone());
        let found = move || living(&context, &id).collect::<Vec<_>>();
        let found = tokio::task::spawn_blocking(found).await.unwrap_or_default();
        let count = found.len();
        futures_util::future::join_all(found.into_iter().map(LivingRun::end)).await;
        count
    }

    /// Removes the conversation, once it is certain that nothing of it lives.
    ///
    /// **Invariant:** a process is never left behind without a folder by which the next host would find it.
    async fn delete(&self) -> Result<(), ApiError> {
        self.end_runs().await;
        let until = Instant::now() + GONE_WITHIN;
        while let Err(reason) = self.is_over() {
            if Instant::now() >= until {
                let message =
                    format!("nothing was deleted: {reason}; try again, or end it by hand");
                return Err(ApiError::new(ErrorCode::Conflict, message, Retry::Later));
            }
            sleep(LOOK_AGAIN).await;
        }
        let deleted = self.context.put_away(&self.id, &self.folder);
        deleted.map_err(|error| {
            let message = format!("failed to delete {}: {error}", self.folder.display());
            ApiError::new(ErrorCode::Internal, message, Retry::Later)
        })
    }

    /// Whether every run is known to be over; if not, why.
    fn is_over(&self) -> Result<(), String> {
        let runs = self.runs();
        let runs = runs.map_err(|error| format!("its runs cannot be looked at ({error})"))?;
        for (generation, run) in runs {
            match run.is_alive() {
                Ok(false) => {}
                Ok(true) => return Err(format!("run {} still lives", generation.0)),
                Err(error) => {
                    return Err(format!(
                        "run {} cannot be looked at ({error})",
                        generation.0
                    ));
                }
            }
        }
        Ok(())
    }
}
