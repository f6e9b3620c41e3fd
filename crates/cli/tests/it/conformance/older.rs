//! A new Pylon on what an older build left: a database of the first format, beside a host of the first build.
//!
//! That host is played from `fixtures/host/v1.json`, which says for each command of a Pylon what it answers. It has no
//! capabilities, repeats no names where the first build did not, and refuses commands that came later.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

use super::house::{HOME, House};
use super::{SELENE, all_there};
use crate::host::stage::Agent;

const ANSWERS: &str = include_str!("../../../../../fixtures/host/v1.json");
/// Written once by the first build.
const DATABASE: &[u8] = include_bytes!("../../../../../fixtures/pylon/v1.db");
const CONVERSATION: &str = "conv-first-format";
const WORKSPACE: &str = "ws-first-format";

/// Answers one Pylon after another, as the first build did.
async fn play(listener: UnixListener) {
    while let Ok((connection, _)) = listener.accept().await {
        answer(connection).await;
    }
}

async fn answer(connection: UnixStream) {
    let answers: Value = serde_json::from_str(ANSWERS).unwrap();
    let (reading, mut writing) = connection.into_split();
    let mut lines = BufReader::new(reading).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let command: Value = serde_json::from_str(&line).unwrap();
        let kind = command["type"].as_str().unwrap();
        let known = answers.get(kind).unwrap_or(&answers["otherwise"]);
        for answer in known.as_array().unwrap() {
            let id = command["requestId"].as_str().unwrap_or_default();
            let line = answer.to_string().replace("$requestId", id);
            let line = line.replace("$type", kind) + "\n";
            if writing.write_all(line.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

fn put_database(data: &Path) {
    let store = data.join("pylon");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("pylon.db"), DATABASE).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pylon_goes_on_with_the_data_and_the_host_of_the_first_build() {
    let mut house = House::new(&Agent::Simulator, &[(SELENE, "Selene")]).await;
    let owner = house.app_token(HOME, "Owner", "view,prompt,approve,admin");
    let data = house.path("machine-1");
    put_database(&data);
    let mut host = JoinSet::new();
    host.spawn(play(UnixListener::bind(data.join("host.sock")).unwrap()));
    house.start_relay();
    house.start_pylon(SELENE);
    let mut owner = house.app(&owner).await;
    all_there(&mut owner, &[SELENE]).await;

    // What the older build wrote is there, with what its host has to add.
    let both = json!({"workspaceId": WORKSPACE, "conversationId": CONVERSATION});
    let id = json!(CONVERSATION);
    let mut page = Value::Null;
    while page["totalCount"] != 6 {
        page = owner.done(SELENE, "conversation_select", &both).await;
    }
    let entries = page["messages"].as_array().unwrap();
    assert_eq!(entries[0]["content"], "첫 번째 질문");
    assert_eq!(entries[5]["content"], "written while the Pylon was away");

    // It can be talked to.
    let message = json!({
        "workspaceId": WORKSPACE, "conversationId": CONVERSATION, "message": "go on", "clientMessageId": "m-1",
    });
    let sent = owner.done(SELENE, "claude_send", &message).await;
    assert_eq!(sent["seq"], 8);
    owner.event(&id, "text").await;
    owner.event(&id, "result").await;
    owner.status(&id, "idle").await;
    let page = owner.done(SELENE, "history_request", &both).await;
    assert_eq!(page["totalCount"], 9, "{page:#}");

    // What it cannot do is said, and nothing half is left.
    let fork = json!({"workspaceId": WORKSPACE, "conversationId": CONVERSATION, "beforeSeq": 8});
    let refused = owner.ask(SELENE, "conversation_fork", &fork).await;
    let refused = &refused["payload"];
    assert_eq!(refused["errorCode"], "unknown_type", "{refused}");
    let told = refused["error"].as_str().unwrap();
    assert!(told.contains("fork_session"), "{told}");
    let list = owner.done(SELENE, "workspace_list", &json!({})).await;
    let conversations = &list["workspaces"][0]["conversations"];
    assert_eq!(conversations.as_array().unwrap().len(), 1, "{list:#}");
    house.assert_calm();
}
