//! Requests that the CLI sends to us: each answered, each in a task of its own.
//!
//! A handler may take days (a person decides) or be cancelled by the CLI; neither touches the others. A
//! handler that panics is answered with an error, so the CLI does not wait for ever.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use serde::Serialize;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::writer::Input;
use crate::line::Line;

const PANICKED: &str = "the handler of this request panicked";

/// What a responder makes of a request: an answer, sooner or later.
pub(crate) type Answer = BoxFuture<'static, Result<Payload, CallError>>;

/// Why a request could not be served; the text goes to the CLI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CallError(pub(crate) String);

/// The line is no JSON, so that nobody can tell what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request cannot be read")]
pub(crate) struct Unreadable;

/// The JSON text that answers a request.
#[derive(Debug)]
pub(crate) struct Payload(String);

impl Payload {
    /// Encodes an answer.
    pub(crate) fn of(answer: &impl Serialize) -> Result<Self, CallError> {
        serde_json::to_string(answer)
            .map(Self)
            .map_err(|error| CallError(format!("the answer cannot be encoded: {error}")))
    }
}

/// Answers requests of the CLI.
pub(crate) trait Responder: Send + Sync + 'static {
    /// Serves one request; `line` is the whole `control_request`, of which only the start is known to be sound.
    ///
    /// The future is dropped when the CLI cancels the request, after `cancelled` has fired.
    fn respond(
        &self,
        line: &Line,
        request_id: &str,
        cancelled: CancellationToken,
    ) -> Result<Answer, Unreadable>;
}

/// The requests being served.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: Mutex<Open>,
}

/// By the order of arrival: they are few, and looked for by their id only to cancel one.
#[derive(Debug, Default)]
struct Open {
    next: u64,
    calls: BTreeMap<u64, Call>,
}

#[derive(Debug)]
struct Call {
    /// Gone once the answer is being written, which nothing but the end of the process may interrupt.
    request_id: Option<String>,
    cancelled: CancellationToken,
    task: AbortHandle,
}

impl Calls {
    /// Serves a request in a task of its own; says whether it could be read.
    ///
    /// The responder is called here and now, so that it sees the requests in the order they came.
    pub(crate) fn serve(
        self: &Arc<Self>,
        tasks: &TaskTracker,
        input: &Input,
        responder: &dyn Responder,
        (line, request_id): (&Line, &str),
    ) -> Result<(), Unreadable> {
        let cancelled = CancellationToken::new();
        let call = catch_unwind(AssertUnwindSafe(|| {
            responder.respond(line, request_id, cancelled.clone())
        }));
        let (answer, read) = match call {
            Ok(Ok(answer)) => (answer, Ok(())),
            Ok(Err(unreadable)) => (refuse(&unreadable.to_string()), Err(unreadable)),
            Err(_) => (refuse(PANICKED), Ok(())),
        };
        // Held until the call is entered, so that it cannot be over before.
        let mut open = self.open();
        let number = open.next;
        let task = tasks.spawn(Arc::clone(self).answer(number, answer, Arc::clone(input)));
        open.add(Call {
            request_id: Some(request_id.to_owned()),
            cancelled,
            task: task.abort_handle(),
        });
        read
    }

    /// Waits for an answer and writes it. The CLI may cancel this before the write, and not in it.
    async fn answer(self: Arc<Self>, number: u64, answer: Answer, input: Input) {
        let answer = AssertUnwindSafe(answer).catch_unwind().await;
        let Some(request_id) = self.open().settle(number) else {
            return;
        };
        let panicked = |_: Box<dyn Any + Send>| Err(CallError(PANICKED.to_owned()));
        let line = response_line(&request_id, answer.unwrap_or_else(panicked));
        // After the end of the connection nobody waits for the answer.
        let _ = input.lock().await.write(&line).await;
        self.open().calls.remove(&number);
    }

    /// The CLI no longer wants an answer to this request.
    pub(crate) fn cancel(&self, request_id: &str) {
        let call = self.open().take(request_id);
        if let Some(call) = call {
            call.cancel();
        }
    }

    /// The connection is over; nobody wants any answer.
    pub(crate) fn cancel_all(&self) {
        let calls = std::mem::take(&mut self.open().calls);
        calls.into_values().for_each(Call::cancel);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn add(&mut self, call: Call) {
        self.calls.insert(self.next, call);
        self.next += 1;
    }

    /// The answer is there: gives the id to answer to, unless the call was cancelled in this moment.
    fn settle(&mut self, number: u64) -> Option<String> {
        self.calls.get_mut(&number)?.request_id.take()
    }

    fn take(&mut self, request_id: &str) -> Option<Call> {
        let (&number, _) = self
            .calls
            .iter()
            .find(|(_, call)| call.request_id.as_deref() == Some(request_id))?;
        self.calls.remove(&number)
    }
}

impl Call {
    fn cancel(self) {
        self.cancelled.cancel();
        // Ends a callback that does not heed the token.
        self.task.abort();
    }
}

/// An answer that the request will not be served.
pub(crate) fn refuse(reason: &str) -> Answer {
    ready(Err(CallError(reason.to_owned()))).boxed()
}

/// The `control_response` line for an answer.
fn response_line(request_id: &str, answer: Result<Payload, CallError>) -> Line {
    let (subtype, key, value) = match answer {
        Ok(Payload(json)) => ("success", "response", json),
        Err(CallError(error)) => ("error", "error", quoted(&error)),
    };
    let id = quoted(request_id);
    // Put together from its parts: the payload is JSON text already, and may be long.
    [
        r#"{"type":"control_response","response":{"subtype":""#,
        subtype,
        r#"","request_id":"#,
        &id,
        r#",""#,
        key,
        r#"":"#,
        &value,
        "}}",
    ]
    .concat()
    .into()
}

/// A JSON string.
fn quoted(text: &str) -> String {
    // A string always serialises.
    serde_json::to_string(text).unwrap_or_default()
}
