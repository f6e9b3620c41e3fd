//! The handle on a running CLI: send lines, ask control requests, take what it printed.
//!
//! A [`Connection`] is cheap to clone; when the last clone is gone the process is ended. Everything that can
//! fail says why, and once the CLI is gone it says how it ended and what it printed last.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::calls::{Calls, Responder};
use super::end::{ControlError, End, SendError};
use super::inbox::{Inbox, Item};
use super::pending::Pending;
use super::reader;
use super::supervisor::{self, Ending};
use super::writer::{self, OUTGOING_CAPACITY, Outgoing};
use crate::line::Line;
use crate::transport::{Grace, Link};

/// How long a silent pipe is read on once the process is gone, in case a grandchild holds it open.
pub(crate) const DRAIN_GRACE: Duration = Duration::from_secs(1);

/// Limits of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionConfig {
    /// How much unread output is held before the CLI is made to wait.
    pub(crate) inbox_bytes: usize,
    /// How long each step of ending the process may take.
    pub(crate) grace: Grace,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        Self {
            inbox_bytes: 64 * 1024 * 1024,
            grace: Grace::default(),
        }
    }
}

pub(crate) type Waiter = oneshot::Sender<Result<Line, Arc<End>>>;

/// What the tasks and the handles of one connection have in common.
pub(crate) struct Shared {
    pub(crate) inbox: Inbox,
    pub(crate) calls: Arc<Calls>,
    pub(crate) responder: Arc<dyn Responder>,
    pub(crate) outgoing: mpsc::Sender<Outgoing>,
    pub(crate) tasks: TaskTracker,
    pending: Mutex<Pending<Waiter>>,
    end: watch::Sender<Option<Arc<End>>>,
    ending: watch::Receiver<Ending>,
    config: ConnectionConfig,
}

impl Shared {
    /// Whether the reader may go on: there is room, or somebody waits for what stands behind the unread.
    pub(crate) fn may_read(&self) -> bool {
        self.inbox.has_room()
            || (self.inbox.is_below_ceiling() && !self.pending().is_empty())
            || *self.ending.borrow() >= Ending::Asked
    }

    /// Completes when the process is gone; what it printed last may not be read yet.
    pub(crate) async fn process_gone(&self) {
        let mut end = self.end.subscribe();
        // The sender is a field of ours and cannot be gone.
        let _ = end.wait_for(Option::is_some).await;
    }

    /// Whether the process is gone.
    pub(crate) fn is_process_gone(&self) -> bool {
        self.end.borrow().is_some()
    }

    pub(crate) fn take_pending(&self, id: &str) -> Option<Waiter> {
        self.pending().take(id)
    }

    fn pending(&self) -> MutexGuard<'_, Pending<Waiter>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self) -> Option<Arc<End>> {
        self.end.borrow().clone()
    }

    /// The process is gone; what it printed last may not be read yet.
    fn exited(&self, end: End) {
        self.end.send_replace(Some(Arc::new(end)));
        self.calls.cancel_all();
    }

    /// Its output is read to the end: everybody who still waits learns it.
    fn finish(&self) {
        let end = self.ended().unwrap_or_else(|| Arc::new(End::unknown()));
        for waiter in self.pending().take_all() {
            // A waiter that gave up does not need to know.
            let _ = waiter.send(Err(Arc::clone(&end)));
        }
        // The reader may have begun to serve one in the moment of the exit.
        self.calls.cancel_all();
        self.inbox.close();
    }
}

/// A handle on a running CLI.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    guard: Arc<EndingGuard>,
}

/// Ends the process when the last handle is gone.
struct EndingGuard(watch::Sender<Ending>);

impl Drop for EndingGuard {
    fn drop(&mut self) {
        self.0
            .send_modify(|ending| *ending = (*ending).max(Ending::Dropped));
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("end", &self.shared.ended())
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// Starts serving a link. Needs a tokio runtime.
    pub(crate) fn open(
        link: Link,
        responder: Arc<dyn Responder>,
        config: ConnectionConfig,
    ) -> Self {
        let (outgoing, lines) = mpsc::channel(OUTGOING_CAPACITY);
        let (ending, wanted) = watch::channel(Ending::Natural);
        let tasks = TaskTracker::new();
        let shared = Arc::new(Shared {
            inbox: Inbox::new(config.inbox_bytes),
            calls: Arc::default(),
            responder,
            outgoing,
            tasks: tasks.clone(),
            pending: Mutex::new(Pending::new(
                uuid::Uuid::new_v4().simple().to_string()[..12].to_owned(),
            )),
            end: watch::Sender::new(None),
            ending: wanted.clone(),
            config,
        });
        let Link {
            source,
            sink,
            mut process,
        } = link;
        let input = Arc::new(tokio::sync::Mutex::new(sink));
        let writer = tasks.spawn(writer::run(Arc::clone(&input), lines));
        let reader = tasks.spawn(reader::run(source, input, Arc::clone(&shared)));
        let supervised = Arc::clone(&shared);
        tasks.spawn(async move {
            let exit = supervisor::run(&mut *process, supervised.config.grace, wanted).await;
            supervised.exited(exit.map_or_else(End::unknown, |exit| End {
                exit,
                stderr: process.stderr(),
            }));
            // A write that hangs in a pipe nobody reads ends with the process.
            writer.abort();
            let mut wanted = supervised.ending.clone();
            let mut reader = AbortOnDropHandle::new(reader);
            let unwanted = wanted.wait_for(|ending| *ending >= Ending::Dropped);
            tokio::select! {
                _ = &mut reader => {}
                // Nobody is left to read what is left.
                () = unwanted.map(drop) => {
                    reader.abort();
                    // Until it has stopped it may still begin to serve a request.
                    let _ = (&mut reader).await;
                }
            }
            supervised.finish();
        });
        tasks.close();
        Self {
            shared,
            guard: Arc::new(EndingGuard(ending)),
        }
    }

    /// Runs a task that belongs to the connection.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.shared.tasks.spawn(task)
    }

