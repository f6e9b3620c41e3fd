//! Looking into the folder of a workspace: files, what is not committed, and every way in which that fails.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::house::{HOME, House};
use super::probe::Probe;
use super::shape::check;
use super::{SELENE, all_there};
use crate::host::stage::Agent;

/// Git on a folder, as its owner calls it.
pub(crate) fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(args).current_dir(folder).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("HOME", folder);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A");
        command.env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
}

/// Makes a repository with everything in the folder committed.
pub(crate) fn repository(folder: &Path) {
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "first"]);
}

struct Scene {
    house: House,
    owner: Probe,
    workspace: Value,
    conversation: Value,
}

impl Scene {
    async fn new() -> Self {
        let mut house = House::new(&Agent::Simulator, &[(SELENE, "Selene")]).await;
        let owner = house.app_token(HOME, "Owner", "view,prompt");
        house.start();
        let mut owner = house.app(&owner).await;
        all_there(&mut owner, &[SELENE]).await;
        let made = json!({"name": "One", "workingDir": house.work("one")});
        let made = owner.done(SELENE, "workspace_create", &made).await;
        Self {
            workspace: made["workspace"]["workspaceId"].clone(),
            conversation: made["conversation"]["conversationId"].clone(),
            house,
            owner,
        }
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.house.work("one").join(name), contents).unwrap();
    }

    async fn ask(&mut self, kind: &str, mut payload: Value) -> Value {
        payload["workspaceId"] = self.workspace.clone();
        let answer = self.owner.ask(SELENE, kind, &payload).await;
        answer["payload"].clone()
    }

    async fn done(&mut self, kind: &str, payload: Value) -> Value {
        let answer = self.ask(kind, payload).await;
        assert_eq!(answer["success"], true, "{answer}");
        answer
    }

    async fn refused(&mut self, kind: &str, payload: Value, code: &str) {
        let answer = self.ask(kind, payload).await;
        assert_eq!(answer["success"], false, "{answer}");
        assert_eq!(answer["errorCode"], code, "{answer}");
        check(&answer["error"], &json!("id"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_and_its_files_are_told_page_by_page() {
    let mut scene = Scene::new().await;
    for name in ["b.txt", "a.txt", ".env", "new\nline"] {
        scene.write(name, "text\n");
    }
    let entry = json!({
        "name": "id", "kind": "file|folder|link|other", "size?": "count", "modifiedAt?": "ms", "targetKind?": "id",
    });
    let shape = json!({
        "deviceId": "count", "workspaceId": "id", "entries": [entry], "success": "bool", "path?": "id",
        "total": "count", "unnamed?": "count", "truncated?": "bool", "nextCursor?": "id", "requestId": "id",
    });
    let (mut names, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = scene
            .done("file_list", json!({"limit": 3, "cursor": cursor}))
            .await;
        check(&page, &shape);
        assert_eq!(page["total"], 4);
        let entries = page["entries"].as_array().unwrap().clone();
        names.extend(entries.into_iter().map(|entry| entry["name"].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(json!(names), json!([".env", "a.txt", "b.txt", "new\nline"]));

    // Control characters take the most room in a frame.
    let text = "\u{1}".repeat(300_000);
    scene.write("long", &text);
    let (mut whole, mut offset) = (String::new(), Value::Null);
    loop {
        let of = json!({"path": "long", "offset": offset, "conversationId": scene.conversation});
        let chunk = scene.done("file_read", of).await;
        let shape = json!({
            "deviceId": "count", "workspaceId": "id", "path": "long", "success": "bool", "size": "count",
            "modifiedAt": "ms", "binary": "bool", "encoding": "text", "content": "string", "offset": "count",
            "nextOffset?": "count", "requestId": "id",
        });
        check(&chunk, &shape);
        whole.push_str(chunk["content"].as_str().unwrap());
        offset = chunk["nextOffset"].clone();
        if offset.is_null() {
            break;
        }
    }
    assert!(whole == text, "{} bytes came", whole.len());
    scene.write("picture", b"\x89PNG\0\0");
    let told = scene.done("file_read", json!({"path": "picture"})).await;
    assert_eq!(
        (&told["binary"], &told["content"]),
        (&json!(true), &Value::Null)
    );
    let of = json!({"path": "picture", "encoding": "base64"});
    assert_eq!(scene.done("file_read", of).await["content"], "iVBORwAA");
    scene.house.assert_calm();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_must_not_be_seen_is_refused_with_a_reason() {
    let mut scene = Scene::new().await;
    scene.write(".env", "PASSWORD=1");
    scene.write("a.txt", "text");
    let paths = [
        ("/etc/passwd", "bad_path"),
        ("../../relay.json", "bad_path"),
        ("none", "bad_path"),
        (".env", "forbidden"),
    ];
    for (path, code) in paths {
        scene
            .refused("file_read", json!({"path": path}), code)
            .await;
    }
    scene
        .refused("file_list", json!({"path": "a.txt"}), "bad_path")
        .await;
    scene
        .refused("file_list", json!({"path": ".."}), "bad_path")
        .await;
    let of = json!({"path": "a.txt", "encoding": "rot13"});
    scene.refused("file_read", of, "invalid_message").await;
    for kind in ["changes_request", "diff_request"] {
        scene.refused(kind, json!({}), "no_repository").await;
    }
    let of = json!({"path": "../up"});
    scene.refused("diff_request", of, "bad_path").await;
    std::fs::remove_dir_all(scene.house.work("one")).unwrap();
    for kind in ["file_list", "changes_request", "diff_request"] {
        scene.refused(kind, json!({}), "bad_path").await;
    }
    scene.house.assert_calm();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_committed_is_told_page_by_page() {
    let mut scene = Scene::new().await;
    let folder = scene.house.work("one");
    let before = "line\n".repeat(40_000);
    scene.write("a.txt", &before);
    repository(&folder);
    scene.write("a.txt", before.replace("line", "changed"));
    scene.write("b.txt", "new\n");
    scene.write(".env", "PASSWORD=1\n");
    let file = json!({
        "path": "id", "kind": "id", "staged": "bool", "unstaged": "bool", "oldPath?": "id", "insertions?": "count",
        "deletions?": "count", "binary?": "bool", "withheld?": "bool",
    });
    let shape = json!({
        "deviceId": "count", "workspaceId": "id", "files": [file], "success": "bool", "branch": "main", "head": "id",
        "upstream?": "id", "ahead?": "count", "behind?": "count", "total": "count", "insertions": "count",
        "deletions": "count", "truncated?": "bool", "requestId": "id",
    });
    let first = scene.done("changes_request", json!({"limit": 2})).await;
    check(&first, &shape);
    assert_eq!(
        (&first["total"], &first["insertions"]),
        (&json!(3), &json!(40_000))
    );
    assert_eq!(first["files"][0]["withheld"], true);
    let second = scene
        .done("changes_request", json!({"limit": 2, "offset": 2}))
        .await;
    let paths =
        [&first["files"][0], &first["files"][1], &second["files"][0]].map(|file| &file["path"]);
    assert_eq!(paths, [".env", "a.txt", "b.txt"]);

    let shape = json!({
        "deviceId": "count", "workspaceId": "id", "success": "bool", "diff": "string", "offset": "count",
        "totalBytes": "count", "digest": "id", "nextOffset?": "count", "withheld?": "count", "truncated?": "bool",
        "requestId": "id",
    });
    let (mut diff, mut offset, mut digest) = (String::new(), Value::Null, Value::Null);
    loop {
        let of = json!({"offset": offset, "digest": digest});
        let chunk = scene.done("diff_request", of).await;
        check(&chunk, &shape);
        assert_eq!(chunk["withheld"], 1);
        diff.push_str(chunk["diff"].as_str().unwrap());
        (offset, digest) = (chunk["nextOffset"].clone(), chunk["digest"].clone());
        if offset.is_null() {
            assert_eq!(chunk["totalBytes"], diff.len());
            break;
        }
    }
    assert_eq!(diff.matches("\n+changed").count(), 40_000);
    assert!(diff.contains("+new\n") && !diff.contains("PASSWORD"));
    scene.write("b.txt", "other\n");
    let of = json!({"offset": 10, "digest": digest});
    scene.refused("diff_request", of, "stale_cursor").await;
    scene.house.assert_calm();
}
