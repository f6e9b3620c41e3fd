//! Who sends a push: the machine's key, and a token for one push service at a time (RFC 8292).

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use data_encoding::BASE64URL_NOPAD as BASE64;
use estelle_proto::Timestamp;
use serde_json::json;

/// How long a token holds; services refuse more than a day.
const HOLDS_SECONDS: i64 = 12 * 60 * 60;

/// Why there is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VapidError {
    /// The kept key cannot be read.
    #[error(
        "the machine's key for notifications cannot be read; remove the setting `vapidKey` and subscribe anew"
    )]
    Key,
    /// The library failed.
    #[error("a token for notifications cannot be made")]
    Failed,
}

/// The key of this machine. Subscriptions are bound to it.
pub(crate) struct Vapid {
    pair: EcdsaKeyPair,
    contact: String,
}

impl std::fmt::Debug for Vapid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vapid").finish_non_exhaustive()
    }
}

/// A new key, as it is kept.
pub(crate) fn new_key() -> Result<String, VapidError> {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
    let pair = pair.map_err(|_| VapidError::Failed)?;
    let kept = pair.to_pkcs8v1().map_err(|_| VapidError::Failed)?;
    Ok(BASE64.encode(kept.as_ref()))
}

impl Vapid {
    /// From the kept key, and where a service may complain.
    pub(crate) fn from_kept(key: &str, contact: String) -> Result<Self, VapidError> {
        let key = BASE64.decode(key.as_bytes()).map_err(|_| VapidError::Key)?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key);
        let pair = pair.map_err(|_| VapidError::Key)?;
        Ok(Self { pair, contact })
    }

    /// The public key, as browsers want it.
    pub(crate) fn public_key(&self) -> String {
        BASE64.encode(self.pair.public_key().as_ref())
    }

    /// The `Authorization` for a service, by its origin.
    pub(crate) fn authorization(&self, origin: &str, now: Timestamp) -> Result<String, VapidError> {
        let header = BASE64.encode(br#"{"typ":"JWT","alg":"ES256"}"#);
        let until = now.0 / 1000 + HOLDS_SECONDS;
        let claims = json!({"aud": origin, "exp": until, "sub": self.contact});
        let signed = format!("{header}.{}", BASE64.encode(claims.to_string().as_bytes()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|_| VapidError::Failed)?;
        let token = format!("{signed}.{}", BASE64.encode(signature.as_ref()));
        Ok(format!("vapid t={token}, k={}", self.public_key()))
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_token_is_for_one_service_for_half_a_day_and_signed_by_the_kept_key() {
        let kept = new_key().unwrap();
        let vapid = Vapid::from_kept(&kept, "mailto:a@example.org".to_owned()).unwrap();
        let value = vapid
            .authorization("https://push.example.org", Timestamp(1_000_000))
            .unwrap();
        let (token, key) = value
            .strip_prefix("vapid t=")
            .unwrap()
            .split_once(", k=")
            .unwrap();
        assert_eq!(key, vapid.public_key());
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let key = UnparsedPublicKey::new(
            &ECDSA_P256_SHA256_FIXED,
            BASE64.decode(key.as_bytes()).unwrap(),
        );
        let signature = BASE64.decode(signature.as_bytes()).unwrap();
        key.verify(signed.as_bytes(), &signature).unwrap();
        let claims = signed.split_once('.').unwrap().1;
        let claims: serde_json::Value =
            serde_json::from_slice(&BASE64.decode(claims.as_bytes()).unwrap()).unwrap();
        assert_eq!(
            claims,
            json!({"aud": "https://push.example.org", "exp": 1000 + 43_200, "sub": "mailto:a@example.org"})
        );
        assert_eq!(
            Vapid::from_kept("wibble", String::new()).unwrap_err(),
            VapidError::Key
        );
    }
}
