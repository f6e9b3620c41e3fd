//! What is published, where apps get it, and what people report.

use std::process::Command;

use serde_json::{Value, json};

use super::claude::Talk;
use super::house::House;
use super::shape::check;
use super::table::Book;
use super::{Cast, SELENE, failure};

/// Where phones get the app, by the configuration of Selene.
pub(super) const APK: &str = "https://example.org/estelle.apk";
/// A machine that has no apps.
const STELLA: u32 = 2;

pub(super) async fn chapter(house: &House, cast: &mut Cast, book: &mut Book) {
    published(house, cast).await;
    book.shows("release", [60, 61]);
    updates(cast).await;
    book.shows("release", [62, 63]);
    report(house, cast).await;
    book.shows("release", [64]);
}

/// Nothing, then what the file says, and what it does not say is `null`.
async fn published(house: &House, cast: &mut Cast) {
    let nothing = json!({});
    let ask = "version_check_request";
    let none = cast.viewer.ask(SELENE, ask, &nothing).await;
    let request = none["payload"]["requestId"].as_str().unwrap().to_owned();
    failure(&none, "internal", &request);
    let shape = json!({
        "success": "bool", "version": "null", "commit": "null", "buildTime": "null", "apkUrl": "id",
        "exeUrl": "null", "error": "id", "errorCode": "id", "retry": "id", "requestId": "id",
    });
    check(&none["payload"], &shape);

    let folder = house.data(SELENE).join("deploy");
    std::fs::create_dir_all(&folder).unwrap();
    let release = json!({"commit": "abc1234", "version": "m1.0", "buildTime": "20260125100000"});
    std::fs::write(folder.join("deploy.json"), release.to_string()).unwrap();
    let told = cast.viewer.done(SELENE, ask, &nothing).await;
    let wanted = json!({
        "success": true, "version": "m1.0", "commit": "abc1234", "buildTime": "20260125100000",
        "apkUrl": APK, "exeUrl": null, "error": null, "requestId": told["requestId"],
    });
    assert_eq!(told, wanted);
    std::fs::write(folder.join("deploy.json"), r#"{"commit":"abc"}"#).unwrap();
    let told = cast.viewer.done(SELENE, ask, &nothing).await;
    assert_eq!(
        (&told["commit"], &told["version"]),
        (&json!("abc"), &Value::Null)
    );
    std::fs::write(folder.join("deploy.json"), release.to_string()).unwrap();
}

async fn updates(cast: &mut Cast) {
    let ask = "app_update_request";
    let told = cast.viewer.done(SELENE, ask, &json!({})).await;
    let wanted = json!({
        "success": true, "version": "m1.0", "commit": "abc1234", "apkUrl": APK,
        "requestId": told["requestId"],
    });
    assert_eq!(told, wanted);
    let none = cast.viewer.ask(STELLA, ask, &json!({})).await;
    let request = none["payload"]["requestId"].as_str().unwrap().to_owned();
    failure(&none, "not_configured", &request);
}

/// A report has the conversation that its device looks at, unless another one is named.
async fn report(house: &House, cast: &mut Cast) {
    let listed = cast.owner.ask(SELENE, "workspace_list", &json!({})).await;
    let workspace = listed["payload"]["workspaces"][0]["workspaceId"].clone();
    let seen = Talk::begin(&mut cast.owner, &workspace, "Seen").await;
    let named = Talk::begin(&mut cast.owner, &workspace, "Named").await;
    let look = seen.with(&json!({}));
    cast.viewer.done(SELENE, "conversation_select", &look).await;
    let first =
        json!({"message": "It is empty.\nAll of it.", "timestamp": "2026-01-25T10:00:00.000Z"});
    let kept = cast.viewer.done(SELENE, "bug_report", &first).await;
    check(
        &kept,
        &json!({"deviceId": "count", "success": "bool", "requestId": "id"}),
    );
    let second = json!({
        "message": "And again", "timestamp": "2026-01-25T10:00:01.000Z", "conversationId": named.id,
        "appVersion": "web 1.0",
    });
    cast.viewer.done(SELENE, "bug_report", &second).await;

    let mut command = Command::new(env!("CARGO_BIN_EXE_estelle"));
    let command = command.args(["bugs", "--json", "--data"]).env_clear();
    let output = command.arg(house.data(SELENE)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let bugs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let shape = json!({
        "receivedAt": "iso", "timestamp": "iso", "message": "id", "pylonId": "count", "version": "id",
        "deviceId": "count", "deviceName": "id", "deviceKey?": "id", "appVersion?": "id",
        "workspaceId": "id", "conversationId": "id",
    });
    assert_eq!(bugs.len(), 2, "{lines}");
    for (bug, (sent, talk)) in bugs.iter().zip([(&first, &seen), (&second, &named)]) {
        check(bug, &shape);
        assert_eq!(bug["message"], sent["message"]);
        assert_eq!(bug["timestamp"], sent["timestamp"]);
        assert_eq!(
            (&bug["conversationId"], &bug["workspaceId"]),
            (&talk.id, &talk.workspace)
        );
        assert_eq!(bug["deviceId"], cast.viewer.id());
        assert_eq!(bug["deviceName"], "Viewer");
        assert_eq!(bug["pylonId"], SELENE);
    }
    assert_eq!(bugs[1]["appVersion"], "web 1.0");
}
