//! Matching of patterns against texts that are only partly known.
//!
//! A shell word such as `.e$X` or `/bin/*` stands for many texts. Unknown parts are kept as two marks inside the
//! string: [`ANY`] for "some text, slashes included" and [`STAR`] for "some text within one path component". A user's
//! pattern is brought to the same form, so one comparison answers both "can these two meet" (used to refuse) and "does
//! the pattern cover the whole word" (used to let something pass).

/// Stands for an unknown text. A noncharacter, which no command that we judge contains.
pub(super) const ANY: char = '\u{FFFF}';
/// Stands for an unknown text without a slash.
pub(super) const STAR: char = '\u{FFFE}';

/// Whether a text has unknown parts.
pub(super) fn is_open(text: &str) -> bool {
    text.contains([ANY, STAR])
}

/// The text for people: unknown parts as `*`.
pub(super) fn shown(text: &str) -> String {
    text.replace([ANY, STAR], "*")
}

/// A pattern in the notation of users: `*` within a component, `**` across them, `?` for one character.
pub(super) fn path_pattern(pattern: &str) -> String {
    pattern
        .replace("**", &ANY.to_string())
        .replace(['*', '?'], &STAR.to_string())
}

/// A pattern for command lines and names, where `*` stands for any text.
pub(super) fn text_pattern(pattern: &str) -> String {
    pattern.replace('*', &ANY.to_string())
}

/// Whether some text is described by both. For a text without unknown parts this is plain matching.
pub(super) fn can_meet(left: &str, right: &str) -> bool {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    // `row[j]`: the first i symbols of `left` and the first j of `right` can describe one text.
    let mut row: Vec<bool> = (0..=right.len())
        .map(|j| right[..j].iter().all(|&symbol| is_mark(symbol)))
        .collect();
    for &from in &left {
        let mut next = vec![row[0] && is_mark(from)];
        for (j, &to) in right.iter().enumerate() {
            let (diagonal, above, before) = (row[j], row[j + 1], next[j]);
            let step = diagonal && from == to;
            // A mark stands for nothing, or takes one more symbol of the other side.
            let by_left = is_mark(from) && (above || (before && takes(from, to)));
            let by_right = is_mark(to) && (before || (above && takes(to, from)));
            next.push(step || by_left || by_right);
        }
        row = next;
    }
    row[right.len()]
}

/// Whether every text that `text` stands for is described by `pattern`.
pub(super) fn covers(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let mut row = vec![false; text.len() + 1];
    row[0] = true;
    for &symbol in &pattern {
        let mut next = vec![false; text.len() + 1];
        if is_mark(symbol) {
            let mut reached = false;
            for (slot, &before) in row.iter().enumerate() {
                let blocked = slot > 0 && symbol == STAR && matches!(text[slot - 1], '/' | ANY);
                reached = before || (reached && !blocked);
                next[slot] = reached;
            }
        } else {
            for slot in 1..=text.len() {
                next[slot] = row[slot - 1] && text[slot - 1] == symbol;
            }
        }
        row = next;
    }
    row[text.len()]
}

fn is_mark(symbol: char) -> bool {
    matches!(symbol, ANY | STAR)
}

/// Whether the mark can stand for the character (a mark on the other side is at worst empty).
fn takes(mark: char, symbol: char) -> bool {
    mark == ANY || symbol != '/'
}
