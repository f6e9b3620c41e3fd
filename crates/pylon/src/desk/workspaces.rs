//! Workspaces: list, make, delete, rename, switch.
//!
//! After each change all clients get the whole list, which also tells those who did not ask. What waits for a person
//! follows the list, so that whoever just came misses none of it. `removing.rs` deletes what is in them.

use std::collections::BTreeMap;

use estelle_proto::workspaces::{
    Workspace, WorkspaceCreate, WorkspaceCreateResult, WorkspaceDelete, WorkspaceDeleteResult,
    WorkspaceList, WorkspaceListResult, WorkspaceRename, WorkspaceRenameResult, WorkspaceSwitch,
    WorkspaceSwitchResult,
};
use estelle_proto::{ApiError, ConversationId, DeviceId, Reply, WorkspaceId};

use super::context::{Aside, Asker, Context, now};
use super::error::Told;
use super::{fitting, paths, removing, tasks, worker};
use crate::store::{NewWorkspace, Removed, WorkspaceError};

pub(super) async fn list(cx: &Context, asker: &Asker, request: WorkspaceList) {
    let listing = listing(cx, asker.reader).await;
    asker.answer(listing.in_reply_to(request.request_id.as_ref()));
    cx.show_decisions(asker.clone()).await;
}

/// All workspaces, as one device sees them.
pub(super) async fn listing(cx: &Context, device: DeviceId) -> WorkspaceListResult {
    let info = cx.config.info.clone();
    let result = |workspaces| WorkspaceListResult::new(cx.device(), info, workspaces);
    match cx.store.workspaces(Some(device)).await {
        Ok(listing) => {
            let mut result = WorkspaceListResult {
                active_workspace_id: listing.active_workspace_id,
                active_conversation_id: listing.active_conversation_id,
                ..result(tasks::filled_in(cx, listing.workspaces).await)
            };
            add_asides(&mut result, cx.asides().await);
            fitting::fit(&mut result);
            result
        }
        Err(error) => result(Vec::new()).failed(error.told()),
    }
}

/// Adds what only the desk knows: what agents are at, and whose processes are in doubt.
fn add_asides(listing: &mut WorkspaceListResult, mut asides: BTreeMap<ConversationId, Aside>) {
    let workspaces = listing.workspaces.iter_mut();
    for conversation in workspaces.flat_map(|workspace| &mut workspace.conversations) {
        if let Some(aside) = asides.remove(&conversation.conversation_id) {
            conversation.activity = aside.activity;
            conversation.process = aside.process.or_else(|| conversation.process.take());
        }
    }
}

pub(super) async fn create(cx: &Context, asker: &Asker, request: WorkspaceCreate) {
    let result = WorkspaceCreateResult::new(cx.device());
    let result = match try_create(cx, &request).await {
        Ok(made) => made,
        Err(error) => result.failed(error),
    };
    let is_done = result.outcome().is_ok();
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

async fn try_create(
    cx: &Context,
    request: &WorkspaceCreate,
) -> Result<WorkspaceCreateResult, ApiError> {
    let new = NewWorkspace {
        name: request.name.clone(),
        working_dir: paths::workspace_folder(&request.working_dir, &cx.config.roots).await?,
        conversation_name: cx.config.first_conversation.clone(),
        at: now(),
    };
    let made = cx.store.create_workspace(new).await;
    let (workspace, conversation) = made.map_err(|error| error.told())?;
    cx.host
        .follow(conversation.conversation_id.clone(), None)
        .await;
    Ok(WorkspaceCreateResult {
        workspace: Some(Box::new(workspace)),
        conversation: Some(conversation),
        ..WorkspaceCreateResult::new(cx.device())
    })
}

pub(super) async fn delete(cx: &Context, asker: &Asker, request: WorkspaceDelete) {
    let result = WorkspaceDeleteResult::new(cx.device(), request.workspace_id.clone());
    let done = try_delete(cx, request.workspace_id).await;
    let is_done = done.is_ok();
    let result = told(result, done);
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

/// A workspace that must be there.
pub(super) async fn known_workspace(cx: &Context, id: &WorkspaceId) -> Result<Workspace, ApiError> {
    let listing = cx.store.workspaces(None).await;
    let listing = listing.map_err(|error| error.told())?;
    let mut all = listing.workspaces.into_iter();
    let found = all.find(|workspace| workspace.workspace_id == *id);
    found.ok_or_else(|| WorkspaceError::UnknownWorkspace { id: id.clone() }.told())
}

async fn try_delete(cx: &Context, id: WorkspaceId) -> Result<(), ApiError> {
    let workspace = known_workspace(cx, &id).await?;
    let conversations = workspace.conversations.into_iter();
    let of: Vec<_> = conversations.map(|one| one.conversation_id).collect();
    let decide = async {
        let deleted = cx.store.delete_workspace(id.clone()).await;
        deleted.map_err(|error| error.told())
    };
    if !removing::remove(cx, &of, decide).await? {
        // The task of its worker waits again once nobody is at it.
        return Ok(());
    }
    let home = std::path::PathBuf::from(workspace.working_dir.as_str());
    worker::forget(cx, &id, home).await;
    let removed = Removed::Workspace(id, workspace.working_dir);
    if let Err(error) = cx.store.finish_removal(removed).await {
        tracing::warn!(%error, "the next pylon looks after a workspace that is gone");
    }
    Ok(())
}

pub(super) async fn rename(cx: &Context, asker: &Asker, request: WorkspaceRename) {
    let id = request.workspace_id;
    let result = WorkspaceRenameResult::new(cx.device(), id.clone());
    let renamed = cx.store.rename_workspace(id, request.new_name).await;
    let is_done = renamed.is_ok();
    let result = told(result, renamed.map_err(|error| error.told()));
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

pub(super) async fn switch(cx: &Context, asker: &Asker, request: WorkspaceSwitch) {
    let id = request.workspace_id;
    let result = WorkspaceSwitchResult::new(cx.device(), id.clone());
    let switched = cx
        .store
        .switch_workspace(id, request.conversation_id, now());
    let result = match switched.await {
        Ok(conversation_id) => WorkspaceSwitchResult {
            conversation_id,
            ..result
        },
        Err(error) => result.failed(error.told()),
    };
    let is_done = result.outcome().is_ok();
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        cx.list_changed().await;
    }
}

/// A result with its outcome.
pub(super) fn told<R: Reply>(result: R, done: Result<(), ApiError>) -> R {
    match done {
        Ok(()) => result,
        Err(error) => result.failed(error),
    }
}
