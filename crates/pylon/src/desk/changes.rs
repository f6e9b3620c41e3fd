//! What is not committed in the folder of a workspace, as files and as a diff, in pages that fit a frame.

use estelle_proto::changes::{ChangedFile, ChangesRequest, ChangesResult, DiffRequest, DiffResult};
use estelle_proto::{ApiError, ErrorCode, Reply as _, Retry, limits};

use super::context::{Asker, Context};
use super::error::{Told as _, bounded, refusal};
use super::files::base;
use crate::git::{Diff, Repository, Status, is_plain};

pub(super) async fn list(cx: &Context, asker: &Asker, request: ChangesRequest) {
    let id = request.request_id.clone();
    let workspace = request.workspace_id.clone();
    let result = ChangesResult::new(cx.device(), workspace, Vec::new());
    let result = match try_list(cx, request, result.clone()).await {
        Ok(listed) => listed,
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

async fn try_list(
    cx: &Context,
    request: ChangesRequest,
    result: ChangesResult,
) -> Result<ChangesResult, ApiError> {
    let base = base(cx, &request.workspace_id, request.conversation_id.as_ref()).await?;
    let repository = Repository::find(&cx.config.git, &base).await;
    let repository = repository.map_err(|error| error.told())?;
    let status = repository.status().await.map_err(|error| error.told())?;
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
    let result = match try_diff(cx, request, result.clone()).await {
        Ok(made) => made,
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
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
    let base = base(cx, &request.workspace_id, request.conversation_id.as_ref()).await?;
    let repository = Repository::find(&cx.config.git, &base).await;
    let repository = repository.map_err(|error| error.told())?;
    let diff = repository
        .diff(request.path.as_ref(), &cx.config.guard)
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
