//! The fixtures of `fixtures/fold` are what the wire carries: every event and page in them is read by these types, and
//! written again unchanged. What a conversation shows after them is checked by the web app.

use std::path::PathBuf;

use estelle_proto::ClaudeEvent;
use estelle_proto::history::HistoryResult;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn fixtures() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fold");
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, serde_json::from_str(&text).unwrap())
        })
        .collect()
}

/// A page of a fixture with what every page has.
fn whole_page(page: &Value) -> Value {
    let mut whole = json!({
        "deviceId": 1, "workspaceId": "ws", "conversationId": "conv", "messages": [], "offset": 0, "totalCount": 0,
        "hasMore": false, "success": true,
    });
    for (name, value) in page.as_object().unwrap() {
        whole[name] = value.clone();
    }
    whole
}

fn survives<T: Serialize + DeserializeOwned>(name: &str, value: &Value) {
    let read: T = serde_json::from_value(value.clone())
        .unwrap_or_else(|error| panic!("{name}: {error} in {value}"));
    assert_eq!(&serde_json::to_value(&read).unwrap(), value, "{name}");
}

#[test]
fn every_input_of_a_fold_fixture_is_what_the_wire_carries() {
    let fixtures = fixtures();
    assert!(fixtures.len() > 5, "the fixtures are gone");
    for (name, fixture) in fixtures {
        for input in fixture["input"].as_array().unwrap() {
            match (&input["event"], &input["page"]) {
                (event @ Value::Object(_), Value::Null) => survives::<ClaudeEvent>(&name, event),
                (Value::Null, page @ Value::Object(_)) => {
                    survives::<HistoryResult>(&name, &whole_page(page));
                }
                _ => panic!("{name}: an input is an event or a page, not {input}"),
            }
        }
    }
}
