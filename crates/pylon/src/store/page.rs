//! Pages of history, by offset from the newest or by cursor: the same cost at any depth of any history.
//!
//! Entries are numbered densely on their shelf, so a page is a range of ids and its place is a subtraction. A cursor is
//! first turned into such a place by one look into an index. Nothing is counted, skipped or scanned.

use std::fmt::Write as _;

use estelle_proto::history::{HistoryRequest, HistoryResult, RewoundStretch};
use estelle_proto::limits::{
    DEFAULT_HISTORY_PAGE, MAX_FRAME_BYTES, MAX_HISTORY_PAGE, MAX_HISTORY_PAGE_BYTES,
};
use estelle_proto::{
    ConversationId, ConversationStatus, DeviceId, Epoch, HistoryMessage, Seq, WorkspaceId,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::conversations::ConversationError;
use super::folded::{Folded, Shelf};
use super::row::{count, int, message};
use super::{Store, StoreError, conversations, rewinds, workspaces};

/// The most bytes of one entry on the wire: with its envelope it fits a frame.
const MOST_ENTRY_BYTES: usize = MAX_FRAME_BYTES * 3 / 4;

/// Where a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageFrom {
    /// Leaves out this many of the newest entries.
    Newest {
        /// How many.
        offset: u64,
    },
    /// Ends before this event.
    Before(Seq),
    /// Begins after this event.
    After(Seq),
}

/// Which page is asked for.
#[derive(Debug, Clone)]
pub struct PageQuery {
    /// Of which conversation.
    pub conversation_id: ConversationId,
    /// In which it must be.
    pub workspace_id: Option<WorkspaceId>,
    /// The most entries.
    pub limit: u32,
    /// Where it is.
    pub from: PageFrom,
    /// The epoch that a cursor belongs to.
    pub epoch: Option<Epoch>,
}

impl From<&HistoryRequest> for PageQuery {
    fn from(request: &HistoryRequest) -> Self {
        let from = match (request.after_seq, request.before_seq) {
            (Some(seq), _) => PageFrom::After(seq),
            (None, Some(seq)) => PageFrom::Before(seq),
            (None, None) => PageFrom::Newest {
                offset: request.offset.unwrap_or(0),
            },
        };
        Self {
            conversation_id: request.conversation_id.clone(),
            workspace_id: Some(request.workspace_id.clone()),
            limit: request.limit.unwrap_or(DEFAULT_HISTORY_PAGE),
            from,
            epoch: request.epoch,
        }
    }
}

/// A page, oldest entry first.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPage {
    /// The entries.
    pub messages: Vec<HistoryMessage>,
    /// How many newer entries were left out.
    pub offset: u64,
    /// All entries of the conversation.
    pub total_count: u64,
    /// Whether there are more in the direction of reading.
    pub has_more: bool,
    /// The epoch of the `seq`s in it, if anything happened yet.
    pub epoch: Option<Epoch>,
    /// The newest event that was taken in: live events go on from here.
    pub head_seq: Seq,
    /// The state after that event.
    pub status: ConversationStatus,
    /// What of it was taken back.
    pub rewound: Vec<RewoundStretch>,
}

