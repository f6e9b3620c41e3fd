//! Encryption of a push for one device: RFC 8291 over RFC 8188 (`aes128gcm`), one record.
//!
//! Pure but for the fresh key and salt. That it is what the RFC says is shown by its own example, byte for byte.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

/// The record size that is told; a payload is one record.
const RECORD: u32 = 4096;
/// The most that a payload may have, so that it is one record and every push service takes it.
pub(crate) const MOST_BYTES: usize = 3000;
/// The length of a public key as it travels: uncompressed.
pub(crate) const PUBLIC_KEY: usize = 65;
/// The length of the device's secret.
pub(crate) const AUTH: usize = 16;

/// Why nothing can be encrypted for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealError {
    /// The device's key is none.
    #[error("`p256dh` is no public key of the curve P-256")]
    Key,
    /// The device's secret has the wrong length.
    #[error("`auth` has not {AUTH} bytes")]
    Auth,
    /// There is too much to say.
    #[error("the payload is longer than {MOST_BYTES} bytes")]
    TooLong,
    /// The library failed.
    #[error("encryption failed")]
    Failed,
}

impl From<Unspecified> for SealError {
    fn from(_: Unspecified) -> Self {
        Self::Failed
    }
}

/// The keys of a device, checked.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Receiver {
    pub(crate) p256dh: Vec<u8>,
    pub(crate) auth: Vec<u8>,
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl Receiver {
    /// Checks sizes, and that the key is a point of the curve.
    pub(crate) fn new(p256dh: Vec<u8>, auth: Vec<u8>) -> Result<Self, SealError> {
        if auth.len() != AUTH {
            return Err(SealError::Auth);
        }
        if p256dh.len() != PUBLIC_KEY {
            return Err(SealError::Key);
        }
        let trial = PrivateKey::generate(&ECDH_P256)?;
        let peer = UnparsedPublicKey::new(&ECDH_P256, &p256dh);
        agree(&trial, peer, SealError::Key, |_| Ok(()))?;
        Ok(Self { p256dh, auth })
    }

    /// The body of a push with this payload.
    pub(crate) fn seal(&self, payload: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut salt = [0; 16];
        aws_lc_rs::rand::fill(&mut salt)?;
        self.seal_with(payload, &PrivateKey::generate(&ECDH_P256)?, salt)
    }

    fn seal_with(
        &self,
        payload: &[u8],
        own: &PrivateKey,
        salt: [u8; 16],
    ) -> Result<Vec<u8>, SealError> {
        if payload.len() > MOST_BYTES {
            return Err(SealError::TooLong);
        }
        let public = own.compute_public_key()?;
        let peer = UnparsedPublicKey::new(&ECDH_P256, &self.p256dh);
        let shared = agree(own, peer, SealError::Key, |secret| Ok(secret.to_vec()))?;
        let keys = Keys::derive(&shared, &self.auth, &self.p256dh, public.as_ref(), &salt)?;
        let mut record = payload.to_vec();
        // The delimiter of the last record.
        record.push(2);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &keys.key)?);
        let nonce = Nonce::assume_unique_for_key(keys.nonce);
        key.seal_in_place_append_tag(nonce, Aad::empty(), &mut record)?;
        let mut body = salt.to_vec();
        body.extend(RECORD.to_be_bytes());
        body.push(u8::try_from(PUBLIC_KEY).map_err(|_| SealError::Failed)?);
        body.extend(public.as_ref());
        body.extend(record);
        Ok(body)
    }
}

/// What a record is encrypted with.
struct Keys {
    key: [u8; 16],
    nonce: [u8; 12],
}

impl Keys {
    fn derive(
        shared: &[u8],
        auth: &[u8],
        receiver: &[u8],
        sender: &[u8],
        salt: &[u8],
    ) -> Result<Self, Unspecified> {
        let both: [&[u8]; 3] = [b"WebPush: info\0", receiver, sender];
        let secret: [u8; 32] = expand(&Salt::new(HKDF_SHA256, auth).extract(shared), &both)?;
        let record = Salt::new(HKDF_SHA256, salt).extract(&secret);
        Ok(Self {
            key: expand(&record, &[b"Content-Encoding: aes128gcm\0"])?,
            nonce: expand(&record, &[b"Content-Encoding: nonce\0"])?,
        })
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand<const N: usize>(from: &Prk, info: &[&[u8]]) -> Result<[u8; N], Unspecified> {
    let mut made = [0; N];
    from.expand(info, Length(N))?.fill(&mut made)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64URL_NOPAD as BASE64;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        BASE64.decode(text.as_bytes()).unwrap()
    }

    /// Appendix A of RFC 8291.
    #[test]
    fn the_example_of_the_rfc_comes_out_byte_for_byte() {
        let receiver = Receiver::new(
            bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
            bytes("BTBZMqHH6r4Tts7J_aSIgg"),
        )
        .unwrap();
        let own = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
        let own = PrivateKey::from_private_key(&ECDH_P256, &own).unwrap();
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let text = b"When I grow up, I want to be a watermelon";
        let body = receiver.seal_with(text, &own, salt).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(BASE64.encode(&body), expected);
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        let good = bytes(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        );
        let mut off_curve = good.clone();
        off_curve[40] ^= 1;
        let new = |key: &[u8], auth: usize| Receiver::new(key.to_vec(), vec![7; auth]);
        assert!(new(&good, 16).is_ok());
        assert_eq!(new(&off_curve, 16).unwrap_err(), SealError::Key);
        assert_eq!(new(&good[1..], 16).unwrap_err(), SealError::Key);
        assert_eq!(new(&[], 16).unwrap_err(), SealError::Key);
        assert_eq!(new(&good, 15).unwrap_err(), SealError::Auth);
        let sealed = new(&good, 16).unwrap().seal(&[0; MOST_BYTES + 1]);
        assert_eq!(sealed.unwrap_err(), SealError::TooLong);
    }
}
