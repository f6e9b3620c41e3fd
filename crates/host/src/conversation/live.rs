//! A run that is being read: its journal, what is made of it, and the lines that go to it.
//!
//! Reading begins where the oldest open message begins, which may be before the end of the last stretch in the log. Lines
//! before that end only refresh the memory of what is being written; nothing of them is recorded again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use estelle_claude::framing::Frame;
use estelle_claude::line::Line;
use estelle_claude::wire::{Body, Message};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::JournalDamage;
use estelle_proto::writing::OpenBlock;
use estelle_proto::{ConversationId, Generation, PermissionMode};
use estelle_state::conversation::{Conversation, Durable, RunExit, Stretch};
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use super::actor::now;
use super::context::Context;
use super::writer::{LineKey, Outgoing, Writer, Written};
use crate::run::journal::JournalReader;
use crate::run::space::{DEFAULT_RESERVE, JournalSpace};
use crate::run::{
    Bell, ExitRecord, RunFolder, RunRecord, is_unreaped, kill_shim, process_of, stderr_tail,
};
use crate::traffic::{Direction, TrafficLog};
use crate::translate::{READER, Translation, Translator};

/// The journal is given back to the disk only this far behind the reader, so that a check has something to look at.
const KEEP: u64 = 4 * 1024 * 1024;

/// How long a shim may take to write down how its CLI ended. It takes a moment; a shim that is held takes for ever.
const SHIM_PATIENCE: Duration = Duration::from_secs(10);

/// How a line begins that was glued to the torn one before it.
const LINE_START: &[u8] = b"{\"type\":";

/// A run and everything that is needed to talk to it.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) generation: Generation,
    pub(super) folder: RunFolder,
    pub(super) record: RunRecord,
    /// Where it works, whatever the conversation was told since; unknown if its record cannot be read.
    pub(super) cwd: Option<PathBuf>,
    /// The hash of the settings of its folder, if it takes in changes of them.
    pub(super) settings: Option<String>,
    /// It has nothing of what its folder brings.
    pub(super) withheld: bool,
    /// The machine's mode when it was attached: that of a run whose conversation has none of its own.
    pub(super) default_mode: PermissionMode,
    pub(super) writer: Writer,
    pub(super) last_output: Instant,
    /// The end was asked for; nothing may be written behind it.
    pub(super) closed: bool,
    /// Since when the CLI is dead and nobody has written down how it ended.
    dead_since: Option<Instant>,
    bell: Bell,
    process: Option<AsyncFd<OwnedFd>>,
    reader: JournalReader,
    frames: VecDeque<(Frame, u64)>,
    translator: Translator,
    written: Written,
    /// Lines that could not be written, and wait to be tried again.
    delayed: HashMap<LineKey, Delay>,
    /// The end of the last line that was read.
    line_end: u64,
    /// The end of the last stretch in the log.
    stretch_from: u64,
    hasher: blake3::Hasher,
    space: JournalSpace,
    id: ConversationId,
    traffic: Option<TrafficLog>,
}

/// The end of a CLI that is still to come.
#[derive(Debug)]
pub(super) struct Death<'a>(&'a mut Option<AsyncFd<OwnedFd>>);

#[expect(
    deprecated,
    reason = "what replaces it is unsafe for descriptors that change; an owned one does not"
)]
fn watched(run: &RunRecord) -> Option<AsyncFd<OwnedFd>> {
    AsyncFd::new(process_of(run)?).ok()
}

impl Death<'_> {
    /// Waits for it; nothing is heard of it a second time.
    pub(super) async fn heard(self) {
        match &self.0 {
            // The shim may take a moment to write it down, which then wakes the reader as well.
            Some(process) => drop(process.readable().await),
            None => std::future::pending().await,
        }
        *self.0 = None;
    }
}

