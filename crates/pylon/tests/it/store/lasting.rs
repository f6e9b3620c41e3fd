//! The database over time: one pylon at a time, older and newer formats, backups, rebuilds, damage.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use estelle_proto::ipc::HostEvent;
use estelle_proto::{
    ConversationId, DeviceId, PathText, QueryText, SkillType, Timestamp, WorkspaceId,
};
use estelle_pylon::store::{
    BackupError, DATABASE, MigrateError, NewConversation, OpenError, Outcome, Placement, Rebuild,
    RestoreError, SearchQuery, Store, StoreError,
};

use super::apply::texts;
use super::sample::{Log, NOON};
use super::{Bench, make_workspace, name};

/// Written once by the first build, never again.
const FIRST_FORMAT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pylon/v1.db");
const FIRST_CONVERSATION: &str = "conv-first-format";

#[tokio::test]
async fn a_folder_has_one_pylon() {
    let bench = Bench::new().await;
    let error = Store::open(bench.folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Taken { .. }), "{error}");
    bench.reopened().await;
}

#[tokio::test]
async fn nobody_else_can_read_it() {
    let bench = Bench::new().await;
    let folder = bench.folder.path().join("own");
    let store = Store::open(&folder).unwrap();
    make_workspace(&store, "x").await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn a_database_of_a_newer_build_is_refused_with_a_clear_sentence() {
    let bench = Bench::new().await;
    let Bench { store, folder, .. } = bench;
    store.close().await;
    let path = folder.path().join(DATABASE);
    let raise = |version: i64| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .pragma_update(None, "user_version", version)
            .unwrap();
    };
    raise(99);
    let before = fs::read(&path).unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    let is_newer = matches!(
        &error,
        OpenError::Format(MigrateError::Newer { found: 99, .. })
    );
    assert!(is_newer, "{error}");
    assert!(error.to_string().contains("has format 99"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before, "it was left alone");
    Rebuild::begin(folder.path()).unwrap_err();
}

#[tokio::test]
async fn the_first_format_is_still_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(FIRST_FORMAT, folder.path().join(DATABASE)).unwrap();
    let store = Store::open(folder.path()).unwrap();
    check_first_format(&store).await;
    // And written to.
    let id = ConversationId::parse(FIRST_CONVERSATION).unwrap();
    let cursor = store.cursor(id.clone()).await.unwrap().unwrap();
    let mut log = Log::at(&id, cursor.epoch.0, cursor.seq.0);
    let outcomes = store
        .apply([log.says("written by a newer build")])
        .await
        .unwrap();
    assert_eq!(outcomes, [Outcome::Applied]);
}

/// A database of each format that ever was: the first one, with the steps that an older build had already taken.
#[tokio::test]
async fn every_format_since_the_first_is_still_read() {
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/schema");
    let step = |number: i64| fs::read_to_string(format!("{steps}/v{number}.sql"));
    let newest = (1..1000).take_while(|number| step(*number).is_ok()).last();
    let newest = newest.unwrap();
    assert!(newest >= 9, "{newest}");
    for format in 1..=newest {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DATABASE);
        fs::copy(FIRST_FORMAT, &path).unwrap();
        let older = rusqlite::Connection::open(&path).unwrap();
        for taken in 2..=format {
            older.execute_batch(&step(taken).unwrap()).unwrap();
            older.pragma_update(None, "user_version", taken).unwrap();
        }
        drop(older);
        let store = Store::open(folder.path()).unwrap();
        check_first_format(&store).await;
        store.close().await;
        let newer = rusqlite::Connection::open(&path).unwrap();
        let now: i64 = newer
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        assert_eq!(now, newest, "from format {format}");
    }
}

async fn check_first_format(store: &Store) {
    let id = ConversationId::parse(FIRST_CONVERSATION).unwrap();
    assert_eq!(
        texts(store, &id).await,
        [
            "첫 번째 질문",
            "最初の答え",
            "tool_start",
            "tool_complete",
            "result"
        ]
    );
    let query = QueryText::parse("질문").unwrap();
    assert_eq!(
        store
            .search(SearchQuery::new(query))
            .await
            .unwrap()
            .hits
            .len(),
        1
    );
    let totals = store.usage_totals().await.unwrap();
    assert_eq!((totals.total_input_tokens, totals.session_count), (10, 1));
    let listing = store.workspaces(Some(DeviceId(100))).await.unwrap();
    assert_eq!(listing.active_conversation_id, Some(id));
    assert_eq!(listing.workspaces[0].name.as_str(), "first format");
}

