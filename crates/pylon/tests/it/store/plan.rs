//! The windows of the plan: the newest word counts, whatever comes late or again.

use std::collections::BTreeSet;
use std::sync::Arc;

use estelle_proto::events::TurnResult;
use estelle_proto::ipc::HostEvent;
use estelle_proto::plan::LimitsTold;
use estelle_proto::{Cause, ConversationId, LimitStatus, PLAN, PlanLimit, Timestamp, Usage};
use estelle_pylon::store::{Store, Telling};

use super::sample::{Log, NOON};
use super::{Bench, make_workspace};

fn limit(window: &str, status: LimitStatus, resets_at: i64) -> PlanLimit {
    PlanLimit {
        resets_at: Some(Timestamp(resets_at)),
        ..PlanLimit::new(window.to_owned(), status)
    }
}

async fn windows(store: &Store, now: i64) -> Vec<(String, LimitStatus)> {
    let limits = store.plan_limits(Timestamp(now)).await.unwrap();
    limits
        .into_iter()
        .map(|limit| (limit.window, limit.status))
        .collect()
}

#[tokio::test]
async fn a_window_is_shown_until_its_reset_and_the_newest_word_wins() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (_, other) = make_workspace(store, "other").await;
    let (mut log, mut late) = (
        Log::new(&bench.conversation),
        Log::new(&other.conversation_id),
    );
    let far = i64::MAX;
    // The second conversation said it before the first, and comes after it.
    let mut old = late.event(LimitsTold::new(vec![limit(
        "five_hour",
        LimitStatus::Allowed,
        far,
    )]));
    old.timestamp = Some(Timestamp(1));
    let used_up = vec![
        limit("five_hour", LimitStatus::Rejected, far),
        limit("seven_day", LimitStatus::Allowed, 2_000),
    ];
    let events = vec![log.event(LimitsTold::new(used_up)), old];
    store.apply(events.clone()).await.unwrap();
    store.apply(events).await.unwrap();
    let five_hour = ("five_hour".to_owned(), LimitStatus::Rejected);
    let seven_day = ("seven_day".to_owned(), LimitStatus::Allowed);
    assert_eq!(windows(store, 1_999).await, [five_hour.clone(), seven_day]);
    assert_eq!(
        windows(store, 2_000).await,
        std::slice::from_ref(&five_hour)
    );

    let bench = bench.reopened().await;
    let store = &bench.store;
    assert_eq!(windows(store, 2_000).await, [five_hour]);
    // That the plan lets requests through lifts the refusal.
    let lifted = PlanLimit::new(PLAN.to_owned(), LimitStatus::Allowed);
    let event = log.event(LimitsTold::new(vec![lifted]));
    store.apply(vec![event]).await.unwrap();
    let plan = (PLAN.to_owned(), LimitStatus::Allowed);
    assert_eq!(windows(store, 2_000).await, [plan]);
}

#[tokio::test]
async fn windows_that_are_made_up_fill_nothing() {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    for round in 0..4 {
        let many = (0..16).map(|n| limit(&format!("w{round}-{n}"), LimitStatus::Allowed, i64::MAX));
        let event = log.event(LimitsTold::new(many.collect()));
        bench.store.apply(vec![event]).await.unwrap();
    }
    assert_eq!(windows(&bench.store, 0).await.len(), 32);
}

const HOUR: i64 = 3_600_000;

async fn tell(store: &Store, events: Vec<HostEvent>, now: i64) {
    let telling = Telling {
        now: Timestamp(NOON + now),
        watched: BTreeSet::new(),
        silent: BTreeSet::new(),
        has_webhook: false,
    };
    let events: Arc<[HostEvent]> = events.into();
    store.apply_telling(events, telling).await.unwrap();
}

/// A turn that the plan refuses, and the window that does.
fn refused(log: &mut Log, window: &str, resets_at: i64) -> Vec<HostEvent> {
    let limits = vec![limit(window, LimitStatus::Rejected, NOON + resets_at)];
    let result = TurnResult {
        cause: Some(Cause::UsageLimit),
        ..TurnResult::new("success".to_owned(), 0, 0.0, 1, Usage::new(0, 0, 0, 0))
    };
    vec![
        log.user("go"),
        log.event(LimitsTold::new(limits)),
        log.event(result),
    ]
}

async fn goes_on_at(store: &Store, id: &ConversationId) -> Option<i64> {
    let now = store.continuation(id.clone()).await.unwrap();
    now.waiting.map(|(_, at)| at.0 - NOON)
}

#[tokio::test]
async fn a_conversation_waits_for_the_window_that_refused_it_and_not_for_another_ones() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (_, other) = make_workspace(store, "other").await;
    let (own, other) = (&bench.conversation, &other.conversation_id);
    for id in [own, other] {
        store
            .set_continuation(id.clone(), true, Timestamp(0))
            .await
            .unwrap();
    }
    let mut log = Log::new(other);
    let week = refused(&mut log, "seven_day_opus", 7 * 24 * HOUR);
    tell(store, week, 1_000).await;
    let mut log = Log::new(own);
    let hours = refused(&mut log, "five_hour", 5 * HOUR);
    tell(store, hours, 1_000).await;
    assert_eq!(goes_on_at(store, own).await, Some(5 * HOUR + 15_000));
    let week = Some(7 * 24 * HOUR + 15_000);
    assert_eq!(goes_on_at(store, other).await, week);
}

#[tokio::test]
async fn what_is_turned_on_after_the_limit_was_hit_goes_on_under_the_same_name() {
    let bench = Bench::new().await;
    let (store, id) = (&bench.store, &bench.conversation);
    let mut log = Log::new(id);
    let turn = refused(&mut log, "five_hour", 5 * HOUR);
    tell(store, turn, 1_000).await;
    let set = async |is_enabled| {
        let set = store.set_continuation(id.clone(), is_enabled, Timestamp(NOON + 2_000));
        set.await.unwrap();
        store.continuation(id.clone()).await.unwrap().waiting
    };
    let waits = set(true).await;
    assert_eq!(
        waits.as_ref().unwrap().1,
        Timestamp(NOON + 5 * HOUR + 15_000)
    );
    assert_eq!(set(false).await, None);
    assert_eq!(set(true).await, waits, "the same turn, the same name");
    store.cancel_continuation(id.clone()).await.unwrap();
    assert_eq!(set(true).await, None, "somebody did not want it");

    let turn = refused(&mut log, "five_hour", 5 * HOUR);
    tell(store, turn, 3_000).await;
    assert_ne!(set(true).await, waits, "another turn");
    let said = vec![log.user("never mind")];
    tell(store, said, 4_000).await;
    assert_eq!(set(true).await, None, "something followed it");
}
