//! What became of processes is kept for those who come back, and goes with the history it belongs to.

use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::runs::{PauseReason, ProcessPaused, ProcessResumed};
use estelle_proto::{ConversationStatus, Seq, Timestamp};
use estelle_pylon::store::{Life, ProcessEnd, Store};

use super::Bench;
use super::sample::{Log, NOON};

fn paused() -> ProcessPaused {
    ProcessPaused::new(PauseReason::IdleTimeout, 45, true)
}

fn died() -> ErrorEvent {
    ErrorEvent {
        exit_code: Some(3),
        ..ErrorEvent::new("it died".to_owned())
    }
}

#[tokio::test]
async fn how_a_process_ended_is_known_until_another_begins() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let life = || async { bench.store.life(id.clone()).await.unwrap() };
    assert_eq!(life().await, Life::default());
    let mut log = Log::new(id);
    for (event, ended) in [
        (log.init("s", "m"), None),
        (log.event(paused()), Some(ProcessEnd::Stopped)),
        (log.says("nothing about it"), Some(ProcessEnd::Stopped)),
        (log.event(ProcessResumed::new(true)), None),
        (log.event(died()), Some(ProcessEnd::Failed)),
        (
            log.state(ConversationStatus::Idle),
            Some(ProcessEnd::Failed),
        ),
        (log.init("s", "m"), None),
        (log.event(ErrorEvent::new("overloaded".to_owned())), None),
    ] {
        bench.store.apply([event.clone()]).await.unwrap();
        assert_eq!(life().await.ended, ended, "{event:?}");
    }
    let lives = bench.store.lives().await.unwrap();
    assert_eq!(lives[id], life().await);
}

#[tokio::test]
async fn whoever_comes_back_is_told_what_was_missed_and_nothing_else() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    let events = vec![
        log.says("1"),
        log.event(paused()),
        log.event(ProcessResumed::new(false)),
        log.says("4"),
        log.event(died()),
    ];
    bench.store.apply(events.clone()).await.unwrap();
    // The same again changes nothing.
    bench.store.apply(events).await.unwrap();
    let missed = |after, until| {
        let missed = bench.store.lifecycle(id.clone(), Seq(after), Seq(until));
        async { missed.await.unwrap() }
    };
    let all = missed(0, 5).await;
    let numbers: Vec<u64> = all.iter().map(|(seq, _)| seq.0).collect();
    assert_eq!(numbers, [2, 3, 5]);
    assert!(matches!(&all[0].1, ClaudeEvent::Paused(told) if *told == paused()));
    assert!(matches!(&all[2].1, ClaudeEvent::Error(told) if told.exit_code == Some(3)));
    assert_eq!(missed(2, 4).await.len(), 1);
    assert_eq!(missed(5, 9).await.len(), 0);
    // A history that was cleared takes it along.
    bench.store.clear_history(id.clone()).await.unwrap();
    assert_eq!(missed(0, 5).await.len(), 0);
    assert_eq!(bench.store.life(id.clone()).await.unwrap().ended, None);
}

#[tokio::test]
async fn a_look_is_remembered_over_a_restart_and_never_goes_back() {
    let bench = Bench::new().await;
    let id = bench.conversation.clone();
    for at in [NOON + 5, NOON] {
        bench.store.touch(id.clone(), Timestamp(at)).await.unwrap();
    }
    let gone = estelle_proto::ConversationId::parse("gone").unwrap();
    bench.store.touch(gone, Timestamp(NOON)).await.unwrap();
    let Bench { store, folder, .. } = bench;
    store.close().await;
    let store = Store::open(folder.path()).unwrap();
    let life = store.life(id).await.unwrap();
    assert_eq!(life.touched_at, Some(Timestamp(NOON + 5)));
}
