//! Paging against a plain model of it, and its cost at any depth.

use estelle_proto::{ConversationStatus, PathText, Timestamp};
use proptest::prelude::*;
use rusqlite::StatementStatus;

use super::super::sample::{Log, NOON};
use super::super::{apply, migrate, rebuild::Placement};
use super::*;

fn conversation(db: &Connection) -> ConversationId {
    let placement = Placement {
        conversation_id: "conv".parse().unwrap(),
        name: "c".parse().unwrap(),
        workspace_id: "ws".parse().unwrap(),
        workspace_name: "w".parse().unwrap(),
        working_dir: PathText::parse("/srv").unwrap(),
        at: Timestamp(NOON),
    };
    super::super::rebuild::place(db, &placement).unwrap();
    placement.conversation_id
}

fn database() -> Connection {
    let mut db = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut db).unwrap();
    db
}

fn seqs(page: &HistoryPage) -> Vec<u64> {
    let seq = |message: &HistoryMessage| {
        let HistoryMessage::Text(text) = message else {
            panic!("{message:?}");
        };
        text.seq.unwrap().0
    };
    page.messages.iter().map(seq).collect()
}

fn ask(db: &Connection, id: &ConversationId, from: PageFrom, limit: u32) -> HistoryPage {
    let query = PageQuery {
        conversation_id: id.clone(),
        workspace_id: None,
        limit,
        from,
        epoch: Some(Epoch(1)),
    };
    page(db, &query).unwrap()
}

/// What a page must be, from the list of all entries.
fn model(all: &[u64], from: PageFrom, limit: u32) -> (Vec<u64>, u64, bool) {
    let limit = limit.min(MAX_HISTORY_PAGE) as usize;
    let back = |end: usize, offset: u64| {
        let start = end.saturating_sub(limit);
        (all[start..end].to_vec(), offset, start > 0)
    };
    match from {
        PageFrom::Newest { offset } => {
            let left_out = usize::try_from(offset).unwrap_or(usize::MAX);
            back(all.len().saturating_sub(left_out), offset)
        }
        PageFrom::Before(seq) => {
            let end = all.iter().filter(|one| **one < seq.0).count();
            back(end, (all.len() - end) as u64)
        }
        PageFrom::After(seq) => {
            let newer: Vec<u64> = all.iter().copied().filter(|one| *one > seq.0).collect();
            let shown = newer[..newer.len().min(limit)].to_vec();
            let left = (newer.len() - shown.len()) as u64;
            (shown, left, left > 0)
        }
    }
}

fn from() -> impl Strategy<Value = PageFrom> {
    let seq = prop_oneof![0..90_u64, Just(u64::MAX)];
    prop_oneof![
        seq.clone().prop_map(|offset| PageFrom::Newest { offset }),
        seq.clone().prop_map(|seq| PageFrom::Before(Seq(seq))),
        seq.prop_map(|seq| PageFrom::After(Seq(seq))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_page_is_what_it_must_be(
        makes_entry in prop::collection::vec(any::<bool>(), 1..80),
        asked in prop::collection::vec((from(), 0..60_u32), 1..20),
    ) {
        let db = database();
        let id = conversation(&db);
        let mut log = Log::new(&id);
        let mut all = Vec::new();
        let mut events = Vec::new();
        for makes_entry in makes_entry {
            if makes_entry {
                events.push(log.says("x"));
                all.push(log.seq);
            } else {
                events.push(log.state(ConversationStatus::Working));
            }
        }
        apply::all(&db, &events).unwrap();
        for (from, limit) in asked {
            let page = ask(&db, &id, from, limit);
            let found = (seqs(&page), page.offset, page.has_more);
            prop_assert_eq!(found, model(&all, from, limit), "{:?} {}", from, limit);
            prop_assert_eq!(page.total_count, all.len() as u64);
        }
    }

    #[test]
    fn walking_by_pages_meets_every_entry_once(entries in 0..300_usize, limit in 1..50_u32) {
        let db = database();
        let id = conversation(&db);
        let mut log = Log::new(&id);
        let events: Vec<_> = (0..entries).map(|_| log.says("x")).collect();
        // At least one event, so that there is an epoch.
        let first = log.state(ConversationStatus::Idle);
        apply::all(&db, &[events, vec![first]].concat()).unwrap();
        let mut walked = Vec::new();
        let mut before = Seq(u64::MAX);
        loop {
            let page = ask(&db, &id, PageFrom::Before(before), limit);
            let seqs = seqs(&page);
            walked.splice(0..0, seqs.iter().copied());
            if !page.has_more {
                break;
            }
            before = Seq(seqs[0]);
        }
        let expected: Vec<u64> = (1..=entries as u64).collect();
        prop_assert_eq!(walked, expected);
    }
}

/// Fills a shelf with entries, without the detour over events.
fn fill(db: &Connection, id: &ConversationId, entries: u64) -> Folded {
    let mut log = Log::new(id);
    apply::all(db, &[log.says("x")]).unwrap();
    db.execute_batch("BEGIN").unwrap();
    db.execute(
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) \
         INSERT INTO history (id, shelf, epoch, seq, at, body) \
         SELECT h.id - 1 + i, h.shelf, 1, i, h.at, h.body FROM n, history h",
        [int(entries)],
    )
    .unwrap();
    db.execute(
        "UPDATE conversations SET entries = ?1, seq = ?1",
        [int(entries)],
    )
    .unwrap();
    db.execute_batch("COMMIT").unwrap();
    Folded::load(db, id).unwrap().unwrap()
}

/// The steps that SQLite's machine takes for a page in the middle, by offset and by cursor, and the rows it scans.
fn cost(entries: u64) -> [i32; 3] {
    let db = database();
    let id = conversation(&db);
    let conversation = fill(&db, &id, entries);
    let middle = entries / 2;
    let mut back = db.prepare(BACK).unwrap();
    let shelf = conversation.shelf;
    let found: Vec<String> = back
        .query_map(params![shelf.first(), shelf.entry(middle), 50], |row| {
            row.get(0)
        })
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert_eq!(found.len(), 50);
    let mut place = db.prepare(LAST_BEFORE).unwrap();
    let id: i64 = place
        .query_row(params![shelf.0, 1, int(middle)], |row| row.get(0))
        .unwrap();
    assert_eq!(Shelf::ordinal(id), middle - 1);
    [
        back.get_status(StatementStatus::VmStep),
        place.get_status(StatementStatus::VmStep),
        back.get_status(StatementStatus::FullscanStep)
            + place.get_status(StatementStatus::FullscanStep),
    ]
}

#[test]
fn a_page_costs_the_same_at_any_depth() {
    let (short, long) = (cost(200), cost(100_000));
    assert_eq!(short[2], 0, "a page scans nothing");
    assert_eq!(short, long);
}
