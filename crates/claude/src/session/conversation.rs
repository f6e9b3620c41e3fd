//! A conversation that stays open: send, stream, interrupt, close.

use std::ops::Deref;
use std::sync::Arc;

use futures_util::Stream;
use futures_util::stream::unfold;

use super::handle::Handle;
use super::messages::{Messages, StreamError};
use super::start::{self, StartError};
use crate::engine::End;
use crate::framing::Frame;
use crate::options::Options;
use crate::transport::Link;
use crate::wire::{Body, Message, ResultMessage};

/// A conversation with a CLI that lives until it is closed or dropped.
///
/// The CLI's input stays open, so background tasks and teammates live on between turns, their notifications
/// arrive, and messages can be injected while it works. All requests of the [`Handle`] can be called on it.
///
/// ```no_run
/// use estelle_claude::options::Options;
/// use estelle_claude::{Body, Session};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let mut session = Session::start(Options::new()).await?;
/// session.send("What is in this folder?").await?;
/// while let Some(message) = session.next().await {
///     match message?.body {
///         Body::Assistant(answer) => println!("{}", answer.text()),
///         Body::Result(_) => break,
///         _ => {}
///     }
/// }
/// session.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    messages: Messages,
}

/// The messages of one turn, up to and with its result.
pub type Turn<'a> = std::pin::Pin<Box<dyn Stream<Item = Result<Message, StreamError>> + Send + 'a>>;

impl Session {
    /// Starts the CLI and waits until it is ready.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let handle = start::start(&options).await?;
        handle.ready().await.map_err(StartError::Initialize)?;
        Ok(Self {
            messages: Messages::new(handle),
        })
    }

    /// Continues an earlier conversation; the same as [`Session::start`] with [`Options::resume`].
    pub async fn resume(
        session_id: impl Into<String>,
        options: Options,
    ) -> Result<Self, StartError> {
        Self::start(options.resume(session_id)).await
    }

    /// Takes a CLI that was started by other means, and introduces us to it without waiting.
    pub fn over(link: Link, options: &Options) -> Self {
        Self {
            messages: Messages::new(start::connect(link, options)),
        }
    }

    /// The next message of the conversation, whichever turn it belongs to. Safe to cancel.
    ///
    /// Nothing comes after the end; an end that was not asked for is reported first.
    pub async fn next(&mut self) -> Option<Result<Message, StreamError>> {
        self.messages.next().await
    }

    /// The next line as it was printed, for a caller that stores or forwards lines and decodes few of them.
    ///
    /// [`Line::kind`](crate::line::Line::kind) tells what it is, [`Message::parse`] decodes it. Otherwise like
    /// [`Session::next`], and the two may be mixed.
    pub async fn next_frame(&mut self) -> Option<Result<Frame, StreamError>> {
        self.messages.next_frame().await
    }

    /// The messages up to the next result, and that result. Call it again for the turn after it.
    ///
    /// It borrows the session until it is dropped: keep it in a block of its own, or use [`Session::next`].
    pub fn stream(&mut self) -> Turn<'_> {
        let state = (&mut self.messages, false);
        Box::pin(unfold(state, |(messages, ended)| async move {
            if ended {
                return None;
            }
            let message = messages.next().await?;
            let ended = matches!(&message, Ok(message) if matches!(message.body, Body::Result(_)));
            Some((message, (messages, ended)))
        }))
    }

    /// Reads up to the next result and gives it; the messages before it are dropped.
    pub async fn result(&mut self) -> Option<Result<ResultMessage, StreamError>> {
        loop {
            match self.next().await? {
                Ok(message) => {
                    if let Body::Result(result) = message.body {
                        return Some(Ok(result));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// A handle that can be cloned and used from other tasks.
    pub fn handle(&self) -> &Handle {
        self.messages.handle()
    }

    /// Ends the conversation: what runs is interrupted and saved, then the process ends, by force if it must.
    pub async fn close(self) -> Arc<End> {
        self.handle().close().await
    }
}

impl Deref for Session {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        self.handle()
    }
}
