//! The handle on a running conversation: send messages, ask control requests, end it.
//!
//! Cheap to clone and usable from any task. When the last handle of a conversation is gone the process is
//! ended. The requests themselves, one method each, are in `requests`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::ask::{Introduced, ask, ask_fields, initialize, payload};
use super::duties;
use super::quiet::{Quiet, Seen, Verdict};
use super::respond::Callbacks;
use crate::engine::{Connection, ControlError, End, SendError};
use crate::line::{Envelope, Line};
use crate::mcp::OutboundMessage;
use crate::options::Options;
use crate::wire::control::{Call, ControlResponse, Initialize, InitializeResult, Request};
use crate::wire::{Json, PermissionResult, UserMessage, Wire};

/// How the introduction went, once it is over.
pub(super) type Introduction = Option<Result<Arc<InitializeResult>, Arc<ControlError>>>;

/// A handle on a running conversation.
#[derive(Clone)]
pub struct Handle {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Connection,
    callbacks: Arc<Callbacks>,
    quiet: Mutex<Quiet>,
    /// From the last `init`: clearing a conversation changes it.
    session_id: Mutex<Option<String>>,
    /// The request we introduced ourselves with, to do it again.
    introduction: Initialize,
    introduced: watch::Receiver<Introduction>,
    /// Marks each message as composed by a program.
    verbatim: bool,
    closing: AtomicBool,
    abort: CancellationToken,
    load_timeout: Duration,
    control_timeout: Duration,
    /// They end with the last handle, so that they do not keep the process alive.
    _duties: [AbortOnDropHandle<()>; 3],
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("connection", &self.inner.connection)
            .finish_non_exhaustive()
    }
}

impl Handle {
    /// Sends `initialize` and gives a handle without waiting for the answer.
    pub(super) fn introduce(
        connection: Connection,
        callbacks: Arc<Callbacks>,
        outbound: mpsc::Receiver<OutboundMessage>,
        options: &Options,
    ) -> Self {
        let introduction = options.initialize();
        let (introducing, introduced) = watch::channel(None);
        let limit = options.process.load_timeout;
        let abort = options.process.abort.clone().unwrap_or_default();
        let duties = [
            connection.spawn(duties::introduce(
                connection.clone(),
                introduction.clone(),
                limit,
                introducing,
            )),
            connection.spawn(duties::carry(
                connection.clone(),
                outbound,
                options.process.control_timeout,
            )),
            connection.spawn(duties::abort(connection.clone(), abort.clone())),
        ];
        Self {
            inner: Arc::new(Inner {
                connection,
                callbacks,
                quiet: Mutex::default(),
                session_id: Mutex::default(),
                introduction,
                introduced,
                verbatim: options.stream.verbatim_prompts,
                closing: AtomicBool::new(false),
                abort,
                load_timeout: limit,
                control_timeout: options.process.control_timeout,
                _duties: duties.map(AbortOnDropHandle::new),
            }),
        }
    }

    /// Sends a message and gives its uuid, once it is written.
    ///
    /// A busy CLI takes it into the running turn or queues it; see [`crate::wire::Priority`] to change that and
    /// [`Handle::cancel_async_message`] to take a queued one back. A uuid that was sent before is not run again.
    pub async fn send(&self, message: impl Into<UserMessage>) -> Result<String, SendError> {
        let mut message = message.into();
        let uuid = message
            .uuid
            .get_or_insert_with(|| uuid::Uuid::new_v4().to_string())
            .clone();
        if self.inner.verbatim {
            message.client_composed = Some(true);
        }
        let line = serde_json::to_string(&message).map_err(SendError::Encode)?;
        self.quiet().sent(&uuid);
        self.inner.connection.send(line.into()).await?;
        Ok(uuid)
    }

    /// Sends one line of JSON as it is; for what this crate has no name for.
    ///
    /// The CLI exits over a line that is not a JSON object, so that is refused here.
    pub async fn send_raw(&self, line: impl Into<Line>) -> Result<(), SendError> {
        let line = line.into();
        Envelope::peek(&line).map_err(SendError::Encode)?;
        // A line feed inside is white space to JSON and two broken lines to the CLI.
        let line = if line.as_str().contains('\n') {
            Line::from(line.as_str().replace('\n', " "))
        } else {
            line
        };
        self.inner.connection.send(line).await
    }

