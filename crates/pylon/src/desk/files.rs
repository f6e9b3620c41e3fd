//! Looking into the folder of a workspace: its names and the contents of its files.

use std::path::{Path, PathBuf};

use estelle_proto::files::{FileEncoding, FileList, FileListResult, FileRead, FileReadResult};
use estelle_proto::{ApiError, ConversationId, ErrorCode, PathText, WorkspaceId, limits};

use super::context::{Asker, Context};
use super::conversations::known;
use super::error::{Told as _, bounded, refusal, unknown_word};
use super::workspaces::known_workspace;
use crate::files::{self, Contents, LookError, Page, Piece};

/// The folder that is meant: of a conversation, or of a workspace.
pub(super) async fn base(
    cx: &Context,
    workspace: &WorkspaceId,
    conversation: Option<&ConversationId>,
) -> Result<PathBuf, ApiError> {
    let folder = match conversation {
        Some(id) => known(cx, workspace, id).await?.working_dir,
        None => known_workspace(cx, workspace).await?.working_dir,
    };
    let folder = PathBuf::from(folder.as_str());
    let is_there = {
        let folder = folder.clone();
        tokio::task::spawn_blocking(move || folder.is_dir()).await
    };
    if !is_there.unwrap_or(false) {
        let text = format!("the folder {} is not there any more", folder.display());
        return Err(refusal(ErrorCode::BadPath, text));
    }
    Ok(folder)
}

/// Looks at the disk, which may be slow, without holding anybody up.
async fn look<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LookError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
    done.map_err(|error| error.told())
}

/// A path for people; what is no text was refused before.
fn shown(path: &Path) -> Option<PathText> {
    PathText::parse(path.to_str()?).ok()
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: FileList) {
    let id = request.request_id.clone();
    let result = FileListResult {
        path: request.path.clone(),
        ..FileListResult::new(cx.device(), request.workspace_id.clone(), Vec::new())
    };
    let listing = |result| try_list(cx, request, result);
    asker.answer_with(id.as_ref(), result, listing).await;
}

async fn try_list(
    cx: &Context,
    request: FileList,
    result: FileListResult,
) -> Result<FileListResult, ApiError> {
    let cursor = request.cursor.as_ref().map_or(0, String::len);
    bounded("cursor", cursor, limits::MAX_PATH_BYTES)?;
    let base = base(cx, &request.workspace_id, request.conversation_id.as_ref()).await?;
    let most = limits::MAX_FILE_PAGE;
    let limit = request.limit.unwrap_or(most).clamp(1, most);
    let page = Page {
        after: request.cursor,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let path = request
        .path
        .as_ref()
        .map_or("", PathText::as_str)
        .to_owned();
    let listing = look(move || files::list(&base, Path::new(&path), &page)).await?;
    let last = listing.entries.last().map(|entry| entry.name.clone());
    Ok(FileListResult {
        path: shown(&listing.relative),
        total: Some(listing.total as u64),
        unnamed: (listing.unnamed > 0).then_some(listing.unnamed as u64),
        truncated: listing.is_cut.then_some(true),
        next_cursor: last.filter(|_| listing.has_more),
        entries: listing.entries,
        ..result
    })
}

pub(super) async fn read(cx: &Context, asker: &Asker, request: FileRead) {
    let id = request.request_id.clone();
    let (workspace, path) = (request.workspace_id.clone(), request.path.clone());
    let result = FileReadResult::new(cx.device(), workspace, path);
    let reading = |result| try_read(cx, request, result);
    asker.answer_with(id.as_ref(), result, reading).await;
}

async fn try_read(
    cx: &Context,
    request: FileRead,
    result: FileReadResult,
) -> Result<FileReadResult, ApiError> {
    let is_encoded = match &request.encoding {
        Some(FileEncoding::Unknown(word)) => return Err(unknown_word("encoding", word)),
        Some(FileEncoding::Base64) => true,
        Some(FileEncoding::Text) | None => false,
    };
    let base = base(cx, &request.workspace_id, request.conversation_id.as_ref()).await?;
    let limit = request.limit.and_then(|limit| usize::try_from(limit).ok());
    let piece = Piece {
        offset: request.offset.unwrap_or(0),
        // A character has up to four bytes: with fewer there would be no way on.
        limit: limit
            .unwrap_or(usize::MAX)
            .clamp(4, limits::FILE_CHUNK_BYTES),
        is_encoded,
    };
    let (path, guard) = (request.path, cx.config.guard.clone());
    let chunk = look(move || files::read(&base, Path::new(path.as_str()), piece, &guard)).await?;
    let (encoding, content) = match chunk.contents {
        Contents::Text(text) => (Some(FileEncoding::Text), Some(text)),
        Contents::Base64(text) => (Some(FileEncoding::Base64), Some(text)),
        Contents::Binary => (None, None),
    };
    Ok(FileReadResult {
        path: shown(&chunk.relative).unwrap_or(result.path),
        size: Some(chunk.size),
        modified_at: Some(chunk.modified),
        binary: Some(chunk.is_binary),
        encoding,
        content,
        offset: Some(chunk.offset),
        next_offset: chunk.next,
        ..result
    })
}
