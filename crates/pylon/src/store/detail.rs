//! The whole input and output of a call, which history shows cut, and its pictures, in chunks that fit a frame.

use estelle_proto::limits::TOOL_DETAIL_CHUNK_BYTES;
use estelle_proto::lookup::ToolPart;
use estelle_proto::{ConversationId, HistoryMessage, ToolUseId};
use rusqlite::{Connection, OptionalExtension, params};

use super::conversations::{self, ConversationError};
use super::folded::Shelf;
use super::row::{count_option, json};
use super::{Store, StoreError};

/// Both sides of a call, or a picture that it gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolParts {
    /// What it was called with, as JSON; `None` if its start was not seen.
    pub input: Option<String>,
    /// What it gave; `None` while it runs.
    pub output: Option<String>,
    /// A picture, in Base64, if one was asked for.
    pub image: Option<String>,
}

/// A piece of one side of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailChunk<'a> {
    /// Which side.
    pub part: ToolPart,
    /// The piece, never cut inside a character.
    pub chunk: &'a str,
    /// Bytes of the part before it.
    pub offset: u64,
    /// Bytes of the whole part.
    pub total_bytes: u64,
    /// Whether nothing follows, of either part.
    pub last: bool,
}

/// Why there is no detail.
#[derive(Debug, thiserror::Error)]
pub enum DetailError {
    /// There is no such conversation.
    #[error("there is no conversation {id}")]
    UnknownConversation {
        /// The id.
        id: ConversationId,
    },
    /// There is no such call in it.
    #[error("there is no call {id} in this conversation")]
    UnknownToolUse {
        /// The id.
        id: ToolUseId,
    },
    /// The call gave no such picture.
    #[error("the call {id} gave no picture with the number {number}")]
    UnknownImage {
        /// The id of the call.
        id: ToolUseId,
        /// Which picture was asked for, from 0.
        number: u32,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(DetailError);

impl Store {
    /// The whole input and output of a call.
    pub async fn tool_detail(
        &self,
        conversation: ConversationId,
        call: ToolUseId,
    ) -> Result<ToolParts, DetailError> {
        self.read(move |db| {
            let parts = load(db, shelf_of(db, &conversation)?, &call)?;
            parts.ok_or(DetailError::UnknownToolUse { id: call })
        })
        .await
    }

    /// A picture that a call gave, alone.
    pub async fn tool_image(
        &self,
        conversation: ConversationId,
        call: ToolUseId,
        number: u32,
    ) -> Result<ToolParts, DetailError> {
        self.read(move |db| {
            let held = shelf_of(db, &conversation)?;
            let mut find = db.prepare_cached(
                "SELECT images ->> ?3 FROM tool_calls WHERE shelf = ?1 AND tool_use_id = ?2",
            )?;
            let found: Option<Option<String>> = find
                .query_row(params![held.0, call.as_str(), number], |row| row.get(0))
                .optional()?;
            match found {
                Some(Some(image)) => Ok(ToolParts {
                    image: Some(image),
                    ..ToolParts::default()
                }),
                Some(None) => Err(DetailError::UnknownImage { id: call, number }),
                None => Err(DetailError::UnknownToolUse { id: call }),
            }
        })
        .await
    }
}

fn shelf_of(db: &Connection, conversation: &ConversationId) -> Result<Shelf, DetailError> {
    let folded = conversations::folded(db, conversation).map_err(|error| match error {
        ConversationError::Store(error) => DetailError::Store(error),
        ConversationError::UnknownConversation { .. }
        | ConversationError::UnknownWorkspace { .. } => DetailError::UnknownConversation {
            id: conversation.clone(),
        },
    })?;
    Ok(folded.shelf)
}

/// Pictures as the database keeps them.
pub(super) fn kept(images: &[String]) -> Option<String> {
    (!images.is_empty()).then(|| serde_json::Value::from(images).to_string())
}

/// Both sides of a call, if it is on this shelf.
pub(super) fn load(
    db: &Connection,
    shelf: Shelf,
    call: &ToolUseId,
) -> rusqlite::Result<Option<ToolParts>> {
    type Found = (Option<u64>, Option<u64>, Option<String>, Option<String>);
    let mut find = db.prepare_cached(
        "SELECT started, completed, input, output FROM tool_calls WHERE shelf = ?1 AND tool_use_id = ?2",
    )?;
    let found: Option<Found> = find
        .query_row(params![shelf.0, call.as_str()], |row| {
            Ok((
                count_option(row, 0)?,
                count_option(row, 1)?,
                row.get(2)?,
                row.get(3)?,
            ))
        })
        .optional()?;
    let Some((started, completed, input, output)) = found else {
        return Ok(None);
    };
    let input = match (input, started) {
        (Some(whole), _) => Some(whole),
        (None, Some(ordinal)) => shown(db, shelf, ordinal)?,
        (None, None) => None,
    };
    let output = match (output, completed) {
        (Some(whole), _) => Some(whole),
        (None, Some(ordinal)) => shown(db, shelf, ordinal)?,
        (None, None) => None,
    };
    Ok(Some(ToolParts {
        input,
        output,
        image: None,
    }))
}

/// A part that its entry shows whole.
fn shown(db: &Connection, shelf: Shelf, ordinal: u64) -> rusqlite::Result<Option<String>> {
    let mut find = db.prepare_cached("SELECT body FROM history WHERE id = ?1")?;
    let entry: Option<HistoryMessage> = find
        .query_row([shelf.entry(ordinal)], |row| json(row, 0))
        .optional()?;
    Ok(match entry {
        Some(HistoryMessage::ToolStart(call)) => Some(call.tool_input.get().to_owned()),
        Some(HistoryMessage::ToolComplete(call)) => Some(call.output),
        Some(
            HistoryMessage::Text(_)
            | HistoryMessage::Thinking(_)
            | HistoryMessage::TurnResult(_)
            | HistoryMessage::Error(_)
            | HistoryMessage::Aborted(_)
            | HistoryMessage::UserResponse(_)
            | HistoryMessage::System(_)
            | HistoryMessage::Unknown(_),
        )
        | None => None,
    })
}

/// The whole of a part that an entry shows cut, if it is kept beside it.
pub(super) fn whole(
    db: &Connection,
    shelf: Shelf,
    call: &ToolUseId,
    part: &ToolPart,
) -> rusqlite::Result<Option<String>> {
    let sql = match part {
        ToolPart::Input => "SELECT input FROM tool_calls WHERE shelf = ?1 AND tool_use_id = ?2",
        ToolPart::Output => "SELECT output FROM tool_calls WHERE shelf = ?1 AND tool_use_id = ?2",
        ToolPart::Image | ToolPart::Unknown(_) => return Ok(None),
    };
    let mut find = db.prepare_cached(sql)?;
    let found = find.query_row(params![shelf.0, call.as_str()], |row| row.get(0));
    found.optional().map(Option::flatten)
}

impl ToolParts {
    /// The chunks to send: the input first, each part in order. At least one, so that there is a last one.
    pub fn chunks(&self) -> Vec<DetailChunk<'_>> {
        let mut chunks = Vec::new();
        for (part, text) in [
            (ToolPart::Input, &self.input),
            (ToolPart::Output, &self.output),
            (ToolPart::Image, &self.image),
        ] {
            if let Some(text) = text {
                split(&part, text, &mut chunks);
            }
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.last = true;
        }
        chunks
    }
}

fn split<'a>(part: &ToolPart, text: &'a str, chunks: &mut Vec<DetailChunk<'a>>) {
    let size = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    let mut rest = text;
    loop {
        let (chunk, left) = rest.split_at(rest.floor_char_boundary(TOOL_DETAIL_CHUNK_BYTES));
        chunks.push(DetailChunk {
            part: part.clone(),
            chunk,
            offset: size(text.len() - rest.len()),
            total_bytes: size(text.len()),
            last: false,
        });
        if left.is_empty() {
            return;
        }
        rest = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_put_together_are_the_whole() {
        let parts = ToolParts {
            input: Some("{}".to_owned()),
            output: Some("한글🌙".repeat(40_000)),
            image: None,
        };
        let chunks = parts.chunks();
        let whole = |part: ToolPart| -> String {
            let of_part = chunks.iter().filter(|chunk| chunk.part == part);
            of_part.map(|chunk| chunk.chunk).collect()
        };
        assert_eq!(Some(whole(ToolPart::Input)), parts.input);
        assert_eq!(Some(whole(ToolPart::Output)), parts.output);
        assert!(
            chunks
                .iter()
                .all(|chunk| chunk.chunk.len() <= TOOL_DETAIL_CHUNK_BYTES)
        );
        let last: Vec<_> = chunks.iter().map(|chunk| chunk.last).collect();
        assert_eq!(last.iter().filter(|last| **last).count(), 1);
        assert_eq!(last.last(), Some(&true));
        let second = &chunks[2];
        assert_eq!(second.offset, chunks[1].chunk.len() as u64);
    }

    #[test]
    fn an_empty_output_is_still_an_answer() {
        let parts = ToolParts {
            output: Some(String::new()),
            ..ToolParts::default()
        };
        assert_eq!(parts.chunks().len(), 1);
        assert!(parts.chunks()[0].last);
    }
}
