//! Names of task files: the day and the title in small letters, with hyphens. Pure.

use estelle_proto::{IsoTime, Timestamp};

/// Letters that a name takes of a title. With the day, an ending and a number it fits every file system, also when each
/// letter takes four bytes.
const MOST_LETTERS: usize = 50;

/// The name of a new task without its ending: `20260125-tidy-the-parser`.
///
/// Letters and digits of every script are kept, everything else becomes a hyphen, so that no name can leave the folder.
pub fn stem(title: &str, at: Timestamp) -> String {
    let mut words = String::new();
    for symbol in title.chars().flat_map(char::to_lowercase) {
        if symbol.is_alphanumeric() {
            words.push(symbol);
        } else if !words.is_empty() && !words.ends_with('-') {
            words.push('-');
        }
    }
    let words: String = words.chars().take(MOST_LETTERS).collect();
    let words = match words.trim_end_matches('-') {
        "" => "task",
        words => words,
    };
    format!("{}-{words}", day(at))
}

/// The day in UTC, `20260125`.
fn day(at: Timestamp) -> String {
    let time = IsoTime::from(at);
    let digits = time.as_str().chars().filter(char::is_ascii_digit);
    digits.take(8).collect()
}

/// Another name if that one is taken.
pub fn numbered(stem: &str, number: u32) -> String {
    match number {
        0 | 1 => stem.to_owned(),
        more => format!("{stem}-{more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_the_day_and_the_letters_of_the_title() {
        let at = Timestamp(1_769_335_200_000);
        for (title, name) in [
            ("Tidy the parser", "20260125-tidy-the-parser"),
            ("  Über: 파서 정리! ", "20260125-über-파서-정리"),
            ("../../etc/passwd", "20260125-etc-passwd"),
            ("a/b\\c\0d\n", "20260125-a-b-c-d"),
            ("///", "20260125-task"),
            (".hidden", "20260125-hidden"),
        ] {
            assert_eq!(stem(title, at), name);
        }
        let long = stem(&"가".repeat(500), at);
        assert!(long.len() < 200, "{long}");
        assert_eq!(numbered("x", 1), "x");
        assert_eq!(numbered("x", 2), "x-2");
    }
}
