//! What was used is counted once, whatever is replayed, cleared or deleted.

use estelle_proto::usage::{ClaudeUsage, UsageGroup, UsageRow};
use estelle_pylon::store::{Store, UsageQuery};

use super::sample::Log;
use super::{Bench, make_workspace};

async fn totals(store: &Store) -> ClaudeUsage {
    store.usage_totals().await.unwrap()
}

async fn rows(store: &Store, group_by: UsageGroup) -> Vec<UsageRow> {
    let query = UsageQuery {
        group_by,
        from: None,
        until: None,
        cursor: None,
    };
    store.usage_rows(query).await.unwrap().rows
}

#[tokio::test]
async fn results_add_up_by_day_conversation_and_model() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (_, other) = make_workspace(store, "other").await;
    let (mut log, mut second) = (
        Log::new(&bench.conversation),
        Log::new(&other.conversation_id),
    );
    assert_eq!(totals(store).await.session_count, 0);
    let events = vec![
        log.init("s1", "opus"),
        log.result(0.5, 10),
        log.result(0.25, 1),
        log.init("s2", "haiku"),
        log.result(0.125, 2),
        second.init("s1", "opus"),
        second.result(1.0, 100),
    ];
    store.apply(events.clone()).await.unwrap();
    store.apply(events).await.unwrap();

    let bench = bench.reopened().await;
    let store = &bench.store;
    let all = totals(store).await;
    assert!((all.total_cost_usd - 1.875).abs() < 1e-9);
    assert_eq!(
        (all.total_input_tokens, all.total_output_tokens),
        (113, 226)
    );
    assert_eq!(
        (all.total_cache_read_tokens, all.total_cache_creation_tokens),
        (339, 452)
    );
    assert_eq!(all.session_count, 2, "distinct sessions");
    assert_eq!(all.last_updated.as_str(), "2026-11-15T12:00:00.005Z");

    let models = rows(store, UsageGroup::Model).await;
    let models: Vec<_> = models
        .iter()
        .map(|row| (row.key.as_str(), row.input_tokens))
        .collect();
    assert_eq!(models, [("opus", 111), ("haiku", 2)], "the dearest first");
    let conversations = rows(store, UsageGroup::Conversation).await;
    let keys: Vec<_> = conversations.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(
        keys,
        [other.conversation_id.as_str(), bench.conversation.as_str()]
    );
    let days = rows(store, UsageGroup::Day).await;
    assert_eq!(days.len(), 1);
    assert!(days[0].key.starts_with("2026-11-1"), "{}", days[0].key);
}

#[tokio::test]
async fn a_turn_of_two_models_is_booked_on_each_of_them() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let mut log = Log::new(&bench.conversation);
    let events = vec![
        log.init("s1", "opus"),
        log.shared_result(&[("haiku", 0.25, 10), ("opus", 0.5, 100)]),
        log.shared_result(&[("haiku", 0.125, 1)]),
        log.result(1.0, 7),
    ];
    store.apply(events).await.unwrap();
    let models = rows(store, UsageGroup::Model).await;
    let models: Vec<_> = models
        .iter()
        .map(|row| {
            (
                row.key.as_str(),
                row.cost_usd,
                row.input_tokens,
                row.cache_creation_tokens,
            )
        })
        .collect();
    assert_eq!(models, [("opus", 1.5, 107, 428), ("haiku", 0.375, 11, 44)]);
    let all = totals(store).await;
    assert!((all.total_cost_usd - 1.875).abs() < 1e-9);
    assert_eq!(all.total_input_tokens, 118);
}

#[tokio::test]
async fn a_replay_counts_nothing_twice() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    bench
        .store
        .apply([log.result(1.0, 10), log.result(1.0, 10)])
        .await
        .unwrap();
    // The log was rebuilt, and one result was lost with it.
    bench
        .store
        .apply([Log::at(id, 2, 0).result(1.0, 10)])
        .await
        .unwrap();
    assert_eq!(totals(&bench.store).await.total_input_tokens, 10);
    bench.store.begin_afresh(id.clone()).await.unwrap();
    bench
        .store
        .apply([Log::at(id, 2, 0).result(1.0, 10)])
        .await
        .unwrap();
    assert_eq!(totals(&bench.store).await.total_input_tokens, 10);
}

#[tokio::test]
async fn what_was_used_stays_counted_when_its_history_is_gone() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    bench
        .store
        .apply([Log::new(id).result(1.0, 10)])
        .await
        .unwrap();
    bench.store.clear_history(id.clone()).await.unwrap();
    bench
        .store
        .apply([Log::at(id, 2, 0).result(1.0, 5)])
        .await
        .unwrap();
    bench.store.clear_history(id.clone()).await.unwrap();
    bench
        .store
        .apply([Log::at(id, 3, 0).result(1.0, 1)])
        .await
        .unwrap();
    assert_eq!(totals(&bench.store).await.total_input_tokens, 16);
    bench
        .store
        .delete_workspace(bench.workspace.clone())
        .await
        .unwrap();
    let all = totals(&bench.store).await;
    assert_eq!(all.total_input_tokens, 16);
    assert!((all.total_cost_usd - 3.0).abs() < 1e-9);
}

#[tokio::test]
async fn impossible_figures_do_not_break_the_sums() {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    let mut wild = log.result(f64::MAX, 1);
    if let estelle_proto::ClaudeEvent::Result(result) = &mut wild.event {
        result.usage.input_tokens = u64::MAX;
    }
    let mut late = log.result(-5.0, 1);
    late.timestamp = Some(estelle_proto::Timestamp(i64::MAX));
    bench.store.apply([wild, late]).await.unwrap();
    let all = totals(&bench.store).await;
    assert!(all.total_cost_usd.is_finite() && all.total_input_tokens > 0);
}
