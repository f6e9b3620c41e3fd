//! The log of what went to the CLIs and what came from them: `logs/sdk-{date}.jsonl`, for people who look for a fault.
//!
//! It is a help, never the truth: the journal and the conversation log are. So it never holds up a conversation
//! (a bounded queue, what does not fit is counted and the count is written), never fills the disk (files are bounded in
//! size and number) and holds no secrets ([`Redactor`]). Pieces of streamed text are logged by their length alone: a
//! secret cut in two could not be recognised, and the whole text follows in the message.

mod date;
mod files;
mod redact;

#[cfg(test)]
mod traffic_tests;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use estelle_proto::{ConversationId, Timestamp};
use serde::Serialize;
use serde_json::value::RawValue;

pub use files::Limits;
use files::LogFiles;
pub use redact::Redactor;

/// The most lines that wait to be written: more than a journal gives in one go. The room for them is taken at once, also by a
/// host that has nothing to do.
const QUEUE_LINES: usize = 1024;
/// The most bytes that wait to be written.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;
/// A longer line is logged by its length alone.
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    /// To the CLI.
    Input,
    /// From the CLI.
    Output,
}

/// What waits to be written.
struct Entry {
    at: Timestamp,
    conversation: ConversationId,
    direction: Direction,
    line: String,
}

/// One line of the log.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    timestamp: Timestamp,
    session_id: &'a str,
    direction: Direction,
    data: &'a RawValue,
}

#[derive(Debug, Default)]
struct Counters {
    queued_bytes: AtomicUsize,
    dropped: AtomicU64,
}

/// A handle to the log; cheap to clone. The log ends with its last handle.
#[derive(Debug, Clone)]
pub struct TrafficLog {
    queue: SyncSender<Entry>,
    counters: Arc<Counters>,
}

impl TrafficLog {
    /// Opens the log in a folder. The thread that writes it ends, with everything written, after the last handle is
    /// dropped; whoever wants to be sure joins it.
    pub fn open(
        folder: &Path,
        limits: Limits,
        redactor: Redactor,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let files = LogFiles::open(folder, limits)?;
        let (queue, entries) = sync_channel(QUEUE_LINES);
        let counters: Arc<Counters> = Arc::default();
        let writer = Writer {
            files,
            redactor,
            counters: Arc::clone(&counters),
        };
        let thread = std::thread::Builder::new()
            .name("traffic-log".to_owned())
            .spawn(move || writer.run(&entries))?;
        Ok((Self { queue, counters }, thread))
    }

    /// Logs a line, or counts it as dropped when too much waits. Never waits itself.
    pub fn record(
        &self,
        conversation: &ConversationId,
        direction: Direction,
        at: Timestamp,
        line: &str,
    ) {
        let line = if line.len() > MAX_LINE_BYTES {
            too_long(line.len())
        } else {
            line.to_owned()
        };
        let waiting = &self.counters.queued_bytes;
        let size = line.len();
        if waiting.fetch_add(size, Ordering::Relaxed) + size > QUEUE_BYTES {
            waiting.fetch_sub(size, Ordering::Relaxed);
            self.counters.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let entry = Entry {
            at,
            conversation: conversation.clone(),
            direction,
            line,
        };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            self.queue.try_send(entry)
        {
            waiting.fetch_sub(size, Ordering::Relaxed);
            self.counters.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn too_long(bytes: usize) -> String {
    format!("{{\"type\":\"too_long\",\"bytes\":{bytes}}}")
}

/// The one who writes.
struct Writer {
    files: LogFiles,
    redactor: Redactor,
    counters: Arc<Counters>,
}

impl Writer {
    fn run(mut self, entries: &Receiver<Entry>) {
        let mut last = Timestamp(0);
        while let Ok(entry) = entries.recv() {
            last = entry.at;
            let size = entry.line.len();
            self.admit_drops(last);
            self.write(&entry);
            let waiting = &self.counters.queued_bytes;
            waiting.fetch_sub(size, Ordering::Relaxed);
        }
        self.admit_drops(last);
    }

    fn write(&mut self, entry: &Entry) {
        let data = self.redactor.line(&entry.line);
        self.append(
            entry.at,
            entry.conversation.as_str(),
            entry.direction,
            &data,
        );
    }

    /// Says how many lines are missing here.
    fn admit_drops(&mut self, at: Timestamp) {
        let dropped = self.counters.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let data = format!("{{\"type\":\"lines_dropped\",\"count\":{dropped}}}");
            self.append(at, "", Direction::Output, &data);
        }
    }

    /// A line that cannot be written, for example on a full disk, is counted like one that did not fit.
    fn append(&mut self, at: Timestamp, conversation: &str, direction: Direction, data: &str) {
        let written = serde_json::from_str::<&RawValue>(data)
            .and_then(|data| {
                serde_json::to_string(&Record {
                    timestamp: at,
                    session_id: conversation,
                    direction,
                    data,
                })
            })
            .map_err(io::Error::from)
            .and_then(|line| self.files.append(at, &line));
        if written.is_err() {
            self.counters.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}
