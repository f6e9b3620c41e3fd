//! Conversations: make, fork, rewind, select, rename, delete.
//!
//! Selecting registers the asker as a viewer before the page of history is read, so that nothing falls between the page
//! and the events that follow; what it gets twice it knows by its number. After the page it is told what is under way.

use std::collections::BTreeSet;

use estelle_proto::conversations::{
    ConversationCreate, ConversationCreateResult, ConversationDelete, ConversationDeleteResult,
    ConversationFork, ConversationRename, ConversationRenameResult, ConversationRewind,
    ConversationRewindResult, ConversationSelect, CreatedConversation,
};
use estelle_proto::history::{HistoryRequest, HistoryResult};
use estelle_proto::ipc::{ForkSession, RewindSession, Touch};
use estelle_proto::{
    ApiError, Conversation, ConversationId, ErrorCode, Name, PermissionMode, Reply, RequestId, Seq,
    SkillType, WorkspaceId,
};

use super::claude::ask;
use super::context::{Asker, Context, now};
use super::error::{Told, bounded_model, refusal, unknown_word};
use super::removing::{self, end, finish_clearing};
use super::workspaces::told;
use super::worktrees::make_for;
use crate::store::{ConversationError, KnownConversation, NewConversation, PageQuery};

/// A conversation that must be in this workspace.
pub(super) async fn known(
    cx: &Context,
    workspace: &WorkspaceId,
    id: &ConversationId,
) -> Result<KnownConversation, ApiError> {
    let found = cx.store.conversation(id.clone()).await;
    let found = found.map_err(|error| error.told())?;
    if found.workspace_id != *workspace {
        return Err(ConversationError::UnknownConversation { id: id.clone() }.told());
    }
    Ok(found)
}

pub(super) async fn create(cx: &Context, asker: &Asker, request: ConversationCreate) {
    let id = request.request_id.clone();
    let result = ConversationCreateResult::new(cx.device(), request.workspace_id.clone());
    let created = try_create(cx, asker, request).await;
    tell_made(cx, asker, result, created, id.as_ref()).await;
}

pub(super) async fn tell_made(
    cx: &Context,
    asker: &Asker,
    result: ConversationCreateResult,
    made: Result<CreatedConversation, ApiError>,
    request: Option<&RequestId>,
) {
    let result = match made {
        Ok(conversation) => ConversationCreateResult {
            conversation: Some(conversation),
            ..result
        },
        Err(error) => result.failed(error),
    };
    let is_done = result.outcome().is_ok();
    asker.answer(result.in_reply_to(request));
    if is_done {
        cx.list_changed().await;
    }
}

async fn try_create(
    cx: &Context,
    asker: &Asker,
    request: ConversationCreate,
) -> Result<CreatedConversation, ApiError> {
    if let SkillType::Unknown(word) = &request.skill_type {
        return Err(unknown_word("skillType", word));
    }
    if let Some(PermissionMode::Unknown(word)) = &request.permission_mode {
        return Err(unknown_word("permissionMode", word));
    }
    bounded_model(request.model.as_deref())?;
    let tree = match request.worktree {
        None => None,
        Some(wish) => Some(make_for(cx, &request.workspace_id, &request.name, wish).await?),
    };
    let new = NewConversation {
        id: tree.as_ref().map(|tree| tree.conversation.clone()),
        workspace_id: request.workspace_id,
        name: request.name,
        skill_type: request.skill_type,
        model: request.model,
        permission_mode: request.permission_mode,
        at: now(),
    };
    let made = cx.store.create_conversation(new).await;
    if let (Err(_), Some(tree)) = (&made, tree) {
        // Nobody has worked in it.
        let undone = cx.worktrees.undo(&tree).await;
        undone.map_err(|error| error.told())?;
    }
    show_made(cx, asker, made.map_err(|error| error.told())?).await
}

/// Puts a conversation into the list and shows it to whoever made it.
async fn make(
    cx: &Context,
    asker: &Asker,
    new: NewConversation,
) -> Result<CreatedConversation, ApiError> {
    let made = cx.store.create_conversation(new).await;
    show_made(cx, asker, made.map_err(|error| error.told())?).await
}

