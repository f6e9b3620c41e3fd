//! Deleting and clearing where the host or the pylon is lost in the middle, and where a terminal has a conversation.
//!
//! The same with real processes and `kill -9` is in `crates/cli/tests/it/up/removed.rs`.

use estelle_proto::claude::ClaudeControl;
use estelle_proto::conversations::{ConversationCreate, ConversationDelete};
use estelle_proto::ipc::KeptTerminal;
use estelle_proto::terminals::{Terminal, TerminalKind, TerminalState};
use estelle_proto::workspaces::WorkspaceDelete;
use estelle_proto::{
    AppToPylon, ControlAction, ConversationId, ErrorCode, Name, PathText, PylonToApp, Reply as _,
    SkillType, TerminalId, Timestamp, WorkspaceId,
};

use crate::scene::{Scene, message};

type Place = (WorkspaceId, ConversationId);

/// A workspace with two conversations, in each of which something was said.
async fn two() -> (Scene, Place, Place) {
    let mut scene = Scene::open().await;
    let first = scene.workspace().await;
    let name = Name::parse("second").unwrap();
    let create = ConversationCreate::new(first.0.clone(), name, SkillType::General);
    scene.call.deliver(create).await;
    let PylonToApp::ConversationCreateResult(made) =
        scene.result("conversation_create_result").await
    else {
        panic!("not made");
    };
    let second = (first.0.clone(), made.conversation.unwrap().conversation_id);
    for at in [&first, &second] {
        scene.view(at).await;
        scene.send(at, at.1.as_str()).await;
        scene.see(at, 1).await;
    }
    (scene, first, second)
}

/// Asks, and gives the code of the refusal, if it was refused.
async fn ask(scene: &mut Scene, request: impl Into<AppToPylon>) -> Option<ErrorCode> {
    scene.call.deliver(request.into()).await;
    let outcome = scene.until(|told| match &told.message {
        PylonToApp::WorkspaceDeleteResult(result) => Some(result.outcome()),
        PylonToApp::ConversationDeleteResult(result) => Some(result.outcome()),
        PylonToApp::ClaudeControlResult(result) => Some(result.outcome()),
        PylonToApp::ClaudeSendResult(result) => Some(result.outcome()),
        _ => None,
    });
    outcome.await.err().map(|error| error.code)
}

fn clear(at: &Place) -> ClaudeControl {
    ClaudeControl::new(at.0.clone(), at.1.clone(), ControlAction::Clear)
}

