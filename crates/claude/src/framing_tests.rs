//! Laws of the line reader: any chunking gives the same frames, and no byte is lost.

use proptest::prelude::*;

use super::*;

fn frames(chunks: &[&[u8]], limit: usize) -> (Vec<Frame>, u64) {
    let mut splitter = Splitter::with_limit(limit);
    let mut frames = Vec::new();
    for chunk in chunks {
        splitter.push(chunk);
        frames.extend(std::iter::from_fn(|| splitter.next_frame()));
    }
    frames.extend(splitter.finish());
    (frames, splitter.offset())
}

fn line(text: &str) -> Frame {
    Frame::Line(text.into())
}

#[test]
fn keeps_blank_lines_and_carriage_returns() {
    let (frames, offset) = frames(&[b"a\r\n\n {}\n"], 100);
    assert_eq!(frames, [line("a\r"), line(""), line(" {}")]);
    assert_eq!(offset, 8);
}

#[test]
fn an_unterminated_line_is_a_line_only_when_it_is_whole_json() {
    assert_eq!(frames(&[b"{\"a\":1}"], 100).0, [line("{\"a\":1}")]);
    let half = Damage::HalfLine {
        bytes: Bytes::from_static(b"{\"a\":"),
    };
    assert_eq!(
        frames(&[b"x\n{\"a\":"], 100).0,
        [line("x"), Frame::Damage(half)]
    );
}

#[test]
fn invalid_utf8_is_reported_and_reading_goes_on() {
    let damage = Damage::InvalidUtf8 {
        bytes: Bytes::from_static(b"\xff\xfe"),
    };
    assert_eq!(
        frames(&[b"\xff\xfe\n{}\n"], 100).0,
        [Frame::Damage(damage), line("{}")]
    );
}

#[test]
fn a_line_of_a_gibibyte_is_reported_without_being_kept() {
    let chunk = vec![b'x'; 1024 * 1024];
    let mut splitter = Splitter::default();
    for _ in 0..1024 {
        splitter.push(&chunk);
        assert_eq!(splitter.next_frame(), None);
        assert!(splitter.buffer.capacity() <= 2 * DEFAULT_LINE_LIMIT);
    }
    splitter.push(b"\n{}\n");
    let Some(Frame::Damage(Damage::TooLong {
        head,
        length,
        limit,
    })) = splitter.next_frame()
    else {
        panic!("the long line must be damage");
    };
    assert_eq!(
        (head.len(), length, limit),
        (HEAD_LIMIT, 1024 * 1024 * 1024, DEFAULT_LINE_LIMIT)
    );
    assert_eq!(splitter.next_frame(), Some(line("{}")));
    assert_eq!(splitter.offset(), 1024 * 1024 * 1024 + 4);
}

#[test]
fn the_limit_itself_is_still_a_line() {
    assert_eq!(frames(&[b"12345\n"], 5).0, [line("12345")]);
    assert!(matches!(
        &frames(&[b"123456\n"], 5).0[..],
        [Frame::Damage(Damage::TooLong { length: 6, .. })]
    ));
    assert!(matches!(
        &frames(&[b"123456"], 5).0[..],
        [Frame::Damage(Damage::TooLong { length: 6, .. })]
    ));
}

/// Bytes that make interesting streams: line feeds, JSON punctuation, broken UTF-8.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => Just(b'\n'), 2 => Just(b'{'), 2 => Just(b'}'), 1 => Just(0xff), 8 => any::<u8>()];
    proptest::collection::vec(byte, 0..200)
}

proptest! {
    #[test]
    fn chunking_makes_no_difference(input in stream(), cuts in proptest::collection::vec(0usize..200, 0..8), limit in 1usize..60) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
        cuts.extend([0, input.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &input[pair[0]..pair[1]]).collect();
        prop_assert_eq!(frames(&chunks, limit), frames(&[&input], limit));
    }

    #[test]
    fn no_byte_is_lost(input in stream()) {
        let (frames, offset) = frames(&[&input], 1000);
        let kept: Vec<&[u8]> = frames.iter().map(|frame| &frame.bytes()[..]).collect();
        let mut joined = kept.join(&b'\n');
        if input.ends_with(b"\n") {
            joined.push(b'\n');
        }
        prop_assert_eq!(joined, input.clone());
        prop_assert_eq!(offset, input.len() as u64);
    }
}

#[test]
fn letting_go_of_the_buffer_keeps_what_waits_in_it() {
    let mut splitter = Splitter::default();
    splitter.push(b"{\"a\":");
    splitter.release();
    splitter.push(b"1}\n");
    assert_eq!(splitter.next_frame(), Some(Frame::Line("{\"a\":1}".into())));
    splitter.release();
    assert_eq!(splitter.offset(), 8);
    splitter.push(b"[]\n");
    assert_eq!(splitter.next_frame(), Some(Frame::Line("[]".into())));
}
