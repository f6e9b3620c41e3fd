//! Files that people attach to messages: taken in, and named to the agent.
//!
//! Requests of one conversation come one after another, so nobody writes a file while another does.

use std::fmt::Write as _;

use estelle_proto::blobs::{
    BlobChunk, BlobChunkResult, BlobEnd, BlobEndResult, BlobStart, BlobStartResult,
};
use estelle_proto::{
    ApiError, ConversationId, ErrorCode, FileId, PathText, Prompt, Reply as _, Retry, limits,
};

use super::context::{Asker, Context};
use super::conversations::known;
use super::error::{Told, bounded, refusal};
use crate::uploads::{Kept, Progress, UploadError, Uploads, Wanted};

/// The largest chunk, as it travels.
const MOST_BASE64_BYTES: usize = 65_536_usize.div_ceil(3) * 4;

pub(super) async fn start(cx: &Context, asker: &Asker, request: BlobStart) {
    let named = request.request_id.clone();
    let result = BlobStartResult::new(cx.device(), request.blob_id.clone());
    let result = match try_start(cx, request).await {
        Ok(progress) => BlobStartResult {
            next_chunk: Some(progress.next),
            file_id: progress.kept.map(|kept| kept.id),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(named.as_ref()));
}

async fn try_start(cx: &Context, request: BlobStart) -> Result<Progress, ApiError> {
    let (id, blob) = (request.conversation_id, request.blob_id);
    known(cx, &request.workspace_id, &id).await?;
    let wanted = Wanted {
        filename: request.filename,
        mime_type: request.mime_type,
        total_size: request.total_size,
        chunk_size: request.chunk_size.unwrap_or(limits::MAX_BLOB_CHUNK_BYTES),
    };
    if request
        .total_chunks
        .is_some_and(|said| said != wanted.chunks())
    {
        let text = "`totalChunks` is not `totalSize` in chunks of `chunkSize`";
        return Err(refusal(ErrorCode::InvalidMessage, text));
    }
    on_disk(cx, move |uploads| uploads.start(&id, &blob, &wanted)).await
}

pub(super) async fn chunk(cx: &Context, asker: &Asker, request: BlobChunk) {
    let result = BlobChunkResult::new(cx.device(), request.blob_id.clone());
    let named = request.request_id.clone();
    let result = match try_chunk(cx, request).await {
        Ok(next) => BlobChunkResult {
            next_chunk: Some(next),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(named.as_ref()));
}

async fn try_chunk(cx: &Context, request: BlobChunk) -> Result<u64, ApiError> {
    let (id, blob) = (request.conversation_id, request.blob_id);
    bounded("data", request.data.len(), MOST_BASE64_BYTES)?;
    is_there(cx, &id).await?;
    let bytes = data_encoding::BASE64.decode(request.data.as_bytes());
    let bytes = bytes.map_err(|_| refusal(ErrorCode::InvalidMessage, "`data` is not base64"))?;
    on_disk(cx, move |uploads| {
        uploads.chunk(&id, &blob, request.index, &bytes)
    })
    .await
}

pub(super) async fn end(cx: &Context, asker: &Asker, request: BlobEnd) {
    let named = request.request_id.clone();
    let (id, blob) = (request.conversation_id.clone(), request.blob_id.clone());
    let result = BlobEndResult::new(cx.device(), id, blob);
    let result = match try_end(cx, request).await {
        Ok(kept) => BlobEndResult {
            path: path(&kept),
            filename: kept
                .path
                .file_name()
                .and_then(|name| Some(name.to_str()?.to_owned())),
            size: Some(kept.size),
            file_id: Some(kept.id),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(named.as_ref()));
}

async fn try_end(cx: &Context, request: BlobEnd) -> Result<Kept, ApiError> {
    let (id, blob) = (request.conversation_id, request.blob_id);
    is_there(cx, &id).await?;
    on_disk(cx, move |uploads| {
        uploads.end(&id, &blob, &request.checksum)
    })
    .await
}

/// One that is gone must not get a folder again.
async fn is_there(cx: &Context, id: &ConversationId) -> Result<(), ApiError> {
    let known = cx.store.conversation(id.clone()).await;
    known.map(|_| ()).map_err(|error| error.told())
}

/// The message with a line for each file that goes with it. All of them are there, or nothing is said.
pub(super) async fn with_files(
    cx: &Context,
    id: &ConversationId,
    message: Prompt,
    files: Vec<FileId>,
) -> Result<Prompt, ApiError> {
    if files.is_empty() {
        return Ok(message);
    }
    if files.len() > limits::MAX_ATTACHED_FILES {
        let text = format!(
            "{} files are attached, at most {}",
            files.len(),
            limits::MAX_ATTACHED_FILES
        );
        return Err(refusal(ErrorCode::TooLarge, text));
    }
    let id = id.clone();
    let found = on_disk(cx, move |uploads| {
        let found = files.iter().map(|file| uploads.find(&id, file));
        found.collect::<Result<Vec<Kept>, UploadError>>()
    });
    let mut text = message.to_string();
    text.push_str("\n\nAttached files:");
    for kept in found.await? {
        // Writing to a text cannot fail.
        let _ = write!(text, "\n- {} ({} bytes)", kept.path.display(), kept.size);
    }
    Prompt::parse(&text).map_err(|error| {
        let text = format!("the message with its attached files {error}");
        refusal(ErrorCode::TooLarge, text)
    })
}

/// What was attached goes with its conversation.
pub(super) async fn forget(cx: &Context, conversation: &ConversationId) {
    let (uploads, id) = (cx.config.uploads.clone(), conversation.clone());
    let done = tokio::task::spawn_blocking(move || uploads.forget(&id)).await;
    let done = done.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    if let Err(error) = done {
        tracing::warn!(%conversation, %error, "what was attached is still there");
    }
}

fn path(kept: &Kept) -> Option<PathText> {
    PathText::parse(kept.path.to_str()?).ok()
}

async fn on_disk<T: Send + 'static>(
    cx: &Context,
    work: impl FnOnce(&Uploads) -> Result<T, UploadError> + Send + 'static,
) -> Result<T, ApiError> {
    let uploads = cx.config.uploads.clone();
    let done = tokio::task::spawn_blocking(move || work(&uploads)).await;
    let done = done.unwrap_or_else(|error| Err(UploadError::Io(std::io::Error::other(error))));
    done.map_err(|error| error.told())
}

impl Told for UploadError {
    fn told(&self) -> ApiError {
        let text = self.to_string();
        match self {
            Self::Name(_) | Self::Wrong(_) => refusal(ErrorCode::InvalidMessage, text),
            Self::TooLarge { .. } => refusal(ErrorCode::TooLarge, text),
            Self::Conflict(_) => refusal(ErrorCode::Conflict, text),
            Self::Unknown => refusal(ErrorCode::UnknownUpload, text),
            Self::Full => ApiError::new(ErrorCode::DiskFull, text, Retry::Later),
            Self::Io(error) => {
                tracing::error!(%error, "an attached file cannot be kept");
                ApiError::new(ErrorCode::Internal, text, Retry::Later)
            }
        }
    }
}
