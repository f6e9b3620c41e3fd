//! Histories that only the database has, because the log that told them is gone, is shorter now, or cannot be told.
//!
//! A rebuild takes such histories over from the old database. Where the host may still go on with one, it stays where it
//! was, with its cursor. One that the host does not tell again is set aside: it becomes a conversation of its own, which
//! people can read, search, export and delete.

use estelle_proto::{ChainHash, ConversationId, ConversationStatus, Epoch, Name, Seq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::{Folded, Shelf};
use super::lifecycle::ProcessEnd;
use super::row::{count, count_option, int, message, moment, parsed, parsed_option, word};
use super::{entry, usage, words, workspaces};

/// What is added to the name of a conversation whose history is set aside.
const SUFFIX: &str = " (its log is gone)";

/// A history that was taken over from the old database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptHistory {
    /// Whose it is.
    pub conversation_id: ConversationId,
    /// What that is called.
    pub name: String,
    /// The conversation that has it now, if it was set aside.
    pub aside: Option<ConversationId>,
}

/// The conversation that has a history which was set aside. Nothing goes on in it by itself.
fn insert_aside(db: &Connection, of: &Folded, shelf: Shelf) -> rusqlite::Result<ConversationId> {
    let id: ConversationId = workspaces::fresh_id()?;
    let name: String = db
        .prepare_cached("SELECT name FROM conversations WHERE key = ?1")?
        .query_row([of.key], |row| row.get(0))?;
    // A name that has no room for more is good enough.
    let name =
        Name::parse(&format!("{name}{SUFFIX}")).map_or(name, |name| name.as_str().to_owned());
    db.prepare_cached(
        "INSERT INTO conversations (id, workspace, name, skill_type, created_at, shelf, epoch, seq, entries, \
         updated_at, seen_model) \
         SELECT ?2, workspace, ?3, 'general', created_at, ?4, ?5, ?6, ?7, ?8, ?9 FROM conversations WHERE key = ?1",
    )?
    .execute(params![
        of.key,
        id.as_str(),
        name,
        shelf.0,
        of.epoch.map(|epoch| int(epoch.0)),
        int(of.seq.0),
        int(of.entries),
        of.updated_at.0,
        of.seen_model,
    ])?;
    Ok(id)
}

/// A conversation of the old database, as far as its events go.
struct Old {
    id: ConversationId,
    name: String,
    key: i64,
    shelf: Shelf,
    epoch: Option<Epoch>,
    seq: Seq,
    chain_hash: Option<ChainHash>,
    awaits_start: bool,
    entries: u64,
    status: ConversationStatus,
    updated_at: Timestamp,
    seen_model: Option<String>,
    ended: Option<ProcessEnd>,
}

impl Old {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let ended: Option<String> = row.get(12)?;
        Ok(Self {
            id: parsed(row, 0)?,
            name: row.get(1)?,
            key: row.get(2)?,
            shelf: Shelf(row.get(3)?),
            epoch: count_option(row, 4)?.map(Epoch),
            seq: Seq(count(row, 5)?),
            chain_hash: parsed_option(row, 6)?,
            awaits_start: row.get(7)?,
            entries: count(row, 8)?,
            status: word(row, 9)?,
            updated_at: moment(row, 10)?,
            seen_model: row.get(11)?,
            ended: ended.as_deref().and_then(ProcessEnd::parse),
        })
    }
}

/// The conversations with a history in the attached old database that the new one has, and that nobody removed.
pub(super) fn candidates(db: &Connection) -> rusqlite::Result<Vec<ConversationId>> {
    let mut find = db.prepare(
        "SELECT id FROM old.conversations WHERE entries > 0 AND id IN (SELECT id FROM conversations) \
         AND id NOT IN (SELECT id FROM removals) AND id NOT IN (SELECT id FROM forks) ORDER BY key",
    )?;
    let found = find.query_map([], |row| parsed(row, 0))?;
    found.collect()
}

/// Takes over what of a history is in the attached old database alone. The host told it whole, or did not.
pub(super) fn take_over(
    db: &Connection,
    id: &ConversationId,
    is_told: bool,
) -> rusqlite::Result<Option<KeptHistory>> {
    let sql = "SELECT id, name, key, shelf, epoch, seq, chain_hash, awaits_start, entries, status, updated_at, \
               seen_model, ended FROM old.conversations WHERE id = ?1";
    let old = db
        .prepare_cached(sql)?
        .query_row([id.as_str()], Old::from_row)?;
    let Some(mut new) = Folded::load(db, id)? else {
        return Ok(None);
    };
    let is_same_log = new.epoch == old.epoch && !old.awaits_start;
    let aside = match new.epoch {
        // The host knows nothing of it, or could not tell any of it.
        None => put_back(db, &mut new, &old)?,
        Some(_) if is_same_log && new.seq >= old.seq => return Ok(None),
        Some(_) if is_same_log && !is_told => put_back(db, &mut new, &old)?,
        // The log is shorter than it was. It is the truth, and the rest of the history is not in it.
        Some(_) if is_same_log => {
            usage_as_it_was(db, &old.id)?;
            Some(copy_aside(db, &new, &old)?)
        }
        Some(_) if is_told && tells_again(db, &new, old.updated_at)? => return Ok(None),
        Some(_) => {
            usage::settle_from(db, "old.usage", &old.id)?;
            Some(copy_aside(db, &new, &old)?)
        }
    };
    Ok(Some(KeptHistory {
        conversation_id: old.id,
        name: old.name,
        aside,
    }))
}

