//! Views and unread marks, per device.

use estelle_proto::{ConversationId, ConversationStatus, DeviceId};
use estelle_pylon::store::{Store, View};

use super::sample::Log;
use super::{Bench, make_workspace};

const PHONE: DeviceId = DeviceId(100);
const LAPTOP: DeviceId = DeviceId(101);

async fn unread(store: &Store, device: DeviceId) -> Vec<ConversationId> {
    let listing = store.workspaces(Some(device)).await.unwrap();
    let all = listing
        .workspaces
        .into_iter()
        .flat_map(|workspace| workspace.conversations);
    all.filter(|conversation| conversation.unread == Some(true))
        .map(|conversation| conversation.conversation_id)
        .collect()
}

#[tokio::test]
async fn what_happens_unseen_is_unread_until_it_is_viewed() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let one = bench.conversation.clone();
    let two = make_workspace(store, "other").await.1.conversation_id;
    store
        .apply([Log::new(&two).says("before anybody came")])
        .await
        .unwrap();
    store.register_device(LAPTOP).await.unwrap();
    store.view(PHONE, one.clone()).await.unwrap();
    assert!(unread(store, PHONE).await.is_empty() && unread(store, LAPTOP).await.is_empty());

    let mut log = Log::new(&one);
    let events = vec![log.user("hello"), log.state(ConversationStatus::Working)];
    store.apply(events).await.unwrap();
    assert!(
        unread(store, LAPTOP).await.is_empty(),
        "nothing was answered yet"
    );
    store.apply([log.says("answer")]).await.unwrap();
    assert_eq!(unread(store, LAPTOP).await, std::slice::from_ref(&one));
    assert!(unread(store, PHONE).await.is_empty(), "it is looking");
    assert_eq!(store.unread_by(one.clone()).await.unwrap(), [LAPTOP]);

    store.view(PHONE, two.clone()).await.unwrap();
    assert!(
        unread(store, PHONE).await.is_empty(),
        "it was looking until now"
    );
    store.apply([log.says("more")]).await.unwrap();
    assert_eq!(unread(store, PHONE).await, std::slice::from_ref(&one));
    store.view(PHONE, one.clone()).await.unwrap();
    assert!(unread(store, PHONE).await.is_empty());
    assert_eq!(unread(store, LAPTOP).await, [one]);
}

#[tokio::test]
async fn views_survive_a_restart_and_end_with_the_device() {
    let bench = Bench::new().await;
    let id = bench.conversation.clone();
    bench.store.view(PHONE, id.clone()).await.unwrap();
    let bench = bench.reopened().await;
    let view = View {
        device: PHONE,
        conversation: id.clone(),
    };
    assert_eq!(bench.store.views().await.unwrap(), [view]);
    bench.store.look_away(PHONE).await.unwrap();
    assert!(bench.store.views().await.unwrap().is_empty());
    bench.store.apply([Log::new(&id).says("x")]).await.unwrap();
    assert_eq!(unread(&bench.store, PHONE).await, [id]);
    bench.store.forget_device(PHONE).await.unwrap();
    assert!(unread(&bench.store, PHONE).await.is_empty());
}

#[tokio::test]
async fn a_view_of_a_deleted_conversation_is_gone() {
    let bench = Bench::new().await;
    let id = bench.conversation.clone();
    bench.store.view(PHONE, id.clone()).await.unwrap();
    bench
        .store
        .delete_conversation(bench.workspace.clone(), id.clone())
        .await
        .unwrap();
    assert!(bench.store.views().await.unwrap().is_empty());
    bench.store.view(PHONE, id).await.unwrap_err();
}
