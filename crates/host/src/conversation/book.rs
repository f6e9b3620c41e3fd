//! The book of a conversation: its machine and its log, kept in step.
//!
//! **Invariant:** nothing is published and nothing is sent to a CLI before the entry that says so is in the log. When an
//! append fails the machine is ahead of the disk; the book is then closed and must be opened again.

mod view;

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostEvent, HostToPylon, to_line};
use estelle_proto::{ChainHash, ConversationId, Epoch, Generation, Seq, Timestamp};
use estelle_state::conversation::{Change, Conversation, Durable, Entry, Outline, Record};

use super::birth::private_folder;
use crate::failpoint;
use crate::log::{self, AppendError, Damage, Log, Sync};
use crate::mailbox::{Letter, Mark, fitting};
use crate::run::RunFolder;

pub(crate) use view::{Position, View};

/// How far apart the places are that a replay can start from.
const MARK_EVERY: u64 = 256;

/// The file of a log.
pub(crate) const LOG: &str = "log.jsonl";

/// A file beside a log that makes its disk fail.
#[cfg(test)]
pub(super) const SYNC_FAILS: &str = "sync-fails";

/// How the names of logs begin that were damaged and are kept for a person.
pub(crate) const DAMAGED: &str = "log.damaged-";

/// Why a book cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenBookError {
    /// The system refused.
    #[error("failed to open the log {}", path.display())]
    Io {
        /// The log.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It does not begin like a log.
    #[error("{} does not begin like the log of a conversation", path.display())]
    NoBeginning {
        /// The log.
        path: PathBuf,
    },
    /// A record cannot be read by this build.
    #[error("record {record} of {} cannot be read; a newer version may have written it", path.display())]
    Unreadable {
        /// The log.
        path: PathBuf,
        /// Which record, from 1.
        record: u64,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// A place in the log that a replay can start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// The number of the last event before it.
    seq: Seq,
    offset: u64,
}

/// Machine and log of one conversation.
#[derive(Debug)]
pub struct Book {
    conversation: Conversation,
    log: Log,
    sync: Arc<File>,
    path: PathBuf,
    places: Arc<Vec<Place>>,
}

/// How a book begins.
#[derive(Debug)]
pub struct Beginning {
    /// Which conversation.
    pub id: ConversationId,
    /// Which life of it.
    pub epoch: Epoch,
    /// The highest generation there ever was.
    pub generation: Generation,
    /// What is set already.
    pub settings: Change,
    /// What people are told at once.
    pub events: Vec<ClaudeEvent>,
}

/// A book that was opened, and what was wrong with it.
#[derive(Debug)]
pub struct OpenedBook {
    /// The book.
    pub book: Book,
    /// What had to be cut or put aside.
    pub damage: Option<Damage>,
}

impl Book {
    /// Begins the book of a new conversation, in a folder that exists. What is set already, and what
    /// people are told, is in it from the first moment.
    pub fn begin(folder: &Path, at: Timestamp, beginning: Beginning) -> io::Result<Self> {
        let path = folder.join(LOG);
        let beside = folder.join("log.new");
        // What lies there was begun by somebody who did not finish.
        let _ = std::fs::remove_file(&beside);
        let (log, _) = Log::visit(&beside, |_| {})?;
        let Beginning {
            id,
            epoch,
            generation,
            settings,
            events,
        } = beginning;
        let (conversation, entry) = Conversation::begin(at, id, epoch, generation);
        let mut book = Self::over(conversation, log, path)?;
        book.append(&entry, Sync::Later).map_err(io::Error::other)?;
        if let Some(entry) = book.conversation.change(at, settings) {
            book.append(&entry, Sync::Later).map_err(io::Error::other)?;
        }
        if !events.is_empty() {
            let what = "the log was begun anew before these messages were".to_owned();
            let entry = book.conversation.repair(at, what, events);
            book.append(&entry, Sync::Later).map_err(io::Error::other)?;
        }
        book.log.sync()?;
        std::fs::rename(&beside, &book.path)?;
        File::open(folder)?.sync_all()?;
        Ok(book)
    }

    /// Opens a book and folds its log. What is damaged in the middle is put aside, and the rest begins a new epoch.
    pub fn open(folder: &Path, at: Timestamp) -> Result<OpenedBook, OpenBookError> {
        let mut opened = Self::open_file(folder)?;
        match &opened.damage {
            None => {}
            Some(Damage::TornTail(range)) => {
                let cut = length(range);
                let journal = opened.book.journal_length(folder);
                let entry = opened.book.conversation.lost_end(at, cut, journal);
                opened.book.append_at_opening(&entry)?;
            }
            Some(Damage::Broken(range)) => {
                let range = range.clone();
                let damage = opened.damage.take();
                opened.book.put_aside(folder, &range, at)?;
                opened.damage = damage;
            }
        }
        Ok(opened)
    }

    /// How much the run, if there is one, has printed.
    fn journal_length(&self, folder: &Path) -> u64 {
        let run = self.conversation.run();
        let journal = run.map(|run| {
            let folder = folder.join("runs").join(run.generation.0.to_string());
            std::fs::metadata(RunFolder::open(folder).journal())
        });
        // One that cannot be looked at has nothing to be forgiven.
        journal.and_then(Result::ok).map_or(0, |file| file.len())
    }

    fn append_at_opening(&mut self, entry: &Entry) -> Result<(), OpenBookError> {
        let appended = self.append(entry, Sync::Now);
        appended.map(drop).map_err(|error| OpenBookError::Io {
            path: self.path.clone(),
            source: io::Error::other(error),
        })
    }

    /// Keeps the damaged log under another name and goes on with what is proven of it.
    ///
    /// The shortened log takes the place of the old one in one step; until then the old one is found again.
    fn put_aside(
        &mut self,
        folder: &Path,
        damaged: &Range<u64>,
        at: Timestamp,
    ) -> Result<(), OpenBookError> {
        let path = self.path.clone();
        let failed = |source| OpenBookError::Io {
            path: path.clone(),
            source,
        };
        let beside = folder.join("log.new");
        copy_head(&self.sync, &beside, damaged.start).map_err(failed)?;
        let (log, _) = Log::visit(&beside, |_| {}).map_err(failed)?;
        self.sync = Arc::new(log.descriptor().map_err(failed)?);
        self.log = log;
        let what = format!(
            "{} bytes of this conversation's log were damaged; what they held is lost unless it appears again below",
            length(damaged)
        );
        let cut = Some(length(damaged));
        let entry = self.conversation.shorten(at, what, cut);
        self.append_at_opening(&entry)?;
        std::fs::hard_link(&path, folder.join(format!("{DAMAGED}{}.jsonl", at.0)))
            .and_then(|()| std::fs::rename(&beside, &path))
            .and_then(|()| File::open(folder)?.sync_all())
            .map_err(failed)
    }

    fn open_file(folder: &Path) -> Result<OpenedBook, OpenBookError> {
        let path = folder.join(LOG);
        let mut folding = Folding::default();
        // What this build does not understand, it leaves as it is, torn end and all.
        let visited = Log::visit_while(&path, |record| folding.take(record));
        let failed = |source| OpenBookError::Io {
            path: path.clone(),
            source,
        };
        let visited = visited.map_err(failed)?;
        if let Some((record, source)) = folding.unreadable {
            return Err(OpenBookError::Unreadable {
                path,
                record,
                source,
            });
        }
        let Some((log, damage)) = visited else {
            return Err(OpenBookError::NoBeginning { path });
        };
        let Some(conversation) = folding.conversation else {
            return Err(OpenBookError::NoBeginning { path });
        };
        let mut book = Self::over(conversation, log, path.clone()).map_err(failed)?;
        book.places = Arc::new(folding.places);
        Ok(OpenedBook { book, damage })
    }

    fn over(conversation: Conversation, log: Log, path: PathBuf) -> io::Result<Self> {
        let sync = Arc::new(log.descriptor()?);
        Ok(Self {
            conversation,
            log,
            sync,
            path,
            places: Arc::default(),
        })
    }

    /// The machine.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The machine, to decide something; what it returns must be appended.
    pub fn decide(&mut self) -> &mut Conversation {
        &mut self.conversation
    }

    /// Appends an entry that the machine made, and gives its events ready to be published.
    pub fn append(&mut self, entry: &Entry, sync: Sync) -> Result<Vec<Letter>, AppendError> {
        // The machine has counted the events of this entry already.
        let before = Seq(self.conversation.seq().0 - entry.events.len() as u64);
        self.append_behind(before, entry, sync)
    }

    /// Appends several entries that the machine made one after another.
    pub fn append_all(&mut self, entries: &[Entry]) -> Result<Vec<Letter>, AppendError> {
        let events: usize = entries.iter().map(|entry| entry.events.len()).sum();
        let mut before = Seq(self.conversation.seq().0 - events as u64);
        let mut letters = Vec::with_capacity(events);
        for entry in entries {
            letters.extend(self.append_behind(before, entry, Sync::Later)?);
            before.0 += entry.events.len() as u64;
        }
        Ok(letters)
    }

    fn append_behind(
        &mut self,
        before: Seq,
        entry: &Entry,
        sync: Sync,
    ) -> Result<Vec<Letter>, AppendError> {
        let payload = serde_json::to_vec(entry).map_err(|error| AppendError::Io(error.into()))?;
        let offset = self.log.end();
        let hash = self.log.append(&payload, sync)?;
        let last = self.places.last().map_or(0, |place| place.seq.0);
        if before.0 >= last + MARK_EVERY {
            Arc::make_mut(&mut self.places).push(Place {
                seq: before,
                offset,
            });
        }
        let letters = letters(&self.conversation, hash, before, entry);
        Ok(letters)
    }

    /// Brings what was appended to the disk, without holding anybody up.
    pub async fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        if self.path.with_file_name(SYNC_FAILS).exists() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        failpoint::refuse("log-unsynced")?;
        let (file, end) = (Arc::clone(&self.sync), self.log.end());
        match tokio::task::spawn_blocking(move || log::sync(&file, end)).await {
            Ok(done) => done,
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Nothing will be appended for a while: the space kept ready goes back to the disk.
    pub fn give_back(&mut self) {
        // A log that is not trusted is not touched, and a disk that refuses keeps the space.
        let _ = self.log.give_back();
    }

    /// Brings what was appended to the disk, and waits for it.
    pub(super) fn sync_now(&self) -> io::Result<()> {
        log::sync(&self.sync, self.log.end())
    }

    /// What a replay of everything up to an event needs to know.
    pub fn view(&self, head: Seq) -> View {
        View {
            file: Arc::clone(&self.sync),
            id: self.conversation.id().clone(),
            epoch: self.conversation.epoch(),
            places: Arc::clone(&self.places),
            end: self.log.end(),
            head,
        }
    }

    /// The log as it is open, whatever became of its name.
    pub(super) fn held(&self) -> HeldLog {
        HeldLog {
            file: Arc::clone(&self.sync),
            end: self.log.end(),
            path: self.path.clone(),
        }
    }

    /// The hash of the newest event, or of the beginning.
    pub fn hash(&self) -> log::ChainHash {
        self.log.hash()
    }
}

/// A log that is open, whatever became of its name.
#[derive(Debug)]
pub(super) struct HeldLog {
    file: Arc<File>,
    end: u64,
    path: PathBuf,
}

impl HeldLog {
    /// Whether the log is no longer where it was: somebody removed it, or put something else in its place.
    pub(super) fn is_lost(&self) -> io::Result<bool> {
        let ours = self.file.metadata()?;
        match std::fs::metadata(&self.path) {
            Ok(there) => Ok((there.dev(), there.ino()) != (ours.dev(), ours.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Writes a log that was removed again, from the file that is still open. What lies in its place is put aside.
    pub(super) fn write_again(&self, folder: &Path, at: Timestamp) -> io::Result<()> {
        private_folder(folder)?;
        let beside = folder.join("log.new");
        copy_head(&self.file, &beside, self.end)?;
        if self.path.exists() {
            let aside = folder.join(format!("log.foreign-{}.jsonl", at.0));
            std::fs::rename(&self.path, aside)?;
        }
        std::fs::rename(&beside, &self.path)?;
        File::open(folder)?.sync_all()
    }
}

fn letters(
    conversation: &Conversation,
    hash: log::ChainHash,
    before: Seq,
    entry: &Entry,
) -> Vec<Letter> {
    let (id, epoch) = (conversation.id(), conversation.epoch());
    let mut seq = before;
    let mut letters = Vec::with_capacity(entry.events.len());
    for (place, durable) in entry.events.iter().enumerate() {
        seq.0 += 1;
        letters.extend(letter(
            id,
            epoch,
            seq,
            chain_hash(hash, place),
            entry,
            durable,
        ));
    }
    letters
}

fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

/// Copies the head of a log, which may have lost its name.
fn copy_head(from: &File, to: &Path, bytes: u64) -> io::Result<()> {
    let mut copy = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(to)?;
    io::copy(&mut log::Part::new(from, 0, bytes), &mut copy)?;
    copy.sync_all()
}

/// The line in which a durable event goes to clients; the hash is that of its record, with its place in it.
pub(crate) fn event_line(
    id: &ConversationId,
    epoch: Epoch,
    seq: Seq,
    (hash, place): (log::ChainHash, usize),
    entry: &Entry,
    durable: &Durable,
) -> Option<String> {
    let chain_hash = chain_hash(hash, place)?;
    line(id, epoch, seq, &chain_hash, entry, durable)
}

/// A durable event as it goes to clients.
fn letter(
    id: &ConversationId,
    epoch: Epoch,
    seq: Seq,
    chain_hash: Option<ChainHash>,
    entry: &Entry,
    durable: &Durable,
) -> Option<Letter> {
    let chain_hash = chain_hash?;
    let line = line(id, epoch, seq, &chain_hash, entry, durable)?;
    let mark = Mark {
        session_id: id.clone(),
        epoch,
        seq,
        chain_hash,
    };
    Some(Letter::event(line.into(), mark))
}

fn line(
    id: &ConversationId,
    epoch: Epoch,
    seq: Seq,
    chain_hash: &ChainHash,
    entry: &Entry,
    durable: &Durable,
) -> Option<String> {
    let event = HostEvent {
        seq: Some(seq),
        epoch: Some(epoch),
        chain_hash: Some(chain_hash.clone()),
        timestamp: Some(entry.at),
        generation: generation(&entry.record),
        full_result: durable.full.clone(),
        full_images: (!durable.images.is_empty()).then(|| durable.images.clone()),
        copied: matches!(entry.record, Record::Copied(_)).then_some(true),
        ..HostEvent::new(id.clone(), durable.event.clone())
    };
    Some(fitting(to_line(&HostToPylon::Event(event)).ok()?))
}

/// The hash that proves a log up to an event: that of its record, and its place in it.
pub(crate) fn chain_hash(hash: log::ChainHash, place: usize) -> Option<ChainHash> {
    ChainHash::parse(&format!("{hash}.{place}")).ok()
}

fn generation(record: &Record) -> Option<Generation> {
    match record {
        Record::Read(stretch) => Some(stretch.generation),
        Record::Ended { generation, .. } => Some(*generation),
        Record::Shown { key, .. } => Some(key.generation),
        Record::Began { .. }
        | Record::Copied(_)
        | Record::Set(_)
        | Record::Accepted(_)
        | Record::Withdrawn { .. }
        | Record::Released
        | Record::Wanted
        | Record::Intended { .. }
        | Record::Started { .. }
        | Record::Handed { .. }
        | Record::Requested { .. }
        | Record::Asked(_)
        | Record::Decided { .. }
        | Record::Called { .. }
        | Record::Revoked { .. }
        | Record::Interrupted { .. }
        | Record::Stopping { .. }
        | Record::Forgotten
        | Record::Rewound { .. }
        | Record::Shortened { .. }
        | Record::Repaired { .. } => None,
    }
}

#[derive(Default)]
struct Folding {
    conversation: Option<Conversation>,
    places: Vec<Place>,
    records: u64,
    unreadable: Option<(u64, serde_json::Error)>,
}

impl Folding {
    /// Takes a record; whether it could be read.
    fn take(&mut self, record: log::Proven<'_>) -> bool {
        self.records += 1;
        if let Err(error) = self.fold(record) {
            self.unreadable = Some((self.records, error));
        }
        self.unreadable.is_none()
    }

    fn fold(&mut self, record: log::Proven<'_>) -> Result<(), serde_json::Error> {
        let outline = Outline::parse(record.payload)?;
        let Some(conversation) = &mut self.conversation else {
            self.conversation = Conversation::from_outline(&outline);
            return Ok(());
        };
        let seq = conversation.seq();
        let last = self.places.last().map_or(0, |place| place.seq.0);
        if seq.0 >= last + MARK_EVERY {
            self.places.push(Place {
                seq,
                offset: record.from,
            });
        }
        conversation.apply_outline(&outline)
    }
}