/// How long a line that could not be written waits before it is tried again, at first and at most.
const DELAY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// A line that could not be written.
#[derive(Debug)]
struct Delay {
    until: Instant,
    /// How long it waits; twice as long the next time.
    pause: Duration,
    /// Its text, if nobody else knows it.
    text: Option<String>,
}

impl Live {
    /// Attaches to a run, alive or not, where the conversation left off.
    pub(super) fn attach(
        conversation: &Conversation,
        folder: RunFolder,
        record: RunRecord,
        context: &Context,
    ) -> io::Result<Self> {
        let (generation, read_to, open_from) = match conversation.run() {
            Some(run) => (run.generation, run.read_to, run.open_from),
            None => (conversation.last_generation(), 0, 0),
        };
        // The bell is hung up before anything is looked at, so nothing that happens meanwhile is missed.
        let bell = context.watch.watch(folder.path());
        let reader = JournalReader::open(&folder.journal(), open_from)?;
        let launch = folder.load_launch().unwrap_or_default();
        Ok(Self {
            generation,
            default_mode: context.default_mode(),
            writer: Writer::start(folder.fifo()),
            last_output: Instant::now(),
            closed: false,
            dead_since: None,
            bell,
            process: watched(&record),
            reader,
            frames: VecDeque::new(),
            translator: Translator::resume(generation, conversation),
            written: Written::default(),
            delayed: HashMap::new(),
            line_end: open_from,
            stretch_from: read_to,
            hasher: blake3::Hasher::new(),
            space: JournalSpace::open(&folder.journal(), DEFAULT_RESERVE)?,
            id: conversation.id().clone(),
            traffic: context.traffic.clone(),
            cwd: launch.map(|launch| launch.cwd),
            settings: super::watching::load(&folder),
            withheld: super::watching::is_withheld(&folder),
            folder,
            record,
        })
    }

    /// What wakes whoever reads and writes the run.
    pub(super) fn sources(&mut self) -> (&Bell, Death<'_>, &mut Writer) {
        (&self.bell, Death(&mut self.process), &mut self.writer)
    }

    /// Whether the output and the end of the process would wake us. If not, somebody must look for them.
    pub(super) fn is_watched(&self) -> bool {
        self.process.is_some() && !self.bell.is_silent()
    }

    /// Asks the kernel again for what it refused before.
    pub(super) fn listen_again(&mut self, context: &Context) {
        if self.bell.is_silent() {
            self.bell = context.watch.watch(self.folder.path());
        }
    }

    /// The next line, if a whole one is there.
    pub(super) fn next(&mut self) -> io::Result<Option<Translation>> {
        loop {
            if self.frames.is_empty() {
                self.reader.read_with_offsets(&mut self.frames)?;
            }
            let Some((frame, to)) = self.frames.pop_front() else {
                return Ok(None);
            };
            if let Some(line) = self.take(&frame, to)? {
                return Ok(Some(line));
            }
        }
    }

    /// Takes in what is being written, as far as the journal has it, and tells nobody: up to the first line that is more
    /// than a piece and that the log does not have.
    pub(super) fn read_ahead(&mut self) -> io::Result<()> {
        loop {
            if self.frames.is_empty() {
                self.reader.read_with_offsets(&mut self.frames)?;
            }
            let Some((frame, to)) = self.frames.pop_front() else {
                return Ok(());
            };
            if to > self.stretch_from && !is_streamed(&frame) {
                self.frames.push_front((frame, to));
                return Ok(());
            }
            self.take(&frame, to)?;
        }
    }

    /// What is left of the journal of a run that has ended.
    pub(super) fn rest(&mut self) -> io::Result<Option<Translation>> {
        let Some(frame) = self.reader.finish() else {
            return Ok(None);
        };
        let to = self.reader.offset();
        self.take(&frame, to)
    }

