//! Reads the messages of a saved conversation.
//!
//! The file is gone through twice: once for the order of its entries, without keeping their content, and once for the
//! lines of the page asked for. Memory is bound by the number of entries and the size of the page.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;
use serde::Deserialize;

use super::chain::{Index, Owner, Role};
use super::id::SessionId;
use super::lines::Transcript;
use super::store::{LoadError, SavedSessions};
use super::time;
use crate::line::Line;
use crate::wire::Message;

/// Which messages to read.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct MessageOptions {
    limit: Option<usize>,
    offset: usize,
    system: bool,
}

impl MessageOptions {
    /// All messages of user and model.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Passes over so many from the start.
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// With the notes of the CLI to the user, such as the place of a compaction.
    pub fn with_system(mut self) -> Self {
        self.system = true;
        self
    }
}

/// A message of a saved conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SavedMessage {
    /// Its id, for [`super::ForkOptions::up_to`] and [`crate::options::Options::resume_session_at`].
    pub uuid: String,
    /// The typed message with its line.
    ///
    /// Files have members that the stream has not, and the other way round: `sessionId` for `session_id`, for one.
    /// They are among the unknown fields. A system line whose members differ is `Unknown`.
    pub message: Message,
    /// For a sub-agent's message: the call that started the sub-agent.
    pub parent_tool_use_id: Option<String>,
    /// For a sub-agent's message: the sub-agent that started it; none if the main conversation did.
    pub parent_agent_id: Option<String>,
}

impl SavedMessage {
    /// When it was written; none if the file does not say.
    pub fn written_at(&self) -> Option<SystemTime> {
        #[derive(Deserialize)]
        struct Dated<'a> {
            #[serde(borrow)]
            timestamp: Cow<'a, str>,
        }
        let dated: Dated<'_> = serde_json::from_str(self.message.raw()).ok()?;
        time::parse(&dated.timestamp)
    }
}

impl SavedSessions {
    /// The conversation as it stands: the newest branch, from its start or its last compaction on.
    pub fn load_messages(
        &self,
        id: &SessionId,
        options: &MessageOptions,
    ) -> Result<Vec<SavedMessage>, LoadError> {
        let place = self.locate(id)?;
        load(&place.file, Owner::Session, options).map_err(LoadError::read(&place.file))
    }
}

pub(super) fn load(
    path: &Path,
    owner: Owner,
    options: &MessageOptions,
) -> io::Result<Vec<SavedMessage>> {
    let mut file = Transcript::open(path)?;
    let mut index = Index::default();
    file.for_each(|span, line| index.add(span, line))?;
    let conversation = index.conversation(owner).into_iter();
    let page = conversation
        .filter(|record| options.system || record.role != Role::System)
        .skip(options.offset)
        .take(options.limit.unwrap_or(usize::MAX));
    let mut messages = Vec::new();
    for record in page {
        // The index has read the line as JSON, so it is text.
        if let Ok(line) = Line::from_utf8(Bytes::from(file.read(record.span)?)) {
            messages.push(SavedMessage {
                uuid: record.uuid.clone(),
                message: Message::parse(line),
                parent_tool_use_id: None,
                parent_agent_id: None,
            });
        }
    }
    Ok(messages)
}