/// Waits until nothing is left to be told to the host.
async fn finished(scene: &Scene) {
    while !scene.store().removals().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

/// A terminal that has this conversation.
fn terminal(at: &Place, state: TerminalState) -> KeptTerminal {
    let path = PathText::parse("/srv/project").unwrap();
    let id = TerminalId::parse("t-1").unwrap();
    let kind = TerminalKind::Agent;
    let mut terminal = Terminal::new(id, kind, path.clone(), state, Timestamp(1));
    terminal.conversation_id = Some(at.1.clone());
    KeptTerminal::new(terminal, path)
}

#[tokio::test]
async fn a_run_that_begins_while_its_workspace_is_deleted_is_ended() {
    let (mut scene, first, _) = two().await;
    let before = scene.host.heard("send_message");
    scene.host.change(|world| world.is_message_held = true);
    scene.call.deliver(message(&first, "late")).await;
    while scene.host.heard("send_message") == before {
        tokio::task::yield_now().await;
    }
    let delete = WorkspaceDelete::new(first.0.clone());
    assert_eq!(ask(&mut scene, delete).await, None);
    assert!(scene.host.log(&first.1).is_empty());
    // Only now the host sees the message, and begins the conversation anew.
    scene.host.change(|world| world.is_message_held = false);
    let refused = scene.until(|told| match &told.message {
        PylonToApp::ClaudeSendResult(result) => Some(result.outcome().err().map(|e| e.code)),
        _ => None,
    });
    assert_eq!(refused.await, Some(ErrorCode::UnknownConversation));
    assert!(scene.host.log(&first.1).is_empty(), "the run was ended");
}

/// Nobody may see that a message began a conversation anew: the pylon dies first. The next one asks once more.
#[tokio::test]
async fn what_was_deleted_is_asked_for_once_more_by_the_next_pylon() {
    let (mut scene, first, second) = two().await;
    let delete = WorkspaceDelete::new(first.0.clone());
    assert_eq!(ask(&mut scene, delete).await, None);
    assert!(scene.host.log(&second.1).is_empty());
    scene
        .host
        .append(&second.1, "begun anew by a message that was on its way");
    scene.restart().await;
    finished(&scene).await;
    assert!(scene.host.log(&second.1).is_empty());
}

#[tokio::test]
async fn a_deletion_goes_on_over_lost_hosts() {
    for is_done in [false, true] {
        let (mut scene, first, second) = two().await;
        scene
            .host
            .change(|world| world.cuts = Some(("delete_session", is_done, 3)));
        let delete = WorkspaceDelete::new(first.0.clone());
        assert_eq!(ask(&mut scene, delete).await, None);
        for at in [&first, &second] {
            assert!(scene.host.log(&at.1).is_empty(), "done first: {is_done}");
        }
        let listing = scene.store().workspaces(None).await.unwrap();
        assert_eq!(listing.workspaces.len(), 0);
    }
}

#[tokio::test]
async fn a_deletion_that_was_decided_is_finished_by_the_next_pylon() {
    let (mut scene, first, second) = two().await;
    // A pylon that dies here has told nobody.
    scene
        .store()
        .delete_workspace(first.0.clone())
        .await
        .unwrap();
    assert_eq!(scene.host.log(&first.1).len(), 1);
    scene.restart().await;
    finished(&scene).await;
    for at in [&first, &second] {
        assert!(scene.host.log(&at.1).is_empty());
    }
}

#[tokio::test]
async fn a_history_that_was_cleared_is_cleared_in_the_host_by_the_next_pylon() {
    let (mut scene, first, _) = two().await;
    scene.store().clear_history(first.1.clone()).await.unwrap();
    assert_eq!(scene.host.heard("clear_session"), 0);
    scene.restart().await;
    finished(&scene).await;
    assert_eq!(scene.host.heard("clear_session"), 1);
}

#[tokio::test]
async fn nothing_is_said_before_the_host_has_cleared_what_is_cleared() {
    let (mut scene, first, _) = two().await;
    // The host does it, or not, and is lost before it says so.
    scene
        .host
        .change(|world| world.cuts = Some(("clear_session", true, 2)));
    assert_eq!(ask(&mut scene, clear(&first)).await, None);
    let asked = scene.host.world.lock().unwrap().commands.len();
    while let Some(code) = ask(&mut scene, message(&first, "after")).await {
        assert_eq!(code, ErrorCode::HostUnavailable);
    }
    let commands = scene.host.world.lock().unwrap().commands[asked..].to_vec();
    let place = |kind: &str| commands.iter().rposition(|told| told == kind);
    let (cleared, said) = (place("clear_session"), place("send_message"));
    assert!(cleared.is_some() && cleared < said, "{commands:?}");
    finished(&scene).await;
    assert_eq!(scene.host.heard("clear_session"), 3, "and not once more");
}

#[tokio::test]
async fn what_a_terminal_has_is_neither_deleted_nor_cleared_nor_is_anything_beside_it() {
    let (mut scene, first, second) = two().await;
    let lent = terminal(&second, TerminalState::Running);
    scene.host.change(|world| world.terminals = vec![lent]);
    let whole = WorkspaceDelete::new(first.0.clone());
    let one = ConversationDelete::new(second.0.clone(), second.1.clone());
    let conflict = Some(ErrorCode::Conflict);
    assert_eq!(ask(&mut scene, whole.clone()).await, conflict);
    assert_eq!(ask(&mut scene, one).await, conflict);
    assert_eq!(ask(&mut scene, clear(&second)).await, conflict);
    for kind in ["delete_session", "clear_session"] {
        assert_eq!(scene.host.heard(kind), 0, "{kind}");
    }
    for at in [&first, &second] {
        assert_eq!(scene.history(at).await, [at.1.as_str()]);
    }
    // The other one can be cleared; and everything be deleted when the terminal is over.
    assert_eq!(ask(&mut scene, clear(&first)).await, None);
    let over = terminal(&second, TerminalState::Ended);
    scene.host.change(|world| world.terminals = vec![over]);
    assert_eq!(ask(&mut scene, whole).await, None);
}
