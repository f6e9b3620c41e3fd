//! Files that go with a message, while the Pylon is killed in the middle of them.

use data_encoding::BASE64;
use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Talk;
use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;

const CHUNK: usize = 1024;

fn checksum(bytes: &[u8]) -> String {
    let sum = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    format!("sha256:{}", data_encoding::HEXLOWER.encode(sum.as_ref()))
}

/// Begins, and gives how far it came.
async fn start(talk: &mut Talk, bytes: &[u8]) -> Value {
    let payload = talk.payload(&json!({
        "blobId": "b1", "filename": "장미 roses.bin", "mimeType": "application/octet-stream",
        "totalSize": bytes.len(), "chunkSize": CHUNK, "totalChunks": bytes.len().div_ceil(CHUNK),
    }));
    talk.client.done("blob_start", payload).await
}

async fn chunk(talk: &mut Talk, bytes: &[u8], index: usize) -> Value {
    let piece = bytes.chunks(CHUNK).nth(index).unwrap();
    let payload = talk.payload(&json!({
        "blobId": "b1", "index": index, "data": BASE64.encode(piece),
    }));
    talk.client.done("blob_chunk", payload).await
}

async fn end(talk: &mut Talk, checksum: &str) -> Value {
    let payload = talk.payload(&json!({"blobId": "b1", "checksum": checksum}));
    talk.client.ask("blob_end", payload).await
}

