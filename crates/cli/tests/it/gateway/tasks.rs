//! Tasks and their worker over the gateway.

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::client::{Api, PATIENCE};
use crate::host::stage::Agent;
use crate::up::stage::{Machine, VIEWER_TOKEN};

async fn workspace(api: &Api, machine: &Machine) -> String {
    api.session(machine).await;
    let all = api.done("GET /api/workspaces", None).await;
    all["workspaces"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_written_read_marked_and_carried_out() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let workspace = workspace(&api, &machine).await;
    let tasks = format!("/api/workspaces/{workspace}/tasks");
    let list = api.done(&format!("GET {tasks}"), None).await;
    assert_eq!(
        (&list["tasks"], &list["is_cut"]),
        (&json!([]), &json!(false))
    );
    assert_eq!(list["worker"]["is_on"], false);

    let content = Script::new().say("the beds are weeded").prompt();
    let wanted = json!({"title": "Weed the beds", "content": content});
    let made = api.call(&format!("POST {tasks}"), Some(wanted)).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let (id, file) = (made["task"]["id"].clone(), made["task"]["file"].clone());
    assert_eq!(made["task"]["status"], "pending");
    // By its id and by the name of its file, which may need an encoding.
    for name in [&id, &file] {
        let name = name.as_str().unwrap().replace('-', "%2D");
        let one = api.done(&format!("GET {tasks}/{name}"), None).await;
        assert_eq!(one["task"]["id"], id);
        assert_eq!(one["task"]["content"].as_str().unwrap().trim(), content);
    }
    let other = json!({"title": "Water", "content": "later"});
    let other = api.done(&format!("POST {tasks}"), Some(other)).await;
    let other = other["task"]["id"].as_str().unwrap().to_owned();
    let mark = format!("PATCH {tasks}/{other}");
    let failed = json!({"status": "failed", "error": "no water"});
    let marked = api.done(&mark, Some(failed)).await;
    assert_eq!(marked["task"]["error"], "no water", "{marked}");
    let list = api.done(&format!("GET {tasks}"), None).await;
    assert_eq!(list["tasks"].as_array().unwrap().len(), 2);

    let worker = format!("/api/workspaces/{workspace}/worker");
    let begun = api
        .done(&format!("POST {worker}"), Some(json!({"action": "start"})))
        .await;
    assert_eq!(begun["worker"]["is_on"], true, "{begun}");
    let line = format!("GET {tasks}/{}", id.as_str().unwrap());
    let is_done = async {
        loop {
            let one: Value = api.done(&line, None).await;
            if one["task"]["status"] == "done" {
                return one;
            }
        }
    };
    let one = tokio::time::timeout(PATIENCE, is_done).await.unwrap();
    assert!(one["task"]["completed_at"].is_string(), "{one}");
    let is_off = async {
        while api.done(&format!("GET {worker}"), None).await["worker"]["is_on"] != false {}
    };
    tokio::time::timeout(PATIENCE, is_off).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_tasks_and_those_without_the_right_are_refused_and_nothing_is_written() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let workspace = workspace(&api, &machine).await;
    let tasks = format!("/api/workspaces/{workspace}/tasks");
    for bad in [
        json!({}),
        json!([]),
        json!({"title": "x"}),
        json!({"title": null, "content": "x"}),
        json!({"title": " ", "content": "x"}),
        json!({"title": "x".repeat(65), "content": "x"}),
        json!({"title": "x", "content": ""}),
        json!({"title": "x", "content": "x".repeat(256 * 1024 + 1)}),
        json!({"title": "x", "content": "y", "more": 1}),
    ] {
        let refused = api.refused(&format!("POST {tasks}"), Some(bad)).await;
        assert_eq!(refused, (400, "invalid_message".to_owned()));
    }
    let nowhere = "/api/workspaces/none";
    let good = json!({"title": "x", "content": "y"});
    for (line, body, code) in [
        (format!("GET {nowhere}/tasks"), None, "unknown_workspace"),
        (
            format!("POST {nowhere}/tasks"),
            Some(good.clone()),
            "unknown_workspace",
        ),
        (format!("GET {nowhere}/worker"), None, "unknown_workspace"),
        (format!("GET {tasks}/none"), None, "unknown_task"),
        (format!("GET {tasks}/%FF"), None, "unknown_task"),
        (
            format!("PATCH {tasks}/none"),
            Some(json!({"status": "done"})),
            "unknown_task",
        ),
    ] {
        let refused = api.refused(&line, body).await;
        assert_eq!(refused, (404, code.to_owned()), "{line}");
    }
    for bad in [
        json!({}),
        json!({"status": "half"}),
        json!({"status": "done", "error": "no"}),
        json!({"status": null}),
    ] {
        let refused = api.refused(&format!("PATCH {tasks}/none"), Some(bad)).await;
        assert_eq!(refused.0, 400);
    }
    let worker = format!("POST /api/workspaces/{workspace}/worker");
    for bad in [
        json!({}),
        json!({"action": "fly"}),
        json!({"action": "start", "after_task": true}),
        json!({"action": "stop", "after_task": "soon"}),
    ] {
        let refused = api.refused(&worker, Some(bad.clone())).await;
        assert_eq!(refused.0, 400, "{bad}");
    }
    let idle = api.refused(&worker, Some(json!({"action": "start"}))).await;
    assert_eq!(idle, (409, "conflict".to_owned()), "no task waits");
    let viewer = Api {
        token: VIEWER_TOKEN.to_owned(),
        ..api.clone()
    };
    for (line, body) in [
        (format!("POST {tasks}"), good),
        (format!("PATCH {tasks}/none"), json!({"status": "done"})),
        (worker, json!({"action": "start"})),
    ] {
        let refused = viewer.refused(&line, Some(body)).await;
        assert_eq!(refused, (403, "forbidden".to_owned()), "{line}");
    }
    assert!(!machine.path("work/task").exists());
}
