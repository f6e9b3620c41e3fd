//! The desk between a host and a relay: what clients ask for is done, and what happens is told to whom it concerns.

use estelle_proto::claude::ClaudeControl;
use estelle_proto::conversations::{
    ConversationCreate, ConversationDelete, ConversationFork, ConversationSelect,
};
use estelle_proto::decisions::ClaudePermission;
use estelle_proto::events::{PermissionAsked, StateChanged, TextDelta};
use estelle_proto::workspaces::{WorkspaceCreate, WorkspaceDelete, WorkspaceList};
use estelle_proto::writing::{BlockKind, OpenBlock};
use estelle_proto::{
    Broadcast, ClaudeEvent, ControlAction, ConversationId, ConversationStatus, DeviceId, Epoch,
    ErrorCode, Generation, Json, Name, PathText, PermissionDecision, PylonToApp, Reply as _,
    RequestId, Right, Seq, SkillType, To, ToolUseId, WorkspaceId,
};

use crate::scene::{Scene, event, message};

#[tokio::test]
async fn a_workspace_is_made_listed_and_deleted_with_its_runs() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let request = WorkspaceList {
        request_id: Some(RequestId::parse("r9").unwrap()),
    };
    scene.call.deliver(request).await;
    let listed = scene.until(|told| match &told.message {
        PylonToApp::WorkspaceListResult(list) if list.request_id.is_some() => Some(list.clone()),
        _ => None,
    });
    let listed = listed.await;
    assert_eq!(listed.workspaces.len(), 1);
    assert_eq!(listed.workspaces[0].conversations[0].name.as_str(), "first");
    assert_eq!(listed.active_conversation_id.as_ref(), Some(&at.1));
    scene.call.deliver(WorkspaceDelete::new(at.0.clone())).await;
    let deleted = scene.result("workspace_delete_result").await;
    assert!(
        matches!(deleted, PylonToApp::WorkspaceDeleteResult(result) if result.outcome().is_ok())
    );
    assert!(
        scene
            .host
            .world
            .lock()
            .unwrap()
            .commands
            .contains(&"delete_session".to_owned())
    );
    let told = scene.until(|told| match &told.message {
        PylonToApp::WorkspaceListResult(list) if list.workspaces.is_empty() => told.to.clone(),
        _ => None,
    });
    assert!(
        [100, 101]
            .map(DeviceId)
            .map(To::device)
            .contains(&told.await)
    );
}

#[tokio::test]
async fn a_folder_outside_the_roots_is_no_workspace() {
    let mut scene = Scene::open().await;
    let name = Name::parse("etc").unwrap();
    let path = PathText::parse("/etc").unwrap();
    scene.call.deliver(WorkspaceCreate::new(name, path)).await;
    let PylonToApp::WorkspaceCreateResult(result) = scene.result("workspace_create_result").await
    else {
        panic!("no result");
    };
    assert_eq!(result.outcome().unwrap_err().code, ErrorCode::BadPath);
}

#[tokio::test]
async fn a_message_that_is_sent_twice_runs_once_and_everybody_sees_it() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.call.deliver(message(&at, "m1")).await;
    let told = scene.until(|told| event(told).map(|seen| (seen, told.broadcast.clone())));
    let ((said, seq), group) = told.await;
    assert!(matches!(said, ClaudeEvent::UserMessage(said) if said.client_message_id.is_some()));
    assert_eq!((seq, group), (Some(Seq(1)), Some(Broadcast::Clients)));
    scene.send(&at, "m1").await;
    scene.send(&at, "m2").await;
    scene.see(&at, 2).await;
    assert_eq!(scene.history(&at).await, ["m1", "m2"]);
}

#[tokio::test]
async fn viewers_see_everything_and_others_that_there_is_something_new() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.view(&at).await;
    scene.host.append(&at.1, "hello");
    let to = scene.until(|told| {
        event(told)
            .filter(|(event, _)| event.kind() == "textComplete")
            .and(told.to.clone())
    });
    assert_eq!(to.await, To::device(DeviceId(100)));
    let unread = scene.until(|told| match &told.message {
        PylonToApp::ConversationStatusUpdate(update) if update.unread == Some(true) => {
            told.to.clone()
        }
        _ => None,
    });
    assert_eq!(
        unread.await,
        To::device(DeviceId(101)),
        "who looks has read it"
    );
}

fn piece(at: u64, content: &str) -> TextDelta {
    TextDelta {
        generation: Some(Generation(1)),
        block: Some(1),
        at: Some(at),
        ..TextDelta::new(content.to_owned())
    }
}

