//! A conversation made from the beginning of another one: its events, its settings and a copy of the agent's session.
//!
//! The copy is written beside the conversations and takes its place in one step. When the host dies before that, the
//! draft is swept away and what stays is at most a saved session that nobody uses; when it dies after, the conversation
//! is there whole. What a person allowed for the old conversation is not allowed in the new one.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use estelle_claude::saved::{self, ForkOptions, SavedSessions, SessionId};
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::{ApiError, ClaudeSessionId, ConversationId, ErrorCode, Retry, Seq};
use estelle_state::conversation::{
    Change, Conversation, Durable, Entry, MessageId, Origin, Record, Settings,
};

use super::actor::{disk_trouble, now};
use super::birth::{first_of, private_folder};
use super::book::{Book, View};
use crate::log::{AppendError, Sync};

/// A copy that is to be made.
#[derive(Debug)]
pub(crate) struct Fork {
    /// The old conversation.
    pub(crate) source: View,
    /// One of its user messages, the first that is left out.
    pub(crate) before: Seq,
    /// The new conversation.
    pub(crate) id: ConversationId,
    /// Where the agent saves its sessions.
    pub(crate) sessions: Option<SavedSessions>,
    /// Where the copy is written.
    pub(crate) draft: PathBuf,
    /// Where it belongs.
    pub(crate) folder: PathBuf,
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum Forked {
    /// The new conversation.
    Book(Box<Book>),
    /// The message was itself copied from here; what comes before it is the same there.
    Elsewhere(Origin),
}

/// Why no copy was made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ForkError {
    #[error("entry {0} is no message of a person; choose one that is")]
    NoMessage(Seq),
    #[error(
        "this message came in the middle of a turn, and the agent cannot go on from there; choose one that began a turn"
    )]
    MidTurn,
    #[error("the agent's own record of this conversation cannot be copied: {0}")]
    Session(#[source] saved::ForkError),
    #[error(
        "nobody knows where the agent saves its sessions: neither CLAUDE_CONFIG_DIR nor HOME is set"
    )]
    NoSessions,
    #[error("failed to write the copy")]
    Io(#[from] io::Error),
    #[error("failed to write the copy")]
    Append(#[from] AppendError),
}

impl ForkError {
    pub(crate) fn to_api(&self) -> ApiError {
        match self {
            Self::NoMessage(_) | Self::MidTurn | Self::Session(_) | Self::NoSessions => {
                ApiError::new(ErrorCode::Conflict, self.to_string(), Retry::Never)
            }
            Self::Io(_) | Self::Append(_) => disk_trouble(),
        }
    }
}

/// The place at which the old conversation is cut, and what it was like there.
struct Cut {
    message: MessageId,
    settings: Settings,
    session: Option<ClaudeSessionId>,
    status: ConversationStatus,
}

impl Fork {
    /// Makes the copy. Blocks on the disk.
    pub(crate) fn make(&self) -> Result<Forked, ForkError> {
        let cut = match self.find()? {
            Ok(cut) => cut,
            Err(origin) => return Ok(Forked::Elsewhere(origin)),
        };
        if cut.status != ConversationStatus::Idle {
            return Err(ForkError::MidTurn);
        }
        let session = self.copy_session(&cut)?;
        let written = self.write(cut.settings, session);
        if written.is_err() {
            // What is left of it is swept away when the host opens again.
            let _ = std::fs::remove_dir_all(&self.draft);
        }
        written?;
        let opened = Book::open(&self.folder, now()).map_err(io::Error::other)?;
        Ok(Forked::Book(Box::new(opened.book)))
    }

    fn find(&self) -> Result<Result<Cut, Origin>, ForkError> {
        let mut conversation: Option<Conversation> = None;
        let mut found = None;
        self.source.entries(|entry| match &mut conversation {
            None => conversation = Conversation::replay([entry]),
            Some(_) if found.is_some() => {}
            Some(before) => {
                found = look(before, &entry, self.before);
                before.apply(&entry);
            }
        })?;
        found.ok_or(ForkError::NoMessage(self.before))
    }

    /// Copies the session as it was before the message; none if the message was its first.
    fn copy_session(&self, cut: &Cut) -> Result<Option<ClaudeSessionId>, ForkError> {
        let Some(session) = &cut.session else {
            return Ok(None);
        };
        let no_session = |error: saved::InvalidId| io::Error::other(error);
        let id: SessionId = session.as_str().parse().map_err(no_session)?;
        let mut sessions = self.sessions.clone().ok_or(ForkError::NoSessions)?;
        if let Some(folder) = &cut.settings.working_dir {
            sessions = sessions.within_only(folder.as_str());
        }
        match sessions.fork(&id, &ForkOptions::new().before(&cut.message.0)) {
            Ok(copy) => Ok(ClaudeSessionId::parse(copy.as_str()).ok()),
            Err(saved::ForkError::NoMessages(_)) => Ok(None),
            Err(error) => Err(ForkError::Session(error)),
        }
    }

    fn write(&self, settings: Settings, session: Option<ClaudeSessionId>) -> Result<(), ForkError> {
        // What lies there was begun by somebody who did not finish.
        let _ = std::fs::remove_dir_all(&self.draft);
        private_folder(&self.draft)?;
        let at = now();
        let mut book = Book::begin(&self.draft, at, first_of(self.id.clone()))?;
        self.copy_events(&mut book)?;
        let change = Change {
            session,
            ..settings.into()
        };
        if let Some(entry) = book.decide().change(at, change) {
            book.append(&entry, Sync::Later)?;
        }
        book.sync_now()?;
        std::fs::rename(&self.draft, &self.folder)?;
        if let Some(parent) = self.folder.parent() {
            File::open(parent)?.sync_all()?;
        }
        Ok(())
    }

    fn copy_events(&self, book: &mut Book) -> Result<(), ForkError> {
        let mut seq = Seq(1);
        let mut failure = None;
        self.source.entries(|entry| {
            let first = seq;
            seq.0 += entry.events.len() as u64;
            // The first one tells where all of it comes from, even if nothing is copied.
            let is_wanted = seq <= self.before && !entry.events.is_empty();
            if failure.is_none() && (is_wanted || matches!(entry.record, Record::Began { .. })) {
                failure = self.copy_entry(book, first, entry.at, entry.events).err();
            }
        })?;
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    fn copy_entry(
        &self,
        book: &mut Book,
        seq: Seq,
        at: estelle_proto::Timestamp,
        events: Vec<Durable>,
    ) -> Result<(), AppendError> {
        let origin = Origin {
            conversation_id: self.source.id().clone(),
            epoch: self.source.epoch(),
            seq,
        };
        let entry = book.decide().copy(at, origin, events);
        book.append(&entry, Sync::Later).map(drop)
    }
}

/// Whether an entry holds the message, whose number is `wanted`; `before` is the conversation without the entry.
fn look(before: &Conversation, entry: &Entry, wanted: Seq) -> Option<Result<Cut, Origin>> {
    let first = before.seq().0 + 1;
    let place = wanted.0.checked_sub(first)?;
    let place = usize::try_from(place).ok()?;
    let estelle_proto::ClaudeEvent::UserMessage(_) = &entry.events.get(place)?.event else {
        return None;
    };
    if let Record::Copied(origin) = &entry.record {
        return Some(Err(Origin {
            seq: Seq(origin.seq.0 + place as u64),
            ..origin.clone()
        }));
    }
    let Record::Accepted(message) = &entry.record else {
        return None;
    };
    Some(Ok(Cut {
        message: message.id.clone(),
        settings: before.settings().clone(),
        session: before.session().cloned(),
        status: before.status(),
    }))
}