/// Shows a conversation that is in the list now to whoever made it.
pub(super) async fn show_made(
    cx: &Context,
    asker: &Asker,
    made: Conversation,
) -> Result<CreatedConversation, ApiError> {
    let id = made.conversation_id;
    cx.host.follow(id.clone(), None).await;
    // Whoever makes a conversation looks at it.
    let viewed = cx.store.view(asker.reader, id.clone()).await;
    viewed.map_err(|error| error.told())?;
    cx.look(asker.device, id.clone()).await;
    Ok(CreatedConversation {
        status: Some(made.status),
        created_at: made.created_at,
        ..CreatedConversation::new(id, made.name, made.skill_type)
    })
}

pub(super) async fn select(cx: &Context, asker: &Asker, request: ConversationSelect) {
    let (workspace, id) = (request.workspace_id, request.conversation_id);
    let mut page = HistoryRequest::new(workspace, id.clone());
    page.request_id = request.request_id;
    match try_select(cx, asker, &page).await {
        Ok(result) => asker.answer(result),
        Err(error) => return asker.answer(no_history(cx, &page, error)),
    }
    // The host is told of it by the desk: whoever reads does not wait for a host that is slow or away.
    cx.show(asker.clone(), id.clone()).await;
    if let Err(error) = cx.store.touch(id, now()).await {
        tracing::error!(%error, "the store failed");
    }
}

/// Tells the host what people look at, so that it does not count as idle.
pub(super) async fn touch_all(cx: Context, looked_at: BTreeSet<ConversationId>) {
    for id in looked_at {
        // A host that is gone again asks for it when it is back.
        let _ = cx.host.request(Touch::new(id)).await;
    }
}

async fn try_select(
    cx: &Context,
    asker: &Asker,
    request: &HistoryRequest,
) -> Result<HistoryResult, ApiError> {
    let id = &request.conversation_id;
    let known = known(cx, &request.workspace_id, id).await?;
    let viewed = cx.store.view(asker.reader, id.clone()).await;
    viewed.map_err(|error| error.told())?;
    let seen = cx.look(asker.device, id.clone()).await;
    let page = cx.store.page(PageQuery::from(request)).await;
    let page = page.map_err(|error| error.told())?;
    Ok(HistoryResult {
        has_active_session: Some(seen.is_active),
        work_start_time: seen.working_since,
        process: known.conversation.process,
        ..page.into_result(cx.device(), request)
    })
}

/// The answer to a request for history that failed.
pub(super) fn no_history(cx: &Context, request: &HistoryRequest, error: ApiError) -> HistoryResult {
    let (workspace, id) = (
        request.workspace_id.clone(),
        request.conversation_id.clone(),
    );
    let result = HistoryResult::new(cx.device(), workspace, id, Vec::new(), 0, 0, false);
    result
        .failed(error)
        .in_reply_to(request.request_id.as_ref())
}

