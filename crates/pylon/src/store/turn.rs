//! The calls of one turn: from the end of the turn before it to its own.

use std::collections::HashMap;

use estelle_proto::{ConversationId, HistoryMessage, Seq, ToolUseId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::conversations::{self, ConversationError};
use super::folded::{Folded, Shelf};
use super::row::{count, int, json};
use super::{Store, detail};
use crate::edits::Call;

/// Entries that are looked at, to either side.
const MOST: u32 = 5_000;

/// A turn and what its tools were called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its first entry.
    pub first: Seq,
    /// Its last entry so far.
    pub last: Seq,
    /// Whether it has ended.
    pub is_over: bool,
    /// The calls that worked, in their order.
    pub calls: Vec<Call>,
    /// Whether it has more entries than are looked at.
    pub is_cut: bool,
}

impl Store {
    /// The turn that an event belongs to; `None` if there is no entry of it or before it.
    pub async fn turn(
        &self,
        conversation: ConversationId,
        seq: Seq,
    ) -> Result<Option<Turn>, ConversationError> {
        self.read(move |db| {
            let conversation = conversations::folded(db, &conversation)?;
            let Some(at) = place(db, &conversation, seq)? else {
                return Ok(None);
            };
            Ok(Some(load(db, conversation.shelf, at)?))
        })
        .await
    }
}

/// The entry of an event, or the last one before it.
fn place(db: &Connection, conversation: &Folded, seq: Seq) -> rusqlite::Result<Option<i64>> {
    let Some(epoch) = conversation.epoch else {
        return Ok(None);
    };
    let sql = "SELECT id FROM history WHERE shelf = ?1 AND epoch = ?2 AND seq <= ?3 \
               ORDER BY seq DESC LIMIT 1";
    let of = params![conversation.shelf.0, int(epoch.0), int(seq.0)];
    db.prepare_cached(sql)?
        .query_row(of, |row| row.get(0))
        .optional()
}

/// Whether a turn ends with this entry.
fn ends(message: &HistoryMessage) -> bool {
    matches!(
        message,
        HistoryMessage::TurnResult(_) | HistoryMessage::Aborted(_) | HistoryMessage::Error(_)
    )
}

/// The first entry of the turn, and whether it is certain.
fn begin(db: &Connection, shelf: Shelf, at: i64) -> rusqlite::Result<(i64, bool)> {
    let sql = "SELECT id, body FROM history WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query(params![shelf.first(), at, MOST])?;
    let (mut first, mut seen) = (at, 0);
    while let Some(row) = rows.next()? {
        if ends(&json(row, 1)?) {
            return Ok((first, true));
        }
        first = row.get(0)?;
        seen += 1;
    }
    Ok((first, seen < MOST))
}

fn load(db: &Connection, shelf: Shelf, at: i64) -> rusqlite::Result<Turn> {
    let (first, is_certain) = begin(db, shelf, at)?;
    let sql = "SELECT id, seq, body FROM history WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3";
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query(params![first, Shelf(shelf.0 + 1).first(), 2 * MOST])?;
    let mut turn = Turn {
        first: Seq(0),
        last: Seq(0),
        is_over: false,
        calls: Vec::new(),
        is_cut: !is_certain,
    };
    let (mut started, mut worked) = (Vec::new(), HashMap::new());
    let mut seen = 0;
    while let Some(row) = rows.next()? {
        let (id, message): (i64, HistoryMessage) = (row.get(0)?, json(row, 2)?);
        turn.last = Seq(count(row, 1)?);
        if seen == 0 {
            turn.first = turn.last;
        }
        seen += 1;
        if id >= at && ends(&message) {
            turn.is_over = true;
            break;
        }
        note(message, &mut started, &mut worked);
    }
    turn.is_cut |= seen == 2 * MOST;
    for (call, tool) in started {
        if worked.get(&call) != Some(&true) {
            continue;
        }
        let parts = detail::load(db, shelf, &call)?;
        let input = parts.and_then(|parts| parts.input).unwrap_or_default();
        turn.calls.push(Call { tool, input });
    }
    Ok(turn)
}

/// Notes a call that began or came back.
fn note(
    message: HistoryMessage,
    started: &mut Vec<(ToolUseId, String)>,
    worked: &mut HashMap<ToolUseId, bool>,
) {
    if let HistoryMessage::ToolStart(start) = message {
        let call = start.tool_use_id.map(|call| (call, start.tool_name));
        started.extend(call);
    } else if let HistoryMessage::ToolComplete(done) = message
        && let Some(call) = done.tool_use_id
    {
        worked.insert(call, done.success);
    }
}
