//! Every route and every message, held against the description: each is called once with success and its answer has the
//! shape that `openapi.json` promises.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::client::{Api, Watcher};
use crate::conformance::files::{git, repository};
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// Why a value is not as a schema wants it; nothing if it is.
fn misfit(document: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = document.pointer(name.trim_start_matches('#')).unwrap();
        return misfit(document, schema, value, at);
    }
    if let Some(any) = schema["anyOf"].as_array() {
        let mut all = any.iter().map(|one| misfit(document, one, value, at));
        let fits = all.any(|one| one.is_none());
        return (!fits).then(|| format!("{at}: {value} fits none"));
    }
    if let Some(list) = schema["enum"].as_array() {
        return (!list.contains(value)).then(|| format!("{at}: {value} is none of {list:?}"));
    }
    let named = &schema["type"];
    let several = named.as_array().into_iter().flatten();
    let kinds: Vec<&str> = std::iter::once(named)
        .chain(several)
        .filter_map(Value::as_str)
        .collect();
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = kinds.contains(&kind) || kind == "integer" && kinds.contains(&"number");
    if !kinds.is_empty() && !fits {
        return Some(format!("{at}: {value} is no {kinds:?}"));
    }
    let members = value.as_object().into_iter().flatten();
    for (name, member) in members {
        let at = format!("{at}.{name}");
        let inner = &schema["properties"][name];
        if inner.is_null() && schema["additionalProperties"] == false {
            return Some(format!("{at} is not described"));
        }
        let why = misfit(document, inner, member, &at).filter(|_| !inner.is_null());
        if why.is_some() {
            return why;
        }
    }
    if value.is_object() {
        let wanted = schema["required"].as_array().into_iter().flatten();
        for name in wanted.filter_map(Value::as_str) {
            if value.get(name).is_none() {
                return Some(format!("{at}.{name} is missing"));
            }
        }
    }
    let items = value.as_array().into_iter().flatten();
    items.enumerate().find_map(|(index, item)| {
        misfit(document, &schema["items"], item, &format!("{at}[{index}]"))
    })
}

/// Somebody who calls routes and remembers which.
struct Walk {
    api: Api,
    document: Value,
    done: BTreeSet<(String, String)>,
}

