//! A run as a transport of the SDK: the same session on top, whether the CLI was started now or by a host that died.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use estelle_claude::framing::Frame;
use estelle_claude::line::Line;
use estelle_claude::transport::{Exit, Link, Process, Progress, Sink, Source, Stop, WhenDropped};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::fifo::{FifoWriter, WriteError};
use super::folder::{ExitRecord, RunFolder, RunRecord};
use super::journal::JournalReader;
use super::shim::start_ticks;
use super::watch::{Bell, RunWatch};

/// How often a reader looks without being woken.
const SAFETY_POLL: Duration = Duration::from_secs(1);

/// How much of the end of standard error goes into an error.
const STDERR_TAIL: u64 = 16 * 1024;

/// Attaches to a living run, reading its journal from `offset`.
pub fn attach(
    folder: &RunFolder,
    run: RunRecord,
    offset: u64,
    watch: &RunWatch,
) -> io::Result<Link> {
    // The bell is hung up before anything is looked at, so nothing that happens meanwhile is missed.
    let bell = watch.watch(folder.path());
    let journal = JournalReader::open(&folder.journal(), offset)?;
    let fifo = FifoWriter::open(&folder.fifo()).map_err(into_io)?;
    Ok(Link {
        source: Box::new(JournalSource {
            journal,
            folder: folder.clone(),
            bell,
        }),
        sink: Box::new(FifoSink { fifo: Some(fifo) }),
        process: Box::new(RunProcess {
            folder: folder.clone(),
            run,
            bell: watch.watch(folder.path()),
        }),
    })
}

struct JournalSource {
    journal: JournalReader,
    folder: RunFolder,
    bell: Bell,
}

impl Source for JournalSource {
    fn read<'a>(
        &'a mut self,
        frames: &'a mut VecDeque<Frame>,
    ) -> BoxFuture<'a, io::Result<Progress>> {
        async move {
            loop {
                let woken = self.bell.notified();
                // The end is looked for before the file is read: what was written before it is then seen.
                let alive = self.folder.is_alive()?;
                self.journal.read_some(frames)?;
                if !frames.is_empty() {
                    return Ok(Progress::More);
                }
                if !alive {
                    frames.extend(self.journal.finish());
                    return Ok(Progress::Ended);
                }
                // A missed hint costs a second.
                let _ = tokio::time::timeout(SAFETY_POLL, woken).await;
            }
        }
        .boxed()
    }
}

struct FifoSink {
    fifo: Option<FifoWriter>,
}

impl Sink for FifoSink {
    fn write<'a>(&'a mut self, line: &'a Line) -> BoxFuture<'a, io::Result<()>> {
        async move {
            let fifo = self.fifo.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            fifo.write(line.as_bytes()).await.map_err(into_io)
        }
        .boxed()
    }

    /// The CLI holds its FIFO open for writing as well, so this ends nothing but our right to write.
    fn close(&mut self) -> BoxFuture<'_, ()> {
        self.fifo = None;
        futures_util::future::ready(()).boxed()
    }
}

fn into_io(error: WriteError) -> io::Error {
    match error {
        WriteError::Gone => io::ErrorKind::BrokenPipe.into(),
        WriteError::Io(error) => error,
        WriteError::Torn { .. } | WriteError::TooLong { .. } | WriteError::QuotaSpent { .. } => {
            io::Error::new(io::ErrorKind::FileTooLarge, error)
        }
    }
}

struct RunProcess {
    folder: RunFolder,
    run: RunRecord,
    bell: Bell,
}

impl RunProcess {
    fn exit(&self) -> Option<Exit> {
        match self.folder.load_exit() {
            Ok(Some(ExitRecord::Code(code))) => Some(Exit::Code(code)),
            Ok(Some(ExitRecord::Signal(signal))) => Some(Exit::Signal(signal)),
            // A shim that was killed leaves no record; a free lock still says that the CLI is gone.
            Ok(None) | Err(_) => {
                let gone = matches!(self.folder.is_alive(), Ok(false));
                gone.then_some(Exit::Unknown)
            }
        }
    }
}

impl Process for RunProcess {
    fn when_dropped(&self) -> WhenDropped {
        WhenDropped::LetRun
    }

    fn wait(&mut self) -> BoxFuture<'_, Exit> {
        async move {
            loop {
                let woken = self.bell.notified();
                if let Some(exit) = self.exit() {
                    return exit;
                }
                // A missed hint costs a second.
                let _ = tokio::time::timeout(SAFETY_POLL, woken).await;
            }
        }
        .boxed()
    }

    fn stop(&mut self, stop: Stop) {
        let signal = match stop {
            Stop::Terminate => Signal::TERM,
            Stop::Kill => Signal::KILL,
        };
        send_signal(&self.run, signal);
    }

    fn stderr(&self) -> String {
        stderr_tail(&self.folder)
    }
}

/// Sends a signal to the CLI of a run, and to nobody else.
pub fn send_signal(run: &RunRecord, signal: Signal) {
    if let Some(pidfd) = process_of(run) {
        // One that ended meanwhile is what was wanted.
        let _ = pidfd_send_signal(&pidfd, signal);
    }
}

/// The CLI of a run, if it is there. The descriptor becomes readable when it ends.
pub fn process_of(run: &RunRecord) -> Option<OwnedFd> {
    let pid = i32::try_from(run.pid).ok().and_then(Pid::from_raw)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    // The pidfd pins whoever has the pid now; the start time says whether that is our CLI.
    (start_ticks(run.pid).ok() == Some(run.start_ticks)).then_some(pidfd)
}

/// The end of what the CLI wrote to standard error.
pub fn stderr_tail(folder: &RunFolder) -> String {
    tail(folder).unwrap_or_default()
}

fn tail(folder: &RunFolder) -> io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(folder.stderr())?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(STDERR_TAIL)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
