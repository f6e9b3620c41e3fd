//! What is not committed in the folder of a workspace, as files and as a diff, in pages that fit a frame.

use std::path::PathBuf;

use estelle_proto::changes::{
    ChangedFile, ChangesRequest, ChangesResult, DiffRequest, DiffResult, Since,
};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Retry, WorkspaceId, limits};

use super::context::{Asker, Context};
use super::error::{Told as _, bounded, refusal, unknown_word};
use super::files::base;
use crate::git::{Diff, Repository, Status, is_plain};

/// The folder that is meant, and the repository it is in.
async fn repository(
    cx: &Context,
    workspace: &WorkspaceId,
    conversation: Option<&ConversationId>,
) -> Result<(PathBuf, Repository), ApiError> {
    let base = base(cx, workspace, conversation).await?;
    let found = Repository::find(&cx.config.git, &base).await;
    Ok((base, found.map_err(|error| error.told())?))
}

/// Whether everything since a worktree began is wished for. What nobody knows is refused before anything is looked at.
fn is_since_base(since: Option<&Since>) -> Result<bool, ApiError> {
    match since {
        None | Some(Since::Head) => Ok(false),
        Some(Since::Base) => Ok(true),
        Some(Since::Unknown(word)) => Err(unknown_word("since", word)),
    }
}

/// The commit to compare with: the one where the worktree of a conversation meets the branch it began from, if that is wished.
async fn commit(
    cx: &Context,
    repository: &Repository,
    conversation: Option<&ConversationId>,
    is_since_base: bool,
) -> Result<Option<String>, ApiError> {
    if !is_since_base {
        return Ok(None);
    }
    let worktree = match conversation {
        Some(id) => {
            let row = cx.store.worktree(id.clone()).await;
            row.map_err(|error| error.told())?
        }
        None => None,
    };
    let Some(row) = worktree else {
        let text = "only a conversation with a worktree of its own has a base";
        return Err(refusal(ErrorCode::Conflict, text));
    };
    // What came from that branch meanwhile is no work of the worktree.
    let met = match &row.base_branch {
        Some(branch) => repository.meets(&format!("refs/heads/{branch}")).await,
        None => Ok(None),
    };
    Ok(Some(met.map_err(|error| error.told())?.unwrap_or(row.base)))
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: ChangesRequest) {
    let id = request.request_id.clone();
    let workspace = request.workspace_id.clone();
    let result = ChangesResult::new(cx.device(), workspace, Vec::new());
    let listing = |result| try_list(cx, request, result);
    asker.answer_with(id.as_ref(), result, listing).await;
}

async fn try_list(
    cx: &Context,
    request: ChangesRequest,
    result: ChangesResult,
) -> Result<ChangesResult, ApiError> {
    let from_base = is_since_base(request.since.as_ref())?;
    let (workspace, conversation) = (&request.workspace_id, request.conversation_id.as_ref());
    let (base, repository) = repository(cx, workspace, conversation).await?;
    let status = match commit(cx, &repository, conversation, from_base).await? {
        Some(commit) => repository.status_since(&commit).await,
        None => repository.status().await,
    };
    let status = status.map_err(|error| error.told())?;
    let most = limits::MAX_CHANGES_PAGE;
    let limit = request.limit.unwrap_or(most).clamp(1, most);
    let mut files = page(&status, request.offset.unwrap_or(0), limit);
    for file in &mut files {
        if cx.config.guard.is_secret(&base.join(file.path.as_str())) {
            file.withheld = Some(true);
        }
    }
    let sum = |of: fn(&ChangedFile) -> Option<u64>| Some(status.files.iter().filter_map(of).sum());
    Ok(ChangesResult {
        total: Some(status.files.len() as u64),
        insertions: sum(|file| file.insertions),
        deletions: sum(|file| file.deletions),
        truncated: status.is_cut.then_some(true),
        ahead: status.ahead_behind.map(|(ahead, _)| ahead),
        behind: status.ahead_behind.map(|(_, behind)| behind),
        branch: status.branch,
        head: status.head,
        upstream: status.upstream,
        files,
        ..result
    })
}

/// As many files as were asked for, and fit.
fn page(status: &Status, offset: u32, limit: u32) -> Vec<ChangedFile> {
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let mut room = limits::MAX_CHANGES_PAGE_BYTES;
    let mut files = Vec::new();
    for file in status.files.iter().skip(count(offset)).take(count(limit)) {
        let names = [Some(&file.path), file.old_path.as_ref()];
        let length: usize = names.iter().flatten().map(|name| name.as_str().len()).sum();
        // The rest of an entry, and what escaping may add.
        let needed = 200 + 2 * length;
        if needed > room && !files.is_empty() {
            break;
        }
        room = room.saturating_sub(needed);
        files.push(file.clone());
    }
    files
}

pub(super) async fn diff(cx: &Context, asker: &Asker, request: DiffRequest) {
    let id = request.request_id.clone();
    let result = DiffResult::new(cx.device(), request.workspace_id.clone());
    let making = |result| try_diff(cx, request, result);
    asker.answer_with(id.as_ref(), result, making).await;
}

async fn try_diff(
    cx: &Context,
    request: DiffRequest,
    result: DiffResult,
) -> Result<DiffResult, ApiError> {
    if let Some(path) = request
        .path
        .as_ref()
        .filter(|path| !is_plain(path.as_str()))
    {
        let text = format!("{path}: name it by its path in the folder, without `..`");
        return Err(refusal(ErrorCode::BadPath, text));
    }
    let length = request.digest.as_ref().map_or(0, String::len);
    bounded("digest", length, limits::MAX_ID_BYTES)?;
    let from_base = is_since_base(request.since.as_ref())?;
    let (workspace, conversation) = (&request.workspace_id, request.conversation_id.as_ref());
    let (_, repository) = repository(cx, workspace, conversation).await?;
    let commit = commit(cx, &repository, conversation, from_base).await?;
    let diff = repository
        .diff(request.path.as_ref(), commit.as_deref(), &cx.config.guard)
        .await;
    let diff = diff.map_err(|error| error.told())?;
    let digest = diff.digest();
    if request.digest.is_some_and(|before| before != digest) {
        let text = "the changes are others by now: read them from the beginning".to_owned();
        return Err(ApiError::new(ErrorCode::StaleCursor, text, Retry::Now));
    }
    let (offset, chunk) = chunk(&diff, request.offset.unwrap_or(0));
    let end = offset + chunk.len();
    Ok(DiffResult {
        diff: Some(chunk.to_owned()),
        offset: Some(offset as u64),
        total_bytes: Some(diff.text.len() as u64),
        next_offset: (end < diff.text.len()).then_some(end as u64),
        withheld: (diff.withheld > 0).then_some(diff.withheld as u64),
        truncated: diff.is_cut.then_some(true),
        digest: Some(digest),
        ..result
    })
}

/// The part of a diff from an offset on, which is moved back to the beginning of a character.
fn chunk(diff: &Diff, offset: u64) -> (usize, &str) {
    let text = diff.text.as_str();
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let from = text.floor_char_boundary(offset);
    let to = text.floor_char_boundary(from.saturating_add(limits::DIFF_CHUNK_BYTES));
    (from, text.get(from..to).unwrap_or_default())
}
