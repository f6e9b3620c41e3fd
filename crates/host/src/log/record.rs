//! The form of a record and its hash.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Sixteen bytes of hash, in lower-case hexadecimal.
pub(super) const HASH_CHARS: usize = 32;

/// Proves a log up to one record: its payload and everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct ChainHash([u8; 16]);

impl ChainHash {
    /// The hash of an empty log.
    pub const EMPTY: Self = Self([0; 16]);

    /// The hash behind a payload.
    #[must_use]
    pub fn next(self, payload: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(payload);
        let mut hash = [0; 16];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(hash)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let digit = |char: u8| match char {
            b'0'..=b'9' => Some(char - b'0'),
            b'a'..=b'f' => Some(char - b'a' + 10),
            _ => None,
        };
        let mut hash = [0; 16];
        for (byte, pair) in hash.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? * 16 + digit(pair[1])?;
        }
        (text.len() == HASH_CHARS).then_some(Self(hash))
    }

    /// Its digits; every record has them, so they are not left to the formatter.
    fn digits(self) -> [u8; HASH_CHARS] {
        let mut text = [0; HASH_CHARS];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

/// The line of a record, line feed included.
pub(super) fn encode(hash: ChainHash, payload: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(HASH_CHARS + payload.len() + 2);
    line.extend_from_slice(&hash.digits());
    line.push(b' ');
    line.extend_from_slice(payload);
    line.push(b'\n');
    line
}

/// The hash and payload of a line without its line feed, if it has the form of a record.
pub(super) fn decode(line: &[u8]) -> Option<(ChainHash, &[u8])> {
    let (hash, rest) = line.split_at_checked(HASH_CHARS)?;
    let payload = rest.strip_prefix(b" ")?;
    Some((ChainHash::parse(hash)?, payload))
}
