//! What is JSON and what is not: the typed reader must say the same as a plain JSON parser, on every kind of line.

use estelle_claude::line::Line;
use estelle_claude::wire::{Body, Message};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::value::RawValue;

use crate::transcripts::recorded_lines;

/// Whether the typed reader and `serde_json` agree that the text is, or is not, a JSON object.
fn agree(text: &str) -> bool {
    let json = serde_json::from_str::<&RawValue>(text).is_ok();
    let object = json && text.trim_start().starts_with('{');
    let message = Message::parse(Line::from(text));
    object != matches!(message.body, Body::Malformed(_))
}

#[test]
fn the_corners_of_the_grammar_are_told_from_errors() {
    let values = [
        "1",
        "-0",
        "01",
        "-",
        "1.",
        "1.5",
        ".5",
        "1e",
        "1e+",
        "1E-7",
        "1e5.",
        "--1",
        "+1",
        "NaN",
        "true",
        "tru",
        "truee",
        "null",
        "nul",
        "nulll",
        "n",
        "x",
        "",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"a\tb\"",
        "\"\u{7f}\u{2028}\"",
        "\"1234567\"",
        "\"12345678\"",
        "\"12345678\\n9\"",
        "[]",
        "[,]",
        "[1,]",
        "[1 2]",
        "[1,,2]",
        "[",
        "[[",
        "{}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{1:2}",
        "[1}",
        "{\"a\":1]",
        "{",
        "\0",
        "1\0",
    ];
    // A place for any value, a string, a list of strings, a flag, a number, a list of unions and a nested struct.
    let places = [
        r#"{"type":"keep_alive","x":@}"#,
        r#"{"type":"control_request","request_id":@,"request":{"subtype":"interrupt"}}"#,
        r#"{"type":"system","subtype":"init","tools":@,"cwd":"/"}"#,
        r#"{"type":"result","subtype":"success","is_error":@}"#,
        r#"{"type":"result","subtype":"success","num_turns":@,"total_cost_usd":@}"#,
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"W","input":@,"tool_use_id":"t","permission_suggestions":@}}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":@},"parent_tool_use_id":@}"#,
        r#"{"type":"unheard_of","deep":[{"x":@}]}"#,
        "@",
    ];
    for place in places {
        for value in values {
            for text in [
                place.replace('@', value),
                place.replace('@', &format!("[{value}]")),
            ] {
                assert!(agree(&text), "{text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damage_anywhere_in_a_real_line_is_noticed(
        at in any::<Index>(),
        piece in prop::sample::select(vec!["", "\"", "\\", ",", ":", "{", "}", "[", "]", "0", "n", " ", "\t", "\u{1}", "é"]),
    ) {
        for line in recorded_lines() {
            let text = line.text;
            let at = at.index(text.len());
            let Some((before, after)) = text.split_at_checked(at) else { continue };
            let mut rest = after.chars();
            rest.next();
            let inserted = format!("{before}{piece}{after}");
            let replaced = format!("{before}{piece}{}", rest.as_str());
            for damaged in [inserted.as_str(), replaced.as_str(), before] {
                prop_assert!(agree(damaged), "{}: {damaged}", line.place);
            }
        }
    }
}
