//! Whatever a link does to the events on their way, the store has each of them once, or says what is missing.

use estelle_proto::ConversationStatus;
use proptest::prelude::*;
use rusqlite::Connection;

use super::super::sample::{Log, NOON};
use super::super::{migrate, rebuild};
use super::*;

fn database() -> (Connection, ConversationId) {
    let mut db = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut db).unwrap();
    let placement = rebuild::Placement {
        conversation_id: "conv".parse().unwrap(),
        name: "c".parse().unwrap(),
        workspace_id: "ws".parse().unwrap(),
        workspace_name: "w".parse().unwrap(),
        working_dir: "/srv".parse().unwrap(),
        at: Timestamp(NOON),
    };
    rebuild::place(&db, &placement).unwrap();
    (db, placement.conversation_id)
}

/// A log of one epoch; every third event makes no entry.
fn log(id: &ConversationId, epoch: u64, length: u64) -> Vec<HostEvent> {
    let mut log = Log::at(id, epoch, 0);
    let event = |number: u64| match number % 3 {
        0 => log.state(ConversationStatus::Working),
        1 => log.says("x"),
        _ => log.result(1.0, 1),
    };
    (1..=length).map(event).collect()
}

/// Everything that events lead to.
fn contents(db: &Connection) -> Vec<String> {
    let mut rows = db
        .prepare(
            "SELECT concat_ws('|', h.id % (1 << 40), h.epoch, h.seq, h.body) FROM history h \
             JOIN conversations c ON c.shelf = h.shelf \
             UNION ALL \
             SELECT concat_ws('|', epoch, seq, chain_hash, entries, status, updated_at) FROM conversations \
             UNION ALL \
             SELECT concat_ws('|', model, is_settled, cost_usd, input_tokens) FROM usage",
        )
        .unwrap();
    let rows = rows.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_delivery_comes_to_the_same(
        first in 0..30_u64,
        second in 1..30_u64,
        // Where the link begins again, how far it comes, and how much of it is lost.
        visits in prop::collection::vec((any::<bool>(), 0..30_usize, 0..12_usize, 0..12_usize), 0..8),
    ) {
        let (db, id) = database();
        let logs = [log(&id, 1, first), log(&id, 2, second)];
        for (is_second, start, length, lost) in visits {
            let log = &logs[usize::from(is_second)];
            let visit: Vec<_> = log.iter().skip(start).take(length).enumerate()
                .filter(|(index, _)| *index != lost)
                .map(|(_, event)| event.clone())
                .collect();
            all(&db, &visit).unwrap();
            // Whatever came: the entries are those of one log up to the cursor.
            let conversation = Folded::load(&db, &id).unwrap().unwrap();
            let epoch = conversation.epoch.map_or(0, |epoch| epoch.0);
            let (plain, same) = database();
            prop_assert_eq!(&same, &id);
            let length = usize::try_from(conversation.seq.0).unwrap();
            let outcomes = all(&plain, &log_of(&logs, epoch)[..length]).unwrap();
            prop_assert!(outcomes.iter().all(|one| *one == Outcome::Applied));
            prop_assert_eq!(contents(&db), contents(&plain));
        }
        // In the end the whole log comes, as after a new subscription.
        all(&db, &logs[1]).unwrap();
        let (plain, _) = database();
        all(&plain, &logs[1]).unwrap();
        prop_assert_eq!(contents(&db), contents(&plain));
    }
}

fn log_of(logs: &[Vec<HostEvent>; 2], epoch: u64) -> &[HostEvent] {
    match epoch {
        1 => &logs[0],
        2 => &logs[1],
        _ => &[],
    }
}