    /// Sends one line and waits until it is written.
    pub(crate) async fn send(&self, line: Line) -> Result<(), SendError> {
        let (done, written) = oneshot::channel();
        let refused = || {
            self.shared
                .ended()
                .map_or(SendError::InputEnded, SendError::Ended)
        };
        self.shared
            .outgoing
            .send(Outgoing::Line(line, Some(done)))
            .await
            .map_err(|_| refused())?;
        match written.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(self.broken_pipe().await)
            }
            Ok(Err(error)) => Err(SendError::Write(error)),
            Err(_) => Err(refused()),
        }
    }

    /// A broken pipe mostly means that the CLI is about to be reaped: its exit says more than the pipe.
    async fn broken_pipe(&self) -> SendError {
        match tokio::time::timeout(DRAIN_GRACE, self.ended()).await {
            Ok(end) => SendError::Ended(end),
            Err(_) => SendError::InputEnded,
        }
    }

    /// Ends the CLI's input; it finishes what it has and exits.
    pub(crate) async fn end_input(&self) {
        // A writer that is gone has ended it already.
        let _ = self.shared.outgoing.send(Outgoing::Close).await;
    }

    /// Asks a control request and waits so long for the answer: the whole `control_response` line.
    pub(crate) async fn ask(
        &self,
        subtype: &str,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<Line, ControlError> {
        let (answered, answer) = oneshot::channel();
        let id = self.shared.pending().open(answered);
        let mut asked = Asked {
            connection: self,
            id: Some(id.clone()),
        };
        // The reader may have stopped for want of room.
        self.shared.inbox.wake_reader();
        let line = request_line(&id, request).map_err(SendError::Encode)?;
        let exchange = async {
            self.send(line).await?;
            match answer.await {
                Ok(Ok(line)) => Ok(line),
                Ok(Err(end)) => Err(ControlError::Ended {
                    subtype: subtype.to_owned(),
                    end,
                }),
                Err(_) => Err(ControlError::Send(SendError::InputEnded)),
            }
        };
        let result = tokio::time::timeout(limit, exchange).await;
        if matches!(result, Ok(Ok(_))) {
            asked.id = None;
        }
        result.unwrap_or_else(|_| {
            Err(ControlError::TimedOut {
                subtype: subtype.to_owned(),
                limit,
            })
        })
    }

    /// The next thing the CLI printed for the caller, or nothing after its end. Safe to cancel.
    pub(crate) async fn take(&self) -> Option<Item> {
        self.shared.inbox.take().await
    }

    /// Waits for the end of the CLI.
    pub(crate) async fn ended(&self) -> Arc<End> {
        let mut end = self.shared.end.subscribe();
        let ended = end
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|end| end.clone());
        // The sender lives in `shared`, which this handle holds: it cannot be gone.
        ended.unwrap_or_else(|| Arc::new(End::unknown()))
    }

    /// How the CLI ended, if it has.
    pub(crate) fn end(&self) -> Option<Arc<End>> {
        self.shared.ended()
    }

    /// Ends the process now; nobody is interested in what it still prints.
    pub(crate) fn abort(&self) {
        self.guard.0.send_replace(Ending::Aborted);
        self.shared.inbox.wake_reader();
    }

    /// Lets the time run after which the process is ended by force.
    pub(crate) fn expect_end(&self) {
        self.guard.0.send_if_modified(|ending| {
            let raise = *ending < Ending::Asked;
            *ending = (*ending).max(Ending::Asked);
            raise
        });
        // What stops for want of room goes on: the caller wants to see the end.
        self.shared.inbox.wake_reader();
    }
}

/// A request in flight: given up (dropped, timed out, failed) it is forgotten, and the CLI told so.
struct Asked<'a> {
    connection: &'a Connection,
    id: Option<String>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let shared = &self.connection.shared;
        if shared.pending().take(&id).is_some() {
            // A courtesy: if the queue is full the CLI answers in vain, which is harmless.
            let _ = shared
                .outgoing
                .try_send(Outgoing::Line(cancel_line(&id), None));
        }
    }
}

#[derive(Serialize)]
struct RequestLine<'a, R> {
    #[serde(rename = "type")]
    kind: &'static str,
    request_id: &'a str,
    request: &'a R,
}

fn request_line(id: &str, request: &impl Serialize) -> Result<Line, serde_json::Error> {
    let line = RequestLine {
        kind: "control_request",
        request_id: id,
        request,
    };
    serde_json::to_string(&line).map(Line::from)
}

#[derive(Serialize)]
struct CancelLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    request_id: &'a str,
}

fn cancel_line(id: &str) -> Line {
    let line = CancelLine {
        kind: "control_cancel_request",
        request_id: id,
    };
    // Two strings always serialise; an empty line would be ignored by the CLI.
    serde_json::to_string(&line).unwrap_or_default().into()
}
