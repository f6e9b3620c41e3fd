//! How conversations stand, for whoever comes later: why a process is stopped, what an agent is at, how long a person is waited
//! for.

use estelle_proto::conversations::ProcessState;
use estelle_proto::events::{
    Activity, ActivityState, ErrorEvent, Init, PermissionAsked, StateChanged, StateUpdate,
};
use estelle_proto::ipc::ProcessStatus;
use estelle_proto::runs::{PauseReason, ProcessPaused};
use estelle_proto::workspaces::WorkspaceList;
use estelle_proto::{
    ClaudeEvent, ClaudeSessionId, Conversation, ConversationId, ConversationStatus, HistoryMessage,
    Json, PylonToApp, Timestamp, ToolUseId, WorkspaceId,
};

use crate::scene::Scene;

fn paused() -> ProcessPaused {
    ProcessPaused::new(PauseReason::IdleTimeout, 45, true)
}

/// The conversation as the list has it.
async fn listed(scene: &mut Scene, at: &(WorkspaceId, ConversationId)) -> Conversation {
    scene.call.deliver(WorkspaceList::default()).await;
    let PylonToApp::WorkspaceListResult(list) = scene.result("workspace_list_result").await else {
        panic!("no list");
    };
    let mut all = list
        .workspaces
        .into_iter()
        .flat_map(|one| one.conversations);
    all.find(|one| one.conversation_id == at.1).unwrap()
}

/// Waits until all clients are told this of its process.
async fn told(scene: &mut Scene, process: Option<&ProcessState>) {
    let update = scene.until(|told| match &told.message {
        PylonToApp::ConversationStatusUpdate(update) => {
            (update.process.as_ref() == process).then_some(())
        }
        _ => None,
    });
    update.await;
}

#[tokio::test]
async fn why_a_process_is_stopped_is_known_to_whoever_comes_later_with_the_host_away() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.view(&at).await;
    scene.send(&at, "m1").await;
    scene.see(&at, 1).await;
    scene.host.happen(&at.1, paused());
    let stopped = Some(ProcessState {
        paused: Some(paused()),
        ..ProcessState::new(ProcessStatus::Stopped)
    });
    told(&mut scene, stopped.as_ref()).await;
    scene.host.cut();
    scene.restart().await;
    scene.clients(&[100]).await;
    assert_eq!(listed(&mut scene, &at).await.process, stopped);
    let page = scene.view(&at).await;
    assert_eq!(page.process, stopped);
    let Some(HistoryMessage::System(row)) = page.messages.last() else {
        panic!("the stop has no row: {:?}", page.messages);
    };
    assert_eq!(row.subtype.as_deref(), Some("paused_idle_timeout"));
}

#[tokio::test]
async fn a_process_that_died_is_told_with_its_last_words_until_the_next_begins() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.view(&at).await;
    scene.send(&at, "m1").await;
    scene.see(&at, 1).await;
    let died = ErrorEvent {
        exit_code: Some(3),
        ..ErrorEvent::new("it died".to_owned())
    };
    scene.host.happen(&at.1, died);
    let failed = Some(ProcessState {
        exit_code: Some(3),
        why: Some("it died".to_owned()),
        ..ProcessState::new(ProcessStatus::Error)
    });
    told(&mut scene, failed.as_ref()).await;
    assert_eq!(listed(&mut scene, &at).await.process, failed);
    let session = ClaudeSessionId::parse("s").unwrap();
    scene
        .host
        .happen(&at.1, Init::new(session, "opus".to_owned(), Vec::new()));
    told(&mut scene, None).await;
    assert_eq!(listed(&mut scene, &at).await.process, None);
}

#[tokio::test]
async fn what_an_agent_is_at_reaches_those_who_look_elsewhere() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let working = StateChanged::new(ConversationStatus::Working);
    scene.host.happen(&at.1, working);
    scene.view(&at).await;
    scene.see(&at, 2).await;
    let tool = ActivityState {
        tool_name: Some("Bash".to_owned()),
        ..ActivityState::new(Activity::Tool)
    };
    scene
        .host
        .pass(&at.1, StateUpdate::new(tool.clone(), String::new()));
    let status = scene.until(|told| match &told.message {
        PylonToApp::ConversationStatusUpdate(update) if update.activity.is_some() => {
            Some((update.status.clone(), update.activity.clone()))
        }
        _ => None,
    });
    let working = (ConversationStatus::Working, Some(tool.clone()));
    assert_eq!(status.await, working);
    assert_eq!(listed(&mut scene, &at).await.activity, Some(tool));
}

#[tokio::test]
async fn a_decision_is_as_old_as_it_is_also_when_it_is_told_again() {
    let mut scene = Scene::open().await;
    scene.host.change(|world| world.began_at = Some(1_000));
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let call = ToolUseId::parse("c1").unwrap();
    let asked = PermissionAsked::new("Bash".to_owned(), Json::parse("{}").unwrap(), call);
    scene.host.happen(&at.1, asked);
    let age = |told: &crate::scene::Told| match &told.message {
        PylonToApp::ClaudeEventMessage(message)
            if matches!(message.event, ClaudeEvent::PermissionAsked(_)) =>
        {
            Some(message.timestamp)
        }
        _ => None,
    };
    let live = scene.until(age).await;
    assert_eq!(live, Some(Timestamp(1_002)));
    scene.view(&at).await;
    assert_eq!(scene.until(age).await, live);
}
