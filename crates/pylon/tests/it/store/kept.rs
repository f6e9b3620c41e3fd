//! Histories that only the database has: they outlive a rebuild.

use std::slice;

use estelle_proto::ipc::HostEvent;
use estelle_proto::{ConversationId, QueryText};
use estelle_pylon::store::{DATABASE, KeptHistory, Outcome, Rebuild, SearchQuery, Store};
use tempfile::TempDir;

use super::Bench;
use super::apply::texts;
use super::sample::Log;

/// A store with one conversation of four events, closed.
async fn closed() -> (TempDir, ConversationId, Vec<HostEvent>) {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    let events = vec![
        log.init("s", "opus"),
        log.says("first needle"),
        log.call("t1", "{\"command\":\"ls\"}"),
        log.result(1.0, 10),
    ];
    bench.store.apply(events.clone()).await.unwrap();
    let Bench {
        store,
        folder,
        conversation,
        ..
    } = bench;
    store.close().await;
    (folder, conversation, events)
}

/// A rebuild in which the host tells these events, and whether it told them to the end.
fn rebuilt(folder: &TempDir, told: &[HostEvent], untold: &[ConversationId]) -> Vec<KeptHistory> {
    let mut rebuild = Rebuild::begin(folder.path()).unwrap();
    rebuild.apply(told).unwrap();
    let kept = rebuild.keep_histories(untold).unwrap();
    assert_eq!(rebuild.emptied().unwrap(), []);
    assert!(rebuild.lost().is_empty());
    rebuild.finish().unwrap();
    kept
}

async fn found(store: &Store, words: &str) -> Vec<ConversationId> {
    let query = SearchQuery::new(QueryText::parse(words).unwrap());
    let hits = store.search(query).await.unwrap().hits;
    hits.into_iter().map(|hit| hit.conversation_id).collect()
}

async fn tokens(store: &Store) -> u64 {
    store.usage_totals().await.unwrap().total_input_tokens
}

const ALL: [&str; 3] = ["first needle", "tool_start", "result"];

#[tokio::test]
async fn a_history_whose_log_is_gone_is_in_the_rebuilt_database() {
    let (folder, id, events) = closed().await;
    let kept = rebuilt(&folder, &[], &[]);
    assert_eq!(kept[0].conversation_id, id);
    assert_eq!(kept[0].aside, None);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(texts(&store, &id).await, ALL);
    assert_eq!(found(&store, "needle").await, slice::from_ref(&id));
    assert_eq!(tokens(&store).await, 10);
    let parts = store.tool_detail(id.clone(), "t1".parse().unwrap()).await;
    assert!(parts.unwrap().input.is_some());
    // Should the log turn up again, it goes on where the history ends.
    let seq = u64::try_from(events.len()).unwrap();
    let next = Log::at(&id, 1, seq).says("next");
    assert_eq!(store.apply([next]).await.unwrap(), [Outcome::Applied]);
}

#[tokio::test]
async fn a_log_that_was_told_halfway_takes_nothing_from_the_history() {
    let (folder, id, events) = closed().await;
    let kept = rebuilt(&folder, &events[..2], std::slice::from_ref(&id));
    assert_eq!((kept.len(), &kept[0].aside), (1, &None));
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(texts(&store, &id).await, ALL);
    assert_eq!(tokens(&store).await, 10);
    assert_eq!(found(&store, "needle").await, slice::from_ref(&id));
    let cursor = store.cursor(id).await.unwrap().unwrap();
    assert_eq!(cursor.seq, events[3].seq.unwrap());
    assert_eq!(cursor.chain_hash, events[3].chain_hash);
}

#[tokio::test]
async fn a_log_that_is_shorter_than_the_history_leaves_it_beside() {
    let (folder, id, events) = closed().await;
    let kept = rebuilt(&folder, &events[..2], &[]);
    let aside = kept[0].aside.clone().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(texts(&store, &id).await, &ALL[..1]);
    assert_eq!(texts(&store, &aside).await, ALL);
    assert_eq!(tokens(&store).await, 10);
    let known = store.conversation(aside).await.unwrap();
    assert!(known.conversation.name.as_str().contains("log is gone"));
}

#[tokio::test]
async fn what_the_host_tells_whole_is_not_kept_twice() {
    let (folder, id, mut events) = closed().await;
    events.push(Log::at(&id, 1, 4).says("more"));
    assert_eq!(rebuilt(&folder, &events, &[]), []);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(texts(&store, &id).await.len(), 4);
    assert_eq!(tokens(&store).await, 10);
}

#[tokio::test]
async fn each_rebuild_leaves_the_database_of_before() {
    let (folder, _, events) = closed().await;
    for expected in ["before-rebuild", "before-rebuild-2"] {
        let mut rebuild = Rebuild::begin(folder.path()).unwrap();
        rebuild.apply(&events).unwrap();
        let before = rebuild.finish().unwrap().unwrap();
        let name = format!("{DATABASE}.{expected}");
        assert_eq!(before, folder.path().join(name));
        assert!(before.is_file());
    }
    assert!(folder.path().join("pylon.db.before-rebuild").is_file());
}

#[tokio::test]
async fn a_log_that_is_told_again_replaces_the_history() {
    let (folder, id, _) = closed().await;
    let store = Store::open(folder.path()).unwrap();
    store.begin_afresh(id.clone()).await.unwrap();
    store
        .apply([Log::at(&id, 2, 0).says("again")])
        .await
        .unwrap();
    assert_eq!(texts(&store, &id).await, ["again"]);
    assert!(found(&store, "needle").await.is_empty());
    assert_eq!(tokens(&store).await, 0);
}