fn first_log() -> Vec<HostEvent> {
    let mut log = Log::new(&ConversationId::parse(FIRST_CONVERSATION).unwrap());
    vec![
        log.init("session-1", "opus"),
        log.user("첫 번째 질문"),
        log.says("最初の答え"),
        log.call("call-1", r#"{"command":"ls"}"#),
        log.returned("call-1", &"line\n".repeat(400)),
        log.result(0.5, 10),
    ]
}

fn first_placement() -> Placement {
    Placement {
        conversation_id: ConversationId::parse(FIRST_CONVERSATION).unwrap(),
        name: name("first"),
        workspace_id: WorkspaceId::parse("ws-first-format").unwrap(),
        workspace_name: name("first format"),
        working_dir: PathText::parse("/srv/project").unwrap(),
        at: Timestamp(NOON),
    }
}

/// How the fixture was made. A later format must not be written over it.
#[tokio::test]
#[ignore = "writes the fixture of the first format"]
async fn make_first_format() {
    let made = PathBuf::from(FIRST_FORMAT);
    if made.exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut rebuild = Rebuild::begin(folder.path()).unwrap();
    rebuild.place(&first_placement()).unwrap();
    rebuild.apply(&first_log()).unwrap();
    rebuild.finish().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let workspace = first_placement().workspace_id;
    store
        .switch_workspace(workspace, None, Timestamp(NOON))
        .await
        .unwrap();
    store.register_device(DeviceId(100)).await.unwrap();
    fs::create_dir_all(made.parent().unwrap()).unwrap();
    store.backup(made).await.unwrap();
}

#[tokio::test]
async fn a_backup_is_one_moment_and_can_be_put_back() {
    let bench = Bench::new().await;
    let (store, id) = (&bench.store, &bench.conversation);
    let file = bench.folder.path().join("copy.db");
    let mut log = Log::new(id);
    store.apply([log.says("kept")]).await.unwrap();

    // Writes go on while it is made.
    let events: Vec<_> = (0..300).map(|n| log.says(&format!("later {n}"))).collect();
    let writing = async {
        for event in &events {
            store.apply([event.clone()]).await.unwrap();
        }
    };
    let (made, ()) = tokio::join!(store.backup(file.clone()), writing);
    made.unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let error = store.backup(file.clone()).await.unwrap_err();
    assert!(matches!(error, BackupError::Exists { .. }), "{error}");

    make_workspace(store, "made after the backup").await;
    store.restore(file).await.unwrap();
    assert_eq!(store.workspaces(None).await.unwrap().workspaces.len(), 1);
    let cursor = store.cursor(id.clone()).await.unwrap().unwrap();
    assert!((1..=301).contains(&cursor.seq.0), "{cursor:?}");
    // The host sends again what came after the cursor.
    let replayed = store.apply(events).await.unwrap();
    assert!(
        replayed
            .iter()
            .all(|one| matches!(one, Outcome::Applied | Outcome::Repeated))
    );
    assert_eq!(store.cursor(id.clone()).await.unwrap().unwrap().seq.0, 301);
    let bench = bench.reopened().await;
    assert_eq!(texts(&bench.store, &bench.conversation).await.len(), 200);
    let left: Vec<_> = fs::read_dir(bench.folder.path()).unwrap().collect();
    assert!(left.iter().all(|file| {
        let name = file.as_ref().unwrap().file_name();
        !name.to_string_lossy().contains("restore")
    }));
}

#[tokio::test]
async fn what_is_no_backup_changes_nothing() {
    let bench = Bench::new().await;
    let path = |file: &str| bench.folder.path().join(file);
    fs::write(
        path("text"),
        "no database at all, but long enough to look like something",
    )
    .unwrap();
    let mut torn = fs::read(FIRST_FORMAT).unwrap();
    torn.truncate(torn.len() / 2);
    fs::write(path("torn"), torn).unwrap();
    // Opens like a sound one.
    let mut rotten = fs::read(FIRST_FORMAT).unwrap();
    let middle = rotten.len() / 2 / 4096 * 4096;
    rotten[middle..middle + 4096].fill(0x5A);
    fs::write(path("rotten"), rotten).unwrap();
    let error = bench.store.restore(path("rotten")).await.unwrap_err();
    assert!(matches!(error, RestoreError::Damaged { .. }), "{error}");
    for file in ["missing", "text", "torn"] {
        bench.store.restore(path(file)).await.unwrap_err();
    }
    let error = bench.store.restore(path("missing")).await.unwrap_err();
    assert!(matches!(error, RestoreError::Read { .. }), "{error}");
    let listing = bench.store.workspaces(None).await.unwrap();
    assert_eq!(listing.active_workspace_id, Some(bench.workspace.clone()));
}

#[tokio::test]
async fn a_rebuild_keeps_what_people_made_and_writes_the_rest_anew() {
    let bench = Bench::new().await;
    let (store, id) = (&bench.store, &bench.conversation);
    let mut log = Log::new(id);
    let events = vec![
        log.init("s", "opus"),
        log.says("needle"),
        log.result(1.0, 10),
    ];
    store.apply(events.clone()).await.unwrap();
    let gone = make_workspace(store, "gone").await;
    store
        .apply([Log::new(&gone.1.conversation_id).result(1.0, 5)])
        .await
        .unwrap();
    store.delete_workspace(gone.0).await.unwrap();
    store
        .rename_conversation(bench.workspace.clone(), id.clone(), name("개명"))
        .await
        .unwrap();
    store.register_device(DeviceId(100)).await.unwrap();
    let Bench {
        store,
        folder,
        conversation,
        ..
    } = bench;
    store.close().await;

    let mut rebuild = Rebuild::begin(folder.path()).unwrap();
    assert!(rebuild.lost().is_empty(), "{:?}", rebuild.lost());
    rebuild.place(&first_placement()).unwrap();
    rebuild.apply(&events).unwrap();
    rebuild.apply(&first_log()).unwrap();
    rebuild.finish().unwrap();

    let store = Store::open(folder.path()).unwrap();
    let known = store.conversation(conversation.clone()).await.unwrap();
    assert_eq!(known.conversation.name.as_str(), "개명");
    assert_eq!(texts(&store, &conversation).await, ["needle", "result"]);
    assert_eq!(
        store.usage_totals().await.unwrap().total_input_tokens,
        25,
        "10 + 5 + 10"
    );
    let listing = store.workspaces(Some(DeviceId(100))).await.unwrap();
    assert_eq!(listing.workspaces.len(), 2);
    assert_eq!(listing.active_conversation_id, Some(conversation));
    let is_unread = |workspace: &estelle_proto::Workspace| {
        workspace
            .conversations
            .iter()
            .any(|conversation| conversation.unread == Some(true))
    };
    assert!(
        !listing.workspaces.iter().any(is_unread),
        "a rebuild is no news"
    );
}

#[tokio::test]
async fn a_rebuild_brings_nothing_back_that_was_removed_and_tells_what_has_no_log() {
    let bench = Bench::new().await;
    let (store, id) = (&bench.store, &bench.conversation);
    store.apply([Log::new(id).says("a")]).await.unwrap();
    let (workspace, gone) = make_workspace(store, "gone").await;
    let gone = gone.conversation_id;
    store.apply([Log::new(&gone).says("b")]).await.unwrap();
    store
        .delete_conversation(workspace.clone(), gone.clone())
        .await
        .unwrap();
    let copy = ConversationId::parse("copy").unwrap();
    let fork = NewConversation {
        id: Some(copy.clone()),
        workspace_id: workspace,
        name: name("copy"),
        skill_type: SkillType::General,
        model: None,
        permission_mode: None,
        at: Timestamp(1),
    };
    store.intend_fork(fork).await.unwrap();
    let (removals, forks) = (
        store.removals().await.unwrap(),
        store.unlisted_forks().await.unwrap().len(),
    );
    let Bench {
        store,
        folder,
        conversation,
        ..
    } = bench;
    store.close().await;
    let rebuild = Rebuild::begin(folder.path()).unwrap();
    for (id, is_unfinished) in [(&gone, true), (&copy, true), (&conversation, false)] {
        assert_eq!(rebuild.is_unfinished(id).unwrap(), is_unfinished, "{id}");
    }
    let emptied = rebuild.emptied().unwrap();
    let emptied: Vec<_> = emptied.into_iter().map(|(id, _)| id).collect();
    assert_eq!(emptied, [conversation]);
    rebuild.finish().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.removals().await.unwrap(), removals);
    assert_eq!(store.unlisted_forks().await.unwrap().len(), forks);
}

