//! Frames to a client: never masked, never fragmented.

use bytes::{BufMut as _, Bytes, BytesMut};
use data_encoding::BASE64;
use sha1::{Digest as _, Sha1};

const FINAL_TEXT: u8 = 0x81;
const FINAL_CLOSE: u8 = 0x88;
const FINAL_PING: u8 = 0x89;
const FINAL_PONG: u8 = 0x8a;
/// The constant of RFC 6455 with which a server proves that it understood the handshake.
const HANDSHAKE: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`; none if the key is not 16 bytes in base64.
pub(crate) fn accept_key(key: &[u8]) -> Option<String> {
    BASE64.decode(key).ok().filter(|nonce| nonce.len() == 16)?;
    let digest = Sha1::new().chain_update(key).chain_update(HANDSHAKE);
    Some(BASE64.encode(&digest.finalize()))
}

/// A text message.
pub(crate) fn text(payload: &str) -> Bytes {
    frame(FINAL_TEXT, payload.as_bytes())
}

/// A question whether the client is still there.
pub(crate) fn ping() -> Bytes {
    Bytes::from_static(&[FINAL_PING, 0])
}

/// The answer to a client's ping, with the same bytes.
pub(crate) fn pong(payload: &[u8]) -> Bytes {
    frame(FINAL_PONG, payload)
}

/// The end of the conversation. The reason is for people and must be short.
pub(crate) fn close(code: u16, reason: &str) -> Bytes {
    let mut payload = Vec::with_capacity(2 + reason.len());
    payload.put_u16(code);
    payload.extend_from_slice(reason.as_bytes());
    payload.truncate(125);
    frame(FINAL_CLOSE, &payload)
}

fn frame(head: u8, payload: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(payload.len() + 10);
    frame.put_u8(head);
    let length = payload.len();
    if let Ok(length @ 0..=125) = u8::try_from(length) {
        frame.put_u8(length);
    } else if let Ok(length) = u16::try_from(length) {
        frame.put_u8(126);
        frame.put_u16(length);
    } else {
        frame.put_u8(127);
        frame.put_u64(length as u64);
    }
    frame.extend_from_slice(payload);
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_is_that_of_the_standard() {
        let accepted = accept_key(b"dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(accepted.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        for bad in [&b""[..], b"c2hvcnQ=", b"dGhlIHNhbXBsZSBub25jZQ", b"!!!!"] {
            assert_eq!(accept_key(bad), None);
        }
    }

    #[test]
    fn lengths_take_the_shortest_form() {
        assert_eq!(&text("Hello")[..], b"\x81\x05Hello");
        assert_eq!(&text(&"a".repeat(125))[..2], [0x81, 125]);
        assert_eq!(&text(&"a".repeat(126))[..4], [0x81, 126, 0, 126]);
        assert_eq!(
            &text(&"a".repeat(65536))[..10],
            [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]
        );
        assert_eq!(&close(1001, "bye")[..], b"\x88\x05\x03\xe9bye");
    }
}
