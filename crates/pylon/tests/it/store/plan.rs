//! The windows of the plan: the newest word counts, whatever comes late or again.

use estelle_proto::plan::LimitsTold;
use estelle_proto::{LimitStatus, PLAN, PlanLimit, Timestamp};
use estelle_pylon::store::Store;

use super::sample::Log;
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
