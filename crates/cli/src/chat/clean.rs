//! Makes text from elsewhere harmless to a terminal.
//!
//! What the model, a tool or the CLI prints may hold escape sequences that recolour, overwrite, rename the window
//! or fill the clipboard, and characters that reverse or hide what follows. Each such character is replaced by
//! something visible, so nothing is dropped in silence and a command shown for permission is the command that
//! runs. It works character by character: a sequence that is split over two pieces is caught all the same.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Text that may have several lines: line feeds and tabs are kept, a carriage return before a line feed goes.
pub(crate) fn text(raw: &str) -> Cow<'_, str> {
    let raw = if raw.contains("\r\n") {
        Cow::Owned(raw.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(raw)
    };
    if !raw.chars().any(|c| is_harmful(c) && c != '\n' && c != '\t') {
        return raw;
    }
    Cow::Owned(replace(&raw, |c| is_harmful(c) && c != '\n' && c != '\t'))
}

/// Text for a single line: line feeds and tabs become visible too.
pub(crate) fn line(raw: &str) -> Cow<'_, str> {
    if raw.chars().any(is_harmful) {
        Cow::Owned(replace(raw, is_harmful))
    } else {
        Cow::Borrowed(raw)
    }
}

/// At most `width` characters of a single line, with a mark where something is missing.
pub(crate) fn clip(raw: &str, width: usize) -> String {
    let clean = line(raw);
    if clean.chars().count() <= width {
        return clean.into_owned();
    }
    let kept: String = clean.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn replace(raw: &str, harmful: impl Fn(char) -> bool) -> String {
    let mut clean = String::with_capacity(raw.len() + 8);
    for c in raw.chars() {
        if harmful(c) {
            push_visible(&mut clean, c);
        } else {
            clean.push(c);
        }
    }
    clean
}

/// Control characters have pictures of their own; the others are named by their number.
fn push_visible(clean: &mut String, c: char) {
    let picture = match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    match picture {
        Some('\u{240A}') => clean.push('⏎'),
        Some('\u{2409}') => clean.push_str("    "),
        Some(picture) => clean.push(picture),
        None => {
            // Writing to a string cannot fail.
            let _ = write!(clean, "‹U+{:04X}›", u32::from(c));
        }
    }
}

/// Whether a terminal acts on the character, or a reader is misled by it.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Marks, overrides and isolates that change the direction of what follows.
            '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
            // Line and paragraph separators.
            | '\u{2028}' | '\u{2029}'
            // Characters without any shape, which hide a difference or carry text nobody sees.
            | '\u{00AD}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_visible() {
        assert_eq!(text("\x1b[31mred\x1b[0m"), "␛[31mred␛[0m");
        assert_eq!(text("\u{9b}2Jgone"), "‹U+009B›2Jgone");
        assert_eq!(text("bell\x07 back\x08"), "bell␇ back␈");
    }

    #[test]
    fn the_clipboard_and_the_title_stay_untouched() {
        assert_eq!(text("\x1b]52;c;cm0gLXJm\x07"), "␛]52;c;cm0gLXJm␇");
        assert_eq!(text("\x1b]0;title\x1b\\"), "␛]0;title␛\\");
    }

    #[test]
    fn a_carriage_return_cannot_overwrite_a_line() {
        assert_eq!(text("rm -rf /\recho hello"), "rm -rf /␍echo hello");
        assert_eq!(text("one\r\ntwo"), "one\ntwo");
    }

    #[test]
    fn bidi_overrides_and_invisible_characters_are_named() {
        assert_eq!(text("a\u{202E}b\u{2066}c"), "a‹U+202E›b‹U+2066›c");
        assert_eq!(line("pay\u{200B}pal \u{E0041}"), "pay‹U+200B›pal ‹U+E0041›");
    }

    #[test]
    fn ordinary_text_is_not_touched() {
        for ordinary in ["grüße 日本語 👩‍👩‍👧 \n\tindented", "", "  "] {
            assert!(matches!(text(ordinary), Cow::Borrowed(same) if same == ordinary));
        }
    }

    #[test]
    fn a_single_line_stays_a_single_line() {
        assert_eq!(line("a\nb\tc"), "a⏎b    c");
        assert_eq!(clip("0123456789", 10), "0123456789");
        assert_eq!(clip("0123456789A", 10), "012345678…");
    }

    #[test]
    fn a_sequence_split_over_two_pieces_is_caught() {
        let pieces = ["\x1b", "]52;c;QQ==", "\x07"];
        let shown: String = pieces
            .iter()
            .map(|piece| text(piece).into_owned())
            .collect();
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
}
