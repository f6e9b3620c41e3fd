//! What was taken back: the stretches of a history that the agent does not know any more.
//!
//! A rewind deletes nothing. Its entries stay where they are and can be read, searched and exported; here is which of
//! them they are.

use estelle_proto::Seq;
use estelle_proto::history::RewoundStretch;
use rusqlite::{Connection, params};

use super::folded::Shelf;
use super::row::{count, int};

/// Everything from one event up to another was taken back.
pub(super) fn take_back(db: &Connection, shelf: Shelf, from: Seq, to: Seq) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM rewinds WHERE shelf = ?1 AND from_seq >= ?2")?
        .execute(params![shelf.0, int(from.0)])?;
    db.prepare_cached("INSERT INTO rewinds (shelf, from_seq, to_seq) VALUES (?1, ?2, ?3)")?
        .execute(params![shelf.0, int(from.0), int(to.0)])
        .map(|_| ())
}

/// The stretches that reach into these events, in order.
pub(super) fn between(
    db: &Connection,
    shelf: Shelf,
    first: Seq,
    last: Seq,
) -> rusqlite::Result<Vec<RewoundStretch>> {
    let mut find = db.prepare_cached(
        "SELECT from_seq, to_seq FROM rewinds WHERE shelf = ?1 AND from_seq <= ?3 AND to_seq > ?2 \
         ORDER BY from_seq",
    )?;
    let rows = find.query_map(params![shelf.0, int(first.0), int(last.0)], |row| {
        Ok(RewoundStretch::new(
            Seq(count(row, 0)?),
            Seq(count(row, 1)?),
        ))
    })?;
    rows.collect()
}

/// All of them, in order.
pub(super) fn all(db: &Connection, shelf: Shelf) -> rusqlite::Result<Vec<RewoundStretch>> {
    between(db, shelf, Seq(0), Seq(u64::MAX))
}

/// Whether an event is in one of these stretches.
pub(super) fn has(stretches: &[RewoundStretch], seq: Seq) -> bool {
    let holds = |one: &RewoundStretch| (one.from_seq..one.to_seq).contains(&seq);
    stretches.iter().any(holds)
}

/// Nobody looks at this shelf any more.
pub(super) fn forget(db: &Connection, shelf: Shelf) -> rusqlite::Result<()> {
    let mut delete = db.prepare_cached("DELETE FROM rewinds WHERE shelf = ?1")?;
    delete.execute([shelf.0]).map(|_| ())
}
