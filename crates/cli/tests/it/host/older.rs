//! A client of the first version of the host's IPC: what it says is understood, and what it must read is there.
//!
//! What it says and hears is in `fixtures/client/v1.json` and never changes. It passes over messages and fields that it does
//! not know; `$name` stands for a text of the test, or for one that was heard as `=name`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use estelle_host::Host;
use estelle_host::data::DataFolder;
use estelle_host::ipc::{Listener, serve};
use estelle_sim::script::Script;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::stage::{Agent, Stage};

const STEPS: &str = include_str!("../../../../../fixtures/client/v1.json");
const PATIENCE: Duration = Duration::from_mins(1);

type Names = BTreeMap<String, Value>;

/// What the client says, with the names in it replaced.
fn named(said: &Value, names: &Names) -> Value {
    match said {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => names[name].clone(),
            None => said.clone(),
        },
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), named(value, names)))
            .collect(),
        Value::Array(items) => items.iter().map(|item| named(item, names)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => said.clone(),
    }
}

/// Whether the client finds in a message what it looks for.
fn is_there(wanted: &Value, found: Option<&Value>, names: &mut Names) -> bool {
    match (wanted, found) {
        (Value::Null, found) => found.is_none_or(Value::is_null),
        (Value::String(text), Some(found)) if text.starts_with('=') => {
            names.insert(text[1..].to_owned(), found.clone());
            found.is_string()
        }
        (Value::Object(wanted), Some(found)) => wanted
            .iter()
            .all(|(key, value)| is_there(value, found.get(key), names)),
        (Value::Array(wanted), Some(Value::Array(found))) => {
            let mut pairs = wanted.iter().zip(found);
            wanted.len() == found.len()
                && pairs.all(|(one, other)| is_there(one, Some(other), names))
        }
        (wanted, found) => found == Some(wanted),
    }
}

/// A host that serves its socket for as long as the handle is held.
fn serving(stage: &Stage) -> AbortOnDropHandle<()> {
    let settings = stage.settings();
    let data = Arc::new(DataFolder::take(&settings.data).unwrap());
    let listener = Listener::bind(Arc::clone(&data)).unwrap();
    let host = Arc::new(Host::open(data, settings).unwrap());
    let serving = async move {
        serve(listener, host, CancellationToken::new()).await;
    };
    AbortOnDropHandle::new(TaskTracker::new().spawn(serving))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_first_version_still_works() {
    let stage = Stage::new(&Agent::Simulator).await;
    let _serving = serving(&stage);
    let file = stage.path("work").join("a.txt");
    let question = json!({"questions": [{
        "question": "Which size?", "header": "Size", "multiSelect": false,
        "options": [{"label": "S", "description": "small"}, {"label": "L", "description": "large"}],
    }]});
    let script = Script::new()
        .tool("Write", json!({"file_path": file, "content": "x"}))
        .tool("AskUserQuestion", question)
        .say("done");
    let mut names = Names::from([
        ("prompt".to_owned(), script.prompt().into()),
        ("folder".to_owned(), json!(stage.path("work"))),
    ]);
    let stream = UnixStream::connect(stage.path("data/host.sock"));
    let (from, mut to) = stream.await.unwrap().into_split();
    let mut lines = BufReader::new(from).lines();
    let steps: Vec<Value> = serde_json::from_str(STEPS).unwrap();
    for step in &steps {
        if let Some(said) = step.get("say") {
            let line = format!("{}\n", named(said, &names));
            to.write_all(line.as_bytes()).await.unwrap();
            continue;
        }
        let wanted = named(&step["hear"], &names);
        let mut passed = Vec::new();
        loop {
            let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
            let Ok(Ok(Some(line))) = line else {
                panic!("{wanted} was not heard, but\n{}", passed.join("\n"));
            };
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_there(&wanted, Some(&message), &mut names) {
                break;
            }
            passed.push(line);
        }
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x");
}