pub(super) async fn rename(cx: &Context, asker: &Asker, request: ConversationRename) {
    let (workspace, id) = (request.workspace_id, request.conversation_id);
    let result = ConversationRenameResult::new(cx.device(), workspace.clone(), id.clone());
    let renamed = cx
        .store
        .rename_conversation(workspace, id, request.new_name);
    let renamed = renamed.await.map_err(|error| error.told());
    let is_done = renamed.is_ok();
    let result = told(result, renamed);
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

pub(super) async fn delete(cx: &Context, asker: &Asker, request: ConversationDelete) {
    let (workspace, id) = (request.workspace_id, request.conversation_id);
    let result = ConversationDeleteResult::new(cx.device(), workspace.clone(), id.clone());
    let deleted = try_delete(cx, workspace, id).await;
    let is_done = deleted.is_ok();
    let result = told(result, deleted);
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

async fn try_delete(
    cx: &Context,
    workspace: WorkspaceId,
    id: ConversationId,
) -> Result<(), ApiError> {
    known(cx, &workspace, &id).await?;
    let of = [id.clone()];
    let decide = async {
        let deleted = cx.store.delete_conversation(workspace, id.clone()).await;
        deleted.map_err(|error| error.told())?;
        Ok(vec![id])
    };
    removing::remove(cx, &of, decide).await.map(drop)
}

pub(super) async fn fork(cx: &Context, asker: &Asker, request: ConversationFork) {
    let id = request.request_id.clone();
    let result = ConversationCreateResult::new(cx.device(), request.workspace_id.clone());
    let forked = try_fork(cx, asker, request).await;
    tell_made(cx, asker, result, forked, id.as_ref()).await;
}

/// The host has the copy before the list does: what is in the list is there.
async fn try_fork(
    cx: &Context,
    asker: &Asker,
    request: ConversationFork,
) -> Result<CreatedConversation, ApiError> {
    let (workspace, source) = (request.workspace_id, request.conversation_id);
    let known = known(cx, &workspace, &source).await?;
    if let Some(tree) = &known.worktree {
        let text = format!(
            "a conversation with a worktree of its own cannot be forked, because what the agent knows belongs to its folder: \
             begin a new one with a worktree from the branch `{}`",
            tree.branch
        );
        return Err(refusal(ErrorCode::Conflict, text));
    }
    let known = known.conversation;
    finish_clearing(cx, &source).await?;
    let new_id = uuid::Uuid::now_v7().to_string();
    let new_id = ConversationId::parse(&new_id)
        .map_err(|error| refusal(ErrorCode::Internal, error.to_string()))?;
    let new = NewConversation {
        id: Some(new_id.clone()),
        workspace_id: workspace,
        name: request.name.unwrap_or_else(|| name_of_fork(&known.name)),
        skill_type: known.skill_type,
        model: known.model,
        permission_mode: known.permission_mode,
        at: now(),
    };
    let kept = cx.store.intend_fork(new.clone()).await;
    kept.map_err(|error| error.told())?;
    let wish = ForkSession::new(source, new_id.clone(), request.before_seq);
    // An answer that never came says nothing about the copy: the next pylon looks for it.
    let forked = ask(cx, wish).await?.outcome();
    if let Err(refused) = forked {
        give_up(cx, new_id).await;
        return Err(refused);
    }
    let made = make(cx, asker, new).await;
    if made.is_err() {
        // Nobody knows of the copy, so nobody misses it.
        let _ = end(cx, new_id.clone()).await;
        give_up(cx, new_id).await;
    }
    made
}

async fn give_up(cx: &Context, id: ConversationId) {
    if let Err(error) = cx.store.give_up_fork(id).await {
        tracing::warn!(%error, "a copy that is not there is still looked for");
    }
}

/// Lists copies that an earlier pylon asked for and could not list.
pub(super) async fn list_left_forks(cx: Context, left: Vec<NewConversation>) {
    for new in left {
        let Some(id) = new.id.clone() else { continue };
        match list_left(&cx, &id, new).await {
            Ok(()) => tracing::info!(conversation = %id, "a copy that no list showed is listed"),
            Err(error) if is_nowhere(&error) => give_up(&cx, id).await,
            // It is looked for again by the next pylon.
            Err(error) => tracing::warn!(conversation = %id, %error, "a copy is in no list"),
        }
    }
}

/// There is no such copy, or no place for it any more.
fn is_nowhere(error: &ApiError) -> bool {
    matches!(
        error.code,
        ErrorCode::UnknownConversation | ErrorCode::UnknownWorkspace
    )
}

async fn list_left(
    cx: &Context,
    id: &ConversationId,
    new: NewConversation,
) -> Result<(), ApiError> {
    let asked = cx.host.status(Some(id.clone())).await;
    let status = asked.map_err(|error| error.told())?;
    if !status.sessions.iter().any(|one| one.session_id == *id) {
        return Err(ConversationError::UnknownConversation { id: id.clone() }.told());
    }
    let made = cx.store.create_conversation(new).await;
    made.map_err(|error| error.told())?;
    cx.host.follow(id.clone(), None).await;
    cx.list_changed().await;
    Ok(())
}

pub(super) async fn rewind(cx: &Context, asker: &Asker, request: ConversationRewind) {
    let (workspace, id) = (request.workspace_id, request.conversation_id);
    let result = ConversationRewindResult::new(cx.device(), workspace.clone(), id.clone());
    let rewound = try_rewind(cx, asker, &workspace, id, request.before_seq).await;
    let is_done = rewound.is_ok();
    let result = told(result, rewound);
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

/// The host decides and marks it; the history follows by its event.
async fn try_rewind(
    cx: &Context,
    asker: &Asker,
    workspace: &WorkspaceId,
    id: ConversationId,
    before: Seq,
) -> Result<(), ApiError> {
    known(cx, workspace, &id).await?;
    finish_clearing(cx, &id).await?;
    let wish = RewindSession {
        device_id: Some(asker.device),
        ..RewindSession::new(id, before)
    };
    ask(cx, wish).await?.outcome()
}

fn name_of_fork(name: &Name) -> Name {
    let forked = format!("{name} (fork)");
    Name::parse(&forked).unwrap_or_else(|_| name.clone())
}
