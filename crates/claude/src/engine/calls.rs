//! Requests that the CLI sends to us: each answered, each in a task of its own.
//!
//! A handler may take days (a person decides) or be cancelled by the CLI; neither touches the others. A
//! handler that panics is answered with an error, so the CLI does not wait for ever.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::line::Line;

/// Why a request could not be served; the text goes to the CLI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CallError(pub(crate) String);

/// Answers requests of the CLI.
pub(crate) trait Responder: Send + Sync + 'static {
    /// Serves one request; `line` is the whole `control_request`.
    ///
    /// The future is dropped when the CLI cancels the request, after `cancelled` has fired.
    fn respond(
        &self,
        line: Line,
        request_id: String,
        cancelled: CancellationToken,
    ) -> BoxFuture<'static, Result<Box<RawValue>, CallError>>;
}

/// The requests being served.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: Mutex<HashMap<String, CancellationToken>>,
}

impl Calls {
    /// Begins to serve a request; the future gives the line to send, or nothing when the CLI cancelled it.
    ///
    /// The responder is called here and now, so that it sees the requests in the order they came.
    pub(crate) fn begin(
        self: &Arc<Self>,
        responder: &dyn Responder,
        line: Line,
        request_id: String,
    ) -> impl Future<Output = Option<Line>> + Send + use<> {
        let cancelled = CancellationToken::new();
        self.open().insert(request_id.clone(), cancelled.clone());
        let call = catch_unwind(AssertUnwindSafe(|| {
            responder.respond(line, request_id.clone(), cancelled.clone())
        }));
        let calls = Arc::clone(self);
        async move {
            let call = async { AssertUnwindSafe(call?).catch_unwind().await };
            let answer = tokio::select! {
                biased;
                // First, because most answers are there at once and need no watch over their cancellation.
                answer = call => Some(answer),
                () = cancelled.cancelled() => None,
            };
            calls.open().remove(&request_id);
            let panicked = |_: Box<dyn Any + Send>| {
                Err(CallError("the handler of this request panicked".to_owned()))
            };
            Some(response_line(
                &request_id,
                &answer?.unwrap_or_else(panicked),
            ))
        }
    }

    /// The CLI no longer wants an answer to this request.
    pub(crate) fn cancel(&self, request_id: &str) {
        if let Some(cancelled) = self.open().remove(request_id) {
            cancelled.cancel();
        }
    }

    /// The connection is over; nobody wants any answer.
    pub(crate) fn cancel_all(&self) {
        for (_, cancelled) in self.open().drain() {
            cancelled.cancel();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Serialize)]
struct ResponseLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    response: Envelope<'a>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    subtype: &'static str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The `control_response` line for an answer.
fn response_line(request_id: &str, answer: &Result<Box<RawValue>, CallError>) -> Line {
    let (subtype, response, error) = match answer {
        Ok(response) => ("success", Some(&**response), None),
        Err(CallError(error)) => ("error", None, Some(error.as_str())),
    };
    let line = ResponseLine {
        kind: "control_response",
        response: Envelope {
            subtype,
            request_id,
            response,
            error,
        },
    };
    // Strings and raw JSON always serialise; an empty line would be ignored by the CLI.
    serde_json::to_string(&line).unwrap_or_default().into()
}
