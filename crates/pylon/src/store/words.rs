//! Words for the full-text index, and queries for it, in any script.
//!
//! SQLite's tokenizer splits at spaces and punctuation, which Chinese and Japanese do not use and Korean uses around
//! particles. So a run of such characters is indexed by its overlapping pairs, and a query for any part of it, down to
//! one character, is a phrase of pairs. Other scripts are indexed by word and found by the beginning of words.

use std::fmt::Write as _;

use rusqlite::{Connection, params};
use unicode_normalization::UnicodeNormalization;

use super::folded::{Folded, Shelf};

/// Puts a text into the index. Gives the number of its document, if there is anything to find.
pub(super) fn index(
    db: &Connection,
    conversation: &Folded,
    entry: i64,
    text: &str,
) -> rusqlite::Result<Option<i64>> {
    if !text.chars().any(char::is_alphanumeric) {
        return Ok(None);
    }
    db.prepare_cached("INSERT INTO docs (entry) VALUES (?1)")?
        .execute([entry])?;
    let doc = db.last_insert_rowid();
    let scope = format!("s{} w{}", conversation.shelf.0, conversation.workspace);
    db.prepare_cached("INSERT INTO search (rowid, words, scope) VALUES (?1, ?2, ?3)")?
        .execute(params![doc, indexed(text), scope])?;
    Ok(Some(doc))
}

/// Where to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Everywhere,
    Workspace(i64),
    Shelf(Shelf),
}

/// Whether a character belongs to a script without spaces between words, or with particles glued to them.
fn is_dense(c: char) -> bool {
    let is_in_range = matches!(c,
        '\u{1100}'..='\u{11FF}'      // Hangul letters
        | '\u{3005}'..='\u{3007}'    // iteration mark, zero
        | '\u{3041}'..='\u{30FF}'    // Kana
        | '\u{3130}'..='\u{318F}'    // Hangul letters for compatibility
        | '\u{31F0}'..='\u{31FF}'    // small Katakana
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'    // Han
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}'    // Hangul
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}'  // rare Han
    );
    is_in_range && c.is_alphanumeric()
}

/// A stretch of text in one kind of script.
#[derive(Debug, PartialEq, Eq)]
enum Stretch {
    Dense(Vec<char>),
    Spaced(String),
}

/// Splits a text into stretches, after equal characters were made equal: full-width letters, letters in pieces.
fn stretches(text: &str) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for c in text.nfkc() {
        match (is_dense(c), found.last_mut()) {
            (true, Some(Stretch::Dense(run))) => run.push(c),
            (true, _) => found.push(Stretch::Dense(vec![c])),
            (false, Some(Stretch::Spaced(run))) => run.push(c),
            (false, _) => found.push(Stretch::Spaced(c.to_string())),
        }
    }
    found
}

/// The text as the tokenizer is to see it: each character of a dense stretch begins a pair, the last one stands alone.
fn indexed(text: &str) -> String {
    // Nothing in it has another form or is dense, and looking at each character costs as much as the index itself.
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() * 2);
    for stretch in stretches(text) {
        match stretch {
            Stretch::Spaced(run) => out.push_str(&run),
            Stretch::Dense(run) => {
                for pair in run.windows(2) {
                    out.push(' ');
                    out.extend(pair);
                }
                out.push(' ');
                out.extend(run.last());
                out.push(' ');
            }
        }
    }
    out
}

/// What counts as a hit. Whole words are asked for first: the hits of a beginning must all be gathered before the newest
/// of them is known, and for a common word they are many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grade {
    /// All words as they are.
    Words,
    /// All words as beginnings of words, without the hits of `Words`.
    Beginnings,
}

