//! What is typed on its way to the program: pure.

use super::filter::Query;

/// What a paste begins and ends with, for programs that asked to be told.
const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

/// A paste as the program gets it. Control characters are left out, so that it can neither end itself early nor press
/// keys; line breaks become what the return key sends.
pub(super) fn pasted(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let kept = text.chars().filter_map(|letter| match letter {
        '\n' | '\r' => Some('\r'),
        '\t' => Some('\t'),
        letter if letter.is_control() => None,
        letter => Some(letter),
    });
    kept.collect()
}

/// A paste for a program that wants to know what was pasted.
pub(super) fn marked(pasted: &str) -> String {
    format!("{}{pasted}{}", PASTE.0, PASTE.1)
}

/// The answer to a query. Nothing in it was chosen by whoever printed the query.
pub(super) fn answer(query: Query, cursor: (u16, u16)) -> String {
    match query {
        Query::Attributes => "\x1b[?62;22c".to_owned(),
        Query::Version => "\x1b[>1;10;0c".to_owned(),
        Query::Status => "\x1b[0n".to_owned(),
        Query::Cursor => format!("\x1b[{};{}R", cursor.0, cursor.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t4_a_paste_cannot_end_itself() {
        let evil = "ls\x1b[201~\nrm -rf ~\n\x03\u{9b}201~";
        let marked = marked(&pasted(evil));
        assert_eq!(marked, "\x1b[200~ls[201~\rrm -rf ~\r201~\x1b[201~");
        assert_eq!(marked.matches('\x1b').count(), 2);
        assert_eq!(pasted("a\r\nb\tc"), "a\rb\tc");
    }
}
