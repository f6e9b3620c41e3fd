//! A conversation made from the beginning of another one: its events, its settings and a copy of the agent's session.
//!
//! The copy is written beside the conversations and takes its place in one step. When the host dies before that, the
//! draft is swept away and what stays is at most a saved session that nobody uses; when it dies after, the conversation
//! is there whole. What a person allowed for the old conversation is not allowed in the new one.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use estelle_claude::saved::{self, ForkOptions, SavedSessions, SessionId};
use estelle_proto::{ApiError, ClaudeSessionId, ConversationId, ErrorCode, Retry, Seq, Timestamp};
use estelle_state::conversation::{
    Change, Conversation, Durable, Entry, MessageId, Origin, Record, Settings,
};
use estelle_state::idle::Occupation;

use super::actor::{disk_trouble, now};
use super::birth::{first_of, private_folder};
use super::book::{Book, View};
use crate::failpoint;
use crate::log::{AppendError, Sync};

/// A place in a conversation to go on from.
#[derive(Debug)]
pub(crate) struct Point {
    /// The conversation.
    pub(crate) source: View,
    /// One of its user messages, the first that is left out.
    pub(crate) before: Seq,
    /// Where the agent saves its sessions.
    pub(crate) sessions: Option<SavedSessions>,
}

/// A copy that is to be made.
#[derive(Debug)]
pub(crate) struct Fork {
    /// The old conversation.
    pub(crate) point: Arc<Point>,
    /// The new conversation.
    pub(crate) id: ConversationId,
    /// What was asked for; the message may turn out to have been written elsewhere.
    pub(crate) asked: Origin,
    /// Where the copy is written.
    pub(crate) draft: PathBuf,
    /// Where it belongs.
    pub(crate) folder: PathBuf,
}

/// Where the message is.
#[derive(Debug)]
pub(crate) enum Found {
    /// In this conversation.
    Here(Box<Cut>),
    /// It was itself copied from there; what comes before it is the same.
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
#[derive(Debug)]
pub(crate) struct Cut {
    message: MessageId,
    settings: Settings,
    session: Option<ClaudeSessionId>,
    occupation: Occupation,
}

impl Point {
    /// Looks for the message. Blocks on the disk.
    pub(crate) fn find(&self) -> Result<Found, ForkError> {
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
        match found.ok_or(ForkError::NoMessage(self.before))? {
            Found::Here(cut) if cut.occupation != Occupation::Idle => Err(ForkError::MidTurn),
            found @ (Found::Here(_) | Found::Elsewhere(_)) => Ok(found),
        }
    }

    /// Copies the session as it was before the message; none if the message was its first. Blocks on the disk.
    pub(crate) fn copy_session(&self, cut: &Cut) -> Result<Option<ClaudeSessionId>, ForkError> {
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
}

impl Fork {
    /// Writes the copy, with the session that was copied for it. Blocks on the disk.
    pub(crate) fn write(
        &self,
        cut: Cut,
        session: Option<ClaudeSessionId>,
    ) -> Result<Book, ForkError> {
        let written = self.write_all(cut.settings, session);
        if written.is_err() {
            // What is left of it is swept away when the host opens again.
            let _ = std::fs::remove_dir_all(&self.draft);
        }
        written?;
        let opened = Book::open(&self.folder, now()).map_err(io::Error::other)?;
        Ok(opened.book)
    }

    fn write_all(
        &self,
        settings: Settings,
        session: Option<ClaudeSessionId>,
    ) -> Result<(), ForkError> {
        failpoint::reach("fork-session-copied");
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
        failpoint::reach("fork-drafted");
        std::fs::rename(&self.draft, &self.folder)?;
        failpoint::reach("fork-placed");
        if let Some(parent) = self.folder.parent() {
            File::open(parent)?.sync_all()?;
        }
        Ok(())
    }

    fn copy_events(&self, book: &mut Book) -> Result<(), ForkError> {
        // The first one tells what was asked for, even if nothing is copied.
        copy_entry(book, self.asked.clone(), now(), Vec::new())?;
        let mut seq = Seq(1);
        let mut failure = None;
        let point = &self.point;
        point.source.entries(|entry| {
            let first = seq;
            seq.0 += entry.events.len() as u64;
            if failure.is_none() && seq <= point.before && !entry.events.is_empty() {
                let origin = Origin {
                    conversation_id: point.source.id().clone(),
                    epoch: point.source.epoch(),
                    seq: first,
                };
                failure = copy_entry(book, origin, entry.at, entry.events).err();
            }
        })?;
        failure.map_or(Ok(()), |error| Err(error.into()))
    }
}

fn copy_entry(
    book: &mut Book,
    origin: Origin,
    at: Timestamp,
    events: Vec<Durable>,
) -> Result<(), AppendError> {
    let entry = book.decide().copy(at, origin, events);
    book.append(&entry, Sync::Later).map(drop)
}

/// Whether an entry holds the message, whose number is `wanted`; `before` is the conversation without the entry.
fn look(before: &Conversation, entry: &Entry, wanted: Seq) -> Option<Found> {
    let first = before.seq().0 + 1;
    let place = wanted.0.checked_sub(first)?;
    let place = usize::try_from(place).ok()?;
    let estelle_proto::ClaudeEvent::UserMessage(_) = &entry.events.get(place)?.event else {
        return None;
    };
    if let Record::Copied(origin) = &entry.record {
        return Some(Found::Elsewhere(Origin {
            seq: Seq(origin.seq.0 + place as u64),
            ..origin.clone()
        }));
    }
    let Record::Accepted(message) = &entry.record else {
        return None;
    };
    Some(Found::Here(Box::new(Cut {
        message: message.id.clone(),
        settings: before.settings().clone(),
        session: before.session().cloned(),
        occupation: before.occupation(),
    })))
}
