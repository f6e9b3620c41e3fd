//! The text around the words that a search found, short enough for a list. Pure.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Characters before the first word.
const BEFORE: usize = 40;
/// Characters of a snippet.
const LENGTH: usize = 160;
const CUT: char = '…';

/// The text around the first place where a word of the query stands; its beginning if no word is found as written.
pub(super) fn around(text: &str, query: &str) -> String {
    let shown = one_line(text);
    let folded: Vec<char> = shown.iter().map(|c| fold(*c)).collect();
    let first = words(query)
        .iter()
        .filter_map(|word| position(&folded, word))
        .min()
        .unwrap_or(0);
    let start = first.saturating_sub(BEFORE);
    let end = (start + LENGTH).min(shown.len());
    let mut snippet = String::new();
    if start > 0 {
        snippet.push(CUT);
    }
    snippet.extend(&shown[start..end]);
    if end < shown.len() {
        snippet.push(CUT);
    }
    snippet
}

/// White space and control characters as single spaces; letters in pieces put together.
fn one_line(text: &str) -> Vec<char> {
    let mut line: Vec<char> = Vec::with_capacity(text.len());
    let whole: Box<dyn Iterator<Item = char>> = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Box::new(text.chars()),
        IsNormalized::No | IsNormalized::Maybe => Box::new(text.nfc()),
    };
    for c in whole {
        let is_gap = c.is_whitespace() || c.is_control();
        if !is_gap {
            line.push(c);
        } else if line.last().is_some_and(|last| *last != ' ') {
            line.push(' ');
        }
    }
    while line.last() == Some(&' ') {
        line.pop();
    }
    line
}

/// One character for one: lower case, full-width forms made normal, accents taken off.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let is_plain =
        matches!(c, '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}');
    if is_plain {
        return c;
    }
    let plain = std::iter::once(c).nfkc().next().unwrap_or(c);
    let mut parts = std::iter::once(plain).nfd();
    let base = match (parts.next(), parts.next()) {
        (Some(base), Some(mark)) if is_combining_mark(mark) && base.is_ascii() => base,
        _ => plain,
    };
    base.to_lowercase().next().unwrap_or(base)
}

/// The words of a query, folded.
fn words(query: &str) -> Vec<Vec<char>> {
    let folded: Vec<char> = query.nfc().map(fold).collect();
    folded
        .split(|c| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(<[char]>::to_vec)
        .collect()
}

fn position(text: &[char], word: &[char]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_shows_the_word_with_what_is_around_it() {
        let text = format!(
            "{} Das Café\n\tist ZU. {}",
            "x ".repeat(200),
            "y ".repeat(200)
        );
        let snippet = around(&text, "cafe");
        assert!(snippet.contains("Das Café ist ZU."), "{snippet}");
        assert!(
            snippet.starts_with(CUT) && snippet.ends_with(CUT),
            "{snippet}"
        );
        assert!(snippet.chars().count() <= LENGTH + 2);
    }

    #[test]
    fn korean_and_japanese_are_found_inside_words() {
        let text = format!("{} 세션을 다시 엽니다", "가 ".repeat(100));
        assert!(around(&text, "세션").contains("세션을"));
        let text = format!("{}権限の確認を待つ", "あ".repeat(300));
        assert!(around(&text, "確認").contains("権限の確認を待つ"));
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(around("  one \n two  ", "nothing"), "one two");
        assert_eq!(around("", "x"), "");
    }
}
