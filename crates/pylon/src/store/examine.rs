//! Looks for damage: what SQLite finds, and whether the store's own rules hold.
//!
//! For `estelle doctor` and `estelle verify`. Reads the whole database, on a reader, and changes nothing.

use rusqlite::Connection;

use super::folded::PLACES;
use super::{Store, StoreError};

/// Findings of one kind that are named; more say nothing new.
const NAMED: usize = 10;

impl Store {
    /// Everything that is wrong with the database, in words; nothing if it is sound.
    pub async fn examine(&self) -> Result<Vec<String>, StoreError> {
        self.read(|db| Ok(findings(db)?)).await
    }
}

pub(super) fn findings(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found = sqlite_findings(db)?;
    for (rule, sql) in RULES {
        let sql = sql.replace("{PLACES}", &PLACES.to_string());
        let mut breaking = db.prepare(&sql)?;
        let rows = breaking.query_map([], |row| row.get::<_, String>(0))?;
        for row in rows.take(NAMED) {
            found.push(format!("{rule}: {}", row?));
        }
    }
    Ok(found)
}

fn sqlite_findings(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = db.prepare(&format!("PRAGMA integrity_check({NAMED})"))?;
    let rows = check.query_map([], |row| row.get::<_, String>(0))?;
    let all: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(all.into_iter().filter(|finding| finding != "ok").collect())
}

/// A rule, and a query for what breaks it.
const RULES: [(&str, &str); 4] = [
    (
        "a conversation whose entries are not as many as it counts",
        "SELECT c.id FROM conversations c WHERE c.entries <> \
         (SELECT count(*) FROM history h WHERE h.id > c.shelf * {PLACES} AND h.id < (c.shelf + 1) * {PLACES})",
    ),
    (
        "a conversation whose newest entry is not where it ends",
        "SELECT c.id FROM conversations c WHERE c.entries > 0 AND c.shelf * {PLACES} + c.entries <> \
         (SELECT max(h.id) FROM history h WHERE h.id > c.shelf * {PLACES} AND h.id < (c.shelf + 1) * {PLACES})",
    ),
    (
        "a conversation with entries after its cursor or of another epoch",
        "SELECT c.id FROM conversations c WHERE EXISTS (SELECT 1 FROM history h \
         WHERE h.shelf = c.shelf AND (h.epoch IS NOT c.epoch OR h.seq > c.seq))",
    ),
    (
        "an entry that the index does not lead to",
        "SELECT c.id FROM history h JOIN conversations c ON c.shelf = h.shelf WHERE h.doc IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM docs d WHERE d.doc = h.doc AND d.entry = h.id)",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::migrate;
    use super::super::sample::Log;
    use super::super::{apply, rebuild};
    use super::*;

    #[test]
    fn broken_rules_are_found() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut db).unwrap();
        let placement = rebuild::Placement {
            conversation_id: "conv".parse().unwrap(),
            name: "c".parse().unwrap(),
            workspace_id: "ws".parse().unwrap(),
            workspace_name: "w".parse().unwrap(),
            working_dir: "/srv".parse().unwrap(),
            at: estelle_proto::Timestamp(0),
        };
        rebuild::place(&db, &placement).unwrap();
        let mut log = Log::new(&placement.conversation_id);
        let events: Vec<_> = (0..5).map(|_| log.says("x")).collect();
        apply::all(&db, &events).unwrap();
        assert_eq!(findings(&db).unwrap(), [""; 0]);
        for damage in [
            "DELETE FROM history WHERE seq = 3",
            "UPDATE history SET id = id + 10 WHERE seq = 5",
            "UPDATE conversations SET seq = 4",
            "UPDATE history SET epoch = 2 WHERE seq = 2",
            "DELETE FROM docs WHERE doc = 1",
        ] {
            db.execute_batch("BEGIN").unwrap();
            assert_eq!(db.execute(damage, []).unwrap(), 1);
            assert!(!findings(&db).unwrap().is_empty(), "{damage}");
            db.execute_batch("ROLLBACK").unwrap();
        }
    }
}
