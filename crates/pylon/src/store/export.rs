//! A whole conversation as a document, piece by piece: Markdown for people, JSON for programs.
//!
//! Calls are written with their whole input and output. Each piece is a short read of its own, so that an export of a
//! long history to a slow reader holds nothing up; entries that arrive meanwhile are not part of it.

use estelle_proto::history::{HistoryMessage, RewoundStretch};
use estelle_proto::lookup::ToolPart;
use estelle_proto::{ConversationId, Json, Seq, ToolUseId};
use rusqlite::{Connection, params};

use super::conversations::{ConversationError, folded};
use super::folded::{Folded, Shelf};
use super::row::{count, json};
use super::{Store, StoreError, detail, rewinds, transcript};

/// Entries of one piece.
const PIECE_ENTRIES: u64 = 100;
/// A piece ends early rather than grow far beyond this many bytes.
const PIECE_BYTES: usize = 1024 * 1024;

/// The form of an exported conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people.
    Markdown,
    /// For programs: one object with the conversation and its `messages`.
    Json,
}

/// Why an export ended.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no such conversation, or no longer.
    #[error("there is no conversation {id}")]
    UnknownConversation {
        /// The id.
        id: ConversationId,
    },
    /// The history began anew while it was written.
    #[error("the history began anew while it was exported")]
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

/// An export under way.
#[derive(Debug)]
pub struct Export {
    store: Store,
    id: ConversationId,
    format: ExportFormat,
    title: String,
    shelf: Shelf,
    total: u64,
    rewound: Vec<RewoundStretch>,
    step: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Head,
    /// This many entries are written.
    Entries(u64),
    Done,
}

impl Store {
    /// Begins an export of a conversation as it is now.
    pub async fn export(
        &self,
        id: ConversationId,
        format: ExportFormat,
    ) -> Result<Export, ExportError> {
        let store = self.clone();
        self.read(move |db| {
            let conversation = folded(db, &id)?;
            let title = db
                .prepare_cached("SELECT name FROM conversations WHERE key = ?1")?
                .query_row([conversation.key], |row| row.get(0))?;
            Ok(Export {
                store,
                id,
                format,
                title,
                shelf: conversation.shelf,
                total: conversation.entries,
                rewound: rewinds::all(db, conversation.shelf)?,
                step: Step::Head,
            })
        })
        .await
    }
}

impl Export {
    /// The next piece of the document; `None` when it is complete.
    pub async fn next(&mut self) -> Result<Option<String>, ExportError> {
        match self.step {
            Step::Head => {
                self.step = Step::Entries(0);
                Ok(Some(self.head()))
            }
            Step::Entries(done) if done < self.total => {
                let (piece, now) = self.entries(done).await?;
                self.step = Step::Entries(now);
                Ok(Some(piece))
            }
            Step::Entries(_) => {
                self.step = Step::Done;
                Ok(match self.format {
                    ExportFormat::Markdown => None,
                    ExportFormat::Json => Some(self.foot()),
                })
            }
            Step::Done => Ok(None),
        }
    }

    fn head(&self) -> String {
        match self.format {
            ExportFormat::Markdown => transcript::title(&self.title),
            ExportFormat::Json => {
                let [id, name] = [self.id.as_str(), &self.title].map(quoted);
                let total = self.total;
                format!(
                    "{{\"conversationId\":{id},\"name\":{name},\"totalCount\":{total},\"messages\":["
                )
            }
        }
    }

    /// The end of a document for programs: what of it was taken back.
    fn foot(&self) -> String {
        if self.rewound.is_empty() {
            return "\n]}\n".to_owned();
        }
        // Writing out numbers cannot fail.
        let rewound = serde_json::to_string(&self.rewound).unwrap_or_default();
        format!("\n],\"rewound\":{rewound}}}\n")
    }

    async fn entries(&self, done: u64) -> Result<(String, u64), ExportError> {
        let (id, standing) = (self.id.clone(), self.shelf);
        let (until, form) = (self.total, self.format);
        let rewound = self.rewound.clone();
        let work = move |db: &Connection| {
            // The shelf is swept once it is left: what is read must still be the conversation.
            let conversation = folded(db, &id)?;
            if conversation.shelf != standing {
                return Err(ExportError::BeganAnew);
            }
            let stretch = (done, until);
            Ok(piece(db, &conversation, stretch, form, &rewound)?)
        };
        self.store.read(work).await
    }
}

fn quoted(text: &str) -> String {
    // Writing out a text cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

fn piece(
    db: &Connection,
    conversation: &Folded,
    (done, total): (u64, u64),
    format: ExportFormat,
    rewound: &[RewoundStretch],
) -> rusqlite::Result<(String, u64)> {
    let shelf = conversation.shelf;
    let last = total.min(done + PIECE_ENTRIES);
    let mut find = db.prepare_cached(
        "SELECT body, coalesce(strftime('%Y-%m-%d %H:%M:%S', at / 1000, 'unixepoch', 'localtime'), ''), seq \
         FROM history WHERE id > ?1 AND id <= ?2 ORDER BY id",
    )?;
    let mut rows = find.query(params![shelf.entry(done), shelf.entry(last)])?;
    let (mut text, mut written) = (String::new(), done);
    while let Some(row) = rows.next()? {
        let message = with_whole_parts(db, shelf, json(row, 0)?)?;
        match format {
            ExportFormat::Markdown => {
                let mut when: String = row.get(1)?;
                if rewinds::has(rewound, Seq(count(row, 2)?)) {
                    when.push_str(", rewound");
                }
                transcript::entry(&mut text, &message, &when);
            }
            ExportFormat::Json => {
                text.push_str(if written == 0 { "\n" } else { ",\n" });
                let body = serde_json::to_string(&message)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
                text.push_str(&body);
            }
        }
        written += 1;
        if text.len() > PIECE_BYTES {
            return Ok((text, written));
        }
    }
    // A place without an entry would be damage; it must not keep the export from ending.
    Ok((text, last))
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
