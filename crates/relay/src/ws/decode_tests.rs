//! What the decoder takes and what it refuses.

use proptest::prelude::*;

use super::*;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// A masked frame as a client sends it.
fn frame(head: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![head];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | u8::try_from(length).unwrap()),
        length @ 126..=65535 => {
            frame.push(0xfe);
            frame.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        length => {
            frame.push(0xff);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(a, b)| a ^ b));
    frame
}

fn all(decoder: &mut Decoder, bytes: &[u8]) -> Result<Vec<Incoming>, Violation> {
    decoder.room().extend_from_slice(bytes);
    let mut found = Vec::new();
    while let Some(incoming) = decoder.next()? {
        found.push(incoming);
    }
    Ok(found)
}

fn refused(bytes: &[u8]) -> Violation {
    all(&mut Decoder::new(1000), bytes).unwrap_err()
}

fn text(text: &str) -> Incoming {
    Incoming::Text(text.to_owned())
}

#[test]
fn w5_a_declared_length_costs_nothing() {
    let mut huge = vec![0x81, 0xff];
    huge.extend((u64::MAX >> 1).to_be_bytes());
    assert_eq!(refused(&huge), Violation::TooLarge);
    let mut decoder = Decoder::new(1000);
    assert!(all(&mut decoder, &huge).is_err());
    assert!(decoder.buffer.capacity() < 4096);
}

#[test]
fn w6_fragments_count_together() {
    let mut bytes = frame(0x01, &[b'a'; 600]);
    bytes.extend(frame(0x00, &[b'a'; 600]));
    assert_eq!(refused(&bytes), Violation::TooLarge);
}

#[test]
fn w8_endless_empty_fragments_are_refused() {
    let mut bytes = frame(0x01, b"");
    for _ in 0..2000 {
        bytes.extend(frame(0x00, b""));
    }
    assert_eq!(refused(&bytes), Violation::Protocol);
}

#[test]
fn w9_what_breaks_the_protocol_is_refused() {
    let unmasked = [0x81, 0x05, b'H', b'e', b'l', b'l', b'o'];
    assert_eq!(refused(&unmasked), Violation::Protocol);
    for head in [0xc1, 0xa1, 0x91, 0x83, 0x87, 0x8b, 0x8f] {
        assert_eq!(refused(&frame(head, b"x")), Violation::Protocol, "{head:x}");
    }
    // A sequel of nothing, and a new message inside another.
    assert_eq!(refused(&frame(0x80, b"x")), Violation::Protocol);
    let nested = [frame(0x01, b"a"), frame(0x81, b"b")].concat();
    assert_eq!(refused(&nested), Violation::Protocol);
    assert_eq!(refused(&frame(0x82, b"x")), Violation::Binary);
    // A length that is not in its shortest form.
    let long = [0x81, 0xfe, 0, 5, 0, 0, 0, 0];
    assert_eq!(refused(&long), Violation::Protocol);
}

#[test]
fn w10_control_frames_are_short_and_whole() {
    assert_eq!(refused(&frame(0x89, &[0; 126])), Violation::Protocol);
    assert_eq!(refused(&frame(0x09, b"")), Violation::Protocol);
    let between = [frame(0x01, b"a"), frame(0x89, b"p"), frame(0x80, b"b")].concat();
    let found = all(&mut Decoder::new(100), &between).unwrap();
    assert_eq!(found, [Incoming::Ping(b"p".to_vec()), text("ab")]);
}

#[test]
fn w13_text_is_utf8_as_a_whole() {
    for bad in [&b"\xff"[..], b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82"] {
        assert_eq!(refused(&frame(0x81, bad)), Violation::NotUtf8, "{bad:?}");
    }
    // A character may be cut by a fragment.
    let cut = [frame(0x01, b"\xe2\x82"), frame(0x80, b"\xac")].concat();
    assert_eq!(all(&mut Decoder::new(100), &cut).unwrap(), [text("€")]);
}

#[test]
fn a_large_message_leaves_no_large_buffer() {
    let mut decoder = Decoder::new(1 << 20);
    let large = "a".repeat(500_000);
    let found = all(&mut decoder, &frame(0x81, large.as_bytes())).unwrap();
    assert_eq!(found, [text(&large)]);
    assert!(decoder.room().capacity() <= LARGE);
    all(&mut decoder, &frame(0x8a, b"")).unwrap();
    assert!(decoder.room().capacity() <= READ);
}

proptest! {
    #[test]
    fn the_pieces_in_which_bytes_arrive_do_not_matter(
        messages in prop::collection::vec((".{0,300}", 1usize..4), 1..5),
        piece in 1usize..50,
    ) {
        let mut bytes = Vec::new();
        for (message, parts) in &messages {
            let payload = message.as_bytes();
            let chunk = payload.len() / parts + 1;
            let mut chunks: Vec<&[u8]> = payload.chunks(chunk).collect();
            if chunks.is_empty() {
                chunks.push(&[]);
            }
            for (index, part) in chunks.iter().enumerate() {
                let is_final = index + 1 == chunks.len();
                let head = u8::from(index == 0);
                bytes.extend(frame(head | (u8::from(is_final) << 7), part));
            }
        }
        let mut decoder = Decoder::new(1 << 16);
        let mut found = Vec::new();
        for piece in bytes.chunks(piece) {
            found.extend(all(&mut decoder, piece).unwrap());
        }
        let expected: Vec<_> = messages.iter().map(|(message, _)| text(message)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = all(&mut Decoder::new(100), &bytes);
    }
}