/// Looks at a conversation and gives what is being written in it.
async fn open_blocks(scene: &mut Scene, at: &(WorkspaceId, ConversationId)) -> Vec<OpenBlock> {
    scene.view(at).await;
    let update = scene.until(|told| match event(told) {
        Some((ClaudeEvent::StateUpdate(update), None)) => Some(update),
        _ => None,
    });
    update.await.open.unwrap()
}

#[tokio::test]
async fn whoever_looks_in_the_middle_of_a_text_sees_it_and_its_next_piece_fits() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let block =
        |content: &str| OpenBlock::new(BlockKind::Text, Generation(1), 1, content.to_owned());
    let working = StateChanged::new(ConversationStatus::Working);
    scene.host.happen(&at.1, working);
    scene.see(&at, 2).await;
    scene.view(&at).await;
    for (place, content) in [(0, "Let "), (4, "me")] {
        scene.host.pass(&at.1, piece(place, content));
    }
    let told = scene.until(|told| event(told).filter(|(event, _)| *event == piece(4, "me").into()));
    told.await;
    assert_eq!(open_blocks(&mut scene, &at).await, [block("Let me")]);
    // A pylon that was not there meanwhile knows it from the host, and goes on from there.
    let open = vec![block("Let me see")];
    scene
        .host
        .world
        .lock()
        .unwrap()
        .open
        .insert(at.1.clone(), open);
    scene.restart().await;
    scene.clients(&[100, 101]).await;
    let mut open = open_blocks(&mut scene, &at).await;
    while open.is_empty() {
        // The host is not back yet.
        open = open_blocks(&mut scene, &at).await;
    }
    assert_eq!(open, [block("Let me see")]);
    scene.host.pass(&at.1, piece(10, "."));
    let told = scene.until(|told| event(told).filter(|(event, _)| *event == piece(10, ".").into()));
    told.await;
    assert_eq!(open_blocks(&mut scene, &at).await, [block("Let me see.")]);
    // What is complete is no longer being written.
    scene.host.append(&at.1, "Let me see.");
    scene.see(&at, 3).await;
    assert_eq!(open_blocks(&mut scene, &at).await, []);
}

#[tokio::test]
async fn a_decision_reaches_everybody_whoever_comes_later_and_is_answered_once() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let call = ToolUseId::parse("toolu_1").unwrap();
    let input = Json::parse("{\"command\":\"ls\"}").unwrap();
    let asked = PermissionAsked::new("Bash".to_owned(), input, call.clone());
    scene
        .host
        .happen(&at.1, StateChanged::new(ConversationStatus::Permission));
    scene.host.happen(&at.1, asked.clone());
    let group = scene.until(|told| {
        event(told)
            .filter(|(event, _)| *event == asked.clone().into())
            .and(told.broadcast.clone())
    });
    assert_eq!(group.await, Broadcast::Clients);
    // Somebody who looks later is asked as well.
    let select = ConversationSelect::new(at.0.clone(), at.1.clone());
    scene.call.deliver_from(101, &[Right::View], select).await;
    let PylonToApp::HistoryResult(page) = scene.result("history_result").await else {
        panic!("no page");
    };
    assert_eq!(page.current_status, Some(ConversationStatus::Permission));
    // Others may be told at the same time.
    let to_them = scene.until(|told| {
        let is_it = told.to == Some(To::device(DeviceId(101)));
        event(told).filter(|(event, _)| is_it && *event == asked.clone().into())
    });
    to_them.await;
    // So is somebody who looks at nothing yet: right after the list.
    let list = WorkspaceList::default();
    scene.call.deliver_from(101, &[Right::View], list).await;
    scene.result("workspace_list_result").await;
    let to_them = scene.until(|told| {
        let is_it = told.to == Some(To::device(DeviceId(101)));
        event(told).filter(|(event, _)| is_it && *event == asked.clone().into())
    });
    to_them.await;
    let allow = ClaudePermission::new(at.0.clone(), at.1.clone(), call, PermissionDecision::Allow);
    for expected in [None, Some(ErrorCode::AlreadyAnswered)] {
        scene.call.deliver(allow.clone()).await;
        let PylonToApp::ClaudePermissionResult(result) =
            scene.result("claude_permission_result").await
        else {
            panic!("no result");
        };
        assert_eq!(result.outcome().err().map(|error| error.code), expected);
    }
}