    /// Answers a permission request that this handle was not asked itself, such as one that
    /// [`Handle::reinitialize`] names.
    ///
    /// The CLI takes the first answer to a request and ignores the rest.
    pub async fn answer_permission(
        &self,
        request_id: impl Into<String>,
        answer: &PermissionResult,
    ) -> Result<(), SendError> {
        let answer = Json::of(answer).map_err(SendError::Encode)?;
        let response = ControlResponse::success(request_id, answer);
        let line = serde_json::to_string(&response).map_err(SendError::Encode)?;
        self.inner.connection.send(line.into()).await
    }

    /// The CLI's id of the conversation, to resume it by; known from its first turn on.
    pub fn session_id(&self) -> Option<String> {
        self.session_id_slot().clone()
    }

    /// Asks a typed control request; the methods of this handle are all made of this.
    pub async fn call<C: Call>(&self, request: C) -> Result<C::Output, ControlError> {
        self.call_within(request, self.inner.control_timeout).await
    }

    /// The same with a time limit of its own, for what may take long.
    pub async fn call_within<C: Call>(
        &self,
        request: C,
        limit: Duration,
    ) -> Result<C::Output, ControlError> {
        let request: Request = request.into();
        let subtype = request.tag();
        let answer = ask(&self.inner.connection, subtype, &request, limit).await?;
        payload(subtype, &answer)
    }

    /// Asks any control request by its name and fields, and gives the payload of the answer.
    pub async fn control(
        &self,
        subtype: &str,
        fields: Map<String, Value>,
    ) -> Result<Json, ControlError> {
        self.control_as(subtype, fields).await
    }

    pub(super) async fn control_as<T: Wire>(
        &self,
        subtype: &str,
        fields: Map<String, Value>,
    ) -> Result<T, ControlError> {
        let answer = ask_fields(
            &self.inner.connection,
            subtype,
            &fields,
            self.inner.control_timeout,
        )
        .await?;
        payload(subtype, &answer)
    }

    /// Waits until the CLI has introduced itself and gives what it said.
    pub async fn ready(&self) -> Result<Arc<InitializeResult>, Arc<ControlError>> {
        let mut introduced = self.inner.introduced.clone();
        let result = introduced
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|result| result.clone());
        // The task that fills it in lives as long as this handle.
        result.unwrap_or_else(|| Err(Arc::new(ControlError::Send(SendError::InputEnded))))
    }

    /// Introduces us again, for example to see which permission requests are open.
    pub async fn reinitialize(&self) -> Result<Introduced, ControlError> {
        let inner = &self.inner;
        initialize(&inner.connection, &inner.introduction, inner.load_timeout).await
    }

    /// Ends the CLI's input: it finishes what it does and exits. Requests from it can no longer be answered.
    pub async fn end_input(&self) {
        self.inner.connection.end_input().await;
    }

    /// Ends the conversation: what runs is interrupted and saved, then the process ends, by force if it must.
    pub async fn close(&self) -> Arc<End> {
        self.inner.closing.store(true, Ordering::Relaxed);
        self.inner.connection.expect_end();
        let polite = async {
            // A CLI that refuses or is gone is dealt with by the deadline.
            let _ = self.control("end_session", Map::new()).await;
            self.end_input().await;
            self.inner.connection.ended().await
        };
        tokio::select! {
            end = self.inner.connection.ended() => end,
            end = polite => end,
        }
    }

    /// How the CLI ended, if it has.
    pub fn end(&self) -> Option<Arc<End>> {
        self.inner.connection.end()
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.inner.connection
    }

    pub(super) fn callbacks(&self) -> &Callbacks {
        &self.inner.callbacks
    }

    pub(super) fn end_was_asked_for(&self) -> bool {
        self.inner.closing.load(Ordering::Relaxed)
    }

    pub(super) fn was_aborted(&self) -> bool {
        self.inner.abort.is_cancelled()
    }

    pub(super) fn set_session_id(&self, id: &str) {
        let mut known = self.session_id_slot();
        if known.as_deref() != Some(id) {
            *known = Some(id.to_owned());
        }
    }

    fn session_id_slot(&self) -> MutexGuard<'_, Option<String>> {
        self.inner
            .session_id
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn observe(&self, seen: Seen) {
        self.quiet().observe(seen);
    }

    pub(super) fn owes_an_answer(&self) -> bool {
        self.quiet().owes_an_answer()
    }

    pub(super) fn verdict(&self) -> Verdict {
        self.quiet().verdict()
    }

    fn quiet(&self) -> MutexGuard<'_, Quiet> {
        self.inner
            .quiet
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