#[tokio::test]
async fn a_rebuild_that_is_given_up_changes_nothing() {
    let bench = Bench::new().await;
    bench
        .store
        .apply([Log::new(&bench.conversation).says("a")])
        .await
        .unwrap();
    let Bench {
        store,
        folder,
        conversation,
        ..
    } = bench;
    store.close().await;
    let mut rebuild = Rebuild::begin(folder.path()).unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Taken { .. }), "{error}");
    rebuild.apply(&[Log::new(&conversation).says("b")]).unwrap();
    drop(rebuild);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(texts(&store, &conversation).await, ["a"]);
}

#[tokio::test]
async fn a_damaged_database_is_reported_and_can_be_rebuilt() {
    let bench = Bench::new().await;
    let Bench { store, folder, .. } = bench;
    store.close().await;
    let path = folder.path().join(DATABASE);
    let mut bytes = fs::read(&path).unwrap();
    bytes[..2048].fill(0x5A);
    fs::write(&path, bytes).unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    let is_damaged = matches!(
        &error,
        OpenError::Store(StoreError::Damaged { .. })
            | OpenError::Format(MigrateError::Store(StoreError::Damaged { .. }))
    );
    assert!(
        is_damaged && error.to_string().contains("estelle rebuild"),
        "{error}"
    );

    let mut rebuild = Rebuild::begin(folder.path()).unwrap();
    assert!(rebuild.lost().contains(&"workspaces"));
    rebuild.place(&first_placement()).unwrap();
    rebuild.apply(&first_log()).unwrap();
    rebuild.finish().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let id = first_placement().conversation_id;
    assert_eq!(texts(&store, &id).await.len(), 5);
}
