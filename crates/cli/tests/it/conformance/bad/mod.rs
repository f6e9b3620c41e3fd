//! What no client should send, to the running programs: every field of every request missing, `null`, of the wrong type
//! or too long; keys twice; unknown types; requests without the right, or about what is not there.
//!
//! The cases are made from the schema of the protocol, so that a new field is tried as soon as it is there. Each is
//! answered with a typed error that names the request; the connection goes on; the machine stays as it was.

mod requests;
mod sound;

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::claude::Talk;
use super::house::{HOME, House};
use super::probe::Probe;
use super::{SELENE, all_there};
use crate::host::stage::Agent;
use requests::Requests;

/// What the machine tells of itself: everything that a request could have changed.
async fn state(probe: &mut Probe, talk: &Talk) -> Vec<Value> {
    let mut state = Vec::new();
    for (kind, payload) in [
        ("workspace_list", json!({})),
        ("history_request", talk.with(&json!({"limit": 200}))),
        ("usage_request", json!({"groupBy": "conversation"})),
        ("rules_request", json!({})),
        ("notifications_request", json!({})),
        ("budget_request", json!({})),
        ("terminal_list", json!({})),
    ] {
        let mut told = probe.done(SELENE, kind, &payload).await;
        told["requestId"] = Value::Null;
        state.push(told);
    }
    state
}

/// Requests under way at once.
const AT_ONCE: usize = 32;
/// Requests of one connection: the relay takes a thousand at once.
const OF_A_CONNECTION: usize = 600;

/// The answer to a request, unless it is a refusal with one of these codes.
async fn not_refused(probe: &mut Probe, id: &str, codes: &[&str]) -> Option<Value> {
    let answer = probe.answer(id).await;
    let payload = &answer["payload"];
    let is_refusal = answer["type"] == "error" || payload["success"] == false;
    let is_told = payload["error"]
        .as_str()
        .is_some_and(|text| !text.is_empty());
    let is_typed = codes.iter().any(|code| payload["errorCode"] == *code);
    (!(is_refusal && is_told && is_typed)).then_some(answer)
}

/// A machine with a conversation that has a past, somebody who may do everything, and one who may only look.
struct Scene {
    house: House,
    owner: Probe,
    /// The secret of the owner.
    own: String,
    /// The secrets of a device that may only look, and of one in another realm.
    viewer: String,
    elsewhere: String,
    talk: Talk,
    /// Another workspace than the conversation's.
    second: Value,
    requests: Requests,
}

impl Scene {
    async fn new() -> Self {
        let mut house = House::new(&Agent::Simulator, &[(SELENE, "Selene")]).await;
        let own = house.app_token(HOME, "Owner", "view,prompt,approve,terminal,admin");
        let viewer = house.app_token(HOME, "Viewer", "view");
        let all = "view,prompt,approve,terminal,admin";
        let elsewhere = house.app_token("elsewhere", "Neighbour", all);
        house.start();
        let mut owner = house.app(&own).await;
        all_there(&mut owner, &[SELENE]).await;
        let folder = json!(house.work("one"));
        let second = json!({"name": "Second", "workingDir": house.work("two")});
        let second = owner.done(SELENE, "workspace_create", &second).await;
        let made = json!({"name": "Project", "workingDir": folder});
        let made = owner.done(SELENE, "workspace_create", &made).await;
        let talk = Talk {
            workspace: made["workspace"]["workspaceId"].clone(),
            id: made["conversation"]["conversationId"].clone(),
        };
        let look = talk.with(&json!({}));
        owner.done(SELENE, "conversation_select", &look).await;
        let file = house.work("one").join("a.txt");
        std::fs::write(&file, "text").unwrap();
        let script = Script::new()
            .tool("Read", json!({"file_path": file}))
            .say("read");
        let mark = talk.turn(&mut owner, &script).await;
        let call = talk.events(&owner, mark, "toolInfo")[0]["toolUseId"].clone();
        Self {
            own,
            viewer,
            elsewhere,
            requests: Requests::new(&talk, &call, &folder),
            second: second["workspace"]["workspaceId"].clone(),
            house,
            owner,
            talk,
        }
    }

