//! Going on by itself at the reset of a limit: what people ask for, and the task that sends when it is time.
//!
//! The task remembers nothing. It may send a message twice, when it died before the store knew of the first; the host
//! runs an id once.

use std::time::Duration;

use estelle_proto::continuation::{ContinuationSet, ContinuationSetResult, ContinuationStatus};
use estelle_proto::{
    ApiError, ClientMessageId, ConversationId, ErrorCode, Prompt, Reply, Retry, Timestamp,
};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::claude::hand_over;
use super::context::{Asker, Context, now};
use super::conversations::known;
use super::error::{Told, refusal};
use crate::failpoint;
use crate::store::{Continuation, StoreError};

/// What the agent is told.
const MESSAGE: &str = "The usage limit was reset. Continue where you left off.";
/// When the host is not there.
const TRY_AGAIN_MS: i64 = 15_000;
/// When nothing waits; a clock that was set is noticed by then.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

pub(super) async fn set(cx: &Context, asker: &Asker, request: ContinuationSet) {
    let id = request.conversation_id.clone();
    let named = request.request_id.clone();
    let empty = ContinuationSetResult::new(cx.device(), id, false);
    let result = match try_set(cx, request).await {
        Ok(now) => ContinuationSetResult {
            enabled: now.is_enabled,
            at: now.waiting.map(|(_, at)| at),
            failure: now.failure,
            ..empty
        },
        Err(error) => empty.failed(error),
    };
    asker.answer(result.in_reply_to(named.as_ref()));
}

async fn try_set(cx: &Context, request: ContinuationSet) -> Result<Continuation, ApiError> {
    let id = request.conversation_id;
    known(cx, &request.workspace_id, &id).await?;
    let told = |error: crate::store::ConversationError| error.told();
    if request.cancel == Some(true) {
        let is_cancelled = cx
            .store
            .cancel_continuation(id.clone())
            .await
            .map_err(told)?;
        if !is_cancelled && request.enabled.is_none() {
            let text = "nothing waits for the reset of a limit in this conversation";
            return Err(refusal(ErrorCode::Conflict, text));
        }
    }
    if let Some(enabled) = request.enabled {
        cx.store
            .set_continuation(id.clone(), enabled, now())
            .await
            .map_err(told)?;
    }
    let standing = cx.store.continuation(id.clone()).await.map_err(told)?;
    if request.enabled.is_some() || request.cancel.is_some() {
        cx.continuation_changed(id).await;
        cx.reset.notify_one();
    }
    Ok(standing)
}

/// How a conversation stands to it, for everybody.
pub(super) async fn status(cx: &Context, id: ConversationId) -> Option<ContinuationStatus> {
    let now = cx.store.continuation(id.clone()).await.ok()?;
    Some(ContinuationStatus {
        at: now.waiting.map(|(_, at)| at),
        failure: now.failure,
        ..ContinuationStatus::new(cx.device(), id, now.is_enabled)
    })
}

/// Sends what is due, until `stop`.
pub(super) async fn run(cx: Context, stop: CancellationToken) {
    let working = async {
        loop {
            let wait = match send_due(&cx).await {
                Ok(next) => until(next),
                Err(error) => {
                    tracing::warn!(%error, "what goes on by itself is not known; trying again");
                    LOOK_AGAIN
                }
            };
            tokio::select! {
                () = cx.reset.notified() => {}
                () = sleep_until(Instant::now() + wait) => {}
            }
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = working => {}
    }
}

fn until(next: Option<Timestamp>) -> Duration {
    let wait = next.map(|next| next.0.saturating_sub(now().0));
    let wait = wait.map(|wait| Duration::from_millis(u64::try_from(wait).unwrap_or(0)));
    wait.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)
}

/// Sends all that is due now. Gives when the next is.
async fn send_due(cx: &Context) -> Result<Option<Timestamp>, StoreError> {
    loop {
        let Some((id, message, at)) = cx.store.next_continuation().await? else {
            return Ok(None);
        };
        if at > now() {
            return Ok(Some(at));
        }
        match send(cx, &id, message.clone()).await {
            Ok(()) => {
                failpoint::reach("continuation-taken");
                cx.store.continued(id.clone(), message, None).await?;
            }
            Err(error) if is_final(&error) => {
                tracing::warn!(%error, conversation = %id, "it does not go on by itself");
                let failure = Some(error.message);
                cx.store.continued(id.clone(), message, failure).await?;
            }
            Err(error) => {
                tracing::info!(%error, conversation = %id, "it goes on a little later");
                let later = Timestamp(now().0.saturating_add(TRY_AGAIN_MS));
                cx.store.postpone_continuation(message, later).await?;
            }
        }
        cx.continuation_changed(id).await;
    }
}

/// Whether trying again would not help before somebody does something.
fn is_final(error: &ApiError) -> bool {
    error.retry == Retry::Never || error.code == ErrorCode::BudgetExceeded
}

async fn send(cx: &Context, id: &ConversationId, message: ClientMessageId) -> Result<(), ApiError> {
    let known = cx.store.conversation(id.clone()).await;
    let known = known.map_err(|error| error.told())?;
    let text = Prompt::parse(MESSAGE);
    let text = text.map_err(|error| refusal(ErrorCode::Internal, error.to_string()))?;
    hand_over(cx, id, known, text, |payload| {
        payload.client_message_id = Some(message);
    })
    .await?
    .outcome()
}
