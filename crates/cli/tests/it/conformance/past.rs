//! History by page and by number, the whole of a call, and what was used.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::claude::Talk;
use super::house::House;
use super::shape::check;
use super::table::Book;
use super::{Cast, SELENE};

pub(super) async fn chapter(house: &House, cast: &mut Cast, book: &mut Book) {
    let listed = cast.owner.ask(SELENE, "workspace_list", &json!({})).await;
    let workspace = listed["payload"]["workspaces"][0]["workspaceId"].clone();
    let talk = Talk::begin(&mut cast.owner, &workspace, "Past").await;
    usage(cast, &talk).await;
    book.shows("past", [51]);
    let long = house.work("one").join("past.txt");
    // A real CLI reads no more than two thousand lines and some hundred kilobytes at once.
    let (lines, words) = if house.is_real() {
        (1_500, 4)
    } else {
        (1, 40_000)
    };
    let line = format!("{}\n", "긴 글 ".repeat(words));
    std::fs::write(&long, line.repeat(lines)).unwrap();
    let script = Script::new()
        .tool("Read", json!({"file_path": long}))
        .say("read");
    talk.turn(&mut cast.owner, &script).await;
    let all = pages(cast, &talk).await;
    book.shows("past", [30, 31]);
    entries(&all);
    let call = all
        .iter()
        .find(|entry| entry["type"] == "tool_complete")
        .unwrap();
    detail(cast, &talk, &call["toolUseId"], lines * words).await;
    book.shows("past", [32]);
}

/// `pylon_status` after a result: its sums are those of all results there were.
async fn usage(cast: &mut Cast, talk: &Talk) {
    for _ in 0..2 {
        talk.turn(&mut cast.owner, &Script::new().say("used")).await;
        let events = cast.owner.since(0).map(|frame| &frame["payload"]["event"]);
        let results = events.filter(|event| event["type"] == "result");
        let output: u64 = results.map(written).sum();
        let is_it = |frame: &Value| {
            let payload = &frame["payload"];
            frame["type"] == "pylon_status"
                && payload["deviceId"] == SELENE
                && payload["claudeUsage"]["totalOutputTokens"] == output
        };
        let status = cast.viewer.until(is_it).await;
        let sums = json!({
            "totalCostUsd": "number", "totalInputTokens": "count", "totalOutputTokens": "count",
            "totalCacheReadTokens": "count", "totalCacheCreationTokens": "count",
            "sessionCount": "count", "lastUpdated": "iso",
        });
        let payload = json!({
            "deviceId": "count", "claudeUsage": sums, "deployReady": "bool", "hostConnected?": "bool",
            "version?": "id", "limits?": ["any"], "notifications?": "any",
        });
        check(&status["payload"], &payload);
        assert_eq!(status["broadcast"], "clients");
    }
}

/// What a turn wrote, of all models that it used.
fn written(result: &Value) -> u64 {
    let of = |used: &Value| used["usage"]["outputTokens"].as_u64().unwrap();
    let models = result["models"].as_array();
    models.map_or_else(|| of(result), |models| models.iter().map(of).sum())
}

/// Pages from the newest back, and by number in both directions: together they are the whole, each entry once.
async fn pages(cast: &mut Cast, talk: &Talk) -> Vec<Value> {
    let shape = json!({
        "deviceId": "count", "workspaceId": "id", "conversationId": "id", "messages": ["any"], "offset": "count",
        "totalCount": "count", "hasMore": "bool", "success?": "bool", "requestId?": "id", "epoch?": "count",
        "headSeq?": "count", "hasActiveSession?": "bool", "workStartTime?": "ms", "currentStatus?": "idle",
        "process?": super::places::process(),
    });
    let (mut by_offset, mut offset) = (Vec::new(), 0);
    loop {
        let wanted = talk.with(&json!({"limit": 3, "offset": offset}));
        let page = cast.phone.done(SELENE, "history_request", &wanted).await;
        check(&page, &shape);
        let entries = page["messages"].as_array().unwrap().clone();
        assert_eq!(page["offset"], offset);
        offset += entries.len();
        by_offset.splice(0..0, entries);
        assert_eq!(
            page["hasMore"],
            offset < usize::try_from(page["totalCount"].as_u64().unwrap()).unwrap()
        );
        if page["hasMore"] == false {
            break;
        }
    }
    let newest = cast
        .phone
        .done(SELENE, "history_request", &talk.with(&json!({})))
        .await;
    assert_eq!(
        newest["messages"],
        json!(by_offset),
        "fifty are enough for all"
    );
    let (mut by_number, mut before) = (Vec::new(), Value::Null);
    loop {
        let mut wanted = talk.with(&json!({"limit": 4, "epoch": newest["epoch"]}));
        if !before.is_null() {
            wanted["beforeSeq"] = before.clone();
        }
        let page = cast.phone.done(SELENE, "history_request", &wanted).await;
        check(&page, &shape);
        let entries = page["messages"].as_array().unwrap().clone();
        before = entries[0]["seq"].clone();
        by_number.splice(0..0, entries);
        if page["hasMore"] == false {
            break;
        }
    }
    assert_eq!(by_number, by_offset);
    let wanted = talk.with(&json!({"afterSeq": by_offset[1]["seq"], "limit": 2}));
    let after = cast.phone.done(SELENE, "history_request", &wanted).await;
    assert_eq!(after["messages"], json!(by_offset[2..4]));
    by_offset
}

