//! From bytes to lines: the reader that nothing the CLI prints can stop.
//!
//! A [`Splitter`] is fed chunks of bytes in any sizes and gives [`Frame`]s: whole lines, or [`Damage`] where
//! the stream holds something that is no line of text. It is pure (no IO, no clock) and keeps the position of
//! every frame, so a journal can be read from an offset. It does not look inside a line: a line that is not
//! JSON is still a line, and becomes a diagnostic when it is read as a message.

use bytes::{Bytes, BytesMut};

use crate::line::Line;

/// The longest line that is kept, by default.
///
/// A tool result with an image can be some twenty megabytes; twice that is damage, not a message.
pub const DEFAULT_LINE_LIMIT: usize = 48 * 1024 * 1024;

/// How much of an over-long line is kept to show what it was.
pub const HEAD_LIMIT: usize = 4096;

/// The buffer that each read fills; one read then carries some two hundred streaming deltas.
const CHUNK: usize = 64 * 1024;

/// The least room to read into. A smaller rest of the buffer is left unused, a larger one saves a new buffer for
/// each small read.
const ROOM: usize = CHUNK / 4;

/// What the stream holds between two line feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A line of text. A carriage return before the line feed stays part of it.
    Line(Line),
    /// Something that is not a line of text; reading goes on after it.
    Damage(Damage),
}

/// A part of the stream that could not be read as a line of text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The line is not valid UTF-8.
    #[error("a line of {} bytes is not valid UTF-8", bytes.len())]
    InvalidUtf8 {
        /// The line without its line feed.
        bytes: Bytes,
    },
    /// The line is longer than the limit; what came behind its head was dropped.
    #[error("a line of {length} bytes exceeds the limit of {limit}")]
    TooLong {
        /// The first bytes: [`HEAD_LIMIT`] of them, or the limit if that is less.
        head: Bytes,
        /// The length of the whole line without its line feed.
        length: u64,
        /// The limit that was in force.
        limit: usize,
    },
    /// The stream ended inside a line that is not whole JSON either.
    #[error("the stream ended inside a line, after {} bytes of it", bytes.len())]
    HalfLine {
        /// What there was of the line.
        bytes: Bytes,
    },
}

impl Frame {
    /// What is kept of the frame, without the line feed: all of it, except for an over-long line.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Self::Line(line) => line.as_bytes(),
            Self::Damage(Damage::InvalidUtf8 { bytes } | Damage::HalfLine { bytes }) => bytes,
            Self::Damage(Damage::TooLong { head, .. }) => head,
        }
    }
}

/// Splits a stream of bytes into frames.
///
/// ```
/// use estelle_claude::framing::{Frame, Splitter};
///
/// let mut splitter = Splitter::default();
/// splitter.push(b"{\"type\":\"keep_");
/// assert_eq!(splitter.next_frame(), None);
/// splitter.push(b"alive\"}\n");
/// assert_eq!(splitter.next_frame(), Some(Frame::Line("{\"type\":\"keep_alive\"}".into())));
/// assert_eq!(splitter.finish(), None);
/// ```
#[derive(Debug)]
pub struct Splitter {
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line feed.
    scanned: usize,
    limit: usize,
    /// The over-long line whose rest is being dropped.
    dropping: Option<Dropping>,
    /// The position in the stream behind the last frame.
    offset: u64,
}

#[derive(Debug)]
struct Dropping {
    head: Bytes,
    length: u64,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::with_limit(DEFAULT_LINE_LIMIT)
    }
}

impl Splitter {
    /// A splitter that keeps lines of up to `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            dropping: None,
            offset: 0,
        }
    }

    /// Starts at a position other than the beginning of the stream.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// The position in the stream behind the last frame: where a later reader would go on.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The buffer to read into, with room for a good part of a chunk; take the frames out after each read.
    pub fn buffer(&mut self) -> &mut BytesMut {
        if self.buffer.capacity() - self.buffer.len() < ROOM {
            self.buffer.reserve(CHUNK);
        }
        &mut self.buffer
    }

    /// Adds bytes that were read elsewhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Lets go of the buffer if nothing waits in it, so that a stream that is silent for hours takes no memory.
    pub fn release(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }

    /// The next frame, if a whole one has arrived.
    pub fn next_frame(&mut self) -> Option<Frame> {
        let Some(found) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) else {
            self.scanned = self.buffer.len();
            self.start_dropping();
            return None;
        };
        let length = self.scanned + found;
        let mut bytes = self.buffer.split_to(length + 1).freeze();
        bytes.truncate(length);
        self.scanned = 0;
        Some(self.frame(bytes, 1))
    }

    /// What is left when the stream has ended, if anything.
    ///
    /// A last line without a line feed counts as a line when it is whole JSON; otherwise it is damage.
    pub fn finish(&mut self) -> Option<Frame> {
        let bytes = self.buffer.split().freeze();
        self.scanned = 0;
        if bytes.is_empty() && self.dropping.is_none() {
            return None;
        }
        Some(match self.frame(bytes, 0) {
            Frame::Line(line) if !is_json(&line) => Frame::Damage(Damage::HalfLine {
                bytes: line.as_bytes().clone(),
            }),
            Frame::Damage(Damage::InvalidUtf8 { bytes }) => {
                Frame::Damage(Damage::HalfLine { bytes })
            }
            frame @ (Frame::Line(_) | Frame::Damage(_)) => frame,
        })
    }

    fn frame(&mut self, bytes: Bytes, terminator: u64) -> Frame {
        let dropped = self.dropping.take();
        let length = dropped.as_ref().map_or(0, |dropping| dropping.length) + bytes.len() as u64;
        self.offset += length + terminator;
        if let Some(Dropping { head, .. }) = dropped {
            return Frame::Damage(Damage::TooLong {
                head,
                length,
                limit: self.limit,
            });
        }
        if bytes.len() > self.limit {
            return Frame::Damage(Damage::TooLong {
                head: head_of(&bytes, self.limit),
                length,
                limit: self.limit,
            });
        }
        Line::from_utf8(bytes).map_or_else(
            |bytes| Frame::Damage(Damage::InvalidUtf8 { bytes }),
            Frame::Line,
        )
    }

    /// Lets go of a line that has grown past the limit, so that memory stays bounded however long it gets.
    fn start_dropping(&mut self) {
        if self.buffer.len() <= self.limit && self.dropping.is_none() {
            return;
        }
        let dropping = self.dropping.get_or_insert_with(|| Dropping {
            head: head_of(&self.buffer, self.limit),
            length: 0,
        });
        dropping.length += self.buffer.len() as u64;
        // A buffer that grew to the limit is given back, an ordinary one is used again.
        if self.buffer.capacity() > CHUNK {
            self.buffer = BytesMut::new();
        } else {
            self.buffer.clear();
        }
        self.scanned = 0;
    }
}

fn head_of(bytes: &[u8], limit: usize) -> Bytes {
    Bytes::copy_from_slice(&bytes[..bytes.len().min(HEAD_LIMIT).min(limit)])
}

fn is_json(line: &Line) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(line.as_str()).is_ok()
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
