//! Search in any script, in any part of the pylon.

use estelle_proto::{ConversationId, QueryText};
use estelle_pylon::store::{SearchError, SearchQuery, Store};

use super::sample::Log;
use super::{Bench, make_workspace};

fn query(text: &str) -> SearchQuery {
    SearchQuery::new(QueryText::parse(text).unwrap())
}

async fn hits(store: &Store, query: SearchQuery) -> Vec<String> {
    let page = store.search(query).await.unwrap();
    page.hits.into_iter().map(|hit| hit.snippet).collect()
}

async fn filled() -> Bench {
    let bench = Bench::new().await;
    let mut log = Log::new(&bench.conversation);
    let events = vec![
        log.user("세션이 죽지 않게 해 주세요"),
        log.says("権限の確認を待っています。プロセスは再起動しました"),
        log.says("The Café uses getUserName() in src/lib.rs"),
        log.call(
            "c",
            r#"{"command":"cargo test --workspace","file_path":"/srv/한글.txt"}"#,
        ),
        log.returned("c", "error[E0433]: failed to resolve"),
    ];
    bench.store.apply(events).await.unwrap();
    bench
}

#[tokio::test]
async fn words_are_found_in_any_script() {
    let bench = filled().await;
    for (text, part) in [
        ("세션", "세션이 죽지"),
        ("션", "세션이 죽지"),
        ("죽지 않게", "세션이 죽지"),
        ("확인", ""),
        ("確認", "権限の確認"),
        ("再起動", "再起動しました"),
        ("限", "権限の確認"),
        ("プロセス", "プロセスは"),
        ("ﾌﾟﾛｾｽ", "プロセスは"),
        ("認確", ""),
        ("cafe", "The Café"),
        ("GETUSER", "getUserName"),
        ("username", ""),
        ("src/lib.rs", "getUserName"),
        ("cargo workspace", "cargo test"),
        ("한글", "cargo test"),
        ("E0433", "error[E0433]"),
        ("cafe 세션", ""),
        ("\" OR *", ""),
        ("((", ""),
    ] {
        let found = hits(&bench.store, query(text)).await;
        match part {
            "" => assert!(found.is_empty(), "{text}: {found:?}"),
            _ => assert!(
                found.len() == 1 && found[0].contains(part),
                "{text}: {found:?}"
            ),
        }
    }
}

#[tokio::test]
async fn hits_come_newest_first_in_pages_and_say_where_they_are() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (workspace, other) = make_workspace(store, "other").await;
    let (mut log, mut late) = (
        Log::new(&bench.conversation),
        Log::new(&other.conversation_id),
    );
    let mut events: Vec<_> = (0..5).map(|n| log.says(&format!("needle {n}"))).collect();
    events.push(late.says("needle 5"));
    store.apply(events).await.unwrap();

    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let asked = SearchQuery {
            limit: Some(4),
            cursor,
            ..query("needle")
        };
        let page = store.search(asked).await.unwrap();
        pages.push(page.hits);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2]);
    let all: Vec<_> = pages.concat();
    let texts: Vec<_> = all.iter().map(|hit| hit.snippet.as_str()).collect();
    let expected = [
        "needle 5", "needle 4", "needle 3", "needle 2", "needle 1", "needle 0",
    ];
    assert_eq!(texts, expected);
    assert_eq!(
        (&all[0].workspace_id, &all[0].conversation_id),
        (&workspace, &other.conversation_id)
    );
    assert_eq!(
        (&all[1].conversation_id, all[1].seq.0),
        (&bench.conversation, 5)
    );
}

#[tokio::test]
async fn whole_words_come_before_beginnings_and_each_hit_comes_once() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let mut log = Log::new(&bench.conversation);
    let texts = [
        "test 1",
        "testing 2",
        "test 3",
        "testing a test 4",
        "tests 5",
    ];
    let events: Vec<_> = texts.iter().map(|text| log.says(text)).collect();
    store.apply(events).await.unwrap();
    let expected = [
        "testing a test 4",
        "test 3",
        "test 1",
        "tests 5",
        "testing 2",
    ];
    for limit in 1..=6 {
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let asked = SearchQuery {
                limit: Some(limit),
                cursor,
                ..query("test")
            };
            let page = store.search(asked).await.unwrap();
            assert!(page.hits.len() <= limit as usize);
            found.extend(page.hits.into_iter().map(|hit| hit.snippet));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "pages of {limit}");
    }
}

#[tokio::test]
async fn a_search_stays_in_its_scope() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let (workspace, other) = make_workspace(store, "other").await;
    let other = other.conversation_id;
    store
        .apply([Log::new(&bench.conversation).says("needle here")])
        .await
        .unwrap();
    store
        .apply([Log::new(&other).says("needle there")])
        .await
        .unwrap();
    let there = SearchQuery {
        conversation_id: Some(other.clone()),
        ..query("needle")
    };
    assert_eq!(hits(store, there).await, ["needle there"]);
    let there = SearchQuery {
        workspace_id: Some(workspace.clone()),
        ..query("needle")
    };
    assert_eq!(hits(store, there).await, ["needle there"]);
    let crossed = SearchQuery {
        workspace_id: Some(workspace),
        conversation_id: Some(bench.conversation.clone()),
        ..query("needle")
    };
    let error = store.search(crossed).await.unwrap_err();
    assert!(
        matches!(error, SearchError::UnknownConversation { .. }),
        "{error}"
    );
    let odd = SearchQuery {
        cursor: Some("x".to_owned()),
        ..query("needle")
    };
    let error = store.search(odd).await.unwrap_err();
    assert!(matches!(error, SearchError::BadCursor), "{error}");
    let nobody = ConversationId::parse("nobody").unwrap();
    let unknown = SearchQuery {
        conversation_id: Some(nobody),
        ..query("needle")
    };
    store.search(unknown).await.unwrap_err();
}

#[tokio::test]
async fn what_was_deleted_or_replaced_is_not_found() {
    let bench = filled().await;
    let id = bench.conversation.clone();
    bench.store.clear_history(id.clone()).await.unwrap();
    assert!(hits(&bench.store, query("세션")).await.is_empty());
    bench
        .store
        .apply([Log::at(&id, 2, 0).says("세션 둘")])
        .await
        .unwrap();
    assert_eq!(hits(&bench.store, query("세션")).await, ["세션 둘"]);
    bench
        .store
        .delete_workspace(bench.workspace.clone())
        .await
        .unwrap();
    assert!(hits(&bench.store, query("세션")).await.is_empty());
}
