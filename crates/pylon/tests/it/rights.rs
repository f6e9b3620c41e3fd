//! What a device may ask for, by either door of the desk.

use estelle_proto::conversations::ConversationCreate;
use estelle_proto::{
    ErrorCode, Message as _, Name, PermissionMode, PylonToApp, Reply as _, Right, SkillType,
    WorkspaceId,
};

use crate::scene::Scene;

const PROMPT: [Right; 2] = [Right::View, Right::Prompt];
const ADMIN: [Right; 3] = [Right::View, Right::Prompt, Right::Admin];

fn wish(workspace: &WorkspaceId, mode: Option<PermissionMode>) -> ConversationCreate {
    let name = Name::parse("wish").unwrap();
    let mut wish = ConversationCreate::new(workspace.clone(), name, SkillType::General);
    wish.permission_mode = mode;
    wish
}

/// Every mode that a conversation can be given.
fn modes() -> [PermissionMode; 4] {
    [
        PermissionMode::BypassPermissions,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::Default,
    ]
}

#[tokio::test]
async fn who_may_only_prompt_makes_no_conversation_with_a_mode_of_its_own() {
    let mut scene = Scene::open().await;
    let (workspace, _) = scene.workspace().await;
    for mode in modes() {
        let wish = wish(&workspace, Some(mode));
        scene.call.deliver_from(101, &PROMPT, wish).await;
        assert_eq!(scene.refusal().await, ErrorCode::Forbidden);
    }
    let plain = wish(&workspace, None);
    scene.call.deliver_from(101, &PROMPT, plain).await;
    let made = scene.result("conversation_create_result").await;
    assert!(matches!(made, PylonToApp::ConversationCreateResult(made) if made.outcome().is_ok()));
    let bypass = wish(&workspace, Some(PermissionMode::BypassPermissions));
    scene.call.deliver_from(101, &ADMIN, bypass).await;
    let made = scene.result("conversation_create_result").await;
    assert!(matches!(made, PylonToApp::ConversationCreateResult(made) if made.outcome().is_ok()));
}

#[tokio::test]
async fn the_door_inside_the_process_asks_for_the_same_right() {
    let mut scene = Scene::open().await;
    let (workspace, _) = scene.workspace().await;
    let local = scene.pylon.as_ref().unwrap().local.clone();
    for mode in modes() {
        let asked = local.ask(PROMPT.to_vec(), wish(&workspace, Some(mode)));
        assert_eq!(asked.await.unwrap_err().code, ErrorCode::Forbidden);
    }
    let plain = local.ask(PROMPT.to_vec(), wish(&workspace, None)).await;
    assert_eq!(plain.unwrap().kind(), "conversation_create_result");
}
