//! Failing writes, panicking jobs, and what is cleared away behind everybody's back.

use estelle_proto::{ConversationId, Name, PathText, Timestamp};
use rusqlite::Connection;

use super::super::sample::{Log, NOON};
use super::super::{NewWorkspace, Outcome};
use super::*;

async fn with_conversation(folder: &Path) -> (Store, ConversationId) {
    let store = Store::open(folder).unwrap();
    let new = NewWorkspace {
        name: Name::parse("w").unwrap(),
        working_dir: PathText::parse("/srv").unwrap(),
        conversation_name: Name::parse("c").unwrap(),
        at: Timestamp(NOON),
    };
    let (_, conversation) = store.create_workspace(new).await.unwrap();
    (store, conversation.conversation_id)
}

async fn set_most_pages(store: &Store, pages: i64) {
    let limited: Result<(), StoreError> = store
        .at_desk(move |desk| {
            Ok(desk
                .connection()
                .pragma_update(None, "max_page_count", pages)?)
        })
        .await;
    limited.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_reported_and_recovered_from() {
    let folder = tempfile::tempdir().unwrap();
    let (store, id) = with_conversation(folder.path()).await;
    let mut log = Log::new(&id);
    store.apply([log.says("before")]).await.unwrap();
    // No page more than there are: to SQLite this is a full disk.
    set_most_pages(&store, 1).await;
    let large = "x".repeat(2_000_000);
    let events = [log.says("small"), log.says(&large)];
    let error = store.apply(events.clone()).await.unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    let cursor = store.cursor(id.clone()).await.unwrap().unwrap();
    assert_eq!(cursor.seq.0, 1, "nothing of the batch is there");

    set_most_pages(&store, i64::from(i32::MAX)).await;
    let outcomes = store.apply(events).await.unwrap();
    assert_eq!(outcomes, [Outcome::Applied, Outcome::Applied]);
}

#[tokio::test]
async fn a_job_that_panics_harms_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let (store, id) = with_conversation(folder.path()).await;
    let lost: Result<(), StoreError> = store.write(Keep::Own, |_| panic!("a bug")).await;
    assert!(matches!(lost.unwrap_err(), StoreError::Closed));
    for _ in 0..=READERS {
        let lost: Result<(), StoreError> = store.read(|_| panic!("a bug")).await;
        lost.unwrap_err();
    }
    store.apply([Log::new(&id).says("x")]).await.unwrap();
    assert!(store.cursor(id).await.unwrap().is_some());
}

#[tokio::test]
async fn what_was_discarded_is_cleared_away_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (store, id) = with_conversation(folder.path()).await;
    let mut log = Log::new(&id);
    let mut events = vec![log.call("c", "{}")];
    events.extend((0..1200).map(|_| log.says("x")));
    store.apply(events).await.unwrap();
    store.clear_history(id.clone()).await.unwrap();
    store.close().await;

    let counts = |db: &Connection| {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            db.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        ["history", "docs", "tool_calls", "shelves"].map(count)
    };
    let store = Store::open(folder.path()).unwrap();
    // The writer sweeps before it waits, and each look at it lets it take a step.
    let mut left = [i64::MAX; 4];
    let mut looks = 0;
    while left != [0, 0, 0, 1] {
        looks += 1;
        assert!(looks < 100_000, "{left:?} is left");
        let now: Result<_, StoreError> = store
            .at_desk(move |desk| Ok(counts(desk.connection())))
            .await;
        let now = now.unwrap();
        assert!(now.iter().zip(&left).all(|(now, before)| now <= before));
        left = now;
        tokio::task::yield_now().await;
    }
    let found: Result<i64, StoreError> = store
        .read(|db| {
            let sql = "SELECT count(*) FROM search WHERE search MATCH 'x'";
            Ok(db.query_row(sql, [], |row| row.get(0))?)
        })
        .await;
    assert_eq!(found.unwrap(), 0);
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (store, id) = with_conversation(folder.path()).await;
    let other = store.clone();
    store.close().await;
    let error = other.apply([Log::new(&id).says("x")]).await.unwrap_err();
    assert!(matches!(error, StoreError::Closed), "{error}");
    let error = other.cursors().await.unwrap_err();
    assert!(matches!(error, StoreError::Closed), "{error}");
    let wal = folder.path().join(format!("{DATABASE}-wal"));
    assert!(!wal.exists(), "everything is in the database itself");
}
