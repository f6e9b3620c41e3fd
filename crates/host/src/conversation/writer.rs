//! The one writer of a run's input: a task that puts lines into the FIFO, one after another.
//!
//! The actor never waits for the CLI. It gives lines to this task, which may wait as long as a stopped CLI keeps the pipe
//! full. What could not be written is reported; the actor decides what that means.

use std::collections::HashSet;
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

/// How many lines are remembered before it is looked which of them nobody will ask for again.
const REMEMBERED: usize = 256;

/// The lines that this host has written, so that it writes none twice.
///
/// What the CLI has is asked for no more, and a control request is written once by whoever makes it: these may be forgotten.
#[derive(Debug)]
pub(super) struct Written {
    keys: HashSet<LineKey>,
    most: usize,
}

impl Default for Written {
    fn default() -> Self {
        Self {
            keys: HashSet::new(),
            most: REMEMBERED,
        }
    }
}

impl Written {
    pub(super) fn contains(&self, key: &LineKey) -> bool {
        self.keys.contains(key)
    }

    pub(super) fn insert(&mut self, key: LineKey) {
        self.keys.insert(key);
    }

    pub(super) fn remove(&mut self, key: &LineKey) {
        self.keys.remove(key);
    }

    /// Whether it is time to forget some.
    pub(super) fn is_full(&self) -> bool {
        self.keys.len() >= self.most
    }

    /// Forgets all but those that somebody may ask for again. If those are many, it is long until the next time.
    pub(super) fn keep(&mut self, open: &HashSet<LineKey>) {
        self.keys.retain(|key| open.contains(key));
        self.keys.shrink_to(REMEMBERED);
        self.most = REMEMBERED.max(2 * self.keys.len());
    }
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
    // A host before this one may have left the pipe enlarged; otherwise it is opened when there is something to write.
    let mut pipe = FifoWriter::open(&fifo).ok();
    pipe.take_if(|pipe| !pipe.is_enlarged());
    while let Some(line) = next(&mut queue, pipe.as_mut()).await {
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

/// The next line. Until it comes, a pipe that was enlarged is brought back to its size.
async fn next(
    queue: &mut mpsc::Receiver<Outgoing>,
    pipe: Option<&mut FifoWriter>,
) -> Option<Outgoing> {
    let rest = async {
        if let Some(pipe) = pipe {
            pipe.rest().await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        line = queue.recv() => line,
        () = rest => None,
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::time::Duration;

    use rustix::fs::{CWD, Mode, mkfifoat};
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

    use super::*;
    use crate::run::fifo::RESTING;

    /// A FIFO as its CLI has it open.
    fn fifo() -> (tempfile::TempDir, PathBuf, File) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("fifo");
        mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        let reader = File::options().read(true).write(true).open(&path).unwrap();
        (place, path, reader)
    }

    async fn shrinks(reader: &File) {
        let shrunk = async {
            while fcntl_getpipe_size(reader).unwrap() > RESTING {
                tokio::task::yield_now().await;
            }
        };
        let limit = Duration::from_secs(20);
        tokio::time::timeout(limit, shrunk).await.unwrap();
    }

    #[test]
    fn what_was_written_is_remembered_while_somebody_may_ask_for_it() {
        let control = |number: usize| LineKey::Control(number.to_string());
        let answer = |number: usize| LineKey::Answer(number.to_string());
        let open: HashSet<LineKey> = (0..300).map(answer).collect();
        let mut written = Written::default();
        for number in 0..10_000 {
            written.insert(control(number));
            if number < 300 {
                written.insert(answer(number));
            }
            if written.is_full() {
                written.keep(&open);
            }
        }
        assert!(open.iter().all(|key| written.contains(key)));
        assert!(written.keys.len() <= 600, "{}", written.keys.len());
        written.keep(&HashSet::new());
        assert!(written.keys.is_empty() && written.keys.capacity() <= 2 * REMEMBERED);
    }

    #[tokio::test]
    async fn a_pipe_shrinks_when_its_long_line_was_read_and_nothing_follows() {
        let (_place, path, mut reader) = fifo();
        let writer = Writer::start(path);
        let line = Outgoing {
            key: LineKey::Control("long".to_owned()),
            text: "x".repeat(300_000),
        };
        assert!(writer.take(line));
        let mut whole = vec![0; 300_001];
        let mut reading = reader.try_clone().unwrap();
        let read = move || reading.read_exact(&mut whole);
        tokio::task::spawn_blocking(read).await.unwrap().unwrap();
        shrinks(&reader).await;
        assert!(writer.take(Outgoing {
            key: LineKey::Control("short".to_owned()),
            text: "next".to_owned(),
        }));
        let mut next = [0; 5];
        let read = move || reader.read_exact(&mut next).map(|()| next);
        let next = tokio::task::spawn_blocking(read).await.unwrap().unwrap();
        assert_eq!(&next, b"next\n");
    }

    #[tokio::test]
    async fn a_pipe_that_a_host_before_left_enlarged_shrinks_without_a_line() {
        let (_place, path, reader) = fifo();
        fcntl_setpipe_size(&reader, 16 * RESTING).unwrap();
        let _writer = Writer::start(path);
        shrinks(&reader).await;
    }
}
