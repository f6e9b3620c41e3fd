//! One thing to send to a client.
//!
//! A line that is the same for every client is shared between their mailboxes. A piece of text or thinking stays data as
//! long as it waits, because the next piece may be joined to it.

use std::sync::Arc;

use estelle_proto::events::{ClaudeEvent, TextDelta};
use estelle_proto::ipc::{Cursor, HostEvent, HostToPylon, to_line};
use estelle_proto::writing::ThinkingDelta;
use estelle_proto::{ChainHash, ConversationId, Epoch, Seq};

use super::fit::fitting;

/// Pieces of text are joined up to this length: less than a line may have, however it is escaped.
pub(super) const JOINED_BYTES: usize = 64 * 1024;

/// A line and, if it moves a subscription on, where to.
#[derive(Debug, Clone)]
pub struct Letter {
    body: Body,
    pub(super) mark: Option<Mark>,
}

/// The place of a durable event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Of which conversation.
    pub session_id: ConversationId,
    /// In which epoch.
    pub epoch: Epoch,
    /// Its number.
    pub seq: Seq,
    /// The hash of the log up to it.
    pub chain_hash: ChainHash,
}

#[derive(Debug, Clone)]
enum Body {
    Line(Arc<str>),
    Piece(Box<Piece>),
}

/// What a piece is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Text,
    Thinking,
}

#[derive(Debug, Clone)]
struct Piece {
    session_id: ConversationId,
    stream: Stream,
    /// Of thinking as well: its pieces have the same fields.
    delta: TextDelta,
    /// Where the next piece must begin to go on here.
    end: Option<u64>,
}

impl Letter {
    /// A line that is ready, the same for every client.
    pub fn line(line: Arc<str>) -> Self {
        Self {
            body: Body::Line(line),
            mark: None,
        }
    }

    /// The line of a message.
    pub fn message(message: &HostToPylon) -> Self {
        Self::line(write(message))
    }

    /// The line of a message that says where its reader is.
    pub fn marked(message: &HostToPylon, mark: Mark) -> Self {
        Self::event(write(message), mark)
    }

    /// The line of a durable event.
    pub fn event(line: Arc<str>, mark: Mark) -> Self {
        Self {
            body: Body::Line(line),
            mark: Some(mark),
        }
    }

    /// A piece of text, which may be joined with the one that waits before it.
    pub fn text(session_id: ConversationId, delta: TextDelta) -> Self {
        Self::piece(session_id, Stream::Text, delta)
    }

    /// The same for thinking.
    pub fn thinking(session_id: ConversationId, delta: ThinkingDelta) -> Self {
        let delta = TextDelta {
            generation: delta.generation,
            block: delta.block,
            at: delta.at,
            parent_tool_use_id: delta.parent_tool_use_id,
            ..TextDelta::new(delta.content)
        };
        Self::piece(session_id, Stream::Thinking, delta)
    }

    fn piece(session_id: ConversationId, stream: Stream, delta: TextDelta) -> Self {
        let end = end(delta.at, &delta.content);
        Self {
            body: Body::Piece(Box::new(Piece {
                session_id,
                stream,
                delta,
                end,
            })),
            mark: None,
        }
    }

    /// The memory it takes while it waits, so that many small letters count as well.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>()
            + match &self.body {
                Body::Line(line) => line.len(),
                Body::Piece(piece) => size_of::<Piece>() + piece.delta.content.len(),
            }
    }

    /// Appends the next letter, if both are pieces of the same text and it goes on where this one ends.
    ///
    /// Gives it back otherwise.
    pub(super) fn join(&mut self, next: Self) -> Result<(), Self> {
        let (Body::Piece(last), Body::Piece(piece)) = (&mut self.body, &next.body) else {
            return Err(next);
        };
        let goes_on = last.session_id == piece.session_id
            && last.stream == piece.stream
            && last.delta.generation == piece.delta.generation
            && last.delta.block == piece.delta.block
            && last.delta.parent_tool_use_id == piece.delta.parent_tool_use_id
            && last.end == piece.delta.at
            && last.delta.content.len() + piece.delta.content.len() <= JOINED_BYTES;
        if !goes_on {
            return Err(next);
        }
        last.delta.content.push_str(&piece.delta.content);
        last.end = piece.end;
        Ok(())
    }

    /// The bytes for the socket.
    pub(super) fn into_line(self) -> Arc<str> {
        match self.body {
            Body::Line(line) => line,
            Body::Piece(piece) => {
                let event = HostEvent::new(piece.session_id, piece.stream.event(piece.delta));
                write(&HostToPylon::Event(event))
            }
        }
    }
}

impl Stream {
    fn event(self, delta: TextDelta) -> ClaudeEvent {
        match self {
            Self::Text => ClaudeEvent::Text(delta),
            Self::Thinking => ClaudeEvent::Thinking(ThinkingDelta {
                generation: delta.generation,
                block: delta.block,
                at: delta.at,
                parent_tool_use_id: delta.parent_tool_use_id,
                ..ThinkingDelta::new(delta.content)
            }),
        }
    }
}

impl Mark {
    pub(super) fn cursor(&self) -> Cursor {
        Cursor {
            chain_hash: Some(self.chain_hash.clone()),
            ..Cursor::new(self.session_id.clone(), self.epoch, self.seq)
        }
    }
}

/// Plain data always has a JSON form; an empty line would be ignored by the client.
fn write(message: &HostToPylon) -> Arc<str> {
    fitting(to_line(message).unwrap_or_default()).into()
}

/// Where a piece ends, counted as `at` is.
fn end(at: Option<u64>, content: &str) -> Option<u64> {
    let units: u64 = content.chars().map(|c| c.len_utf16() as u64).sum();
    at.map(|at| at.saturating_add(units))
}
