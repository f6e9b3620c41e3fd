//! Events are taken in exactly once, and a history that begins anew replaces the old one.

use estelle_proto::events::{StateUpdate, TextDelta, UserMessage};
use estelle_proto::ipc::HostEvent;
use estelle_proto::{
    Activity, ActivityState, ConversationId, ConversationStatus, Epoch, HistoryMessage, Seq,
    Timestamp,
};
use estelle_pylon::store::{Outcome, PageFrom, PageQuery, Store};
use estelle_state::link::Cursor;

use super::sample::{Log, hash};
use super::{Bench, make_workspace};

/// The texts of a conversation, oldest first.
pub(crate) async fn texts(store: &Store, id: &ConversationId) -> Vec<String> {
    let query = PageQuery {
        conversation_id: id.clone(),
        workspace_id: None,
        limit: 200,
        from: PageFrom::Newest { offset: 0 },
        epoch: None,
    };
    let page = store.page(query).await.unwrap();
    let text = |message: HistoryMessage| {
        if let HistoryMessage::Text(text) = message {
            return text.content;
        }
        message.kind().to_owned()
    };
    page.messages.into_iter().map(text).collect()
}

fn cursor(epoch: u64, seq: u64) -> Cursor {
    Cursor {
        epoch: Epoch(epoch),
        seq: Seq(seq),
        chain_hash: Some(hash(epoch, seq)),
    }
}

#[tokio::test]
async fn what_comes_twice_is_there_once() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    let events = vec![
        log.user("a"),
        log.state(ConversationStatus::Working),
        log.says("b"),
    ];
    assert_eq!(bench.store.cursor(id.clone()).await.unwrap(), None);
    let first = bench.store.apply(events.clone()).await.unwrap();
    assert_eq!(first, vec![Outcome::Applied; 3]);
    let again = bench.store.apply(events).await.unwrap();
    assert_eq!(again, vec![Outcome::Repeated; 3]);
    let mixed = vec![log.clone().says("c"), Log::at(id, 1, 3).says("c")];
    let mixed = bench.store.apply(mixed).await.unwrap();
    assert_eq!(mixed, [Outcome::Applied, Outcome::Repeated]);
    assert_eq!(texts(&bench.store, id).await, ["a", "b", "c"]);
    assert_eq!(
        bench.store.cursor(id.clone()).await.unwrap(),
        Some(cursor(1, 4))
    );
    let all = bench.store.cursors().await.unwrap();
    assert_eq!(all, [(id.clone(), Some(cursor(1, 4)))]);
}

#[tokio::test]
async fn a_gap_is_refused_and_can_be_filled() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    let events: Vec<_> = ["a", "b", "c", "d"].map(|text| log.says(text)).into();
    let holed = vec![events[0].clone(), events[2].clone(), events[3].clone()];
    let outcomes = bench.store.apply(holed).await.unwrap();
    let gap = Outcome::Gap {
        have: Some(cursor(1, 1)),
    };
    assert_eq!(outcomes, [Outcome::Applied, gap.clone(), gap]);
    bench.store.apply(events).await.unwrap();
    assert_eq!(texts(&bench.store, id).await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn a_log_is_not_entered_in_the_middle() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let fresh = bench
        .store
        .apply([Log::at(id, 1, 4).says("late")])
        .await
        .unwrap();
    assert_eq!(fresh, [Outcome::Gap { have: None }]);
    bench.store.apply([Log::new(id).says("a")]).await.unwrap();
    // An event of another epoch that is not its first: the replay from its start is still to come.
    let other = bench
        .store
        .apply([Log::at(id, 2, 1).says("b")])
        .await
        .unwrap();
    assert_eq!(other, [Outcome::Gap { have: None }]);
    assert_eq!(texts(&bench.store, id).await, ["a"]);
}

#[tokio::test]
async fn another_epoch_sets_the_history_back() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    bench
        .store
        .apply([log.says("old"), log.says("lost")])
        .await
        .unwrap();
    let mut rebuilt = Log::at(id, 2, 0);
    bench.store.apply([rebuilt.says("old")]).await.unwrap();
    assert_eq!(texts(&bench.store, id).await, ["old"]);
    assert_eq!(
        bench.store.cursor(id.clone()).await.unwrap(),
        Some(cursor(2, 1))
    );
    // An epoch of a smaller number counts as well: a host whose data was lost begins at the first again.
    bench
        .store
        .apply([Log::new(id).says("third")])
        .await
        .unwrap();
    assert_eq!(texts(&bench.store, id).await, ["third"]);
}

