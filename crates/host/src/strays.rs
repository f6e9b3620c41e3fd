//! Runs that live and that no log knows: their conversation was removed by hand, or its log lost them.
//!
//! They are found by the mark that every process of a run carries. Only marks of this very data folder count, so the runs
//! of another host are never touched. Nobody can lead such a run any more; it is ended, and that is said.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::{ConversationId, Epoch, Generation};
use estelle_state::conversation::{Change, Conversation};
use rustix::process::geteuid;

use crate::conversation::{Beginning, Book, Context, LOG, OpenBookError, now, private_folder};
use crate::launch::{RUN_VARIABLE, run_marker};
use crate::log::Sync;
use crate::run::{RunFolder, clean_up};

/// Most bytes read of an environment; Linux allows no more by default.
const MAX_ENVIRONMENT_BYTES: u64 = 6 * 1024 * 1024;

/// A run with living processes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LivingRun {
    pub(crate) conversation: ConversationId,
    generation: Generation,
    marker: String,
    folder: PathBuf,
}

/// The runs below a folder of conversations that have living processes.
pub(crate) fn living(conversations: &Path) -> BTreeSet<LivingRun> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return BTreeSet::new();
    };
    let user = geteuid().as_raw();
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_pid))
        .filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == user))
        .filter_map(|entry| mark_of(&entry.path()))
        .filter_map(|mark| LivingRun::read(&mark, conversations))
        .collect()
}

fn is_pid(name: &str) -> bool {
    name.parse::<u32>().is_ok()
}

/// The mark that a process carries.
fn mark_of(process: &Path) -> Option<String> {
    let mut environment = Vec::new();
    let file = File::open(process.join("environ")).ok()?;
    let mut file = file.take(MAX_ENVIRONMENT_BYTES);
    file.read_to_end(&mut environment).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|variable| {
        let value = variable.strip_prefix(RUN_VARIABLE.as_bytes())?;
        String::from_utf8(value.strip_prefix(b"=")?.to_vec()).ok()
    })
}

impl LivingRun {
    /// The run of a mark, if it is one of these conversations.
    fn read(mark: &str, conversations: &Path) -> Option<Self> {
        let mut parts = mark.split('/');
        let conversation = ConversationId::parse(parts.next()?).ok()?;
        let generation = Generation(parts.next()?.parse().ok()?);
        let folder = conversations.join(conversation.as_str());
        let folder = folder.join("runs").join(generation.0.to_string());
        let is_ours = run_marker(&conversation, generation, &folder) == mark;
        is_ours.then(|| Self {
            conversation,
            generation,
            marker: mark.to_owned(),
            folder,
        })
    }

    /// Ends a run that its conversation does not know, and has the log say so; if it cannot be said, nothing is done.
    pub(crate) fn settle(
        mut self,
        known: Option<Book>,
        context: &Context,
    ) -> Result<Book, OpenBookError> {
        let conversation = known.as_ref().map(Book::conversation);
        let run = conversation.and_then(Conversation::run);
        let is_known = run.is_some_and(|run| run.generation == self.generation);
        let is_in_the_way = conversation.is_some_and(|one| one.last_generation() < self.generation);
        let known = match known {
            Some(book) if is_known => return Ok(book),
            known => known,
        };
        let folder = context.conversation_folder(self.conversation.as_str());
        let noted = self.note(known, &folder);
        let book = noted.map_err(|source| OpenBookError::Io {
            path: folder.join(LOG),
            source,
        })?;
        if is_in_the_way {
            self.put_aside(&context.trash());
        }
        context.tracker.spawn(self.end());
        Ok(book)
    }

    /// Writes down in the log of its conversation what becomes of it. Begins that log if there is none.
    fn note(&self, known: Option<Book>, conversation: &Path) -> io::Result<Book> {
        let mut book = match known {
            Some(book) => book,
            None => self.begin(conversation)?,
        };
        let text = format!(
            "run {} of this conversation was alive and its log did not know it: the log was removed, or its end was. The process was ended; the agent's own session may still hold what was said",
            self.generation.0
        );
        tracing::error!(conversation = %self.conversation, "{text}");
        let event = ClaudeEvent::Error(ErrorEvent::new(text.clone()));
        let entry = book.decide().repair(now(), text, vec![event]);
        book.append(&entry, Sync::Now).map_err(io::Error::other)?;
        Ok(book)
    }

    fn begin(&self, conversation: &Path) -> io::Result<Book> {
        private_folder(conversation)?;
        let at = now();
        let beginning = Beginning {
            id: self.conversation.clone(),
            // Nobody knows the epochs there were; the time is none of them.
            epoch: Epoch(u64::try_from(at.0).unwrap_or(1)),
            generation: self.generation,
            settings: Change::default(),
            events: Vec::new(),
        };
        Book::begin(conversation, at, beginning)
    }

    /// Moves its folder out of the way, so that the number of its generation is free again.
    fn put_aside(&mut self, trash: &Path) {
        let name = format!("{}-{}-{}", self.conversation, self.generation.0, now().0);
        let aside = trash.join(name);
        // One that is not there is in nobody's way.
        if private_folder(trash).is_ok() && fs::rename(&self.folder, &aside).is_ok() {
            self.folder = aside;
        }
    }

    /// Ends its processes.
    pub(crate) async fn end(self) {
        let cleaned = clean_up(&RunFolder::open(self.folder), &self.marker).await;
        tracing::info!(marker = self.marker, ?cleaned, "a run was ended");
    }
}
