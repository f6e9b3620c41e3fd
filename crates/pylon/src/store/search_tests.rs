//! How the index is asked.

use super::super::migrate;
use super::*;

#[test]
fn the_index_leads_and_nothing_else_is_scanned() {
    let mut db = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut db).unwrap();
    let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {FIND}")).unwrap();
    let plan: Vec<String> = explain
        .query_map(params!["words : x", i64::MAX, 1], |row| row.get(3))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert!(plan[0].starts_with("SCAN search VIRTUAL TABLE"), "{plan:?}");
    // Whether a hit was taken back is looked up for each; the steps of that stand behind this line.
    let steps = plan[1..].iter();
    let mut steps = steps.filter(|step| !step.starts_with("CORRELATED SCALAR SUBQUERY"));
    assert!(steps.all(|step| step.starts_with("SEARCH ")), "{plan:?}");
}
