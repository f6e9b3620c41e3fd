//! Worktrees of conversations: made with them, listed, merged, removed.
//!
//! Whether somebody works where files are about to change is looked at here: the host knows about agents, and no request to
//! the same conversation runs meanwhile, because they share a lane.

use std::path::Path;

use estelle_proto::ipc::StopSession;
use estelle_proto::worktrees::{
    WorktreeList, WorktreeListResult, WorktreeMerge, WorktreeMergeResult, WorktreeRemove,
    WorktreeRemoveResult, WorktreeWish,
};
use estelle_proto::{
    ApiError, ConversationId, ConversationStatus, ErrorCode, Name, Reply as _, Retry, WorkspaceId,
    limits,
};

use super::claude::ask_if_known;
use super::context::{Asker, Context, now};
use super::conversations::known;
use super::error::{Told as _, bounded, refusal};
use super::workspaces::known_workspace;
use crate::store::WorktreeRow;
use crate::worktrees::{NewWorktree, Unsaved, WorktreeError};

/// Makes a worktree for a conversation that is about to be made.
pub(super) async fn make_for(
    cx: &Context,
    workspace: &WorkspaceId,
    name: &Name,
    wish: WorktreeWish,
) -> Result<WorktreeRow, ApiError> {
    for (field, text) in [("branch", &wish.branch), ("base", &wish.base)] {
        let length = text.as_ref().map_or(0, String::len);
        bounded(field, length, limits::MAX_NAME_BYTES)?;
    }
    let folder = known_workspace(cx, workspace).await?.working_dir;
    let id = ConversationId::parse(&uuid::Uuid::now_v7().to_string());
    let id = id.map_err(|error| refusal(ErrorCode::Internal, error.to_string()))?;
    let new = NewWorktree {
        conversation: id,
        workspace: workspace.clone(),
        folder,
        name: name.clone(),
        wish,
        at: now(),
    };
    cx.worktrees.make(new).await.map_err(|error| error.told())
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: WorktreeList) {
    let result = WorktreeListResult::new(cx.device(), Vec::new());
    let (workspace, after) = (request.workspace_id.as_ref(), request.cursor.as_ref());
    let result = match cx.worktrees.list(workspace, after).await {
        Ok((worktrees, next_cursor)) => WorktreeListResult {
            worktrees,
            next_cursor,
            ..result
        },
        Err(error) => result.failed(error.told()),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

pub(super) async fn merge(cx: &Context, asker: &Asker, request: WorktreeMerge) {
    let (workspace, id) = (request.workspace_id, request.conversation_id);
    let result = WorktreeMergeResult::new(cx.device(), workspace.clone(), id.clone());
    if let Err(error) = may_merge(cx, &workspace, &id).await {
        let failed = result.failed(error);
        return asker.answer(failed.in_reply_to(request.request_id.as_ref()));
    }
    let result = match cx.worktrees.merge(&workspace, &id).await {
        Ok(merged) => WorktreeMergeResult {
            head: Some(merged.head),
            commits: Some(merged.commits),
            ..result
        },
        Err(error) => {
            let conflicts = if let WorktreeError::Conflicts { files } = &error {
                Some(files.clone())
            } else {
                None
            };
            WorktreeMergeResult {
                conflicts,
                ..result.failed(error.told())
            }
        }
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

/// There is a worktree of this name, also of a conversation that is gone.
async fn is_there(
    cx: &Context,
    workspace: &WorkspaceId,
    id: &ConversationId,
) -> Result<(), ApiError> {
    let row = cx.store.worktree(id.clone()).await;
    let row = row.map_err(|error| error.told())?;
    if row.is_some_and(|row| row.workspace == *workspace) {
        return Ok(());
    }
    known(cx, workspace, id).await?;
    Err(WorktreeError::Unknown { id: id.clone() }.told())
}

/// No agent works in a worktree, or where it would be merged to. What counts is the host's word and the folder, whichever
/// workspace a conversation belongs to: two of them can have the same folder, or one in the other.
async fn may_merge(
    cx: &Context,
    workspace: &WorkspaceId,
    id: &ConversationId,
) -> Result<(), ApiError> {
    is_there(cx, workspace, id).await?;
    let places = cx.worktrees.places(workspace, id).await;
    let places = places.map_err(|error| error.told())?;
    let status = cx.host.status(None).await;
    let sessions = status.map_err(|error| error.told())?.sessions;
    let busy = sessions
        .into_iter()
        .filter(|session| session.state != ConversationStatus::Idle);
    for session in busy {
        let one = &session.session_id;
        let known = cx.store.conversation(one.clone()).await.ok();
        // Worktrees may lie in the folder of a repository, and are apart from it.
        let is_apart = known.as_ref().is_some_and(|known| known.worktree.is_some());
        let folder = known.as_ref().map(|known| known.working_dir.clone());
        let is_in = folder.or(session.working_dir).is_some_and(|folder| {
            let folder = Path::new(folder.as_str());
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            places.iter().any(|place| folder.starts_with(place))
        });
        if one == id || (is_in && !is_apart) {
            let name = known.map(|known| known.conversation.name.to_string());
            return Err(works(name.as_deref().unwrap_or(one.as_str())));
        }
    }
    Ok(())
}

fn works(name: &str) -> ApiError {
    let text = format!("`{name}` works in this folder: stop it, or wait until it is done");
    ApiError::new(ErrorCode::Conflict, text, Retry::Later)
}

pub(super) async fn remove(cx: &Context, asker: &Asker, request: WorktreeRemove) {
    let (workspace, id) = (request.workspace_id, request.conversation_id);
    let result = WorktreeRemoveResult::new(cx.device(), workspace.clone(), id.clone());
    let unsaved = match request.discard {
        Some(true) => Unsaved::Discard,
        Some(false) | None => Unsaved::Keep,
    };
    let result = match try_remove(cx, &workspace, &id, unsaved).await {
        Ok(kept) => WorktreeRemoveResult {
            kept_branches: Some(kept).filter(|kept| !kept.is_empty()),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_remove(
    cx: &Context,
    workspace: &WorkspaceId,
    id: &ConversationId,
    unsaved: Unsaved,
) -> Result<Vec<String>, ApiError> {
    is_there(cx, workspace, id).await?;
    if let Ok(known) = cx.store.conversation(id.clone()).await {
        let status = cx.host.status(Some(id.clone())).await;
        let sessions = match status.map_err(|error| error.told()) {
            Ok(status) => status.sessions,
            // The host does not know a conversation in which nothing was said.
            Err(error) if error.code == ErrorCode::UnknownConversation => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut sessions = sessions.iter().filter(|one| one.session_id == *id);
        if sessions.any(|one| one.state != ConversationStatus::Idle) {
            return Err(works(known.conversation.name.as_str()));
        }
        // A process that waits for the next message works in the folder as well.
        let stop = StopSession {
            end_process: Some(true),
            ..StopSession::new(id.clone())
        };
        ask_if_known(cx, stop).await?;
    }
    let removed = cx.worktrees.remove(workspace, id, unsaved).await;
    removed.map_err(|error| error.told())
}
