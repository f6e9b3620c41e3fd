//! A conversation as folded from the host's events: its cursor, and what the events up to it amount to.
//!
//! Loaded once per batch, changed in memory, written back in the same transaction as the rows it stands for.

use estelle_proto::{ChainHash, ClaudeSessionId, ConversationId, ConversationStatus};
use estelle_proto::{Epoch, Seq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::lifecycle::ProcessEnd;
use super::row::{count, count_option, int, moment, parsed, parsed_option, word};
use super::sweep;

/// Places on a shelf. An entry's id is its shelf and its place in one number, so that a page is a range of ids.
pub(super) const PLACES: i64 = 1 << 40;

/// Where the entries of one conversation in one epoch stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shelf(pub(super) i64);

impl Shelf {
    /// A new, empty one.
    pub(super) fn new(db: &Connection) -> rusqlite::Result<Self> {
        db.prepare_cached("INSERT INTO shelves DEFAULT VALUES")?
            .execute([])?;
        Ok(Self(db.last_insert_rowid()))
    }

    /// Below all of its entries, which are counted from 1.
    pub(super) fn first(self) -> i64 {
        self.0.saturating_mul(PLACES)
    }

    /// The id of its n-th entry.
    pub(super) fn entry(self, ordinal: u64) -> i64 {
        self.first().saturating_add(int(ordinal))
    }

    /// The place of an entry on its shelf.
    pub(super) fn ordinal(id: i64) -> u64 {
        u64::try_from(id % PLACES).unwrap_or_default()
    }
}

/// A conversation and what its events amount to.
#[derive(Debug, Clone)]
pub(super) struct Folded {
    pub(super) key: i64,
    pub(super) id: ConversationId,
    pub(super) workspace: i64,
    pub(super) shelf: Shelf,
    pub(super) epoch: Option<Epoch>,
    pub(super) seq: Seq,
    pub(super) chain_hash: Option<ChainHash>,
    /// The host will begin at its first event again.
    pub(super) awaits_start: bool,
    pub(super) entries: u64,
    pub(super) status: ConversationStatus,
    pub(super) updated_at: Timestamp,
    /// The session a later run resumes; people can drop it.
    pub(super) claude_session_id: Option<ClaudeSessionId>,
    /// The model of the newest `init`.
    pub(super) seen_model: Option<String>,
    /// The pylon's mark at the newest event that a person would want to see.
    pub(super) notable: i64,
    /// How its last process ended, until another one begins.
    pub(super) ended: Option<ProcessEnd>,
}

const COLUMNS: &str = "key, id, workspace, shelf, epoch, seq, chain_hash, entries, status, updated_at, \
                       claude_session_id, seen_model, notable, awaits_start, ended";

impl Folded {
    /// The conversation of this id, if there is one.
    pub(super) fn load(db: &Connection, id: &ConversationId) -> rusqlite::Result<Option<Self>> {
        let sql = format!("SELECT {COLUMNS} FROM conversations WHERE id = ?1");
        let mut find = db.prepare_cached(&sql)?;
        find.query_row([id.as_str()], Self::from_row).optional()
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let ended: Option<String> = row.get(14)?;
        Ok(Self {
            key: row.get(0)?,
            id: parsed(row, 1)?,
            workspace: row.get(2)?,
            shelf: Shelf(row.get(3)?),
            epoch: count_option(row, 4)?.map(Epoch),
            seq: Seq(count(row, 5)?),
            chain_hash: parsed_option(row, 6)?,
            entries: count(row, 7)?,
            status: word(row, 8)?,
            updated_at: moment(row, 9)?,
            claude_session_id: parsed_option(row, 10)?,
            seen_model: row.get(11)?,
            notable: row.get(12)?,
            awaits_start: row.get(13)?,
            ended: ended.as_deref().and_then(ProcessEnd::parse),
        })
    }

    /// Writes back everything that events change.
    pub(super) fn save(&self, db: &Connection) -> rusqlite::Result<()> {
        let mut update = db.prepare_cached(
            "UPDATE conversations SET shelf = ?2, epoch = ?3, seq = ?4, chain_hash = ?5, entries = ?6, \
             status = ?7, updated_at = ?8, claude_session_id = ?9, seen_model = ?10, \
             notable = ?11, awaits_start = ?12, ended = ?13 WHERE key = ?1",
        )?;
        let changed = update.execute(params![
            self.key,
            self.shelf.0,
            self.epoch.map(|epoch| int(epoch.0)),
            int(self.seq.0),
            self.chain_hash.as_ref().map(ChainHash::as_str),
            int(self.entries),
            self.status.as_str(),
            self.updated_at.0,
            self.claude_session_id.as_ref().map(ClaudeSessionId::as_str),
            self.seen_model,
            self.notable,
            self.awaits_start,
            self.ended.map(ProcessEnd::as_str),
        ])?;
        debug_assert_eq!(
            changed, 1,
            "the conversation was loaded in this transaction"
        );
        Ok(())
    }

    /// Leaves all entries behind for the sweeper; the cursor stays.
    pub(super) fn leave_shelf(&mut self, db: &Connection) -> rusqlite::Result<()> {
        sweep::discard(db, self.shelf)?;
        self.shelf = Shelf::new(db)?;
        self.entries = 0;
        Ok(())
    }
}
