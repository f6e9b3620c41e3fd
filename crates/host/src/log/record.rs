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
        let mut hash = [0; 16];
        for (byte, pair) in hash.iter_mut().zip(text.chunks_exact(2)) {
            let digit = |char: u8| {
                char::from(char)
                    .to_digit(16)
                    .filter(|_| !char.is_ascii_uppercase())
            };
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
        }
        (text.len() == HASH_CHARS).then_some(Self(hash))
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The line of a record, line feed included.
pub(super) fn encode(hash: ChainHash, payload: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(HASH_CHARS + payload.len() + 2);
    line.extend_from_slice(hash.to_string().as_bytes());
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
