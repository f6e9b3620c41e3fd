//! Takes away what stands on discarded shelves, a little at a time.
//!
//! Deleting a conversation of a million entries takes as long as deleting an empty one: its shelf is marked, and nobody
//! finds it any more. The writer comes back here whenever it has nothing else to do, also after a restart.

use rusqlite::{Connection, OptionalExtension, params};

use super::folded::{PLACES, Shelf};
use super::{lifecycle, rewinds};

/// Entries per step: short enough that a write which arrives meanwhile does not notice.
const STEP: i64 = 500;

/// Whether there is more to take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Call again.
    More,
    /// Until something is discarded.
    Nothing,
}

/// Marks a shelf for removal.
pub(super) fn discard(db: &Connection, shelf: Shelf) -> rusqlite::Result<()> {
    let mut mark = db.prepare_cached("UPDATE shelves SET is_discarded = 1 WHERE key = ?1")?;
    mark.execute([shelf.0]).map(|_| ())
}

/// Takes one step.
pub(super) fn some(db: &Connection) -> rusqlite::Result<Left> {
    let mut find =
        db.prepare_cached("SELECT key FROM shelves WHERE is_discarded = 1 ORDER BY key LIMIT 1")?;
    let Some(shelf) = find.query_row([], |row| row.get(0)).optional()?.map(Shelf) else {
        return Ok(Left::Nothing);
    };
    let took = entries(db, shelf)? + calls(db, shelf)?;
    if took == 0 {
        rewinds::forget(db, shelf)?;
        lifecycle::forget(db, shelf)?;
        db.prepare_cached("DELETE FROM shelves WHERE key = ?1")?
            .execute([shelf.0])?;
    }
    Ok(Left::More)
}

fn entries(db: &Connection, shelf: Shelf) -> rusqlite::Result<usize> {
    let mut find = db.prepare_cached(
        "SELECT id, doc FROM history WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
    )?;
    let (first, end) = (shelf.first(), shelf.first().saturating_add(PLACES));
    let found: Vec<(i64, Option<i64>)> = find
        .query_map(params![first, end, STEP], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut entry = db.prepare_cached("DELETE FROM history WHERE id = ?1")?;
    let mut doc = db.prepare_cached("DELETE FROM docs WHERE doc = ?1")?;
    let mut words = db.prepare_cached("DELETE FROM search WHERE rowid = ?1")?;
    for (id, number) in &found {
        if let Some(number) = number {
            words.execute([number])?;
            doc.execute([number])?;
        }
        entry.execute([id])?;
    }
    Ok(found.len())
}

fn calls(db: &Connection, shelf: Shelf) -> rusqlite::Result<usize> {
    let mut delete = db.prepare_cached(
        "DELETE FROM tool_calls WHERE key IN (SELECT key FROM tool_calls WHERE shelf = ?1 LIMIT ?2)",
    )?;
    delete.execute(params![shelf.0, STEP])
}