/// What was said first, as the agent was told it.
async fn first(talk: &mut Talk) -> String {
    let payload = talk.payload(&json!({"limit": 50, "offset": 0}));
    let page = talk.client.done("history_request", payload).await;
    page["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_whole_though_the_pylon_is_killed_in_the_middle_of_it() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let bytes: Vec<u8> = (0..=250).cycle().take(5 * CHUNK + 7).collect();
    assert_eq!(start(&mut talk, &bytes).await["nextChunk"], 0);
    for index in 0..3 {
        chunk(&mut talk, &bytes, index).await;
    }
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    assert_eq!(start(&mut talk, &bytes).await["nextChunk"], 3);
    for index in 2..6 {
        chunk(&mut talk, &bytes, index).await;
    }
    let kept = end(&mut talk, &checksum(&bytes)).await;
    assert_eq!(kept["success"], true, "{kept}");
    let path = kept["path"].as_str().unwrap().to_owned();
    assert!(path.ends_with("/장미_roses.bin"), "{path}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // Nobody knows whether the answer arrived: asked again, it is the same, also by the next Pylon.
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    let again = end(&mut talk, &checksum(&bytes)).await;
    assert_eq!(again["fileId"], kept["fileId"]);
    talk.look().await;
    let prompt = Script::new().say("a rose").prompt();
    let payload = talk.payload(&json!({
        "message": prompt, "clientMessageId": "m1", "attachedFileIds": [kept["fileId"]],
    }));
    talk.client.brings_about("claude_send", payload).await;
    talk.client.event("result").await;
    let told = first(&mut talk).await;
    assert!(told.contains(&path), "{told}");
    // It goes with its conversation.
    let mut admin = machine.connect(&machine.terminal()).await;
    admin
        .done("conversation_delete", talk.payload(&json!({})))
        .await;
    assert!(!std::path::Path::new(&path).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_not_whole_reaches_no_agent() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let payload = talk.payload(&json!({"message": "x", "attachedFileIds": ["nothing"]}));
    let refused = talk.client.ask("claude_send", payload).await;
    assert_eq!(refused["errorCode"], "unknown_upload", "{refused}");
    let many: Vec<_> = (0..11).map(|index| index.to_string()).collect();
    let payload = talk.payload(&json!({"message": "x", "attachedFileIds": many}));
    let refused = talk.client.ask("claude_send", payload).await;
    assert_eq!(refused["errorCode"], "too_large", "{refused}");
    start(&mut talk, b"rose").await;
    let early = end(&mut talk, &checksum(b"rose")).await;
    assert_eq!(early["errorCode"], "conflict", "{early}");
    chunk(&mut talk, b"rose", 0).await;
    let wrong = end(&mut talk, &checksum(b"other")).await;
    assert_eq!(wrong["errorCode"], "conflict", "{wrong}");
    let gone = end(&mut talk, &checksum(b"rose")).await;
    assert_eq!(gone["errorCode"], "unknown_upload", "{gone}");
    for name in ["../x", "a/b", "", "a\u{0}b"] {
        let payload = talk.payload(&json!({
            "blobId": "b2", "filename": name, "mimeType": "text/plain", "totalSize": 1,
        }));
        let refused = talk.client.ask("blob_start", payload).await;
        assert_eq!(
            refused["errorCode"], "invalid_message",
            "{name:?}: {refused}"
        );
    }
    assert!(talk.history().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_attaches_files_in_the_terminal() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let id = talk.conversation.as_str().unwrap().to_owned();
    let file = machine.path("home/notes.txt");
    std::fs::write(&file, vec![b'x'; 150_000]).unwrap();
    let file = file.to_str().unwrap();
    let prompt = Script::new().say("read").prompt();
    let sent = ["send", id.as_str(), &prompt, "--attach", file, "--quiet"];
    run(&machine, &sent).with_code(0);
    let told = first(&mut talk).await;
    let path = told.lines().find(|line| line.contains("/notes.txt"));
    let path = path.unwrap_or_else(|| panic!("{told}"));
    let path = path.trim_start_matches("- ").rsplit_once(" (").unwrap().0;
    assert_eq!(std::fs::read(path).unwrap().len(), 150_000);
    let before = talk.history().await;
    let missing = run(&machine, &["send", &id, "x", "--attach", "/no/such/file"]);
    assert_ne!(missing.code, 0);
    assert!(missing.err.contains("/no/such/file"), "{missing:?}");
    let folder = run(&machine, &["send", &id, "x", "--attach", "/"]);
    assert!(folder.err.contains("it is no file"), "{folder:?}");
    assert_eq!(talk.history().await, before);
}

/// A relay closes the connection of an app that says more than it takes. It is never told so much.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_is_sent_no_faster_than_the_relay_takes_it() {
    let settings = [("ESTELLE_LOG", "info,estelle_relay=debug")];
    let machine = Machine::start_with(&Agent::Simulator, &settings).await;
    let talk = Talk::begin(&machine).await;
    let id = talk.conversation.as_str().unwrap().to_owned();
    let file = machine.path("home/large.bin");
    std::fs::write(&file, vec![7; 24 * 1024 * 1024]).unwrap();
    let prompt = Script::new().say("read").prompt();
    let file = file.to_str().unwrap();
    let sent = ["send", id.as_str(), &prompt, "--attach", file, "--quiet"];
    let sent = run(&machine, &sent).with_code(0);
    assert_eq!(sent.out, "read\n");
    let log = std::fs::read_to_string(machine.path("data/up.log")).unwrap();
    assert!(log.contains("estelle_relay"), "{log}");
    assert!(!log.contains("sends too much"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_2_1_325_reads_a_file_that_was_attached() {
    let machine = Machine::start(&Agent::Real(RealCli::v325().unwrap())).await;
    let mut talk = Talk::begin(&machine).await;
    let words = b"a rose is a rose\n";
    let wanted = talk.payload(&json!({
        "blobId": "b1", "filename": "장미 roses.txt", "mimeType": "text/plain",
        "totalSize": words.len(), "chunkSize": CHUNK, "totalChunks": 1,
    }));
    talk.client.done("blob_start", wanted).await;
    chunk(&mut talk, words, 0).await;
    let kept = end(&mut talk, &checksum(words)).await;
    let path = kept["path"].as_str().unwrap().to_owned();
    assert!(!path.starts_with(machine.path("work").to_str().unwrap()));
    let script = Script::new()
        .tool("Read", json!({"file_path": path}))
        .say("it is one");
    let payload = talk.payload(&json!({
        "message": script.prompt(), "clientMessageId": "m1", "attachedFileIds": [kept["fileId"]],
    }));
    talk.client.brings_about("claude_send", payload).await;
    let is = |frame: &Value, kind: &str| frame["payload"]["event"]["type"] == kind;
    let told = |frame: &Value| is(frame, "permission_request") || is(frame, "toolComplete");
    let mut frame = talk.client.until(told).await;
    if is(&frame, "permission_request") {
        let call = frame["payload"]["event"]["toolUseId"].clone();
        assert_eq!(talk.allow(&call).await["success"], true);
        frame = talk.client.until(|frame| is(frame, "toolComplete")).await;
    }
    let read = &frame["payload"]["event"];
    assert_eq!(read["success"], true, "{read}");
    assert!(read.to_string().contains("a rose is a rose"), "{read}");
    talk.client.event("result").await;
    let told = first(&mut talk).await;
    assert!(told.contains(&path), "{told}");
}
