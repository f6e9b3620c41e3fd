//! A writer that is killed with -9 in the middle of its batches: nothing is lost, nothing is there twice.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use estelle_proto::{ConversationId, ConversationStatus, QueryText, Seq};
use estelle_pylon::store::{PageFrom, PageQuery, SearchQuery, Store};

use super::Bench;
use super::sample::Log;

const FOLDER: &str = "ESTELLE_TEST_KILLED_FOLDER";
const CONVERSATION: &str = "ESTELLE_TEST_KILLED_CONVERSATION";
const ROUNDS: usize = 12;

/// The child: goes on from the cursor for ever, and says after each batch how far it is.
#[tokio::test]
#[ignore = "started by the test below"]
async fn writer() {
    let (Ok(folder), Ok(id)) = (env::var(FOLDER), env::var(CONVERSATION)) else {
        return;
    };
    let id = ConversationId::parse(&id).unwrap();
    let store = Store::open(Path::new(&folder)).unwrap();
    let seq = store
        .cursor(id.clone())
        .await
        .unwrap()
        .map_or(0, |cursor| cursor.seq.0);
    let mut log = Log::at(&id, 1, seq);
    loop {
        let batch: Vec<_> = (0..7).map(|_| next(&mut log)).collect();
        store.apply(batch).await.unwrap();
        println!("at {}", log.seq);
    }
}

/// Every third event makes no entry, so that cursor and entries are not the same number.
fn next(log: &mut Log) -> estelle_proto::ipc::HostEvent {
    let number = log.seq + 1;
    if number.is_multiple_of(3) {
        log.state(ConversationStatus::Working)
    } else {
        log.says(&format!("entry {number}"))
    }
}

/// Starts a writer and kills it after some batches, wherever it is. Gives the last batch it had acknowledged.
fn killed_after(batches: usize, folder: &Path, id: &ConversationId) -> u64 {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "store::killed::writer",
            "--ignored",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .env(CONVERSATION, id.as_str())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = 0;
    let mut seen = 0;
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        if let Some(seq) = line.strip_prefix("at ").and_then(|text| text.parse().ok()) {
            acknowledged = seq;
            seen += 1;
            if seen == batches {
                // What was printed before the signal is still read.
                child.kill().unwrap();
            }
        }
    }
    child.wait().unwrap();
    acknowledged
}

async fn check(store: &Store, id: &ConversationId, acknowledged: u64) {
    let cursor = store.cursor(id.clone()).await.unwrap().unwrap();
    assert!(
        cursor.seq.0 >= acknowledged,
        "{cursor:?} after {acknowledged}"
    );
    let mut found = Vec::new();
    let mut after = Seq(0);
    loop {
        let query = PageQuery {
            conversation_id: id.clone(),
            workspace_id: None,
            limit: 200,
            from: PageFrom::After(after),
            epoch: None,
        };
        let page = store.page(query).await.unwrap();
        for message in page.messages {
            let json = serde_json::to_value(&message).unwrap();
            let seq = json["seq"].as_u64().unwrap();
            assert_eq!(json["content"], format!("entry {seq}"));
            after = Seq(seq);
            found.push(seq);
        }
        if !page.has_more {
            break;
        }
    }
    let expected: Vec<u64> = (1..=cursor.seq.0)
        .filter(|seq| !seq.is_multiple_of(3))
        .collect();
    assert_eq!(found, expected);
    // The index was written in the same transaction.
    let newest = expected.last().unwrap();
    let query = QueryText::parse(&format!("entry {newest}")).unwrap();
    let hits = store.search(SearchQuery::new(query)).await.unwrap().hits;
    assert!(
        hits.iter().any(|hit| hit.seq.0 == *newest),
        "{newest} in {hits:?}"
    );
}

#[tokio::test]
async fn a_killed_writer_leaves_every_row_once() {
    let bench = Bench::new().await;
    let id = bench.conversation.clone();
    let folder = bench.folder;
    bench.store.close().await;
    for round in 0..ROUNDS {
        let acknowledged = killed_after(1 + round * 3, folder.path(), &id);
        assert!(acknowledged > 0);
        let store = Store::open(folder.path()).unwrap();
        check(&store, &id, acknowledged).await;
        store.close().await;
    }
}
