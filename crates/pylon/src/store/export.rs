//! A whole conversation as a document, piece by piece: Markdown for people, JSON for programs.
//!
//! Calls are written with their whole input and output. Each piece is a short read of its own and nothing is remembered
//! between two of them: the cursor says all there is to say, so that an export of a long history to a slow reader holds
//! nothing up. Entries that arrive meanwhile are not part of it.
//!
//! A document has parts: its head, its entries, and its foot. A piece ends where it is full, also inside a part, but never
//! inside a character.

use std::fmt;
use std::str::FromStr;

use estelle_proto::export::{ExportFormat, HistoryExport};
use estelle_proto::history::{HistoryMessage, RewoundStretch};
use estelle_proto::limits::EXPORT_PIECE_BYTES;
use estelle_proto::lookup::ToolPart;
use estelle_proto::{ConversationId, Json, Seq, ToolUseId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::conversations::{ConversationError, folded};
use super::folded::{Folded, Shelf};
use super::row::{count, message};
use super::{Store, StoreError, detail, rewinds, transcript};

/// Entries that a piece reads at most, so that no read is long.
const PIECE_ENTRIES: u64 = 1000;

/// Which piece of which document.
#[derive(Debug, Clone)]
pub struct ExportQuery {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The form; one that is not known is written as JSON.
    pub format: ExportFormat,
    /// `next_cursor` of the piece before.
    pub cursor: Option<String>,
}

impl From<&HistoryExport> for ExportQuery {
    fn from(request: &HistoryExport) -> Self {
        Self {
            conversation_id: request.conversation_id.clone(),
            format: request.format.clone(),
            cursor: request.cursor.clone(),
        }
    }
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportPage {
    /// Its text.
    pub text: String,
    /// Entries in the whole document.
    pub total: u64,
    /// Where the next piece begins; `None` at the end.
    pub next_cursor: Option<String>,
}

/// Why there is no piece.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no such conversation, or no longer.
    #[error("there is no conversation {id}")]
    UnknownConversation {
        /// The id.
        id: ConversationId,
    },
    /// The cursor is none that was given.
    #[error("`cursor` is not one that was given")]
    BadCursor,
    /// What was written before is not how the history is now.
    #[error("the history began anew or was taken back while it was exported: export it again")]
    BeganAnew,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(ExportError);

impl From<ConversationError> for ExportError {
    fn from(error: ConversationError) -> Self {
        match error {
            ConversationError::UnknownConversation { id } => Self::UnknownConversation { id },
            ConversationError::Store(error) => Self::Store(error),
            // An export asks for no workspace.
            ConversationError::UnknownWorkspace { .. } => Self::BeganAnew,
        }
    }
}

/// Where a piece begins, in a document that was begun at a certain moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    shelf: u64,
    /// The newest event when the document was begun.
    head: u64,
    /// The entries there were then.
    total: u64,
    /// The part: 0 is the head of the document, then come the entries, and behind them the foot.
    part: u64,
    /// The bytes of the part that are written.
    at: usize,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shelf,
            head,
            total,
            part,
            at,
        } = self;
        write!(f, "{shelf}.{head}.{total}.{part}.{at}")
    }
}

impl FromStr for Cursor {
    type Err = ExportError;

    fn from_str(text: &str) -> Result<Self, ExportError> {
        let numbers: Result<Vec<u64>, _> = text.splitn(6, '.').map(str::parse).collect();
        let Ok([shelf, head, total, part, at]) =
            <[u64; 5]>::try_from(numbers.map_err(|_| ExportError::BadCursor)?)
        else {
            return Err(ExportError::BadCursor);
        };
        let at = usize::try_from(at).map_err(|_| ExportError::BadCursor)?;
        Ok(Self {
            shelf,
            head,
            total,
            part,
            at,
        })
    }
}

