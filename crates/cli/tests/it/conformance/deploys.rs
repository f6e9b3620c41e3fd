//! A deploy, message by message: an app, the Pylon that leads, one that is a script and one that cannot follow.

use serde_json::{Value, json};

use super::house::House;
use super::shape::check;
use super::table::Book;
use super::{Cast, SCRIPTED, SELENE, failure};

/// The machine that has nothing to deploy from.
const STELLA: u32 = 2;

pub(super) async fn chapter(house: &House, cast: &mut Cast, book: &mut Book) {
    refusals(cast).await;
    let ready = prepare(cast).await;
    book.shows("deploys", [52, 53, 54, 55]);
    confirm(cast, &ready).await;
    book.shows("deploys", [56, 57]);
    go(house, cast, &ready).await;
    book.shows("deploys", [58, 59]);
}

async fn refusals(cast: &mut Cast) {
    let prepare = json!({"relayDeploy": true});
    let refused = cast.phone.ask(SELENE, "deploy_prepare", &prepare).await;
    let request = |frame: &Value| frame["payload"]["requestId"].as_str().unwrap().to_owned();
    failure(&refused, "forbidden", &request(&refused));
    let refused = cast.owner.ask(STELLA, "deploy_prepare", &prepare).await;
    assert_eq!(refused["type"], "deploy_ready", "{refused}");
    failure(&refused, "not_configured", &request(&refused));
    let refused = cast.owner.ask(SELENE, "deploy_go", &json!({})).await;
    assert_eq!(refused["type"], "deploy_status_result", "{refused}");
    failure(&refused, "conflict", &request(&refused));
}

async fn prepare(cast: &mut Cast) -> Value {
    let mark = cast.viewer.mark();
    let ready = cast
        .owner
        .ask(SELENE, "deploy_prepare", &json!({"relayDeploy": true}))
        .await;
    assert_eq!(ready["type"], "deploy_ready", "{ready}");
    let shape = json!({
        "deviceId": "count", "success": "bool", "commitHash": "id", "version": "id", "requestId": "id",
    });
    check(&ready["payload"], &shape);
    let is_done = |frame: &Value| {
        frame["type"] == "deploy_status" && frame["payload"]["tasks"]["json"] == "done"
    };
    cast.viewer.until(is_done).await;
    let is_ready = |frame: &Value| {
        frame["type"] == "pylon_status"
            && frame["payload"]["deviceId"] == SELENE
            && frame["payload"]["deployReady"] == true
    };
    cast.viewer.until(is_ready).await;
    let task = "waiting|running|done|error";
    let tasks = json!({
        "git": task, "apk": task, "exe": task, "npm": task, "json": task, "build?": task,
        "upload?": task, "relay?": task, "copy?": task,
    });
    let status = json!({"deviceId": "count", "tasks": tasks, "message": "id"});
    let line = json!({"deviceId": "count", "line": "id", "timestamp": "ms"});
    let (mut statuses, mut lines) = (Vec::new(), Vec::new());
    for frame in cast.viewer.since(mark) {
        match frame["type"].as_str() {
            Some("deploy_status") => {
                check(&frame["payload"], &status);
                assert_eq!(frame["broadcast"], "app");
                statuses.push(frame["payload"]["message"].as_str().unwrap().to_owned());
            }
            Some("deploy_log") => {
                check(&frame["payload"], &line);
                assert_eq!(frame["broadcast"], "app");
                lines.push(frame["payload"]["line"].as_str().unwrap().to_owned());
            }
            _ => {}
        }
    }
    assert!(
        statuses[0].starts_with("Git(in progress) APK(waiting) EXE(waiting)"),
        "{statuses:?}"
    );
    assert!(
        lines.iter().any(|line| line == "apk: not configured"),
        "{lines:?}"
    );
    ready["payload"].clone()
}

async fn confirm(cast: &mut Cast, ready: &Value) {
    let confirm = json!({"preApproved": false, "cancel": false});
    let told = cast.owner.ask(SELENE, "deploy_confirm", &confirm).await;
    assert_eq!(told["payload"]["phase"], "started", "{told}");
    for probe in [&mut cast.pylon, &mut cast.viewer] {
        let start = probe.until(|frame| frame["type"] == "deploy_start").await;
        let shape = json!({
            "commitHash": "id", "version": "id", "leadPylonId": "count", "buildTime?": "id",
        });
        check(&start["payload"], &shape);
        assert_eq!(start["broadcast"], "all");
        assert_eq!(start["payload"]["commitHash"], ready["commitHash"]);
        assert_eq!(start["payload"]["leadPylonId"], SELENE);
    }
    let ack = json!({
        "type": "deploy_start_ack", "to": SELENE,
        "payload": {"deviceId": SCRIPTED, "success": true},
    });
    cast.pylon.send(&ack).await;
    let mut missing = vec![STELLA, SCRIPTED];
    let mut totals = Vec::new();
    while !missing.is_empty() {
        let received = cast
            .owner
            .until(|frame| frame["type"] == "deploy_ack_received")
            .await;
        let payload = &received["payload"];
        let shape = json!({
            "deviceId": "count", "totalAcks": "count", "success": "bool", "error?": "id",
            "errorCode?": "id", "retry?": "id",
        });
        check(payload, &shape);
        // Stella has nothing to build from.
        assert_eq!(
            payload["success"],
            payload["deviceId"] != STELLA,
            "{received}"
        );
        totals.push(payload["totalAcks"].clone());
        missing.retain(|id| payload["deviceId"] != *id);
    }
    assert_eq!(totals, [1, 2]);
}

/// The word to go may be said to everybody; the one that leads acts on it.
async fn go(house: &House, cast: &mut Cast, ready: &Value) {
    cast.owner
        .send(&json!({"type": "deploy_go", "broadcast": "pylons"}))
        .await;
    for probe in [&mut cast.pylon, &mut cast.viewer] {
        let restart = probe.until(|frame| frame["type"] == "deploy_restart").await;
        assert_eq!(restart["broadcast"], "all");
        let wanted = json!({"commitHash": ready["commitHash"], "leadPylonId": SELENE});
        assert_eq!(restart["payload"], wanted);
    }
    let restarting = cast
        .viewer
        .until(|frame| frame["type"] == "deploy_restarting")
        .await;
    assert_eq!(restarting["payload"], json!({"deviceId": SELENE}));
    assert_eq!(restarting["broadcast"], "app");
    let is_new = |frame: &Value| {
        frame["type"] == "pylon_status"
            && frame["payload"]["deviceId"] == SELENE
            && frame["payload"]["version"] == ready["version"]
    };
    cast.viewer.until(is_new).await;
    let published = house.data(SELENE).join("deploy/deploy.json");
    let published: Value = serde_json::from_slice(&std::fs::read(published).unwrap()).unwrap();
    let shape = json!({"commit": "id", "version": "id", "buildTime": "id", "deployedAt": "iso"});
    check(&published, &shape);
}
