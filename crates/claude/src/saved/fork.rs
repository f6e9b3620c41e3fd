//! Copies a conversation into a new one.
//!
//! Every entry of the chain gets a new id, and what points to it follows; all else in a line stays as it was written.
//! The source is read twice, so memory is bound by the number of entries. The copy appears under its name only when it
//! is whole. Sub-agents, file history and queued prompts stay with the source.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::entry::{Entry, Members};
use super::id::SessionId;
use super::info;
use super::lines::{Span, Transcript};
use super::store::{LoadError, Place, SavedSessions};
use super::time;

/// The message at which a copy ends.
#[derive(Debug, Clone)]
enum End {
    /// It is the last one of the copy.
    With(String),
    /// It is the first one that is left out.
    Before(String),
}

impl End {
    fn message(&self) -> &str {
        match self {
            Self::With(uuid) | Self::Before(uuid) => uuid,
        }
    }
}

/// How to copy a conversation.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ForkOptions {
    end: Option<End>,
    title: Option<String>,
}

impl ForkOptions {
    /// All of it, under its title with ` (fork)` behind.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies only up to and including the message with this id, in the order of the file.
    ///
    /// At the id of a compaction's boundary the copy ends before it; at that of its summary, the older messages that
    /// were kept behind the summary are left out.
    pub fn up_to(mut self, message_uuid: impl Into<String>) -> Self {
        self.end = Some(End::With(message_uuid.into()));
        self
    }

    /// Copies only what comes before the message with this id, in the order of the file.
    pub fn before(mut self, message_uuid: impl Into<String>) -> Self {
        self.end = Some(End::Before(message_uuid.into()));
        self
    }

    /// The title of the copy.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// Why a conversation could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The source could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The source, or the part asked for, has no messages.
    #[error("session {0} has no messages to fork")]
    NoMessages(SessionId),
    /// The message to copy up to is not there.
    #[error("message {0} not found")]
    NoSuchMessage(String),
    /// The copy could not be written.
    #[error("write {}", path.display())]
    Write {
        /// The file of the copy.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl SavedSessions {
    /// Copies a conversation into a new one beside it and gives the new id, which can be resumed.
    pub fn fork(&self, id: &SessionId, options: &ForkOptions) -> Result<SessionId, ForkError> {
        let source = self.locate(id)?;
        let failed = |error| LoadError::read(&source.file)(error);
        let mut file = Transcript::open(&source.file).map_err(failed)?;
        let mut plan = Plan::default();
        file.for_each(|span, line| plan.add(span, line, options.end.as_ref()))
            .map_err(failed)?;
        match &options.end {
            Some(end) if plan.end.is_none() => {
                return Err(ForkError::NoSuchMessage(end.message().to_owned()));
            }
            _ if plan.last.is_none() => return Err(ForkError::NoMessages(id.clone())),
            _ => {}
        }
        let given = options
            .title
            .as_deref()
            .map(str::trim)
            .filter(|title| !title.is_empty());
        let title = match given {
            Some(title) => title.to_owned(),
            None => format!("{} (fork)", source_title(&source).map_err(failed)?),
        };
        let target = Place::new(&source.folder, &SessionId::random());
        let copy = Copy {
            source: &source,
            target: &target,
            plan: &plan,
            now: time::format(SystemTime::now()),
        };
        copy.write(&mut file, &title)
            .map_err(|error| ForkError::Write {
                path: target.file.clone(),
                source: error,
            })?;
        Ok(target.id)
    }
}

/// The title that the copy's is made from. The last prompt is none: the copy will have another.
fn source_title(source: &Place) -> io::Result<String> {
    let info = info::load(source)?;
    let title = info.and_then(|info| info.custom_title.or(info.first_prompt));
    Ok(title.unwrap_or_else(|| "Conversation".to_owned()))
}

/// What the first reading finds out.
#[derive(Debug, Default)]
struct Plan {
    /// Old ids to new ones.
    ids: HashMap<String, String>,
    /// Entries that are not copied, with their parents, so that the chain closes over them.
    skipped: HashMap<String, Option<String>>,
    /// Where the entry lies that ends the copy, if one was asked for.
    end: Option<u64>,
    /// The last entry that is copied.
    last: Option<Span>,
    /// The boundary whose kept messages are left out.
    bare_boundary: Option<String>,
    /// Notes beside the chain that the copy needs too, by type; the newest of each.
    notes: Vec<(String, Vec<u8>)>,
}

impl Plan {
    fn add(&mut self, span: Span, line: &[u8], wanted: Option<&End>) {
        let Some(entry) = Entry::parse(line) else {
            return;
        };
        if matches!(
            &*entry.kind,
            "atis-latch" | "tools-used" | "content-replacement"
        ) {
            self.notes.retain(|(kind, _)| *kind != entry.kind);
            self.notes.push((entry.kind.into_owned(), line.to_owned()));
            return;
        }
        let Some(uuid) = entry.uuid.as_deref() else {
            return;
        };
        if self.end.is_some() {
            return;
        }
        let parent = entry.parent_uuid.as_deref().map(ToOwned::to_owned);
        if !is_copied(&entry) {
            self.skipped.insert(uuid.to_owned(), parent);
            return;
        }
        if let Some(end) = wanted.filter(|end| end.message() == uuid) {
            self.end = Some(span.offset);
            if entry.is_boundary() || matches!(end, End::Before(_)) {
                return;
            }
            if entry.is_compact_summary == Some(true) {
                self.bare_boundary = parent;
            }
        }
        let fresh = || uuid::Uuid::new_v4().to_string();
        self.ids.entry(uuid.to_owned()).or_insert_with(fresh);
        self.last = Some(span);
    }