#[tokio::test]
async fn a_fresh_replay_of_the_same_epoch_begins_at_the_start() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    bench
        .store
        .apply([log.says("a"), log.says("b")])
        .await
        .unwrap();
    bench.store.begin_afresh(id.clone()).await.unwrap();
    assert_eq!(bench.store.cursor(id.clone()).await.unwrap(), None);
    assert_eq!(bench.store.cursors().await.unwrap(), [(id.clone(), None)]);
    let late = bench.store.apply([log.says("c")]).await.unwrap();
    assert_eq!(late, [Outcome::Gap { have: None }]);
    assert_eq!(
        texts(&bench.store, id).await,
        ["a", "b"],
        "shown until it is replaced"
    );
    let bench = bench.reopened().await;
    let id = &bench.conversation;
    bench
        .store
        .apply([Log::new(id).says("other")])
        .await
        .unwrap();
    assert_eq!(texts(&bench.store, id).await, ["other"]);
}

#[tokio::test]
async fn clearing_deletes_the_history_and_goes_on_from_the_cursor() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let mut log = Log::new(id);
    bench
        .store
        .apply([log.init("s", "opus"), log.says("a")])
        .await
        .unwrap();
    bench.store.clear_history(id.clone()).await.unwrap();
    assert!(texts(&bench.store, id).await.is_empty());
    let known = bench.store.conversation(id.clone()).await.unwrap();
    assert_eq!(known.conversation.claude_session_id, None);
    // The run ends in the old log, then the host begins a new one.
    bench.store.apply([log.says("last words")]).await.unwrap();
    assert_eq!(texts(&bench.store, id).await, ["last words"]);
    // Whenever it begins: nothing of what was cleared comes back, here or elsewhere.
    let mut new = Log::at(id, 2, 0).says("new");
    new.timestamp = new.timestamp.map(|at| Timestamp(at.0 + 3_600_000));
    bench.store.apply([new]).await.unwrap();
    assert_eq!(texts(&bench.store, id).await, ["new"]);
    let all = bench.store.cursors().await.unwrap();
    assert_eq!(all.len(), 1, "no other conversation has it: {all:?}");
}

#[tokio::test]
async fn passing_unknown_and_impossible_events_change_nothing() {
    let bench = Bench::new().await;
    let id = &bench.conversation;
    let bare = |event: estelle_proto::ClaudeEvent| HostEvent::new(id.clone(), event);
    let activity = ActivityState::new(Activity::Thinking);
    let message = UserMessage::new("x".to_owned(), Timestamp(1));
    let mut impossible = Log::at(id, u64::MAX, 0).says("x");
    impossible.epoch = Some(Epoch(u64::MAX));
    let stranger = ConversationId::parse("stranger").unwrap();
    let events = vec![
        bare(TextDelta::new("x".to_owned()).into()),
        bare(StateUpdate::new(activity, String::new()).into()),
        bare(message.into()),
        impossible,
        HostEvent {
            seq: Some(Seq(0)),
            ..Log::new(id).says("x")
        },
        Log::new(&stranger).says("x"),
    ];
    let outcomes = bench.store.apply(events).await.unwrap();
    let expected = [
        Outcome::Passing,
        Outcome::Passing,
        Outcome::Malformed,
        Outcome::Malformed,
        Outcome::Malformed,
        Outcome::UnknownConversation,
    ];
    assert_eq!(outcomes, expected);
    assert!(texts(&bench.store, id).await.is_empty());
}

#[tokio::test]
async fn conversations_do_not_mix_and_a_deleted_one_does_not_come_back() {
    let bench = Bench::new().await;
    let (one, store) = (&bench.conversation, &bench.store);
    let (_, second) = make_workspace(store, "second").await;
    let two = second.conversation_id;
    let (mut log, mut other) = (Log::new(one), Log::new(&two));
    let events = vec![
        log.says("1a"),
        other.says("2a"),
        log.says("1b"),
        other.says("2b"),
    ];
    store.apply(events).await.unwrap();
    assert_eq!(texts(store, one).await, ["1a", "1b"]);
    assert_eq!(texts(store, &two).await, ["2a", "2b"]);
    store
        .delete_conversation(bench.workspace.clone(), one.clone())
        .await
        .unwrap();
    let late = store
        .apply([log.says("1c"), other.says("2c")])
        .await
        .unwrap();
    assert_eq!(late, [Outcome::UnknownConversation, Outcome::Applied]);
    assert_eq!(texts(store, &two).await, ["2a", "2b", "2c"]);
}
