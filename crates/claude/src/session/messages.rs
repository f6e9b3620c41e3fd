//! The messages of a conversation, and how they end.
//!
//! Everything the CLI prints for the caller comes out here in order, typed. An end that was neither asked for
//! nor announced by an error result is itself reported, once, with exit and last words.

use std::sync::Arc;

use super::handle::Handle;
use super::observe;
use crate::engine::{ControlError, End, Item};
use crate::framing::Frame;
use crate::transport::Exit;
use crate::wire::{Body, Message, SystemMessage};

/// Why the messages ended before the conversation did.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The CLI ended by itself.
    #[error("the CLI ended unexpectedly with {0}")]
    Exited(Arc<End>),
    /// The caller's abort token fired.
    #[error("the conversation was aborted")]
    Aborted,
    /// The CLI refused our introduction or did not answer it in time; it was ended before it got any prompt.
    #[error("the CLI started but did not become ready")]
    NotReady(#[source] Arc<ControlError>),
}

/// Reads the messages of one conversation.
#[derive(Debug)]
pub(super) struct Messages {
    handle: Handle,
    /// The last turn failed, and the CLI's exit code will only repeat that.
    failed_turn: bool,
    finished: bool,
}

impl Messages {
    pub(super) fn new(handle: Handle) -> Self {
        Self {
            handle,
            failed_turn: false,
            finished: false,
        }
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The next message, an unexpected end, or nothing after either. Safe to cancel.
    pub(super) async fn next(&mut self) -> Option<Result<Message, StreamError>> {
        if self.finished {
            return None;
        }
        if let Some(item) = self.handle.connection().take().await {
            return Some(Ok(self.message(item)));
        }
        self.finish().await.map(Err)
    }

    /// Like `next`, without decoding what the caller did not ask to have decoded.
    pub(super) async fn next_frame(&mut self) -> Option<Result<Frame, StreamError>> {
        if self.finished {
            return None;
        }
        if let Some(item) = self.handle.connection().take().await {
            if let Item::Line(line) = &item
                && matches!(line.kind().as_deref(), Some("result" | "system"))
            {
                // Few lines, and the ones that tell how far the work is.
                self.message(item.clone());
            }
            return Some(Ok(item.into()));
        }
        self.finish().await.map(Err)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the vendor's list is open and most of it is beside the point"
    )]
    fn message(&mut self, item: Item) -> Message {
        let message = match item {
            Item::Line(line) => Message::parse(line),
            Item::Damage(damage) => Message::damaged(damage),
        };
        match &message.body {
            Body::Result(result) => self.failed_turn = result.is_error(),
            // Another turn runs, and its end is not known yet.
            Body::System(SystemMessage::Init(init)) => {
                self.failed_turn = false;
                self.handle.set_session_id(&init.session_id);
            }
            _ => {}
        }
        self.handle.observe(observe::seen(&message));
        message
    }

    /// Ends a process that did not become ready; nothing comes after this.
    pub(super) fn give_up(&mut self, error: Arc<ControlError>) -> StreamError {
        self.finished = true;
        self.handle.connection().abort();
        StreamError::NotReady(error)
    }

    /// Why the messages ended, if nobody asked for it.
    async fn finish(&mut self) -> Option<StreamError> {
        self.finished = true;
        if self.handle.was_aborted() {
            return Some(StreamError::Aborted);
        }
        let end = self.handle.connection().ended().await;
        // A signal is more than the CLI's way to repeat that the turn failed.
        let repeats_failure = self.failed_turn && matches!(end.exit, Exit::Code(_));
        // A program that is no Claude Code often ends well, and has still not answered.
        let done = end.exit.is_success() && !self.handle.owes_an_answer();
        let expected = done || repeats_failure || self.handle.end_was_asked_for();
        (!expected).then_some(StreamError::Exited(end))
    }
}