impl Store {
    /// A piece of a conversation as a document.
    pub async fn export(&self, query: ExportQuery) -> Result<ExportPage, ExportError> {
        let cursor: Option<Cursor> = query.cursor.as_deref().map(str::parse).transpose()?;
        self.read(move |db| {
            let conversation = folded(db, &query.conversation_id)?;
            let rewound = rewinds::all(db, conversation.shelf)?;
            let cursor = match cursor {
                Some(cursor) => checked(cursor, &conversation, &rewound)?,
                None => beginning(&conversation),
            };
            let mut piece = Piece {
                db,
                conversation: &conversation,
                format: &query.format,
                rewound: &rewound,
                text: String::new(),
                cursor,
            };
            let is_over = piece.fill()?;
            Ok(ExportPage {
                text: piece.text,
                total: cursor.total,
                next_cursor: (!is_over).then(|| piece.cursor.to_string()),
            })
        })
        .await
    }
}

/// The beginning of the document of a conversation as it is now.
fn beginning(conversation: &Folded) -> Cursor {
    Cursor {
        shelf: conversation.shelf.0.unsigned_abs(),
        head: conversation.seq.0,
        total: conversation.entries,
        part: 0,
        at: 0,
    }
}

/// The cursor, if what was written before it is still how the conversation is.
fn checked(
    cursor: Cursor,
    conversation: &Folded,
    rewound: &[RewoundStretch],
) -> Result<Cursor, ExportError> {
    if cursor.shelf != conversation.shelf.0.unsigned_abs() {
        return Err(ExportError::BeganAnew);
    }
    if cursor.total > conversation.entries || cursor.part > cursor.total + 1 {
        return Err(ExportError::BadCursor);
    }
    // What was written as it stood would have to be marked now.
    if rewound.iter().any(|stretch| stretch.to_seq.0 > cursor.head) {
        return Err(ExportError::BeganAnew);
    }
    Ok(cursor)
}

/// A piece that is being filled.
struct Piece<'a> {
    db: &'a Connection,
    conversation: &'a Folded,
    format: &'a ExportFormat,
    rewound: &'a [RewoundStretch],
    text: String,
    /// What is written.
    cursor: Cursor,
}

