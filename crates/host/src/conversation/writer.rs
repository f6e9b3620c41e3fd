//! The one writer of a run's input: a task that puts lines into the FIFO, one after another.
//!
//! The actor never waits for the CLI. It gives lines to this task, which may wait as long as a stopped CLI keeps the pipe
//! full. What could not be written is reported; the actor decides what that means.

use std::path::PathBuf;

use estelle_state::conversation::MessageId;
use tokio::sync::mpsc;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::failpoint;
use crate::run::fifo::{FifoWriter, WriteError};

/// Lines that may wait for a CLI that does not read. More than a person can cause; the rest waits in the log.
const QUEUE: usize = 256;

/// What a line is, so that it is written once by this host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LineKey {
    Control(String),
    Message(MessageId),
    Answer(String),
    Result(String),
    Refusal(String),
}

/// A line for the CLI.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) key: LineKey,
    pub(super) text: String,
}

/// A line that was not written.
#[derive(Debug)]
pub(super) struct Unwritten {
    pub(super) line: Outgoing,
    pub(super) error: WriteError,
}

/// The task and the ways to it.
#[derive(Debug)]
pub(super) struct Writer {
    lines: mpsc::Sender<Outgoing>,
    failures: mpsc::Receiver<Unwritten>,
    _task: AbortOnDropHandle<()>,
}

impl Writer {
    pub(super) fn start(fifo: PathBuf) -> Self {
        let (lines, queue) = mpsc::channel(QUEUE);
        let (report, failures) = mpsc::channel(QUEUE);
        let task = TaskTracker::new().spawn(write(fifo, queue, report));
        Self {
            lines,
            failures,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Takes a line, unless too many wait.
    pub(super) fn take(&self, line: Outgoing) -> bool {
        self.lines.try_send(line).is_ok()
    }

    /// The next line that could not be written.
    pub(super) async fn failure(&mut self) -> Unwritten {
        match self.failures.recv().await {
            Some(failure) => failure,
            // The task ends with its queue only; nothing will be reported any more.
            None => std::future::pending().await,
        }
    }
}

async fn write(
    fifo: PathBuf,
    mut queue: mpsc::Receiver<Outgoing>,
    report: mpsc::Sender<Unwritten>,
) {
    let mut pipe: Option<FifoWriter> = None;
    while let Some(line) = queue.recv().await {
        let written = match open(&mut pipe, &fifo) {
            Ok(pipe) => {
                failpoint::reach("line-unwritten");
                let written = pipe.write(line.text.as_bytes()).await;
                failpoint::reach("line-written");
                written
            }
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            let failure = Unwritten { line, error };
            if report.send(failure).await.is_err() {
                return;
            }
        }
    }
}

fn open<'a>(
    pipe: &'a mut Option<FifoWriter>,
    fifo: &std::path::Path,
) -> Result<&'a mut FifoWriter, WriteError> {
    match pipe {
        Some(pipe) => Ok(pipe),
        None => Ok(pipe.insert(FifoWriter::open(fifo)?)),
    }
}