    /// The new id of the nearest ancestor that is copied.
    fn parent(&self, old: Option<String>) -> Option<&str> {
        let mut at = old?;
        // Each step leaves one skipped entry behind; more steps than those would be a circle.
        for _ in 0..=self.skipped.len() {
            if let Some(new) = self.ids.get(&at) {
                return Some(new);
            }
            at = self.skipped.get(&at)?.clone()?;
        }
        None
    }

    /// Replaces every old id inside a value.
    fn renew(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(new) = self.ids.get(text.as_str()) {
                    text.clone_from(new);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.renew(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.renew(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn is_copied(entry: &Entry<'_>) -> bool {
    matches!(&*entry.kind, "user" | "assistant" | "system" | "attachment")
        && entry.is_sidechain != Some(true)
}

/// The second reading: writes what the plan says.
struct Copy<'a> {
    source: &'a Place,
    target: &'a Place,
    plan: &'a Plan,
    now: String,
}

impl Copy<'_> {
    fn write(&self, file: &mut Transcript, title: &str) -> io::Result<()> {
        let draft = self
            .target
            .folder
            .join(format!(".{}.draft", self.target.id));
        let out = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        let written = self
            .write_lines(file, title, out)
            .and_then(|()| fs::rename(&draft, &self.target.file));
        if written.is_err() {
            // The first failure is the one to tell; a draft that stays behind is no session.
            fs::remove_file(&draft).ok();
        }
        written
    }

    fn write_lines(&self, file: &mut Transcript, title: &str, out: File) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        let last = self.plan.last.map_or(0, |span| span.offset);
        file.try_for_each(|span, line| {
            let wanted = span.offset <= last && Entry::parse(line).is_some_and(|e| is_copied(&e));
            if let (true, Some(members)) = (wanted, Members::parse(line)) {
                let entry = self.entry(members, span.offset == last)?;
                put(&mut out, &entry)?;
            }
            Ok(())
        })?;
        for (_, line) in &self.plan.notes {
            if let Some(mut note) = Members::parse(line) {
                note.set("sessionId", &self.target.id.as_str())?;
                put(&mut out, &note)?;
            }
        }
        let mut end = Members::default();
        end.set("type", &"custom-title")?;
        end.set("sessionId", &self.target.id.as_str())?;
        end.set("customTitle", &title)?;
        end.set("uuid", &uuid::Uuid::new_v4().to_string())?;
        end.set("timestamp", &self.now)?;
        put(&mut out, &end)?;
        out.into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()
    }

    fn entry(&self, mut entry: Members, is_last: bool) -> io::Result<Members> {
        let Some(old) = entry.text("uuid") else {
            return Ok(entry);
        };
        entry.set("uuid", &self.plan.ids.get(&old))?;
        entry.set("parentUuid", &self.plan.parent(entry.text("parentUuid")))?;
        if let Some(before) = entry.text("logicalParentUuid") {
            entry.set("logicalParentUuid", &self.plan.parent(Some(before)))?;
        }
        if let Some(metadata) = entry.get("compactMetadata") {
            let mut metadata: Value = serde_json::from_str(metadata.get())?;
            if let (true, Some(members)) = (
                self.plan.bare_boundary.as_ref() == Some(&old),
                metadata.as_object_mut(),
            ) {
                members.remove("preservedSegment");
                members.remove("preservedMessages");
                // The count includes what is left out.
                members.remove("postTokens");
            }
            self.plan.renew(&mut metadata);
            entry.set("compactMetadata", &metadata)?;
        }
        entry.set("sessionId", &self.target.id.as_str())?;
        if is_last {
            entry.set("timestamp", &self.now)?;
        }
        for name in ["teamName", "agentName", "slug", "sourceToolAssistantUUID"] {
            entry.remove(name);
        }
        let from = json!({"sessionId": self.source.id.as_str(), "messageUuid": old});
        entry.set("forkedFrom", &from)?;
        Ok(entry)
    }
}

fn put(out: &mut impl Write, entry: &Members) -> io::Result<()> {
    serde_json::to_writer(&mut *out, entry)?;
    out.write_all(b"\n")
}
