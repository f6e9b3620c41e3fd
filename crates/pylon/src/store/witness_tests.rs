//! Damage of every kind, each found for what it is.

use super::super::sample::Log;
use super::*;

/// A database with five entries of a conversation, and the log that they come from.
fn witness() -> (Witness, ConversationId, Vec<HostEvent>) {
    let mut db = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut db).unwrap();
    let id: ConversationId = "conv".parse().unwrap();
    rebuild::place(&db, &rebuild::Placement::nowhere(&id).unwrap()).unwrap();
    let mut log = Log::new(&id);
    let events: Vec<_> = (0..5)
        .map(|number| log.says(&format!("text {number}")))
        .collect();
    apply::all(&db, &events).unwrap();
    (Witness { db }, id, events)
}

fn seqs(numbers: &[u64]) -> Vec<Seq> {
    numbers.iter().copied().map(Seq).collect()
}

/// What is found when the database is damaged like this.
fn after(damage: &str) -> Differences {
    let (witness, id, events) = witness();
    assert_eq!(witness.db.execute(damage, []).unwrap(), 1, "{damage}");
    witness.compare(&id, &events).unwrap()
}

#[test]
fn rows_that_say_what_the_log_says_agree() {
    let (witness, id, mut events) = witness();
    let agree = Differences {
        agree: 5,
        ..Differences::default()
    };
    assert_eq!(witness.compare(&id, &events).unwrap(), agree);
    // What comes after the cursor is not for it yet.
    let mut later = events[4].clone();
    later.seq = Some(Seq(6));
    events.push(later);
    assert_eq!(witness.compare(&id, &events).unwrap(), agree);
}

#[test]
fn a_row_that_is_gone_is_lost_and_leaves_a_gap() {
    let found = after("DELETE FROM history WHERE seq = 3");
    assert_eq!((found.lost, found.gaps, found.agree), (seqs(&[3]), 1, 4));
}

#[test]
fn a_row_that_is_there_twice_is_doubled() {
    let found = after(
        "INSERT INTO history SELECT id + 3, shelf, epoch + 1, seq, at, NULL, body FROM history WHERE seq = 3",
    );
    assert_eq!((found.doubled, found.agree), (seqs(&[3]), 5));
}

#[test]
fn a_row_that_no_event_made_is_doubled() {
    let found = after(
        "INSERT INTO history SELECT id + 1, shelf, epoch, seq + 1, at, NULL, body FROM history WHERE seq = 5",
    );
    assert_eq!((found.doubled, found.gaps), (seqs(&[6]), 0));
}

#[test]
fn a_row_that_says_something_else_is_altered() {
    let text = "UPDATE history SET body = replace(body, 'text 1', 'text 9') WHERE seq = 2";
    let time = "UPDATE history SET at = at + 1 WHERE seq = 2";
    for damage in [text, time] {
        assert_eq!(after(damage).altered, seqs(&[2]), "{damage}");
    }
}