impl Walk {
    /// Calls a route. What comes back must be described, and be a success.
    async fn call(&mut self, method: &str, route: &str, path: &str, body: Option<Value>) -> Value {
        let answer = self.api.call(&format!("{method} {path}"), body).await;
        assert!(
            (200..300).contains(&answer.status),
            "{method} {path}: {answer:?}"
        );
        let operation = &self.document["paths"][route][method.to_lowercase()];
        let described = &operation["responses"][answer.status.to_string()];
        assert!(described.is_object(), "{method} {route} {}", answer.status);
        let schema = &described["content"]["application/json"]["schema"];
        let told = answer.json();
        if schema.is_object() {
            let why = misfit(&self.document, schema, &told, "body");
            assert_eq!(why, None, "{method} {route}: {told}");
        }
        self.done.insert((method.to_owned(), route.to_owned()));
        told
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

async fn sessions(walk: &mut Walk, machine: &Machine) -> String {
    let wanted = json!({"name": "Project", "path": machine.path("work")});
    let made = walk
        .call("POST", "/api/workspaces", "/api/workspaces", Some(wanted))
        .await;
    let workspace = text(&made["workspace"]["id"]);
    walk.call("GET", "/api/workspaces", "/api/workspaces", None)
        .await;
    let wanted = json!({"workspace_id": workspace, "name": "Second"});
    let made = walk
        .call("POST", "/api/sessions", "/api/sessions", Some(wanted))
        .await;
    let session = text(&made["session"]["id"]);
    walk.call("GET", "/api/sessions", "/api/sessions", None)
        .await;
    let (one, path) = ("/api/sessions/{id}", format!("/api/sessions/{session}"));
    walk.call("PATCH", one, &path, Some(json!({"name": "Other"})))
        .await;
    let mut watcher = walk.api.watch(&session, "").await;
    let file = machine.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": file, "content": "x"}))
        .say("marigold")
        .prompt();
    let route = |name: &str| (format!("{one}/{name}"), format!("{path}/{name}"));
    let (input, at) = route("input");
    let wanted = json!({"content": script});
    walk.call("POST", &input, &at, Some(wanted)).await;
    let asked = watcher.kind("permission_request").await;
    walk.call("GET", one, &path, None).await;
    let (approve, at) = route("approve");
    let wanted = json!({"action": "approve", "permission_id": asked["permission"]["request_id"]});
    walk.call("POST", &approve, &at, Some(wanted)).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    let (messages, at) = route("messages");
    walk.call("GET", &messages, &at, None).await;
    let (events, at) = route("events");
    let told = walk
        .call("GET", &events, &format!("{at}?after_seq=0"), None)
        .await;
    assert_eq!(told["events"][0]["content"], "marigold", "{told}");
    walk.call("GET", "/api/search", "/api/search?q=marigold", None)
        .await;
    for name in ["stop", "resume"] {
        let (name, at) = route(name);
        walk.call("POST", &name, &at, None).await;
    }
    walk.call("DELETE", one, &path, None).await;
    workspace
}

async fn tasks_and_terminals(walk: &mut Walk, machine: &Machine, workspace: &str) {
    let (tasks, worker) = ("/api/workspaces/{id}/tasks", "/api/workspaces/{id}/worker");
    let at = tasks.replace("{id}", workspace);
    let wanted = json!({"title": "Weed", "content": Script::new().say("weeded").prompt()});
    let made = walk.call("POST", tasks, &at, Some(wanted)).await;
    walk.call("GET", tasks, &at, None).await;
    let one = format!("{tasks}/{{task}}");
    let of_one = format!("{at}/{}", text(&made["task"]["id"]));
    walk.call("GET", &one, &of_one, None).await;
    let failed = json!({"status": "failed", "error": "no time"});
    walk.call("PATCH", &one, &of_one, Some(failed)).await;
    let pending = json!({"status": "pending"});
    walk.call("PATCH", &one, &of_one, Some(pending)).await;
    let at = worker.replace("{id}", workspace);
    walk.call("POST", worker, &at, Some(json!({"action": "start"})))
        .await;
    walk.call("GET", worker, &at, None).await;
    let wanted = json!({"kind": "shell", "cols": 80, "rows": 24, "path": machine.path("work")});
    let terminals = "/api/terminals";
    let made = walk.call("POST", terminals, terminals, Some(wanted)).await;
    walk.call("GET", terminals, terminals, None).await;
    let at = format!("{terminals}/{}", text(&made["terminal"]["id"]));
    walk.call("DELETE", "/api/terminals/{id}", &at, None).await;
}

/// A worktree that is merged and removed, and what the agent has saved.
async fn worktrees_and_saved(walk: &mut Walk, machine: &Machine, workspace: &str) {
    std::fs::write(machine.path("work/base.txt"), "one\n").unwrap();
    repository(&machine.path("work"));
    let wanted = json!({"workspace_id": workspace, "name": "Apart", "worktree": {}});
    let all = "/api/sessions";
    let made = walk.call("POST", all, all, Some(wanted)).await;
    let folder = PathBuf::from(text(&made["session"]["worktree_path"]));
    std::fs::write(folder.join("new.txt"), "new\n").unwrap();
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "new"]);
    let of = |route: &str| route.replace("{id}", &text(&made["session"]["id"]));
    let route = "/api/sessions/{id}/worktree/merge";
    let merged = walk.call("POST", route, &of(route), None).await;
    assert_eq!(merged["commits"], 1, "{merged}");
    assert!(machine.path("work/new.txt").exists());
    let route = "/api/sessions/{id}/worktree";
    let removed = walk.call("DELETE", route, &of(route), None).await;
    assert_eq!(removed["kept_branches"], json!([]));
    assert!(!folder.exists());

