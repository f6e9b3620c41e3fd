//! Bug reports: kept with where they came from, and acknowledged when the disk has them.

use estelle_proto::bugs::{BugReport, BugReportResult};
use estelle_proto::{ApiError, ErrorCode, IsoTime, Reply as _, Retry};

use super::context::{Asker, Context, now};
use super::error::{Told as _, bounded, refusal};
use crate::bugs::{self, Bug, KeepError};

/// The build of an app in a few words.
const MOST_VERSION_BYTES: usize = 256;

pub(super) async fn keep(cx: &Context, asker: &Asker, request: BugReport) {
    let id = request.request_id.clone();
    let result = BugReportResult::new(cx.device());
    let result = match try_keep(cx, asker, request).await {
        Ok(()) => result,
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

async fn try_keep(cx: &Context, asker: &Asker, request: BugReport) -> Result<(), ApiError> {
    let length = request.app_version.as_ref().map_or(0, String::len);
    bounded("appVersion", length, MOST_VERSION_BYTES)?;
    let named = request.conversation_id.is_some();
    let about = match request.conversation_id {
        Some(id) => Some(id),
        None => cx.viewed(asker.device).await,
    };
    let known = match about {
        Some(id) => match cx.store.conversation(id.clone()).await {
            Ok(known) => Some((known.workspace_id, id)),
            // One that it looked at may have been deleted since.
            Err(_) if !named => None,
            Err(error) => return Err(error.told()),
        },
        None => None,
    };
    let (workspace_id, conversation_id) = known.unzip();
    let sender = asker.sender.as_deref();
    let bug = Bug {
        received_at: IsoTime::from(now()),
        timestamp: request.timestamp,
        message: request.message,
        pylon_id: cx.device(),
        version: cx.config.build.clone(),
        device_id: asker.device,
        device_name: sender.map(|sender| sender.name.clone()),
        device_key: sender.and_then(|sender| sender.device_key.clone()),
        app_version: request.app_version,
        workspace_id,
        conversation_id,
    };
    let file = cx.config.bugs.clone();
    let kept = tokio::task::spawn_blocking(move || bugs::keep(&file, &bug)).await;
    let kept = kept.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
    kept.map_err(|error| {
        tracing::error!(%error, source = ?std::error::Error::source(&error), "a bug report is not kept");
        match error {
            KeepError::Full => refusal(ErrorCode::DiskFull, error.to_string()),
            KeepError::Io(source) if source.kind() == std::io::ErrorKind::StorageFull => {
                let text = "the disk is full".to_owned();
                ApiError::new(ErrorCode::DiskFull, text, Retry::Later)
            }
            KeepError::Io(_) | KeepError::Encode(_) => {
                ApiError::new(ErrorCode::Internal, error.to_string(), Retry::Later)
            }
        }
    })
}
