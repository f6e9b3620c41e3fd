//! What comes through the filter, and what does not.

use proptest::prelude::*;

use super::*;

fn shown(parts: &[Part]) -> String {
    let shown = parts.iter().filter_map(|part| match part {
        Part::Show(text) => Some(text.as_str()),
        Part::Asked(_) => None,
    });
    shown.collect()
}

fn filtered(bytes: &[u8]) -> String {
    shown(&Filter::new().feed(bytes))
}

#[test]
fn text_colours_and_movements_pass() {
    for text in [
        "plain\r\n",
        "\x1b[1;31mred\x1b[0m",
        "\x1b[H\x1b[2J\x1b[10;20H",
        "\x1b[?1049h\x1b[?25l",
        "\x1b7\x1b8\x1bM",
        "\x1b(0qqq\x1b(B",
        "\x1b[4 q",
        "세계 🌙",
    ] {
        assert_eq!(filtered(text.as_bytes()), text);
    }
}

#[test]
fn t3_what_reaches_out_of_a_terminal_is_swallowed() {
    for (text, rest) in [
        ("a\x1b]52;c;c2VjcmV0\x07b", "ab"),
        ("a\x1b]52;c;?\x1b\\b", "ab"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1bP$qm\x1b\\b", "ab"),
        ("a\x1bPtmux;\x1b\x1b]52;c;x\x07\x1b\\b", "ab"),
        ("a\x1b_apc\x1b\\b\x1b^pm\x1b\\c", "abc"),
        ("a\x05b\x0ec\x0fd", "abcd"),
        ("a\x1b[21tb\x1b[>qc\x1b[?ud\x1b[5ie", "abcde"),
        ("a\x1b[>4;2mb\x1b[?2026hc", "abc"),
        ("a\x1b[?1004;25;2026hb", "a\x1b[?25hb"),
        ("a\u{9b}31mb\u{9d}0;t\u{9c}c", "a31mb0;tc"),
    ] {
        assert_eq!(filtered(text.as_bytes()), rest, "{text:?}");
    }
}

#[test]
fn t3_a_query_is_told_apart_and_reaches_no_viewer() {
    let mut filter = Filter::new();
    let parts = filter.feed(b"x\x1b[6ny\x1b[c\x1b[>c\x1b[5n\x1b[?6n\x1bZ");
    let asked = |query| Part::Asked(query);
    let show = |text: &str| Part::Show(text.to_owned());
    let expected = [
        show("x"),
        asked(Query::Cursor),
        show("y"),
        asked(Query::Attributes),
        asked(Query::Version),
        asked(Query::Status),
        asked(Query::Cursor),
        asked(Query::Attributes),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn t8_output_ends_between_two_sequences_wherever_it_was_cut() {
    let whole = "a\x1b[1;31mré세🌙\x1b]52;c;x\x07\x1b[?1049hz".as_bytes();
    for cut in 0..whole.len() {
        let mut filter = Filter::new();
        let (before, after) = whole.split_at(cut);
        let first = shown(&filter.feed(before));
        let second = shown(&filter.feed(after));
        assert_eq!(format!("{first}{second}"), filtered(whole), "cut at {cut}");
        // Each part alone is complete: nothing of it is held back by a second filter.
        assert_eq!(filtered(first.as_bytes()), first, "cut at {cut}");
    }
}

#[test]
fn a_string_that_never_ends_does_not_hide_everything() {
    let mut bytes = b"\x1b]0;".to_vec();
    bytes.extend(std::iter::repeat_n(b'x', MAX_STRING + 1));
    bytes.extend(b"\r\nhere");
    assert!(filtered(&bytes).ends_with("here"));
    let long = format!("\x1b[{}mx", "1;".repeat(500));
    assert_eq!(filtered(long.as_bytes()), "x");
}

proptest! {
    /// T11: any bytes, in any pieces.
    #[test]
    fn t11_any_bytes_become_text_without_a_way_out(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
        let mut filter = Filter::new();
        let mut all = String::new();
        for piece in &pieces {
            all.push_str(&shown(&filter.feed(piece)));
        }
        prop_assert!(!all.contains("\x1b]") && !all.contains("\x1bP") && !all.contains("\x1b_"));
        let reaches_out = all.chars().any(|letter| ('\u{80}'..='\u{9f}').contains(&letter));
        prop_assert!(!reaches_out);
        // What came through comes through again as it is.
        prop_assert_eq!(filtered(all.as_bytes()), all);
    }
}
