//! The WebSocket of a session: what is told, once and in order, also to somebody who comes back.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::client::Api;
use crate::host::stage::Agent;
use crate::up::half_said;
use crate::up::stage::Machine;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_comes_in_pieces_and_once() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    // A client that cannot send headers says who it is first.
    let path = format!("/ws/sessions/{session}");
    let socket = api.knock(&path, &[]).await.unwrap();
    let mut watcher = super::client::Watcher {
        socket,
        seen: Vec::new(),
    };
    watcher
        .say(json!({"type": "auth", "token": api.token}))
        .await;
    watcher.status("waiting_input").await;
    let script = Script::new().think_and_say("hm", "one two three").prompt();
    let input = json!({"type": "input", "content": script, "client_message_id": "m1"});
    watcher.say(input).await;
    assert_eq!(watcher.kind("accepted").await["client_message_id"], "m1");
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    assert_eq!(watcher.text(), "one two three");
    let kinds = ["output", "status_change", "caught_up", "accepted"];
    let others = watcher
        .seen
        .iter()
        .find(|m| !kinds.contains(&m["type"].as_str().unwrap()));
    assert_eq!(others, None, "results and echoes never reach a client");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_misses_nothing_and_hears_nothing_twice() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let line = format!("POST /api/sessions/{session}/input");
    let script = Script::new().say("first").prompt();
    api.done(&line, Some(json!({"content": script}))).await;
    let done = watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    let (seq, epoch) = (&done["seq"], &done["epoch"]);
    watcher.status("waiting_input").await;
    drop(watcher);
    let script = Script::new().say("missed").prompt();
    api.done(&line, Some(json!({"content": script}))).await;
    api.done(
        &line,
        Some(json!({"content": half_said("one two three four")})),
    )
    .await;
    // Somebody in the middle of a text has it so far, and goes on from there.
    let query = format!("?after_seq={seq}&epoch={epoch}");
    let mut back = api.watch(&session, &query).await;
    back.until(|m| {
        m["content"]
            .as_str()
            .is_some_and(|text| text.starts_with("one"))
    })
    .await;
    machine.open_gate("half");
    back.until(|m| {
        m["type"] == "output"
            && m["final"] == true
            && !m["content"].as_str().unwrap().contains("missed")
    })
    .await;
    back.status("waiting_input").await;
    assert_eq!(back.text(), "missedone two three four");
    // A cursor of another life is told so.
    let mut stale = api.watch(&session, "?after_seq=1&epoch=999999").await;
    assert_eq!(stale.kind("error").await["code"], "stale_cursor");
    // Without a cursor nothing is told again.
    let mut fresh = api.watch(&session, "").await;
    fresh.status("waiting_input").await;
    fresh
        .say(json!({"type": "deny", "request_id": "toolu_never"}))
        .await;
    fresh.kind("error").await;
    assert_eq!(fresh.text(), "");
}

/// Whoever takes the place of each message that has one as its cursor, as a client does.
fn cursor(seen: &[Value]) -> Option<String> {
    let placed = seen.iter().rev().find(|m| m["seq"].is_u64())?;
    let epoch = placed["epoch"].as_u64();
    let epoch = epoch.map(|epoch| format!("&epoch={epoch}"));
    Some(format!(
        "?after_seq={}{}",
        placed["seq"],
        epoch.unwrap_or_default()
    ))
}

