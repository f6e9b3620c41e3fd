//! Tasks of a workspace: write, list, read, mark; everybody is told after each change.

use serde_json::{Value, json};

use super::house::House;
use super::probe::Probe;
use super::shape::check;
use super::{Cast, SELENE};

/// A task in a list.
pub(super) fn summary() -> Value {
    json!({
        "id": "id", "title": "id", "status": "pending|running|done|failed", "createdAt?": "id", "startedAt?": "id",
        "completedAt?": "id", "error?": "id", "file?": "id", "problem?": "id",
    })
}

/// What a worker does.
pub(super) fn worker_status() -> Value {
    json!({
        "running": "bool", "workspaceId?": "id", "status?": "idle|running",
        "currentTask?": {"id": "id", "title": "id", "startedAt?": "id"},
        "queue?": {"pending": "count", "total": "count"}, "on?": "bool", "conversationId?": "id",
        "rest?": {"cause": "id", "message": "id", "until?": "id"},
    })
}

/// Waits for the list of tasks that everybody is told.
async fn told(probe: &mut Probe, wanted: impl Fn(&Value) -> bool) -> Value {
    let frame = probe
        .until(|frame| frame["type"] == "task_list_result" && wanted(&frame["payload"]))
        .await;
    let result = json!({
        "deviceId": "count", "workspaceId": "id", "tasks": [summary()], "success": "bool", "truncated?": "bool",
        "workerStatus?": worker_status(), "requestId?": "id",
    });
    check(&frame["payload"], &result);
    frame["payload"].clone()
}

pub(super) async fn chapter(house: &House, cast: &mut Cast) {
    let made = json!({"name": "Tasks", "workingDir": house.work("tasks")});
    let made = cast.owner.done(SELENE, "workspace_create", &made).await;
    let workspace = &made["workspace"]["workspaceId"];
    let with = |more: Value| {
        let mut payload = more;
        payload["workspaceId"] = workspace.clone();
        payload
    };
    let one = json!({
        "deviceId": "count", "workspaceId": "id", "success": "bool", "requestId": "id", "task": summary(),
    });
    let new = with(json!({"title": "One", "content": "# Goal\n"}));
    let created = cast.phone.done(SELENE, "task_create", &new).await;
    check(&created, &one);
    let id = &created["task"]["id"];
    for probe in [&mut cast.owner, &mut cast.phone, &mut cast.viewer] {
        told(probe, |list| list["tasks"][0]["id"] == *id).await;
    }
    cast.viewer
        .done(SELENE, "task_list", &with(json!({})))
        .await;

    let get = with(json!({"taskId": id}));
    let whole = cast.viewer.done(SELENE, "task_get", &get).await;
    let mut task = summary();
    task["content"] = json!("string");
    task["truncated?"] = json!("bool");
    let result = json!({
        "deviceId": "count", "workspaceId": "id", "success": "bool", "requestId": "id", "task": task,
    });
    check(&whole, &result);
    assert_eq!(whole["task"]["content"], "\n# Goal\n");

    let failed = with(json!({"taskId": id, "status": "failed", "error": "no"}));
    let failed = cast.phone.done(SELENE, "task_status", &failed).await;
    check(&failed, &one);
    assert_eq!(failed["task"]["error"], "no");
    told(&mut cast.viewer, |list| {
        list["tasks"][0]["status"] == "failed"
    })
    .await;
    let odd = with(json!({"taskId": id, "status": "done", "error": "no"}));
    let odd = cast.phone.ask(SELENE, "task_status", &odd).await;
    assert_eq!(odd["payload"]["errorCode"], "invalid_message", "{odd}");
    worker(cast, &with, id).await;
}

/// The worker carries the task out when it waits again, and marks it.
async fn worker(cast: &mut Cast, with: &impl Fn(Value) -> Value, id: &Value) {
    let result = |more: Value| {
        let mut shape = json!({
            "deviceId": "count", "workspaceId": "id", "success": "bool", "requestId": "id",
            "workerStatus": worker_status(),
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            shape[name] = value.clone();
        }
        shape
    };
    let idle = cast
        .phone
        .ask(SELENE, "worker_start", &with(json!({})))
        .await;
    assert_eq!(idle["payload"]["errorCode"], "conflict", "{idle}");
    let again = with(json!({"taskId": id, "status": "pending"}));
    cast.phone.done(SELENE, "task_status", &again).await;
    let started = cast
        .phone
        .done(SELENE, "worker_start", &with(json!({})))
        .await;
    check(
        &started,
        &result(json!({"taskId?": "id", "taskTitle?": "id"})),
    );
    told(&mut cast.viewer, |list| {
        list["tasks"][0]["status"] == "done" && list["workerStatus"]["on"] == false
    })
    .await;
    let status = cast
        .viewer
        .done(SELENE, "worker_status", &with(json!({})))
        .await;
    check(&status, &result(json!({})));
    assert_eq!(status["workerStatus"]["status"], "idle");
    let stopped = cast
        .phone
        .done(SELENE, "worker_stop", &with(json!({})))
        .await;
    check(&stopped, &result(json!({})));
}
