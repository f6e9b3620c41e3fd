//! The difference between two texts, line by line, for a reader.
//!
//! What both have in common at the beginning and at the end is left out but for a line of context; what lies
//! between is shown as removed and added. That is exact, and enough for the small texts of an edit.

use crate::chat::piece::{Piece, Tone};

/// Lines in common that are shown on either side of a change.
const CONTEXT: usize = 1;

/// The change from `old` to `new`.
pub(crate) fn change(old: &str, new: &str) -> Vec<Piece> {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let head = common(old.iter(), new.iter());
    let rest = old.len().min(new.len()) - head;
    let tail = common(old.iter().rev(), new.iter().rev()).min(rest);
    let before = &old[head.saturating_sub(CONTEXT)..head];
    let removed = &old[head..old.len() - tail];
    let added = &new[head..new.len() - tail];
    let after = &old[old.len() - tail..(old.len() - tail + CONTEXT).min(old.len())];
    let marked = |lines: &[&str], tone, mark: &str| {
        let lines = lines
            .iter()
            .map(|line| Piece::line(tone, format!("{mark} {line}")));
        lines.collect::<Vec<_>>()
    };
    [
        marked(before, Tone::Dim, " "),
        marked(removed, Tone::Bad, "-"),
        marked(added, Tone::Good, "+"),
        marked(after, Tone::Dim, " "),
    ]
    .concat()
}

fn common<'a>(
    left: impl Iterator<Item = &'a &'a str>,
    right: impl Iterator<Item = &'a &'a str>,
) -> usize {
    left.zip(right)
        .take_while(|(left, right)| left == right)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::piece::plain;

    #[test]
    fn only_what_changed_is_shown_with_a_line_around_it() {
        let shown = change("a\nb\nc\nd\ne\n", "a\nb\nX\nY\nd\ne\n");
        assert_eq!(plain(&shown), "  b\n- c\n+ X\n+ Y\n  d\n");
    }

    #[test]
    fn repeated_lines_are_not_counted_twice() {
        assert_eq!(plain(&change("x\nx\n", "x\n")), "  x\n- x\n");
        assert_eq!(plain(&change("", "new")), "+ new\n");
        assert_eq!(plain(&change("same", "same")), "  same\n");
    }
}