/// A query in SQLite's language for entries that hold all words of the text, or nothing if there cannot be any.
pub(super) fn query(text: &str, scope: Scope, grade: Grade) -> Option<String> {
    let (mut whole, mut begun) = (Vec::new(), Vec::new());
    for stretch in stretches(text) {
        match stretch {
            Stretch::Dense(run) => {
                whole.push(dense_term(&run));
                begun.push(dense_term(&run));
            }
            Stretch::Spaced(run) => {
                for word in run.split_whitespace() {
                    whole.extend(spaced_term(word));
                    begun.extend(begun_term(word));
                }
            }
        }
    }
    let has_beginnings = whole != begun;
    let [whole, begun] = [whole, begun].map(|terms| terms.join(" AND "));
    let words = match grade {
        _ if whole.is_empty() => return None,
        Grade::Words => format!("words : ({whole})"),
        Grade::Beginnings if has_beginnings => format!("words : (({begun}) NOT ({whole}))"),
        Grade::Beginnings => return None,
    };
    Some(match scope {
        Scope::Everywhere => words,
        Scope::Workspace(key) => format!("scope : w{key} AND {words}"),
        Scope::Shelf(shelf) => format!("scope : s{} AND {words}", shelf.0),
    })
}

fn dense_term(run: &[char]) -> String {
    if let [only] = run {
        return format!("\"{only}\" *");
    }
    let mut term = String::from("\"");
    for pair in run.windows(2) {
        // Writing to a string cannot fail.
        let _ = write!(term, "{}{} ", pair[0], pair[1]);
    }
    term.truncate(term.trim_end().len());
    term.push('"');
    term
}

/// One word, or several with punctuation between them, which must then follow each other.
fn spaced_term(word: &str) -> Option<String> {
    let has_letters = word.chars().any(char::is_alphanumeric);
    has_letters.then(|| format!("\"{}\"", word.replace('"', " ")))
}

/// The same as the beginning of a word. A single letter is the beginning of nearly everything, and stays a word.
fn begun_term(word: &str) -> Option<String> {
    let term = spaced_term(word)?;
    let letters = word.chars().filter(|c| c.is_alphanumeric()).count();
    Some(if letters > 1 { term + " *" } else { term })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_scripts_are_indexed_by_pairs() {
        assert_eq!(indexed("세션을 열어"), " 세션 션을 을   열어 어 ");
        assert_eq!(indexed("plain words"), "plain words");
        assert_eq!(indexed("日本"), " 日本 本 ");
    }

    #[test]
    fn a_query_is_a_phrase_of_pairs() {
        let words = |text| query(text, Scope::Everywhere, Grade::Words).unwrap();
        assert_eq!(words("세션을"), "words : (\"세션 션을\")");
        assert_eq!(words("本"), "words : (\"本\" *)");
        assert_eq!(words("foo-bar x"), "words : (\"foo-bar\" AND \"x\")");
    }

    #[test]
    fn beginnings_are_asked_for_where_there_can_be_some() {
        let begun = |text| query(text, Scope::Everywhere, Grade::Beginnings);
        let expected = "words : ((\"foo\" * AND \"세션\") NOT (\"foo\" AND \"세션\"))";
        assert_eq!(begun("foo 세션").as_deref(), Some(expected));
        assert_eq!(begun("세션 x"), None);
        assert_eq!(begun("!?"), None);
    }

    #[test]
    fn equal_characters_are_made_equal() {
        // Letters in pieces, as some systems write file names, and full-width forms.
        assert_eq!(indexed("\u{1109}\u{1166}"), indexed("세"));
        assert_eq!(indexed("ＡＢＣ"), "ABC");
        assert_eq!(indexed("ｶﾞ"), indexed("ガ"));
    }

    #[test]
    fn a_query_cannot_break_out_of_its_quotes() {
        for text in [
            "\"",
            "\" OR words : x",
            "a\"b",
            "NEAR(",
            "*",
            "-",
            "(",
            "^x",
            "scope : w1",
        ] {
            for grade in [Grade::Words, Grade::Beginnings] {
                let Some(query) = query(text, Scope::Everywhere, grade) else {
                    continue;
                };
                assert_eq!(query.matches('"').count() % 2, 0, "{query}");
            }
        }
    }
}