impl HistoryPage {
    /// The page as the answer to a request.
    pub fn into_result(self, device: DeviceId, request: &HistoryRequest) -> HistoryResult {
        HistoryResult {
            epoch: self.epoch,
            head_seq: Some(self.head_seq),
            current_status: Some(self.status),
            request_id: request.request_id.clone(),
            rewound: (!self.rewound.is_empty()).then_some(self.rewound),
            ..HistoryResult::new(
                device,
                request.workspace_id.clone(),
                request.conversation_id.clone(),
                self.messages,
                self.offset,
                self.total_count,
                self.has_more,
            )
        }
    }
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// There is no such conversation, or not in that workspace.
    #[error("there is no conversation {id}")]
    UnknownConversation {
        /// The id.
        id: ConversationId,
    },
    /// The cursor is of another epoch.
    #[error("the cursor is of another epoch; the history began anew")]
    StaleCursor {
        /// The epoch now.
        now: Option<Epoch>,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(PageError);

impl Store {
    /// A page of history.
    pub async fn page(&self, query: PageQuery) -> Result<HistoryPage, PageError> {
        self.read(move |db| page(db, &query)).await
    }

    /// The entry that an event made, if it made one.
    pub async fn entry(
        &self,
        conversation: ConversationId,
        seq: Seq,
    ) -> Result<Option<HistoryMessage>, ConversationError> {
        self.read(move |db| {
            let conversation = conversations::folded(db, &conversation)?;
            let Some(epoch) = conversation.epoch else {
                return Ok(None);
            };
            let mut find = db.prepare_cached(
                "SELECT body FROM history WHERE shelf = ?1 AND epoch = ?2 AND seq = ?3",
            )?;
            let place = params![conversation.shelf.0, int(epoch.0), int(seq.0)];
            Ok(find.query_row(place, |row| message(row, 0)).optional()?)
        })
        .await
    }
}

/// The direction in which entries are read, from a place on.
#[derive(Debug, Clone, Copy)]
enum Reading {
    /// From this place down to the oldest.
    Back(u64),
    /// From this place up to the newest.
    Forth(u64),
}

pub(super) fn page(db: &Connection, query: &PageQuery) -> Result<HistoryPage, PageError> {
    let conversation = find(db, query)?;
    if query.epoch.is_some() && query.epoch != conversation.epoch {
        let now = conversation.epoch;
        return Err(PageError::StaleCursor { now });
    }
    let total = conversation.entries;
    let limit = query.limit.min(MAX_HISTORY_PAGE);
    let reading = match query.from {
        PageFrom::Newest { offset } => Reading::Back(total.saturating_sub(offset)),
        PageFrom::Before(seq) => Reading::Back(last_before(db, &conversation, seq)?),
        PageFrom::After(seq) => {
            let seen = Seq(seq.0.saturating_add(1));
            Reading::Forth(last_before(db, &conversation, seen)? + 1)
        }
    };
    let (messages, span) = entries(db, conversation.shelf, reading, limit)?;
    let rewound = match span {
        Some((first, last)) => rewinds::between(db, conversation.shelf, first, last)?,
        None => Vec::new(),
    };
    let returned = u64::try_from(messages.len()).unwrap_or(u64::MAX);
    let (offset, has_more) = match (reading, query.from) {
        (Reading::Back(top), PageFrom::Newest { offset }) => (offset, top > returned),
        (Reading::Back(top), _) => (total - top, top > returned),
        (Reading::Forth(bottom), _) => {
            let left = (total + 1).saturating_sub(bottom + returned);
            (left, left > 0)
        }
    };
    Ok(HistoryPage {
        messages,
        offset,
        total_count: total,
        has_more,
        epoch: conversation.epoch,
        head_seq: conversation.seq,
        status: conversation.status,
        rewound,
    })
}

fn find(db: &Connection, query: &PageQuery) -> Result<Folded, PageError> {
    let unknown = || PageError::UnknownConversation {
        id: query.conversation_id.clone(),
    };
    let conversation = Folded::load(db, &query.conversation_id)?.ok_or_else(unknown)?;
    match &query.workspace_id {
        Some(workspace) if workspaces::find_key(db, workspace)? != Some(conversation.workspace) => {
            Err(unknown())
        }
        Some(_) | None => Ok(conversation),
    }
}

/// The place of the last entry before an event; 0 if there is none.
fn last_before(db: &Connection, conversation: &Folded, seq: Seq) -> rusqlite::Result<u64> {
    let Some(epoch) = conversation.epoch else {
        return Ok(0);
    };
    let mut find = db.prepare_cached(LAST_BEFORE)?;
    let place = params![conversation.shelf.0, int(epoch.0), int(seq.0)];
    let id: Option<i64> = find.query_row(place, |row| row.get(0)).optional()?;
    Ok(id.map_or(0, Shelf::ordinal))
}

const LAST_BEFORE: &str =
    "SELECT id FROM history WHERE shelf = ?1 AND epoch = ?2 AND seq < ?3 ORDER BY seq DESC LIMIT 1";
const BACK: &str =
    "SELECT body, seq FROM history WHERE id > ?1 AND id <= ?2 ORDER BY id DESC LIMIT ?3";
const FORTH: &str = "SELECT body, seq FROM history WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3";

/// Entries, with the events that made the first and the last of them.
type Entries = (Vec<HistoryMessage>, Option<(Seq, Seq)>);

/// Entries from a place on, in the order of the conversation; ends early rather than get too large.
fn entries(
    db: &Connection,
    shelf: Shelf,
    reading: Reading,
    limit: u32,
) -> rusqlite::Result<Entries> {
    let (sql, from, to) = match reading {
        Reading::Back(top) => (BACK, shelf.first(), shelf.entry(top)),
        Reading::Forth(bottom) => (FORTH, shelf.entry(bottom), Shelf(shelf.0 + 1).first()),
    };
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query(params![from, to, limit])?;
    let mut found = Vec::new();
    let mut span: Option<(Seq, Seq)> = None;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let length = row.get_ref(0)?.as_str()?.len();
        bytes += length;
        if bytes > MAX_HISTORY_PAGE_BYTES && !found.is_empty() {
            break;
        }
        let seq = Seq(count(row, 1)?);
        span = Some(span.map_or((seq, seq), |(first, last)| (first.min(seq), last.max(seq))));
        found.push(fit(message(row, 0)?, length));
    }
    if matches!(reading, Reading::Back(_)) {
        found.reverse();
    }
    Ok((found, span))
}

/// An entry that fits a frame on its own: the text of a larger one is cut, and says so. The export has all of it.
fn fit(message: HistoryMessage, length: usize) -> HistoryMessage {
    if length <= MOST_ENTRY_BYTES {
        return message;
    }
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the others are cut when they are written"
    )]
    match message {
        HistoryMessage::Text(mut said) => {
            said.content = fitted(said.content, length);
            HistoryMessage::Text(said)
        }
        HistoryMessage::Thinking(mut thought) => {
            thought.content = fitted(thought.content, length);
            HistoryMessage::Thinking(thought)
        }
        other => other,
    }
}

/// The part of a text that fits. Escaped, a text can be much longer; the part is short enough in the same proportion.
fn fitted(mut content: String, length: usize) -> String {
    let whole = content.len();
    let kept = whole.saturating_mul(MOST_ENTRY_BYTES / 2) / length;
    content.truncate(content.floor_char_boundary(kept));
    let kept = content.len();
    // Writing to a string cannot fail.
    let _ = write!(
        content,
        "\n\n[{kept} of {whole} bytes; an export has all of them]"
    );
    content
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