/// A connection may break after any message, also before anything missed was told.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_cut_after_its_first_message_loses_nothing() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    // Somebody who came before anything was said has a cursor as well.
    let mut early = api.watch(&session, "").await;
    early.kind("caught_up").await;
    let before = cursor(&early.seen).unwrap();
    let mut watcher = api.watch(&session, "").await;
    let line = format!("POST /api/sessions/{session}/input");
    for said in ["first", "missed", "missed too"] {
        let script = Script::new().say(said).prompt();
        api.done(&line, Some(json!({"content": script}))).await;
        let is_said = |m: &Value| m["type"] == "output" && m["final"] == true;
        watcher.until(is_said).await;
        watcher.status("waiting_input").await;
    }
    let mut seen = early.seen;
    drop(early.socket);
    // Each of these connections breaks after one message more.
    for length in 1.. {
        let query = cursor(&seen).unwrap();
        let mut back = api.watch(&session, &query).await;
        let mut is_caught_up = false;
        for _ in 0..length {
            back.next().await.unwrap();
            is_caught_up |= back.seen.last().unwrap()["type"] == "caught_up";
            if is_caught_up {
                break;
            }
        }
        seen.append(&mut back.seen);
        if is_caught_up {
            break;
        }
    }
    let said = seen.iter().filter_map(|m| m["content"].as_str());
    assert_eq!(said.collect::<Vec<_>>(), ["first", "missed", "missed too"]);

    // Over REST the same is told.
    let line = format!("GET /api/sessions/{session}/events");
    let page = api.done(&format!("{line}{before}"), None).await;
    let told = seen.iter().filter(|m| m["type"] == "output");
    assert_eq!(page["events"], json!(told.collect::<Vec<_>>()));
    assert_eq!(
        (&page["status"], &page["has_more"]),
        (&json!("waiting_input"), &json!(false))
    );
    let after = format!("?after_seq={}&epoch={}", page["seq"], page["epoch"]);
    assert_eq!(
        Some(after.clone()),
        cursor(&seen),
        "one cursor for both ways"
    );
    let page = api.done(&format!("{line}{after}"), None).await;
    assert_eq!(page["events"], json!([]));
    let stale = api
        .refused(&format!("{line}?after_seq=1&epoch=9"), None)
        .await;
    assert_eq!(stale, (409, "stale_cursor".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_go_up_over_the_socket() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    for (verdict, name) in [("approve", "a.txt"), ("deny", "b.txt")] {
        let file = machine.path("work").join(name);
        let script = Script::new()
            .tool("Write", json!({"file_path": &file, "content": "x"}))
            .say("so be it");
        watcher
            .say(json!({"type": "input", "content": script.prompt()}))
            .await;
        let asked = watcher.kind("permission_request").await;
        let id = asked["permission"]["request_id"].clone();
        // Somebody who comes only now is asked as well.
        let mut late = api.watch(&session, "").await;
        assert_eq!(
            late.kind("permission_request").await["permission"]["request_id"],
            id
        );
        watcher
            .say(json!({"type": verdict, "request_id": id}))
            .await;
        assert_eq!(late.kind("permission_resolved").await["request_id"], id);
        watcher
            .until(|m| m["type"] == "output" && m["final"] == true)
            .await;
        watcher.status("waiting_input").await;
        assert_eq!(file.exists(), verdict == "approve");
    }
    for bad in ["no json", "{}", r#"{"type":"fly"}"#] {
        let text = tokio_tungstenite::tungstenite::Message::text(bad);
        futures_util::SinkExt::send(&mut watcher.socket, text)
            .await
            .unwrap();
        assert_eq!(watcher.kind("error").await["code"], "invalid_message");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_permission_outlives_kill_9_of_the_pylon() {
    let mut machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let file = machine.path("work/kept.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("it is kept");
    watcher
        .say(json!({"type": "input", "content": script.prompt()}))
        .await;
    let asked = watcher.kind("permission_request").await;
    let id = asked["permission"]["request_id"].clone();
    let seq = asked["seq"].clone();
    machine.kill_up();
    assert!(watcher.end().await.is_none(), "cut off without a word");
    machine.up();
    let api = Api::of(&machine);
    let mut back = api.watch(&session, &format!("?after_seq={seq}")).await;
    let again = back.kind("permission_request").await;
    assert_eq!(again["permission"]["request_id"], id);
    assert!(!file.exists());
    let answer = json!({"action": "approve", "permission_id": id});
    api.done(
        &format!("POST /api/sessions/{session}/approve"),
        Some(answer),
    )
    .await;
    back.until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    assert!(file.exists());
    assert_eq!(back.text(), "it is kept");
}