    let route = "/api/workspaces/{id}/saved";
    let at = route.replace("{id}", workspace);
    let list = walk.call("GET", route, &at, None).await;
    let saved = list["saved"][0]["resume_session_id"].clone();
    let wanted = json!({"resume_session_id": saved, "name": "Again"});
    let made = walk.call("POST", route, &at, Some(wanted)).await;
    assert_ne!(made["session"]["resume_session_id"], saved);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_called_and_answers_as_it_is_described() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let document = api.plain("GET /api/openapi.json", "", "").await.json();
    let mut walk = Walk {
        api,
        document,
        done: BTreeSet::new(),
    };
    let workspace = sessions(&mut walk, &machine).await;
    // Before the worker works in the folder, into which nothing could be merged then.
    worktrees_and_saved(&mut walk, &machine, &workspace).await;
    tasks_and_terminals(&mut walk, &machine, &workspace).await;
    let mode = json!({"permission_mode": "plan"});
    walk.call("PATCH", "/api/settings", "/api/settings", Some(mode))
        .await;
    for path in [
        "health",
        "openapi.json",
        "docs",
        "version",
        "settings",
        "devices",
    ] {
        let path = format!("/api/{path}");
        walk.call("GET", &path, &path, None).await;
    }
    for group in ["day", "session", "model"] {
        let path = format!("/api/usage?group_by={group}");
        let used = walk.call("GET", "/api/usage", &path, None).await;
        assert!(!used["rows"].as_array().unwrap().is_empty(), "{used}");
    }
    let path = format!("/api/workspaces/{workspace}");
    walk.call("DELETE", "/api/workspaces/{id}", &path, None)
        .await;
    let mut described = BTreeSet::new();
    for (path, item) in walk.document["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap().keys();
        let methods = methods.filter(|name| *name != "parameters");
        described.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
    }
    assert_eq!(walk.done, described, "every route was called");
}

/// The members of each message that comes down, beside `type`; those in brackets may be absent.
const MEMBERS: [(&str, &[&str], &[&str]); 9] = [
    ("output", &["content", "final"], &["seq", "epoch"]),
    ("permission_request", &["permission"], &["seq", "epoch"]),
    (
        "permission_resolved",
        &["request_id"],
        &["decision", "answered_by", "seq", "epoch"],
    ),
    ("status_change", &["status"], &[]),
    (
        "error",
        &["content"],
        &["code", "about", "exit_code", "seq", "epoch"],
    ),
    (
        "process_paused",
        &[
            "sessionId",
            "reason",
            "idleMinutes",
            "canResume",
            "seq",
            "epoch",
        ],
        &[],
    ),
    (
        "process_resumed",
        &["sessionId", "resumedWithHistory", "seq", "epoch"],
        &[],
    ),
    ("accepted", &["client_message_id"], &[]),
    ("caught_up", &[], &["seq", "epoch"]),
];

fn check(watcher: &Watcher) -> BTreeSet<String> {
    let known: BTreeMap<_, _> = MEMBERS
        .iter()
        .map(|(kind, all, may)| (*kind, (all, may)))
        .collect();
    let mut kinds = BTreeSet::new();
    for message in &watcher.seen {
        let kind = text(&message["type"]);
        let (all, may) = known
            .get(kind.as_str())
            .unwrap_or_else(|| panic!("{message}"));
        let names: BTreeSet<&str> = message
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let allowed = |name: &&str| *name == "type" || all.contains(name) || may.contains(name);
        assert!(names.iter().all(allowed), "{message}");
        assert!(all.iter().all(|name| names.contains(name)), "{message}");
        kinds.insert(kind);
    }
    kinds
}

/// The others are `idle_warning` and `server_shutdown`, which have tests of their own.
#[tokio::test(flavor = "multi_thread")]
async fn every_message_has_the_members_it_should() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let file = machine.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": file, "content": "x"}))
        .say("marigold")
        .prompt();
    watcher
        .say(json!({"type": "input", "content": script}))
        .await;
    let asked = watcher.kind("permission_request").await;
    let mut names: Vec<&String> = asked["permission"].as_object().unwrap().keys().collect();
    names.retain(|name| *name != "reason");
    assert_eq!(names, ["action", "details", "input_hash", "request_id"]);
    let answer = json!({"type": "approve", "request_id": asked["permission"]["request_id"]});
    watcher.say(answer).await;
    watcher
        .until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    watcher.status("waiting_input").await;
    for name in ["stop", "resume"] {
        let line = format!("POST /api/sessions/{session}/{name}");
        api.done(&line, None).await;
    }
    watcher.kind("process_resumed").await;
    watcher
        .say(json!({"type": "deny", "request_id": "toolu_never"}))
        .await;
    watcher.kind("error").await;
    let expected: BTreeSet<String> = MEMBERS
        .iter()
        .map(|(kind, ..)| (*kind).to_owned())
        .collect();
    assert_eq!(check(&watcher), expected);
}