/// Whether a log begins at or before what it follows, and so has it too.
fn tells_again(db: &Connection, new: &Folded, last: Timestamp) -> rusqlite::Result<bool> {
    let first: Option<i64> = db
        .prepare_cached("SELECT at FROM history WHERE id = ?1")?
        .query_row([new.shelf.entry(1)], |row| row.get(0))
        .optional()?;
    Ok(first.is_some_and(|first| first <= last.0))
}

/// The conversation is again where it was, so that the host goes on from there.
fn put_back(
    db: &Connection,
    new: &mut Folded,
    old: &Old,
) -> rusqlite::Result<Option<ConversationId>> {
    if new.entries > 0 {
        new.leave_shelf(db)?;
    }
    copy_entries(db, new, old)?;
    usage_as_it_was(db, &old.id)?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO refusals SELECT ?2, resets_at, epoch, seq, failed_at FROM old.refusals \
         WHERE conversation = ?1",
    )?
    .execute([old.key, new.key])?;
    new.epoch = old.epoch;
    new.seq = old.seq;
    new.chain_hash.clone_from(&old.chain_hash);
    new.awaits_start = old.awaits_start;
    new.entries = old.entries;
    new.status = old.status.clone();
    new.updated_at = old.updated_at;
    new.seen_model.clone_from(&old.seen_model);
    new.ended = old.ended;
    new.save(db)?;
    Ok(None)
}

fn copy_aside(db: &Connection, new: &Folded, old: &Old) -> rusqlite::Result<ConversationId> {
    let mut aside = Folded {
        epoch: old.epoch,
        seq: old.seq,
        entries: old.entries,
        updated_at: old.updated_at,
        seen_model: old.seen_model.clone(),
        ..new.clone()
    };
    aside.shelf = Shelf::new(db)?;
    copy_entries(db, &aside, old)?;
    insert_aside(db, &aside, aside.shelf)
}

/// What was counted from the old log, in the place of what was counted from a part of it.
fn usage_as_it_was(db: &Connection, id: &ConversationId) -> rusqlite::Result<()> {
    usage::take_back(db, id)?;
    db.prepare_cached(
        "INSERT INTO usage SELECT * FROM old.usage WHERE conversation_id = ?1 AND is_settled = 0",
    )?
    .execute([id.as_str()])
    .map(|_| ())
}

/// All that stands on the old shelf, on the new one; searches find it again.
fn copy_entries(db: &Connection, to: &Folded, old: &Old) -> rusqlite::Result<()> {
    let shelves = params![to.shelf.0, old.shelf.0];
    for sql in [
        "INSERT INTO tool_calls (shelf, tool_use_id, started, completed, input, output, images) \
         SELECT ?1, tool_use_id, started, completed, input, output, images FROM old.tool_calls WHERE shelf = ?2",
        "INSERT INTO rewinds SELECT ?1, from_seq, to_seq FROM old.rewinds WHERE shelf = ?2",
        "INSERT INTO lifecycle SELECT ?1, seq, body FROM old.lifecycle WHERE shelf = ?2",
    ] {
        db.prepare_cached(sql)?.execute(shelves)?;
    }
    let mut find = db.prepare_cached(
        "SELECT body, id, epoch, seq, at FROM old.history WHERE id > ?1 AND id <= ?2 ORDER BY id",
    )?;
    let mut put = db.prepare_cached(
        "INSERT INTO history (id, shelf, epoch, seq, at, doc, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut rows = find.query(params![old.shelf.first(), old.shelf.entry(old.entries)])?;
    while let Some(row) = rows.next()? {
        let id = to.shelf.entry(Shelf::ordinal(row.get(1)?));
        let doc = words::index(db, to, id, &entry::text(&message(row, 0)?))?;
        let (epoch, seq, at): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        let body = row.get_ref(0)?.as_str()?;
        put.execute(params![id, to.shelf.0, epoch, seq, at, doc, body])?;
    }
    Ok(())
}
