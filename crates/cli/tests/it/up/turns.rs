//! What the tools of a turn changed, as a device asks for it.

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Talk;
use super::stage::Machine;
use crate::host::stage::Agent;

fn is_event(frame: &Value, kind: &str) -> bool {
    frame["payload"]["event"]["type"] == kind
}

/// The next thing of this kind from a place on: where it is, and its event.
async fn next(talk: &mut Talk, from: usize, kinds: &[&str]) -> (usize, Value) {
    let wanted = |frame: &Value| kinds.iter().any(|kind| is_event(frame, kind));
    let place = talk.client.place(from, wanted).await;
    (
        place + 1,
        talk.client.seen[place]["payload"]["event"].clone(),
    )
}

/// Sends a script, lets every call run that is asked about, and waits for the end.
async fn turn(talk: &mut Talk, script: &Script, name: &str) {
    let mut from = talk.client.seen.len();
    talk.send(&script.prompt(), name).await;
    loop {
        let (after, event) = next(talk, from, &["permission_request", "result"]).await;
        if event["type"] == "result" {
            return;
        }
        let allowed = talk.allow(&event["toolUseId"]).await;
        assert_eq!(allowed["success"], true, "{allowed}");
        from = after;
    }
}

async fn changes(talk: &mut Talk, seq: &Value) -> Value {
    let payload = talk.payload(&json!({"seq": seq}));
    talk.client.done("turn_changes", payload).await
}

/// The entries of history with their numbers.
async fn entries(talk: &mut Talk) -> Vec<Value> {
    let payload = talk.payload(&json!({"limit": 50, "offset": 0}));
    let page = talk.client.done("history_request", payload).await;
    page["messages"].as_array().unwrap().clone()
}

async fn the_changes_of_each_turn(agent: &Agent) {
    let machine = Machine::start(agent).await;
    let mut talk = Talk::begin(&machine).await;
    let file = machine.path("work/a.txt");
    let content = "one\ntwo\nthree\n";
    let write = json!({"file_path": &file, "content": content});
    let first = Script::new().tool("Write", write).say("written");
    turn(&mut talk, &first, "m1").await;
    let edit =
        |old: &str, new: &str| json!({"file_path": &file, "old_string": old, "new_string": new});
    let second = Script::new()
        .tool("Edit", edit("two\nthree", "2\nthree"))
        .tool("Edit", edit("nowhere to be found", "x"))
        .tool(
            "Bash",
            json!({"command": "rm -f never-there", "description": "x"}),
        )
        .say("edited");
    turn(&mut talk, &second, "m2").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n2\nthree\n");

    let entries = entries(&mut talk).await;
    let of = |kind: &str| {
        let all = entries.iter().filter(|entry| entry["type"] == kind);
        all.map(|entry| entry["seq"].clone()).collect::<Vec<_>>()
    };
    let users = entries.iter().filter(|entry| entry["role"] == "user");
    let users: Vec<_> = users.map(|entry| entry["seq"].clone()).collect();
    let results = of("result");
    // By the message that began it, and by the result that ended it.
    for seq in [&users[0], &results[0]] {
        let found = changes(&mut talk, seq).await;
        assert_eq!(found["fromSeq"], users[0], "{found}");
        assert_eq!(found["toSeq"], results[0], "{found}");
        assert_eq!(found["running"], Value::Null);
        let expected = json!([{
            "path": "a.txt", "calls": 1, "insertions": 3, "deletions": 0, "written": true,
            "diff": "@@ written whole @@\n+one\n+two\n+three\n",
        }]);
        assert_eq!(found["files"], expected);
    }
    for seq in [&users[1], &of("tool_complete")[2], &results[1]] {
        let found = changes(&mut talk, seq).await;
        assert_eq!(found["fromSeq"], users[1], "{found}");
        let expected = json!([{
            "path": "a.txt", "calls": 1, "insertions": 1, "deletions": 1,
            "diff": "@@ @@\n-two\n+2\n three\n",
        }]);
        assert_eq!(found["files"], expected, "what failed is not in it");
        assert_eq!(found["otherCalls"], 1, "the command is counted");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_of_each_turn_are_told() {
    the_changes_of_each_turn(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_of_each_turn_are_told_197() {
    the_changes_of_each_turn(&Agent::Real(RealCli::v197().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_changes_of_each_turn_are_told_325() {
    the_changes_of_each_turn(&Agent::Real(RealCli::v325().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_goes_on_says_so_and_what_was_refused_is_not_in_it() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    let payload = talk.payload(&json!({"seq": 1}));
    let none = talk.client.ask("turn_changes", payload).await;
    assert_eq!(none["errorCode"], "invalid_message", "{none}");
    let write = |name: &str| json!({"file_path": machine.path(name), "content": "k=1\n"});
    let script = Script::new()
        .tool("Write", write("work/.env"))
        .tool("Write", write("work/a.txt"))
        .tool("Write", write("work/b.txt"))
        .say("done");
    let from = talk.client.seen.len();
    talk.send(&script.prompt(), "m1").await;
    let (from, asked) = next(&mut talk, from, &["permission_request"]).await;
    talk.allow(&asked["toolUseId"]).await;
    let (from, asked) = next(&mut talk, from, &["permission_request"]).await;
    // The first was refused by the policy, the second has run, the third waits.
    let seq = entries(&mut talk).await[0]["seq"].clone();
    let found = changes(&mut talk, &seq).await;
    assert_eq!(found["running"], true, "{found}");
    let expected = json!([{
        "path": "a.txt", "calls": 1, "insertions": 1, "deletions": 0, "written": true,
        "diff": "@@ written whole @@\n+k=1\n",
    }]);
    assert_eq!(found["files"], expected);
    talk.allow(&asked["toolUseId"]).await;
    next(&mut talk, from, &["result"]).await;
    let found = changes(&mut talk, &seq).await;
    assert_eq!(found["files"].as_array().unwrap().len(), 2, "{found}");

    let elsewhere = json!({"workspaceId": talk.workspace, "conversationId": "none", "seq": 1});
    let refused = talk.client.ask("turn_changes", elsewhere).await;
    assert_eq!(refused["errorCode"], "unknown_conversation", "{refused}");
    let mut viewer = machine.connect(&machine.viewer).await;
    let payload = talk.payload(&json!({"seq": 1}));
    let refused = viewer.ask("turn_changes", payload).await;
    assert_eq!(refused["errorCode"], "forbidden", "{refused}");
}
