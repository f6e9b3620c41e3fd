//! Sessions that the agent has saved for the folder of a workspace: listed, shown, and gone on with in a conversation.
//!
//! The host reads and copies them. A Pylon that dies between the copy and the conversation leaves a copy that is listed like
//! every other saved session.

use estelle_proto::conversations::ConversationCreateResult;
use estelle_proto::ipc::{CopySaved, ListSaved, ReadSaved};
use estelle_proto::saved::{
    SavedContinue, SavedList, SavedListResult, SavedRead, SavedReadResult, SavedSession,
};
use estelle_proto::{
    ApiError, ClaudeSessionId, ErrorCode, Name, PathText, Reply as _, SkillType, WorkspaceId,
    limits,
};

use super::claude::ask;
use super::context::{Asker, Context, now};
use super::conversations::{show_made, tell_made};
use super::error::{Told as _, refusal};
use super::workspaces::known_workspace;
use crate::store::NewConversation;

/// Letters of a title in the name of a conversation.
const SHOWN: usize = 60;

async fn folder(cx: &Context, workspace: &WorkspaceId) -> Result<PathText, ApiError> {
    Ok(known_workspace(cx, workspace).await?.working_dir)
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: SavedList) {
    let result = SavedListResult::new(cx.device(), request.workspace_id.clone(), Vec::new());
    let result = match try_list(cx, &request).await {
        Ok((sessions, next_offset)) => SavedListResult {
            sessions,
            next_offset,
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_list(
    cx: &Context,
    request: &SavedList,
) -> Result<(Vec<SavedSession>, Option<u32>), ApiError> {
    let asked = ListSaved {
        limit: request.limit,
        offset: request.offset,
        ..ListSaved::new(folder(cx, &request.workspace_id).await?)
    };
    let found = ask(cx, asked).await?;
    found.outcome()?;
    let mut sessions = found.saved.unwrap_or_default();
    for session in &mut sessions {
        let id = session.claude_session_id.clone();
        let owner = cx.store.conversation_of(id).await;
        session.conversation_id = owner.map_err(|error| error.told())?;
    }
    Ok((sessions, found.next_offset))
}

pub(super) async fn read(cx: &Context, asker: &Asker, request: SavedRead) {
    let (workspace, session) = (request.workspace_id, request.claude_session_id);
    let result = SavedReadResult::new(cx.device(), workspace.clone(), session.clone(), Vec::new());
    let result = match try_read(cx, &workspace, session, request.offset).await {
        Ok(found) => SavedReadResult {
            messages: found.messages.unwrap_or_default(),
            next_offset: found.next_offset,
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_read(
    cx: &Context,
    workspace: &WorkspaceId,
    session: ClaudeSessionId,
    offset: Option<u32>,
) -> Result<estelle_proto::ipc::RequestResult, ApiError> {
    let asked = ReadSaved {
        offset,
        ..ReadSaved::new(folder(cx, workspace).await?, session)
    };
    let found = ask(cx, asked).await?;
    found.outcome()?;
    Ok(found)
}

pub(super) async fn go_on(cx: &Context, asker: &Asker, request: SavedContinue) {
    let id = request.request_id.clone();
    let result = ConversationCreateResult::new(cx.device(), request.workspace_id.clone());
    let made = try_go_on(cx, asker, request).await;
    tell_made(cx, asker, result, made, id.as_ref()).await;
}

async fn try_go_on(
    cx: &Context,
    asker: &Asker,
    request: SavedContinue,
) -> Result<estelle_proto::conversations::CreatedConversation, ApiError> {
    let folder = folder(cx, &request.workspace_id).await?;
    let session = request.claude_session_id;
    let copied = ask(cx, CopySaved::new(folder, session)).await?;
    copied.outcome()?;
    let name = match request.name {
        Some(name) => name,
        None => usual_name(copied.saved.as_deref().unwrap_or_default())?,
    };
    let Some(copy) = copied.claude_session_id else {
        let text = "the host did not say what it copied the session to";
        return Err(refusal(ErrorCode::Internal, text));
    };
    let new = NewConversation {
        id: None,
        workspace_id: request.workspace_id,
        name,
        skill_type: SkillType::General,
        model: None,
        permission_mode: None,
        at: now(),
    };
    let made = cx.store.create_continued(new, copy).await;
    show_made(cx, asker, made.map_err(|error| error.told())?).await
}

/// What the session is called, as far as that is a name.
fn usual_name(copied: &[SavedSession]) -> Result<Name, ApiError> {
    let title = copied.iter().find_map(|one| one.title.as_deref());
    let title = title.unwrap_or_default().chars();
    let title: String = title.filter(|letter| !letter.is_control()).collect();
    let name = match limits::cut(title.trim(), SHOWN).trim() {
        "" => "Continued",
        title => title,
    };
    Name::parse(name).map_err(|error| refusal(ErrorCode::Internal, error.to_string()))
}