#[tokio::test]
async fn nothing_is_missing_after_the_pylon_was_away() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.host.append(&at.1, "before");
    scene.see(&at, 1).await;
    scene.pylon.take().unwrap().end().await;
    for text in ["one", "two", "three"] {
        scene.host.append(&at.1, text);
    }
    scene.restart().await;
    scene.host.append(&at.1, "after");
    let page = scene.view(&at).await;
    // What the page does not have yet comes as events, without a gap.
    let mut head = page.head_seq.unwrap();
    while head < Seq(6) {
        let seq = scene
            .until(|told| event(told).and_then(|(_, seq)| seq))
            .await;
        assert!(seq <= Seq(head.0 + 1), "{seq} after {head}");
        head = head.max(seq);
    }
    let all = ["m1", "before", "one", "two", "three", "after"];
    assert_eq!(scene.history(&at).await, all);
}

#[tokio::test]
async fn without_the_relay_the_history_goes_on() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.call.socket.close(None).await.unwrap();
    scene.host.append(&at.1, "unseen");
    scene.host.cut();
    scene.call = scene.relay.let_in().await;
    scene.clients(&[100]).await;
    scene.host.append(&at.1, "seen");
    scene.view(&at).await;
    scene.see(&at, 3).await;
    assert_eq!(scene.history(&at).await, ["m1", "unseen", "seen"]);
}

#[tokio::test]
async fn a_log_that_begins_anew_replaces_the_history_and_floods_nobody() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    for text in ["one", "two", "three"] {
        scene.host.append(&at.1, text);
    }
    scene.view(&at).await;
    scene.see(&at, 4).await;
    scene.host.rebuild(&at.1);
    scene.host.cut();
    // The first event that is told again is a new one: whoever sees its epoch asks for the history.
    scene
        .until(|told| match &told.message {
            PylonToApp::ConversationStatusUpdate(update) => update.seq.filter(|seq| *seq == Seq(2)),
            _ => None,
        })
        .await;
    scene.host.append(&at.1, "new");
    let told = scene.until(|told| match &told.message {
        PylonToApp::ClaudeEventMessage(message) => Some((message.epoch, message.seq)),
        _ => None,
    });
    assert_eq!(told.await, (Some(Epoch(2)), Some(Seq(3))));
    assert_eq!(scene.history(&at).await, ["m1", "one", "new"]);
}

#[tokio::test]
async fn a_device_does_only_what_it_may() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene
        .call
        .deliver_from(101, &[Right::View], message(&at, "m1"))
        .await;
    assert_eq!(scene.refusal().await, ErrorCode::Forbidden);
    let delete = ConversationDelete::new(at.0.clone(), at.1.clone());
    scene
        .call
        .deliver_from(101, &[Right::View, Right::Prompt], delete)
        .await;
    assert_eq!(scene.refusal().await, ErrorCode::Forbidden);
    assert!(scene.history(&at).await.is_empty());
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_its_reason() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    let nowhere = ConversationId::parse("nowhere").unwrap();
    scene
        .call
        .deliver(message(&(at.0.clone(), nowhere.clone()), "m1"))
        .await;
    let PylonToApp::ClaudeSendResult(result) = scene.result("claude_send_result").await else {
        panic!("no result");
    };
    assert_eq!(
        result.outcome().unwrap_err().code,
        ErrorCode::UnknownConversation
    );
    let dance = ControlAction::Unknown("dance".to_owned());
    scene
        .call
        .deliver(ClaudeControl::new(at.0.clone(), at.1.clone(), dance))
        .await;
    let PylonToApp::ClaudeControlResult(result) = scene.result("claude_control_result").await
    else {
        panic!("no result");
    };
    assert_eq!(
        result.outcome().unwrap_err().code,
        ErrorCode::InvalidMessage
    );
    let (name, skill) = (
        Name::parse("n").unwrap(),
        SkillType::Unknown("cook".to_owned()),
    );
    scene
        .call
        .deliver(ConversationCreate::new(at.0.clone(), name, skill))
        .await;
    let PylonToApp::ConversationCreateResult(result) =
        scene.result("conversation_create_result").await
    else {
        panic!("no result");
    };
    assert_eq!(
        result.outcome().unwrap_err().code,
        ErrorCode::InvalidMessage
    );
    scene
        .call
        .deliver(ConversationFork::new(at.0.clone(), at.1, Seq(1)))
        .await;
    let PylonToApp::ConversationCreateResult(result) =
        scene.result("conversation_create_result").await
    else {
        panic!("no result");
    };
    assert_eq!(result.outcome().unwrap_err().code, ErrorCode::Conflict);
}
