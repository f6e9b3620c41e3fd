//! Folders, files, changes, worktrees and what is attached.

use serde_json::{Value, json};

use super::{Sound, Talk};

pub(super) fn sound(talk: &Talk, folder: &Value) -> Sound {
    let with = |more: Value| talk.with(&more);
    let blob = json!({
        "blobId": "b", "filename": "a.txt", "mimeType": "text/plain", "totalSize": 5, "chunkSize": 4,
        "totalChunks": 2,
    });
    let checksum = format!("sha256:{}", "0".repeat(64));
    let part = json!({"conversationId": talk.id, "blobId": "b", "index": 0, "data": "aGVsbG8="});
    let end = json!({"conversationId": talk.id, "blobId": "b", "checksum": checksum});
    vec![
        ("folder_list", json!({"path": folder})),
        ("folder_create", json!({"path": folder, "name": "new"})),
        ("folder_rename", json!({"path": folder, "newName": "new"})),
        ("blob_start", with(blob)),
        ("blob_chunk", part),
        ("blob_end", end),
        (
            "file_list",
            with(json!({"path": "a", "limit": 1, "cursor": "c"})),
        ),
        (
            "file_read",
            with(json!({"path": "a.txt", "offset": 0, "limit": 9, "encoding": "text"})),
        ),
        ("changes_request", with(json!({"limit": 1, "offset": 0}))),
        (
            "diff_request",
            with(json!({"path": "a", "offset": 0, "digest": "d"})),
        ),
        ("turn_changes", with(json!({"seq": 1}))),
        ("worktree_list", json!({"cursor": "c"})),
        ("worktree_merge", with(json!({}))),
        ("worktree_remove", with(json!({"discard": true}))),
    ]
}
