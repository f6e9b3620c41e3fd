//! The database as a witness: what it has of a conversation, held against what the host's log tells.
//!
//! For `estelle verify`. What the rows must be is found by taking the log in anew, into a database in memory, with the code
//! that takes it in always. Reads one moment of the file, beside a pylon that may be at work, and changes nothing.

use std::collections::BTreeMap;
use std::path::Path;

use estelle_proto::ipc::HostEvent;
use estelle_proto::{ConversationId, HistoryMessage, Seq, Timestamp};
use estelle_state::link::Cursor;
use rusqlite::{Connection, params};

use super::conversations::{ConversationError, folded};
use super::folded::{Folded, PLACES};
use super::migrate::{self, MigrateError};
use super::row::{count, json, moment, parsed};
use super::{StoreError, apply, examine, open, rebuild};

/// Why a database cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// It is of a format that this build does not know.
    #[error(transparent)]
    Format(#[from] MigrateError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It has no such conversation.
    #[error("there is no conversation {0} in the database")]
    Unknown(ConversationId),
}

super::error::takes_sqlite_errors!(WitnessError);

/// A database that is asked.
#[derive(Debug)]
pub struct Witness {
    db: Connection,
}

/// How far a conversation is in the database.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Which.
    pub conversation_id: ConversationId,
    /// The last event that it takes into account; none if it waits for the log to be told anew.
    pub cursor: Option<Cursor>,
    /// How many entries its history has.
    pub entries: u64,
}

/// What differs between the rows of a conversation and its log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Rows that agree.
    pub agree: u64,
    /// Events whose entry is not there.
    pub lost: Vec<Seq>,
    /// Entries that no event made.
    pub doubled: Vec<Seq>,
    /// Entries that say something else than their event.
    pub altered: Vec<Seq>,
    /// Places of the history that are skipped.
    pub gaps: u64,
}

/// What one entry says.
#[derive(Debug, PartialEq)]
struct Row {
    place: u64,
    at: Timestamp,
    message: HistoryMessage,
    /// The whole of what it shows cut.
    parts: Vec<(Option<String>, Option<String>, Option<String>)>,
}

impl Witness {
    /// Asks the database in the folder of a pylon; none if there is none.
    pub fn open(folder: &Path) -> Result<Option<Self>, WitnessError> {
        let path = folder.join(open::DATABASE);
        if !path.exists() {
            return Ok(None);
        }
        let db = open::reader(&path)?;
        migrate::check(&db)?;
        // All that is asked is of one moment.
        db.execute_batch("BEGIN")?;
        Ok(Some(Self { db }))
    }

    /// Everything that is wrong with the database itself, in words.
    pub fn findings(&self) -> Result<Vec<String>, WitnessError> {
        Ok(examine::findings(&self.db)?)
    }

    /// All conversations it has.
    pub fn conversations(&self) -> Result<Vec<Kept>, WitnessError> {
        let mut list = self
            .db
            .prepare("SELECT id FROM conversations ORDER BY key")?;
        let ids = list.query_map([], |row| parsed(row, 0))?;
        let ids: Vec<ConversationId> = ids.collect::<rusqlite::Result<_>>()?;
        ids.iter().map(|id| self.kept(id)).collect()
    }

    fn kept(&self, id: &ConversationId) -> Result<Kept, WitnessError> {
        let found = self.folded(id)?;
        Ok(Kept {
            conversation_id: id.clone(),
            cursor: found.cursor(),
            entries: found.entries,
        })
    }

    fn folded(&self, id: &ConversationId) -> Result<Folded, WitnessError> {
        folded(&self.db, id).map_err(|error| match error {
            ConversationError::Store(error) => WitnessError::Store(error),
            ConversationError::UnknownConversation { .. }
            | ConversationError::UnknownWorkspace { .. } => WitnessError::Unknown(id.clone()),
        })
    }

    /// Holds the rows of a conversation against its events, the first of which is number 1. Events behind the cursor are not
    /// for it yet.
    pub fn compare(
        &self,
        id: &ConversationId,
        events: &[HostEvent],
    ) -> Result<Differences, WitnessError> {
        let conversation = self.folded(id)?;
        let taken: Vec<HostEvent> = events
            .iter()
            .filter(|event| event.seq.is_some_and(|seq| seq <= conversation.seq))
            .cloned()
            .collect();
        let mut anew = Connection::open_in_memory()?;
        migrate::migrate(&mut anew)?;
        let placement = rebuild::Placement::nowhere(id)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        rebuild::place(&anew, &placement)?;
        apply::all(&anew, &taken)?;
        let expected = rows(&anew, &folded_anew(&anew, id)?)?;
        let found = rows(&self.db, &conversation)?;
        Ok(differences(&expected, &found))
    }
}

fn folded_anew(db: &Connection, id: &ConversationId) -> Result<Folded, WitnessError> {
    Folded::load(db, id)?.ok_or_else(|| WitnessError::Unknown(id.clone()))
}

/// All entries of a conversation, by their event.
fn rows(db: &Connection, conversation: &Folded) -> rusqlite::Result<BTreeMap<(Seq, u64), Row>> {
    let shelf = conversation.shelf;
    let mut find =
        db.prepare("SELECT id, seq, at, body FROM history WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
    let mut parts = db.prepare(
        "SELECT iif(started = ?2, input, NULL), iif(completed = ?2, output, NULL), \
         iif(completed = ?2, images, NULL) FROM tool_calls \
         WHERE shelf = ?1 AND (started = ?2 OR completed = ?2) ORDER BY tool_use_id",
    )?;
    let end = shelf.first().saturating_add(PLACES);
    let mut found = BTreeMap::new();
    let mut list = find.query(params![shelf.first(), end])?;
    while let Some(row) = list.next()? {
        let place = super::folded::Shelf::ordinal(row.get(0)?);
        let seq = Seq(count(row, 1)?);
        let number = super::row::int(place);
        let whole = parts.query_map(params![shelf.0, number], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        let entry = Row {
            place,
            at: moment(row, 2)?,
            message: json(row, 3)?,
            parts: whole.collect::<rusqlite::Result<_>>()?,
        };
        found.insert((seq, place), entry);
    }
    Ok(found)
}

fn differences(
    expected: &BTreeMap<(Seq, u64), Row>,
    found: &BTreeMap<(Seq, u64), Row>,
) -> Differences {
    let mut differences = Differences::default();
    let of = |rows: &BTreeMap<(Seq, u64), Row>, seq: Seq| {
        let mut range = rows.range((seq, 0)..=(seq, u64::MAX));
        range.next().map(|(key, _)| *key)
    };
    for ((seq, _), wanted) in expected {
        match of(found, *seq).and_then(|key| found.get(&key)) {
            Some(row)
                if (row.at, &row.message, &row.parts)
                    == (wanted.at, &wanted.message, &wanted.parts) =>
            {
                differences.agree += 1;
            }
            Some(_) => differences.altered.push(*seq),
            None => differences.lost.push(*seq),
        }
    }
    let is_first = |(seq, place): &(Seq, u64)| of(found, *seq) == Some((*seq, *place));
    let doubled = found.keys();
    let doubled = doubled.filter(|key| of(expected, key.0).is_none() || !is_first(key));
    differences.doubled = doubled.map(|(seq, _)| *seq).collect();
    let mut places: Vec<u64> = found.values().map(|row| row.place).collect();
    places.sort_unstable();
    let newest = places.last().copied().unwrap_or_default();
    differences.gaps = newest.saturating_sub(places.len() as u64);
    differences
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