    /// One frame. Nothing for one that the log has already.
    fn take(&mut self, frame: &Frame, to: u64) -> io::Result<Option<Translation>> {
        let from = std::mem::replace(&mut self.line_end, to);
        let message = match frame {
            Frame::Line(line) => Message::parse(line.clone()),
            Frame::Damage(damage) => Message::damaged(damage.clone()),
        };
        let found = if matches!(message.body, Body::Malformed(_)) {
            self.salvage(frame, from, to)
        } else {
            self.translator.translate(&message, from)
        };
        if to <= self.stretch_from {
            return Ok(None);
        }
        self.hash(frame, from, to)?;
        self.log(Direction::Output, message.raw());
        self.last_output = Instant::now();
        Ok(Some(found))
    }

    /// A line that cannot be read is reported with its range; a good one glued to its end is read.
    fn salvage(&mut self, frame: &Frame, from: u64, to: u64) -> Translation {
        let bytes = frame.bytes();
        let behind = memchr::memmem::rfind(bytes, LINE_START).filter(|at| *at > 0);
        let good = behind.and_then(|at| {
            let line = Line::from_utf8(bytes.slice(at..)).ok()?;
            let message = Message::parse(line);
            let is_good = !matches!(message.body, Body::Malformed(_));
            is_good.then_some((at as u64, message))
        });
        let (damaged_to, mut found) = match good {
            Some((at, message)) => (from + at, self.translator.translate(&message, from + at)),
            None => (to, Translation::default()),
        };
        let damage = JournalDamage::new(from, damaged_to, self.generation);
        let damage = Durable::from(ClaudeEvent::JournalDamage(damage));
        found.durable.insert(0, damage);
        found
    }

    fn hash(&mut self, frame: &Frame, from: u64, to: u64) -> io::Result<()> {
        let bytes = frame.bytes();
        let whole = bytes.len() as u64 + 1 == to - from;
        if whole {
            self.hasher.update(bytes);
            self.hasher.update(b"\n");
            return Ok(());
        }
        // Only the head of an over-long line is kept, and the last line may lack its line feed.
        crate::run::journal::read_range(&self.folder.journal(), from, to, |chunk| {
            self.hasher.update(chunk);
        })
    }

    /// The stretch that ends with the line just read.
    pub(super) fn stretch(&mut self, found: &Translation) -> Stretch {
        let hash = self.hasher.finalize().to_hex();
        self.hasher.reset();
        let from = std::mem::replace(&mut self.stretch_from, self.line_end);
        Stretch {
            generation: self.generation,
            from,
            to: self.line_end,
            hash: hash[..32].to_owned(),
            open_from: self.translator.open_from().unwrap_or(self.line_end),
            reader: READER,
            seen: found.seen.clone(),
        }
    }

    /// Whether lines were read that no stretch in the log covers yet.
    pub(super) fn has_loose_end(&self) -> bool {
        self.line_end > self.stretch_from
    }

    /// What the agent is writing.
    pub(super) fn partial_text(&self) -> String {
        self.translator.partial_text()
    }

    /// What the agent and its sub-agents are writing, block by block.
    pub(super) fn open_blocks(&self) -> Vec<OpenBlock> {
        self.translator.open_blocks()
    }

    /// A message is about to be written: what the CLI says of it is about ours.
    pub(super) fn give(&mut self, message: &estelle_state::conversation::Message) {
        self.translator.give(message);
    }

    /// Writes a line, once per host. Whether it is (or was) on its way.
    pub(super) fn write(&mut self, key: LineKey, text: impl FnOnce() -> Option<String>) -> bool {
        if self.closed || self.written.contains(&key) || self.is_delayed(&key) {
            return true;
        }
        let Some(text) = text() else { return true };
        self.log(Direction::Input, &text);
        let is_taken = self.writer.take(Outgoing {
            key: key.clone(),
            text,
        });
        if is_taken {
            self.written.insert(key);
        }
        is_taken
    }

