//! What is larger than a frame: it is shown cut and can be answered, and it is read piece by piece.

use estelle_proto::decisions::ClaudePermission;
use estelle_proto::events::{PermissionAsked, ToolComplete, ToolInfo};
use estelle_proto::lookup::{ToolDetail, ToolDetailResult, ToolPart};
use estelle_proto::{
    Broadcast, ClaudeEvent, ConversationId, ErrorCode, Json, PermissionDecision, PylonToApp,
    Reply as _, RequestId, Right, ToolUseId, WorkspaceId, limits,
};

use crate::scene::{Scene, event};

fn large() -> Json {
    let content = "글".repeat(2 * limits::MAX_FRAME_BYTES / 3);
    Json::of(&serde_json::json!({"file_path": "/a", "content": content})).unwrap()
}

fn call() -> ToolUseId {
    ToolUseId::parse("toolu_1").unwrap()
}

/// A prompt about a large call, as it is told.
async fn prompt(scene: &mut Scene) -> (PermissionAsked, Option<Broadcast>) {
    scene
        .until(|told| match event(told) {
            Some((ClaudeEvent::PermissionAsked(asked), _)) => Some((asked, told.broadcast.clone())),
            _ => None,
        })
        .await
}

#[tokio::test]
async fn a_prompt_that_is_larger_than_a_frame_is_shown_cut_and_can_be_answered() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let asked = PermissionAsked {
        input_hash: Some("hash".to_owned()),
        ..PermissionAsked::new("Write".to_owned(), large(), call())
    };
    scene.host.happen(&at.1, asked);
    let (shown, group) = prompt(&mut scene).await;
    assert_eq!(group, Some(Broadcast::Clients));
    // Whoever looks later sees the same.
    scene.view(&at).await;
    let (again, _) = prompt(&mut scene).await;
    assert_eq!(again, shown);
    assert_eq!(shown.input_hash.as_deref(), Some("hash"));
    let input: serde_json::Value = shown.tool_input.decode().unwrap();
    assert_eq!(input["file_path"], "/a");
    assert!(
        input["content"]
            .as_str()
            .unwrap()
            .ends_with("bytes in all]")
    );
    assert!(shown.reason.unwrap().contains("shown cut"));
    let decision = PermissionDecision::Allow;
    let mut allow = ClaudePermission::new(at.0.clone(), at.1.clone(), call(), decision);
    allow.input_hash = shown.input_hash;
    scene.call.deliver(allow).await;
    let answered = scene.result("claude_permission_result").await;
    let PylonToApp::ClaudePermissionResult(answered) = answered else {
        panic!("no result");
    };
    answered.outcome().unwrap();
}

/// A call with a large input, which has run.
async fn ran(scene: &mut Scene) -> (WorkspaceId, ConversationId) {
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.view(&at).await;
    let started = ToolInfo {
        tool_use_id: Some(call()),
        ..ToolInfo::new("Write".to_owned(), large())
    };
    scene.host.happen(&at.1, started);
    let mut done = ToolComplete::new("Write".to_owned(), true, "done".to_owned());
    done.tool_use_id = Some(call());
    scene.host.happen(&at.1, done);
    scene.see(&at, 3).await;
    at
}

async fn chunk(scene: &mut Scene) -> ToolDetailResult {
    let told = scene.result("tool_detail_result").await;
    let PylonToApp::ToolDetailResult(chunk) = told else {
        panic!("no chunk");
    };
    chunk
}

#[tokio::test]
async fn many_who_ask_for_a_large_call_do_not_cost_the_pylon_its_connection() {
    // Together several times of what may wait for the relay.
    const ASKERS: u32 = 30;
    let mut scene = Scene::open().await;
    let at = ran(&mut scene).await;
    for asker in 0..ASKERS {
        let detail = ToolDetail {
            request_id: Some(RequestId::parse(&asker.to_string()).unwrap()),
            ..ToolDetail::new(at.1.clone(), call())
        };
        scene.call.deliver_from(101, &[Right::View], detail).await;
    }
    // Nothing is read until all of it was asked for, and then it is all there.
    let (mut ended, mut bytes) = (0, 0);
    while ended < ASKERS {
        let chunk = chunk(&mut scene).await;
        chunk.outcome().unwrap();
        bytes += chunk.chunk.unwrap().len();
        ended += u32::from(chunk.last == Some(true));
    }
    assert_eq!(bytes, (large().get().len() + 4) * ASKERS as usize);
}

#[tokio::test]
async fn whoever_reads_slowly_asks_for_one_chunk_after_the_other() {
    let mut scene = Scene::open().await;
    let at = ran(&mut scene).await;
    let (mut input, mut output, mut cursor) = (String::new(), String::new(), Some(String::new()));
    while let Some(wanted) = cursor {
        let detail = ToolDetail {
            cursor: Some(wanted),
            ..ToolDetail::new(at.1.clone(), call())
        };
        scene.call.deliver_from(101, &[Right::View], detail).await;
        let chunk = chunk(&mut scene).await;
        match chunk.part.unwrap() {
            ToolPart::Input => input.push_str(&chunk.chunk.unwrap()),
            ToolPart::Output => output.push_str(&chunk.chunk.unwrap()),
            other @ (ToolPart::Image | ToolPart::Unknown(_)) => panic!("{other:?}"),
        }
        assert_eq!(chunk.last == Some(true), chunk.next_cursor.is_none());
        cursor = chunk.next_cursor;
    }
    assert_eq!((input.as_str(), output.as_str()), (large().get(), "done"));
    let detail = ToolDetail {
        cursor: Some("nowhere".to_owned()),
        ..ToolDetail::new(at.1, call())
    };
    scene.call.deliver_from(101, &[Right::View], detail).await;
    let refused = chunk(&mut scene).await.outcome().unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidMessage);
}