/// Each kind of entry.
fn entries(all: &[Value]) {
    let usage = json!({
        "inputTokens": "count", "outputTokens": "count", "cacheReadInputTokens": "count",
        "cacheCreationInputTokens?": "count",
    });
    for entry in all {
        let mut shape = match entry["type"].as_str().unwrap() {
            "text" => {
                json!({
                    "role": "user|assistant", "content": "id", "clientMessageId?": "id", "deviceId?": "count",
                    "author?": {"deviceKey": "id", "name": "id"},
                })
            }
            "tool_start" => {
                json!({"toolName": "id", "toolInput": "any", "toolUseId?": "id", "truncated?": "bool"})
            }
            "tool_complete" => json!({
                "toolName": "id", "success": "bool", "output": "string", "error?": "id", "toolUseId?": "id",
                "truncated?": "bool",
            }),
            "result" => json!({
                "duration_ms": "count", "usage": usage, "subtype?": "id", "stop_reason?": "id", "cause?": "id",
                "total_cost_usd?": "number", "num_turns?": "count",
                "models?": [{"model": "id", "costUsd": "number", "usage": usage}],
            }),
            other => panic!("{other}"),
        };
        shape["type"] = entry["type"].clone();
        shape["timestamp"] = json!("ms");
        shape["seq?"] = json!("count");
        shape["parentToolUseId?"] = json!("id");
        check(entry, &shape);
    }
    let kinds: Vec<_> = all
        .iter()
        .map(|entry| format!("{} {}", entry["type"], entry["role"]))
        .collect();
    let turn = [
        "\"text\" \"user\"",
        "\"text\" \"assistant\"",
        "\"result\" null",
    ];
    let call = ["\"tool_start\" null", "\"tool_complete\" null"];
    let expected = [&turn[..], &turn, &turn[..1], &call, &turn[1..]].concat();
    assert_eq!(kinds, expected);
    let (start, end) = (&all[7], &all[8]);
    assert_eq!(start["toolUseId"], end["toolUseId"]);
    assert_eq!(end["truncated"], true, "the page has less than the whole");
}

/// All of a call, in pieces that fit together.
async fn detail(cast: &mut Cast, talk: &Talk, call: &Value, words: usize) {
    let id = cast.phone.new_id();
    let payload = json!({"conversationId": talk.id, "toolUseId": call, "requestId": id});
    cast.phone
        .send(&json!({"type": "tool_detail", "to": SELENE, "payload": payload}))
        .await;
    let mut parts = [String::new(), String::new()];
    loop {
        let piece = cast
            .phone
            .until(|frame| frame["payload"]["requestId"] == json!(id))
            .await;
        assert_eq!(piece["type"], "tool_detail_result");
        let shape = json!({
            "deviceId": "count", "conversationId": "id", "toolUseId": "id", "success": "bool", "part": "input|output",
            "chunk": "string", "offset": "count", "totalBytes": "count", "last": "bool", "requestId": "id",
        });
        let piece = &piece["payload"];
        check(piece, &shape);
        let part = usize::from(piece["part"] == "output");
        assert_eq!(piece["offset"], parts[part].len(), "in order");
        assert!(part == 1 || parts[1].is_empty(), "the input first");
        parts[part] += piece["chunk"].as_str().unwrap();
        if piece["last"] == true {
            assert_eq!(piece["totalBytes"], parts[part].len());
            break;
        }
    }
    let [input, output] = parts;
    let input: Value = serde_json::from_str(&input).unwrap();
    assert!(input["file_path"].as_str().unwrap().ends_with("past.txt"));
    assert_eq!(output.matches('긴').count(), words, "all of it");
}
