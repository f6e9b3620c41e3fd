//! Feeds arbitrary bytes in arbitrary pieces to the relay's reader of WebSocket frames.
//!
//! The first three bytes choose the size of the pieces and the limit, the rest is what a client sends. Asserts what holds
//! for every input: nothing panics; how the bytes were cut changes nothing of what is understood; no message is
//! longer than the limit; and a message that is put into one masked frame again is understood as the same message.

#![no_main]

use libfuzzer_sys::fuzz_target;

// The reader is private to the relay and needs nothing of it.
#[expect(dead_code, reason = "the relay uses more of it than is tried here")]
#[path = "../../crates/relay/src/ws/decode.rs"]
mod decode;

use decode::{Decoder, Incoming};

fuzz_target!(|data: &[u8]| {
    let Some((&[size, low, high], stream)) = data.split_first_chunk::<3>() else {
        return;
    };
    let limit = usize::from(u16::from_le_bytes([low, high]));
    let in_pieces = understood(stream, usize::from(size) + 1, limit);
    let at_once = understood(stream, stream.len().max(1), limit);
    assert_eq!(
        in_pieces, at_once,
        "how the bytes were cut changed what was understood"
    );
    for incoming in &in_pieces.0 {
        check(incoming, limit);
    }
});

/// What a client said, and how it broke the rules in the end.
fn understood(stream: &[u8], size: usize, limit: usize) -> (Vec<Incoming>, Option<u16>) {
    let mut decoder = Decoder::new(limit);
    let mut said = Vec::new();
    for piece in stream.chunks(size) {
        decoder.room().extend_from_slice(piece);
        loop {
            match decoder.next() {
                Ok(Some(incoming)) => said.push(incoming),
                Ok(None) => break,
                Err(violation) => return (said, Some(violation.code())),
            }
        }
    }
    (said, None)
}

fn check(incoming: &Incoming, limit: usize) {
    match incoming {
        Incoming::Text(text) => {
            assert!(text.len() <= limit, "longer than the limit");
            let (said, broken) = understood(&frame(0x1, text.as_bytes()), 7, limit);
            assert_eq!(
                (said.as_slice(), broken),
                (std::slice::from_ref(incoming), None)
            );
        }
        Incoming::Ping(payload) => assert!(payload.len() <= 125, "a ping may not be so long"),
        Incoming::Pong | Incoming::Close => {}
    }
}

/// One final frame as a client sends it.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x5a, 0x13, 0xe7, 0x08];
    let mut frame = vec![0x80 | opcode];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(&MASK);
    frame.extend(
        payload
            .iter()
            .zip(MASK.iter().cycle())
            .map(|(byte, key)| byte ^ key),
    );
    frame
}