    /// Forgets lines that nobody will ask for again, once there are many. `open` tells those that somebody will.
    pub(super) fn forget_written(&mut self, open: impl FnOnce() -> HashSet<LineKey>) {
        if !self.written.is_full() {
            return;
        }
        let open = open();
        self.written.keep(&open);
        // What is to be tried again and has no text of its own is asked for.
        self.delayed
            .retain(|key, delay| delay.text.is_some() || open.contains(key));
    }

    fn log(&self, direction: Direction, line: &str) {
        if let Some(traffic) = &self.traffic {
            traffic.record(&self.id, direction, now(), line);
        }
    }

    /// A line must be written again, or was not written at all.
    pub(super) fn unwrite(&mut self, key: &LineKey) {
        self.written.remove(key);
    }

    /// A line could not be written and is tried again after a while, each time a longer one. `text` is given if nobody
    /// would ask for the line again.
    pub(super) fn delay(&mut self, key: LineKey, text: Option<String>) {
        self.unwrite(&key);
        let (first, longest) = DELAY;
        let pause = match self.delayed.get(&key) {
            Some(before) => (before.pause * 2).min(longest),
            None => first,
        };
        let until = Instant::now() + pause;
        self.delayed.insert(key, Delay { until, pause, text });
    }

    fn is_delayed(&self, key: &LineKey) -> bool {
        let delay = self.delayed.get(key);
        delay.is_some_and(|delay| delay.until > Instant::now())
    }

    /// When a line is to be tried again.
    pub(super) fn retry_at(&self) -> Option<Instant> {
        let waiting = self.delayed.iter();
        let waiting = waiting.filter(|(key, _)| !self.written.contains(key));
        waiting.map(|(_, delay)| delay.until).min()
    }

    /// Lines that nobody else knows and whose time has come.
    pub(super) fn retry(&mut self) {
        let now = Instant::now();
        let due = self.delayed.iter_mut().filter(|(_, one)| one.until <= now);
        let due = due.filter_map(|(key, one)| Some((key.clone(), one.text.take()?)));
        for (key, text) in due.collect::<Vec<_>>() {
            self.write(key, || Some(text));
        }
    }

    /// Keeps space ready ahead of the journal's end.
    pub(super) fn refill(&mut self) -> io::Result<()> {
        self.space.refill()
    }

    /// Gives back what was read long ago and is safe in the log.
    pub(super) fn give_back(&mut self, open_from: u64) {
        // A file system without holes keeps everything.
        let _ = self.space.give_back(open_from.saturating_sub(KEEP));
    }

    /// Whether the CLI may still run.
    pub(super) fn is_alive(&self) -> io::Result<bool> {
        self.folder.is_alive()
    }

    /// Ends the wait for a shim that does not write down how its CLI ended.
    pub(super) fn look_after_shim(&mut self) {
        if !is_unreaped(&self.record) {
            self.dead_since = None;
            return;
        }
        let since = self.dead_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= SHIM_PATIENCE {
            tracing::error!(conversation = %self.id, "the shim of a dead agent does not take note of it: it is killed");
            kill_shim(&self.record);
        }
    }

    /// The end of what it said beside its output.
    pub(super) fn last_words(&self) -> String {
        stderr_tail(&self.folder).trim().to_owned()
    }

    /// How it ended.
    pub(super) fn exit(&self) -> RunExit {
        let stderr = stderr_tail(&self.folder);
        match self.folder.load_exit() {
            Ok(Some(ExitRecord::Code(code))) => RunExit::Code { code, stderr },
            Ok(Some(ExitRecord::Signal(signal))) => RunExit::Signal { signal, stderr },
            Ok(None) | Err(_) => RunExit::Unknown,
        }
    }
}

/// Whether a line is of what is being written, which leaves nothing in the log.
fn is_streamed(frame: &Frame) -> bool {
    match frame {
        Frame::Line(line) => matches!(Message::parse(line.clone()).body, Body::StreamEvent(_)),
        Frame::Damage(_) => false,
    }
}
