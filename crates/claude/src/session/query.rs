//! One prompt, or a stream of them, to the end of all the work they start.
//!
//! The CLI's input is ended only when the prompts are used up and everything is quiet: background tasks done,
//! queued messages answered, the turns that finished tasks start over. Until then permissions can be answered
//! and messages injected. The stream ends when the CLI has closed its output.

use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{BoxStream, unfold};
use futures_util::{FutureExt, Stream, StreamExt};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::handle::Handle;
use super::messages::{Messages, StreamError};
use super::quiet::{SETTLE, Verdict};
use super::start::{self, StartError};
use crate::engine::ControlError;
use crate::options::Options;
use crate::wire::{Body, Message, ResultMessage, UserMessage};

/// What to ask.
pub enum Prompt {
    /// One message.
    Message(Box<UserMessage>),
    /// Messages as they come; the query goes on until the stream has ended and the last is dealt with.
    Messages(BoxStream<'static, UserMessage>),
}

impl Prompt {
    /// Messages as they come.
    pub fn stream(messages: impl Stream<Item = UserMessage> + Send + 'static) -> Self {
        Self::Messages(messages.boxed())
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => f.debug_tuple("Message").field(message).finish(),
            Self::Messages(_) => f.debug_tuple("Messages").finish_non_exhaustive(),
        }
    }
}

impl<M: Into<UserMessage>> From<M> for Prompt {
    fn from(message: M) -> Self {
        Self::Message(Box::new(message.into()))
    }
}

/// Runs a prompt.
///
/// ```no_run
/// use estelle_claude::options::Options;
/// use estelle_claude::{Body, query};
/// use futures_util::StreamExt;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let mut query = query("Say hello", Options::new()).await?;
/// while let Some(message) = query.next().await {
///     if let Body::Result(result) = message?.body {
///         println!("{}", result.text());
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub async fn query(prompt: impl Into<Prompt>, options: Options) -> Result<Query, StartError> {
    let handle = start::start(&options).await?;
    Ok(Query::run(handle, prompt.into()))
}

/// Why [`prompt`] gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The CLI could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It ended before its time.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// It ended without a result.
    #[error("the CLI ended without a result")]
    NoResult,
}

/// Runs a prompt to the end of its work and gives the last result.
///
/// A turn that failed is a result too: see [`ResultMessage::is_error`].
///
/// ```no_run
/// use estelle_claude::options::Options;
///
/// # async fn example() -> Result<(), estelle_claude::PromptError> {
/// let result = estelle_claude::prompt("Say hello", Options::new()).await?;
/// println!("{}", result.text());
/// # Ok(())
/// # }
/// ```
pub async fn prompt(
    prompt: impl Into<Prompt>,
    options: Options,
) -> Result<ResultMessage, PromptError> {
    let mut query = query(prompt, options).await?;
    last_result(&mut query).await
}

async fn last_result(query: &mut Query) -> Result<ResultMessage, PromptError> {
    let mut last = Err(PromptError::NoResult);
    while let Some(message) = query.next().await {
        if let Body::Result(result) = message?.body {
            last = Ok(result);
        }
    }
    last
}

/// A running query: a stream of messages with every request of the [`Handle`].
pub struct Query {
    handle: Handle,
    messages: BoxStream<'static, Result<Message, StreamError>>,
    /// Ends with the query, so that prompts that never end do not keep the process alive.
    _feeder: AbortOnDropHandle<()>,
}

impl Query {
    pub(super) fn run(handle: Handle, prompt: Prompt) -> Self {
        let (feeding, fed) = watch::channel(Feeding::UnderWay);
        let feeder = handle.clone();
        // Until the prompts are used up the input stays open, whatever the machine says.
        let feeder = handle.connection().spawn(async move {
            feeding.send_replace(feed(&feeder, prompt).await);
        });
        let run = Run {
            messages: Messages::new(handle.clone()),
            fed,
            input_open: true,
        };
        let messages = unfold(run, |mut run| async move { Some((run.next().await?, run)) }).boxed();
        Self {
            handle,
            messages,
            _feeder: AbortOnDropHandle::new(feeder),
        }
    }

    /// A handle that can be cloned and used from other tasks.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// How far the prompts have got.
#[derive(Debug, Clone)]
enum Feeding {
    /// There may be more.
    UnderWay,
    /// There are no more.
    Over,
    /// None was sent.
    NotReady(Arc<ControlError>),
}

/// Sends the prompts once the CLI has taken our introduction: without it no hook would guard what they start.
async fn feed(handle: &Handle, prompt: Prompt) -> Feeding {
    match handle
        .ready()
        .await
        .map_err(|error| (is_end(&error), error))
    {
        Ok(_) => {}
        // The stream of messages ends with the reason.
        Err((true, _)) => return Feeding::Over,
        Err((false, error)) => return Feeding::NotReady(error),
    }
    let mut messages = match prompt {
        Prompt::Message(message) => futures_util::stream::once(async { *message }).boxed(),
        Prompt::Messages(messages) => messages,
    };
    while let Some(message) = messages.next().await {
        if let Err(error) = handle.send(message).await {
            // The stream of messages ends with the reason.
            tracing::debug!(%error, "stopped feeding prompts");
            break;
        }
    }
    Feeding::Over
}

/// Whether it only says that the CLI is gone.
fn is_end(error: &ControlError) -> bool {
    matches!(error, ControlError::Ended { .. } | ControlError::Send(_))
}

impl Stream for Query {
    type Item = Result<Message, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.messages.poll_next_unpin(context)
    }
}

impl Deref for Query {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}

/// The state behind the stream.
struct Run {
    messages: Messages,
    fed: watch::Receiver<Feeding>,
    input_open: bool,
}

impl Run {
    async fn next(&mut self) -> Option<Result<Message, StreamError>> {
        while self.input_open {
            let feeding = self.fed.borrow_and_update().clone();
            let wait = match (feeding, self.messages.handle().verdict()) {
                (Feeding::NotReady(error), _) => {
                    self.input_open = false;
                    return Some(Err(self.messages.give_up(error)));
                }
                (Feeding::Over, Verdict::Quiet) => {
                    self.end_input().await;
                    break;
                }
                (Feeding::Over, Verdict::Settling) => {
                    tokio::time::sleep(SETTLE).map(|()| Woken::Settled).boxed()
                }
                (Feeding::Over, Verdict::Busy) => std::future::pending().boxed(),
                (Feeding::UnderWay, _) => change(self.fed.clone()).boxed(),
            };
            tokio::select! {
                biased;
                message = self.messages.next() => return message,
                woken = wait => {
                    // A message that was sent meanwhile makes it busy again.
                    let settled = self.messages.handle().verdict() == Verdict::Settling;
                    if woken == Woken::Settled && settled {
                        self.end_input().await;
                    }
                }
            }
        }
        self.messages.next().await
    }

    async fn end_input(&mut self) {
        self.input_open = false;
        self.messages.handle().end_input().await;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Woken {
    /// Nothing was printed for a while.
    Settled,
    /// The prompts have got further; look again.
    Fed,
}

/// Waits until the prompts have got further than when the receiver was last looked at.
async fn change(mut fed: watch::Receiver<Feeding>) -> Woken {
    if fed.changed().await.is_err() {
        return std::future::pending().await;
    }
    Woken::Fed
}
