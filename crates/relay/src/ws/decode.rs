//! Frames from a client: bytes in, messages out, within limits that the caller sets.
//!
//! The length in a header is compared with the limit before a byte of the payload is kept, so what a client declares
//! costs nothing. The buffer grows to what is really there and is given back when it is empty.

/// Fragments that one message may have. Honest clients send one.
const MOST_FRAGMENTS: u32 = 1024;
/// What is kept of an empty buffer: room for an ordinary request.
const SPARE: usize = 1024;
/// A buffer up to this size belongs to a connection with little to say.
const READ: usize = 2048;
/// What a busy connection may keep.
const LARGE: usize = 32 * 1024;

/// Something a client said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    Text(String),
    Ping(Vec<u8>),
    Pong,
    Close,
}

/// Why a client is not understood. Its connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("the message is too long")]
    TooLarge,
    #[error("binary messages are not understood")]
    Binary,
    #[error("the text is not UTF-8")]
    NotUtf8,
    #[error("the frame breaks the protocol")]
    Protocol,
}

impl Violation {
    /// The code of the close frame.
    pub(crate) fn code(self) -> u16 {
        match self {
            Self::Protocol => 1002,
            Self::Binary => 1003,
            Self::NotUtf8 => 1007,
            Self::TooLarge => 1009,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opcode {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

/// A header that was understood.
#[derive(Debug, Clone, Copy)]
struct Header {
    is_final: bool,
    opcode: Opcode,
    mask: [u8; 4],
    /// Where the payload begins, after the start of the frame.
    offset: usize,
    length: usize,
}

/// Turns bytes into messages.
#[derive(Debug)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
    /// What lies before this is done with.
    start: usize,
    /// The beginning of a message that comes in fragments.
    partial: Option<Vec<u8>>,
    fragments: u32,
    limit: usize,
}

impl Decoder {
    /// Messages may have up to `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            partial: None,
            fragments: 0,
            limit,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Where bytes from the socket go. Only ever append.
    ///
    /// A buffer that was filled to the brim grows, for there is more to come; one that was hardly used shrinks.
    pub(crate) fn room(&mut self) -> &mut Vec<u8> {
        let (filled, capacity) = (self.buffer.len(), self.buffer.capacity());
        let was_full = filled == capacity && filled > 0;
        if self.start == filled {
            self.buffer.clear();
            self.start = 0;
            let is_idle = filled < READ && capacity > READ;
            if is_idle || capacity > LARGE {
                self.buffer.shrink_to(SPARE);
            }
        }
        if was_full || self.buffer.capacity() - self.buffer.len() < SPARE {
            self.buffer.drain(..self.start);
            self.start = 0;
            let grown = if was_full {
                capacity.saturating_mul(2).min(LARGE)
            } else {
                0
            };
            let more = grown.saturating_sub(self.buffer.len()).max(SPARE);
            self.buffer.reserve(more);
        }
        &mut self.buffer
    }

    /// The next thing the client said, if all of it is there.
    pub(crate) fn next(&mut self) -> Result<Option<Incoming>, Violation> {
        loop {
            let Some(header) = self.header()? else {
                return Ok(None);
            };
            let begin = self.start + header.offset;
            let Some(masked) = self.buffer.get(begin..begin + header.length) else {
                return Ok(None);
            };
            let payload = unmasked(masked, header.mask);
            self.start = begin + header.length;
            if let Some(incoming) = self.take(&header, payload)? {
                return Ok(Some(incoming));
            }
        }
    }

    /// Adds a frame to what is there; a message comes out when it is whole.
    fn take(&mut self, header: &Header, payload: Vec<u8>) -> Result<Option<Incoming>, Violation> {
        match header.opcode {
            Opcode::Ping => return Ok(Some(Incoming::Ping(payload))),
            Opcode::Pong => return Ok(Some(Incoming::Pong)),
            Opcode::Close => return Ok(Some(Incoming::Close)),
            Opcode::Binary => return Err(Violation::Binary),
            Opcode::Text | Opcode::Continuation => {}
        }
        let whole = match self.partial.take() {
            Some(mut begun) => {
                begun.extend_from_slice(&payload);
                begun
            }
            None => payload,
        };
        self.fragments += 1;
        if !header.is_final {
            self.partial = Some(whole);
            return Ok(None);
        }
        self.fragments = 0;
        let text = String::from_utf8(whole).map_err(|_| Violation::NotUtf8)?;
        Ok(Some(Incoming::Text(text)))
    }

    fn header(&self) -> Result<Option<Header>, Violation> {
        let bytes = &self.buffer[self.start..];
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        let is_final = first & 0x80 != 0;
        // No extension was agreed on, so the reserved bits mean nothing; and a client must mask.
        if first & 0x70 != 0 || second & 0x80 == 0 {
            return Err(Violation::Protocol);
        }
        let opcode = opcode(first & 0x0f).ok_or(Violation::Protocol)?;
        let Some((length, rest)) = declared(second & 0x7f, rest)? else {
            return Ok(None);
        };
        self.check(opcode, is_final, length)?;
        let Some((mask, _)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        Ok(Some(Header {
            is_final,
            opcode,
            mask: *mask,
            offset: bytes.len() - rest.len() + 4,
            length: usize::try_from(length).map_err(|_| Violation::TooLarge)?,
        }))
    }

    /// Whether such a frame may come now.
    fn check(&self, opcode: Opcode, is_final: bool, length: u64) -> Result<(), Violation> {
        if matches!(opcode, Opcode::Close | Opcode::Ping | Opcode::Pong) {
            let is_short = is_final && length <= 125;
            return if is_short {
                Ok(())
            } else {
                Err(Violation::Protocol)
            };
        }
        let is_sequel = opcode == Opcode::Continuation;
        if is_sequel != self.partial.is_some() || self.fragments >= MOST_FRAGMENTS {
            return Err(Violation::Protocol);
        }
        let so_far = self.partial.as_ref().map_or(0, Vec::len) as u64;
        if so_far.saturating_add(length) > self.limit as u64 {
            return Err(Violation::TooLarge);
        }
        Ok(())
    }
}

fn opcode(bits: u8) -> Option<Opcode> {
    Some(match bits {
        0x0 => Opcode::Continuation,
        0x1 => Opcode::Text,
        0x2 => Opcode::Binary,
        0x8 => Opcode::Close,
        0x9 => Opcode::Ping,
        0xa => Opcode::Pong,
        _ => return None,
    })
}

/// The length of the payload, and what follows it. A length must have its shortest form.
fn declared(short: u8, rest: &[u8]) -> Result<Option<(u64, &[u8])>, Violation> {
    let (length, rest, least) = match short {
        126 => match rest.split_first_chunk::<2>() {
            Some((bytes, rest)) => (u64::from(u16::from_be_bytes(*bytes)), rest, 126),
            None => return Ok(None),
        },
        127 => match rest.split_first_chunk::<8>() {
            Some((bytes, rest)) => (u64::from_be_bytes(*bytes), rest, 65536),
            None => return Ok(None),
        },
        short => (u64::from(short), rest, 0),
    };
    if length < least {
        return Err(Violation::Protocol);
    }
    Ok(Some((length, rest)))
}

fn unmasked(masked: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let mut payload = masked.to_vec();
    // Words instead of bytes: this is most of the work on a large frame.
    let wide = u64::from_ne_bytes([
        mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3],
    ]);
    let (words, rest) = payload.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
    payload
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