impl Piece<'_> {
    /// Writes until the piece is full or the document complete, and says whether it is complete.
    fn fill(&mut self) -> Result<bool, ExportError> {
        if self.cursor.part == 0 {
            let head = self.head()?;
            if !self.put(&head)? {
                return Ok(false);
            }
        }
        if self.cursor.part <= self.cursor.total && !self.entries()? {
            return Ok(false);
        }
        let foot = self.foot();
        self.put(&foot)
    }

    /// Adds what of a part is not written yet. Says whether there was room for all of it.
    fn put(&mut self, part: &str) -> Result<bool, ExportError> {
        let rest = part.get(self.cursor.at..).ok_or(ExportError::BadCursor)?;
        let room = EXPORT_PIECE_BYTES.saturating_sub(self.text.len());
        let fits = rest.floor_char_boundary(room);
        self.text.push_str(rest.get(..fits).unwrap_or_default());
        if fits < rest.len() {
            self.cursor.at += fits;
            return Ok(false);
        }
        self.cursor.part += 1;
        self.cursor.at = 0;
        Ok(true)
    }

    fn head(&self) -> Result<String, ExportError> {
        let title: String = self
            .db
            .prepare_cached("SELECT name FROM conversations WHERE key = ?1")?
            .query_row([self.conversation.key], |row| row.get(0))?;
        if *self.format == ExportFormat::Markdown {
            return Ok(transcript::title(&title));
        }
        let [id, name] = [self.conversation.id.as_str(), &title].map(quoted);
        let total = self.cursor.total;
        Ok(format!(
            "{{\"conversationId\":{id},\"name\":{name},\"totalCount\":{total},\"messages\":["
        ))
    }

    /// The end of a document for programs: what of it was taken back.
    fn foot(&self) -> String {
        if *self.format == ExportFormat::Markdown {
            return String::new();
        }
        if self.rewound.is_empty() {
            return "\n]}\n".to_owned();
        }
        // Writing out numbers cannot fail.
        let rewound = serde_json::to_string(self.rewound).unwrap_or_default();
        format!("\n],\"rewound\":{rewound}}}\n")
    }

    /// Writes entries, and says whether all of them are written.
    fn entries(&mut self) -> Result<bool, ExportError> {
        let (db, stand, total) = (self.db, self.conversation.shelf, self.cursor.total);
        let last = total.min(self.cursor.part.saturating_add(PIECE_ENTRIES));
        let first = db
            .prepare_cached(
                "SELECT id FROM history WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT 1",
            )?
            .query_row(params![stand.first(), stand.entry(total)], |row| row.get(0))
            .optional()?
            .map_or(1, Shelf::ordinal);
        let mut find = db.prepare_cached(
            "SELECT body, coalesce(strftime('%Y-%m-%d %H:%M:%S', at / 1000, 'unixepoch', 'localtime'), ''), seq, id \
             FROM history WHERE id >= ?1 AND id <= ?2 ORDER BY id",
        )?;
        let mut rows = find.query(params![stand.entry(self.cursor.part), stand.entry(last)])?;
        while let Some(row) = rows.next()? {
            let ordinal = Shelf::ordinal(row.get(3)?);
            if ordinal != self.cursor.part {
                // A place without an entry would be damage; it must not keep the export from ending.
                (self.cursor.part, self.cursor.at) = (ordinal, 0);
            }
            let entry = self.entry(row, ordinal == first)?;
            if !self.put(&entry)? {
                return Ok(false);
            }
        }
        if self.cursor.part <= last {
            (self.cursor.part, self.cursor.at) = (last + 1, 0);
        }
        Ok(self.cursor.part > total)
    }

    fn entry(&self, row: &Row<'_>, is_first: bool) -> Result<String, ExportError> {
        let message = with_whole_parts(self.db, self.conversation.shelf, message(row, 0)?)?;
        let mut text = String::new();
        if *self.format == ExportFormat::Markdown {
            let mut when: String = row.get(1)?;
            if rewinds::has(self.rewound, Seq(count(row, 2)?)) {
                when.push_str(", rewound");
            }
            transcript::entry(&mut text, &message, &when);
            return Ok(text);
        }
        text.push_str(if is_first { "\n" } else { ",\n" });
        let body = serde_json::to_string(&message)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        text.push_str(&body);
        Ok(text)
    }
}

fn quoted(text: &str) -> String {
    // Writing out a text cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// The entry with the whole of what it shows cut.
fn with_whole_parts(
    db: &Connection,
    shelf: Shelf,
    message: HistoryMessage,
) -> rusqlite::Result<HistoryMessage> {
    let whole = |call: &Option<ToolUseId>, part| match call {
        Some(call) => detail::whole(db, shelf, call, &part),
        None => Ok(None),
    };
    Ok(match message {
        HistoryMessage::ToolStart(mut call) => {
            let text = whole(&call.tool_use_id, ToolPart::Input)?;
            if let Some(input) = text.and_then(|text| Json::parse(&text).ok()) {
                call.tool_input = input;
                call.truncated = None;
            }
            HistoryMessage::ToolStart(call)
        }
        HistoryMessage::ToolComplete(mut call) => {
            if let Some(output) = whole(&call.tool_use_id, ToolPart::Output)? {
                call.output = output;
                call.truncated = None;
            }
            HistoryMessage::ToolComplete(call)
        }
        other @ (HistoryMessage::Text(_)
        | HistoryMessage::Thinking(_)
        | HistoryMessage::TurnResult(_)
        | HistoryMessage::Error(_)
        | HistoryMessage::Aborted(_)
        | HistoryMessage::UserResponse(_)
        | HistoryMessage::System(_)
        | HistoryMessage::Unknown(_)) => other,
    })
}