    /// Tries frames of the owner, over connections that stay below what the relay takes of one in a short time.
    async fn try_all(&mut self, mut frames: Vec<(Value, &[&str])>) {
        while !frames.is_empty() {
            let rest = frames.split_off(frames.len().min(OF_A_CONNECTION));
            try_all(&mut self.owner, frames).await;
            frames = rest;
            self.owner = self.house.app(&self.own).await;
            all_there(&mut self.owner, &[SELENE]).await;
            let look = self.talk.with(&json!({}));
            self.owner.done(SELENE, "conversation_select", &look).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_wrong_is_carried_out() {
    let mut scene = Scene::new().await;
    let before = state(&mut scene.owner, &scene.talk).await;
    every_field(&mut scene).await;
    envelopes(&mut scene).await;
    not_there(&mut scene).await;
    without_the_right(&mut scene).await;
    assert_eq!(state(&mut scene.owner, &scene.talk).await, before);
    let reports = scene.house.data(SELENE).join("bug-reports.jsonl");
    assert!(!reports.exists(), "a report that is wrong was kept");
    a_name_that_is_taken(&mut scene).await;
    // It works as before.
    scene
        .talk
        .turn(&mut scene.owner, &Script::new().say("on"))
        .await;
    scene.house.assert_calm();
}

/// Tries frames, each with the codes that may answer it, and fails with all that were not refused.
async fn try_all(probe: &mut Probe, frames: Vec<(Value, &[&str])>) {
    let mut wrong = Vec::new();
    for some in frames.chunks(AT_ONCE) {
        let mut waiting = Vec::new();
        for (frame, codes) in some {
            let (mut frame, id) = (frame.clone(), probe.new_id());
            frame["requestId"] = json!(id);
            if let Some(payload) = frame["payload"].as_object_mut() {
                payload.entry("requestId").or_insert(json!(id));
            }
            probe.send(&frame).await;
            waiting.push((id, frame, codes));
        }
        for (id, frame, codes) in waiting {
            let answer = not_refused(probe, &id, codes).await;
            let text: String = frame.to_string().chars().take(200).collect();
            wrong.extend(answer.map(|answer| format!("{text} -> {answer}")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} were not refused: {wrong:#?}",
        wrong.len()
    );
}

async fn every_field(scene: &mut Scene) {
    let cases = scene.requests.cases();
    assert!(cases.len() > 300, "{} cases", cases.len());
    let frame = |(kind, payload): (&str, Value)| {
        let frame = json!({"type": kind, "to": SELENE, "payload": payload});
        (frame, &["invalid_message"][..])
    };
    let frames = cases.into_iter().map(frame).collect();
    scene.try_all(frames).await;
}

/// Addresses and payloads that are none, keys that are there twice, and types that nobody knows.
async fn envelopes(scene: &mut Scene) {
    let mut frames = Vec::new();
    let invalid = &["invalid_message"][..];
    for to in [
        "-1",
        "1.5",
        "true",
        "{}",
        "[]",
        "[[1]]",
        "\"one\"",
        "4294967296",
        "{\"deviceId\":\"1\"}",
    ] {
        let to: Value = serde_json::from_str(to).unwrap();
        frames.push((json!({"type": "workspace_list", "to": to}), invalid));
    }
    for group in [json!(1), json!(["all"]), json!({})] {
        frames.push((
            json!({"type": "workspace_list", "broadcast": group}),
            invalid,
        ));
    }
    for payload in [json!(1), json!("text"), json!([]), json!(true), Value::Null] {
        frames.push((
            json!({"type": "workspace_rename", "to": SELENE, "payload": payload}),
            invalid,
        ));
    }
    frames.push((
        json!({"type": "no_such_type", "to": SELENE}),
        &["unknown_type"],
    ));
    frames.push((
        json!({"type": "claude_event", "to": SELENE, "payload": {}}),
        &["unknown_type"],
    ));
    frames.push((
        json!({"type": "workspace_list", "to": 77}),
        &["undeliverable"],
    ));
    frames.push((
        json!({"type": "auth", "payload": {"deviceType": "app"}}),
        &["conflict"],
    ));
    scene.try_all(frames).await;

    let workspace = &scene.talk.workspace;
    let payload = format!(r#"{{"workspaceId":{workspace},"newName":"N"}}"#);
    let doubled = scene.requests.doubled();
    let doubled = doubled.iter().map(|(kind, payload)| {
        format!(r#"{{"type":"{kind}","to":1,"requestId":"ID","payload":{payload}}}"#)
    });
    let doubled: Vec<String> = doubled.collect();
    assert!(doubled.len() > 50, "{} requests", doubled.len());
    let envelopes = [
        format!(
            r#"{{"type":"workspace_rename","type":"workspace_list","to":1,"requestId":"ID","payload":{payload}}}"#
        ),
        format!(
            r#"{{"type":"workspace_rename","to":1,"to":2,"requestId":"ID","payload":{payload}}}"#
        ),
        format!(
            r#"{{"type":"workspace_rename","to":1,"requestId":"ID","payload":{payload},"payload":{payload}}}"#
        ),
        format!(
            r#"{{"type":"workspace_rename","to":1,"requestId":"ID","x":1,"x":2,"payload":{payload}}}"#
        ),
        format!(
            r#"{{"type":"workspace_rename","to":1,"requestId":"ID","payload":{{"workspaceId":{workspace},"newName":"N","newName":"M"}}}}"#
        ),
    ];
    for frame in envelopes.into_iter().chain(doubled) {
        let id = scene.owner.new_id();
        let frame = frame.replace("ID", &id);
        scene.owner.send_text(&frame).await;
        let answer = not_refused(&mut scene.owner, &id, invalid).await;
        assert_eq!(answer, None, "{frame}");
    }
}

/// Whatever is asked about a workspace, a conversation or a call that is not there.
async fn not_there(scene: &mut Scene) {
    let mut frames = Vec::new();
    for (kind, sound) in &scene.requests.sound {
        let mut add = |field: &str, value: &Value, codes| {
            let mut payload = sound.clone();
            if payload[field].is_string() {
                payload[field] = value.clone();
                frames.push((
                    json!({"type": kind, "to": SELENE, "payload": payload}),
                    codes,
                ));
            }
        };
        let nowhere = &["unknown_workspace", "unknown_conversation"][..];
        add("workspaceId", &json!("nowhere"), nowhere);
        add("workspaceId", &json!("../up"), &["invalid_message"]);
        // To switch to a conversation that is not there is to switch to the first one.
        if *kind != "workspace_switch" {
            add(
                "conversationId",
                &json!("nobody"),
                &["unknown_conversation"],
            );
            if sound["conversationId"].is_string() {
                add("workspaceId", &scene.second, nowhere);
            }
        }
        add("conversationId", &json!("a/b"), &["invalid_message"]);
        add(
            "toolUseId",
            &json!("toolu_none"),
            &["unknown_tool_use", "unknown_decision"],
        );
        add("taskId", &json!("../nothing"), &["unknown_task"]);
        // To look away from what is not there is no failure, and has no answer.
        if *kind != "terminal_detach" {
            add("terminalId", &json!("t-none"), &["unknown_terminal"]);
        }
        add("terminalId", &json!("../up"), &["invalid_message"]);
        add("workingDir", &json!("/no/such/folder"), &["bad_path"]);
        add(
            "workingDir",
            &json!("relative"),
            &["bad_path", "invalid_message"],
        );
        if sound["size"].is_object() {
            for size in [
                json!({"cols": 1, "rows": 24}),
                json!({"cols": 80, "rows": 100_000}),
                json!({"cols": 80}),
            ] {
                let mut payload = sound.clone();
                payload["size"] = size;
                let frame = json!({"type": kind, "to": SELENE, "payload": payload});
                frames.push((frame, &["invalid_message"]));
            }
        }
    }
    scene.try_all(frames).await;
}

/// What a device that may only look can ask for.
const LOOKING: [&str; 22] = [
    "workspace_list",
    "workspace_switch",
    "conversation_select",
    "history_request",
    "history_search",
    "history_export",
    "tool_detail",
    "usage_request",
    "rules_request",
    "deploy_status_request",
    "version_check_request",
    "app_update_request",
    "bug_report",
    "task_list",
    "task_get",
    "worker_status",
    "notifications_request",
    "notifications_set",
    "push_subscribe",
    "push_unsubscribe",
    "push_test",
    "budget_request",
];

/// A device that may only look, and one of another realm.
async fn without_the_right(scene: &mut Scene) {
    let mut viewer = scene.house.app(&scene.viewer).await;
    let mut elsewhere = scene.house.app(&scene.elsewhere).await;
    let all = scene.requests.sound.iter();
    let frame =
        |(kind, payload): (&&str, &Value)| json!({"type": kind, "to": SELENE, "payload": payload});
    let acting = all.clone().filter(|(kind, _)| !LOOKING.contains(kind));
    let acting = acting
        .map(frame)
        .chain([json!({"type": "no_such_type", "to": SELENE})]);
    let acting = acting.map(|frame| (frame, &["forbidden"][..])).collect();
    try_all(&mut viewer, acting).await;
    let across = all
        .map(frame)
        .map(|frame| (frame, &["undeliverable"][..]))
        .collect();
    try_all(&mut elsewhere, across).await;
    let mark = elsewhere.mark();
    elsewhere
        .send(&json!({"type": "workspace_list", "broadcast": "all"}))
        .await;
    elsewhere.fence().await;
    scene.owner.ask(SELENE, "workspace_list", &json!({})).await;
    elsewhere.fence().await;
    // That it is there itself may be told a little later.
    let mut heard = elsewhere.kinds(mark);
    heard.retain(|kind| kind != "device_status");
    assert_eq!(heard, ["pong", "pong"], "nothing crosses");
}

/// A message under a name that another message has: it is not run, and the first stays as it is.
async fn a_name_that_is_taken(scene: &mut Scene) {
    let send = |text: &str| {
        scene
            .talk
            .with(&json!({"message": text, "clientMessageId": "taken"}))
    };
    let (first, second) = (send("first"), send("second"));
    scene.owner.done(SELENE, "claude_send", &first).await;
    scene.owner.event(&scene.talk.id, "result").await;
    scene.owner.status(&scene.talk.id, "idle").await;
    let before = state(&mut scene.owner, &scene.talk).await;
    let again = scene.owner.ask(SELENE, "claude_send", &second).await;
    assert_eq!(again["payload"]["errorCode"], "duplicate_id", "{again}");
    assert_eq!(state(&mut scene.owner, &scene.talk).await, before);
}
