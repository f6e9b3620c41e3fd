//! Secrets: made of the system's randomness, kept as hashes only.
//!
//! A secret has 256 random bits, so a fast hash is enough: nobody can go through them. Looking a secret up means looking
//! up its hash, which takes the same time whether it is known or not.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};
use estelle_proto::Token;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where random bytes come from; nothing when the system has none to give.
pub(crate) type Entropy = Box<dyn FnMut() -> Option<[u8; 32]> + Send>;

/// The system's randomness.
pub(crate) fn system_entropy() -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok().map(|()| bytes)
}

/// Separates these hashes from all others that anybody makes of the same text.
const CONTEXT: &str = "estelle relay 2026 secret of a device";

/// Shorter secrets are refused, wherever they come from: 32 characters of base64 are 192 bits.
pub(crate) const SHORTEST_SECRET: usize = 32;

/// The hash of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SecretHash([u8; 32]);

impl SecretHash {
    pub(crate) fn of(token: &Token) -> Self {
        Self(blake3::derive_key(CONTEXT, token.reveal().as_bytes()))
    }

    /// Compares in constant time.
    pub(crate) fn fits(&self, token: &Token) -> bool {
        blake3::Hash::from_bytes(self.0) == blake3::Hash::from_bytes(Self::of(token).0)
    }
}

impl Serialize for SecretHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for SecretHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok();
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a hash has 64 hexadecimal digits"))
    }
}

/// A new secret.
pub(crate) fn token(entropy: &mut Entropy) -> Option<Token> {
    let text = format!("est_{}", BASE64URL_NOPAD.encode(&entropy()?));
    Token::parse(&text).ok()
}

/// A new public name of 80 bits, after a prefix.
pub(crate) fn name(prefix: &str, entropy: &mut Entropy) -> Option<String> {
    Some(format!("{prefix}-{}", HEXLOWER.encode(&entropy()?[..10])))
}

/// Six digits for two screens.
pub(crate) fn code(entropy: &mut Entropy) -> Option<String> {
    let [a, b, c, d, ..] = entropy()?;
    Some(format!(
        "{:06}",
        u32::from_be_bytes([a, b, c, d]) % 1_000_000
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_only_their_hash_is_written() {
        let mut entropy: Entropy = Box::new(system_entropy);
        let (one, two) = (token(&mut entropy).unwrap(), token(&mut entropy).unwrap());
        assert_ne!(one, two);
        assert!(one.reveal().len() >= SHORTEST_SECRET);
        let hash = SecretHash::of(&one);
        assert!(hash.fits(&one) && !hash.fits(&two));
        let written = serde_json::to_string(&hash).unwrap();
        assert!(!written.contains(one.reveal()));
        assert_eq!(serde_json::from_str::<SecretHash>(&written).unwrap(), hash);
    }
}
