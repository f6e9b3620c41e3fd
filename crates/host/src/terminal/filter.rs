//! What a program prints, without what would reach out of a terminal: pure.
//!
//! Sequences are let through by name; all others are swallowed. So nothing a program prints can read or write the
//! clipboard of a viewer, name its window, print on its printer or make it answer: queries are told apart, and the
//! keeper answers them itself, once, however many look. What comes out ends between two sequences and two characters,
//! wherever the program was interrupted.

/// A sequence that is longer than this is swallowed: no program needs one.
const MAX_SEQUENCE: usize = 128;
/// A string (of an operating system command and the like) that does not end within so many bytes is none.
const MAX_STRING: usize = 64 * 1024;

/// Private modes that the model of the screen knows, or that only concern how a viewer draws.
const MODES: [u16; 15] = [
    1, 6, 7, 9, 12, 25, 47, 1000, 1002, 1003, 1005, 1006, 1047, 1049, 2004,
];

/// A part of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// To be shown.
    Show(String),
    /// The program wants to know something of its terminal.
    Asked(Query),
}

/// What programs ask their terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Query {
    /// What it is.
    Attributes,
    /// Which release it is.
    Version,
    /// Whether it is well.
    Status,
    /// Where the cursor is.
    Cursor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    Control,
    /// A string, and how many bytes of it were swallowed.
    String(usize),
    /// An escape character within a string: it may be about to end.
    StringEscape(usize),
}

/// Reads output in any pieces.
#[derive(Debug)]
pub(super) struct Filter {
    state: State,
    /// The sequence that is being read, from its escape character on.
    sequence: Vec<u8>,
    /// Text that is not handed on yet; at the end perhaps a character that is not whole.
    text: Vec<u8>,
    parts: Vec<Part>,
}

impl Filter {
    pub(super) fn new() -> Self {
        Self {
            state: State::Ground,
            sequence: Vec::new(),
            text: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// What these bytes show and ask.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Part> {
        for byte in bytes {
            self.take(*byte);
        }
        self.flush(Tail::Keep);
        std::mem::take(&mut self.parts)
    }

    fn take(&mut self, byte: u8) {
        match (self.state, byte) {
            // Whatever was begun is broken off, or a string has its end.
            (_, 0x18 | 0x1a) | (State::StringEscape(_), b'\\') | (State::String(_), 0x07) => {
                self.reset();
            }
            (State::String(MAX_STRING..), _) => self.reset_string(byte),
            (State::String(swallowed), 0x1b) => self.state = State::StringEscape(swallowed),
            (State::StringEscape(_), _) => {
                self.begin();
                self.take(byte);
            }
            (State::String(swallowed), _) => self.state = State::String(swallowed + 1),
            (_, 0x1b) => self.begin(),
            (State::Ground, _) => self.text.push(byte),
            (State::Escape | State::Control, 0x80..) => {
                self.reset();
                self.text.push(byte);
            }
            // Control characters within a sequence are of no use to anybody.
            (State::Escape | State::Control, ..0x20 | 0x7f) => {}
            (State::Escape, _) => self.escape(byte),
            (State::Control, 0x40..=0x7e) => self.end_control(byte),
            (State::Control, _) => self.keep(byte),
        }
    }

    /// A string that does not end was none: what comes now is read afresh.
    fn reset_string(&mut self, byte: u8) {
        self.reset();
        self.take(byte);
    }

    fn begin(&mut self) {
        self.state = State::Escape;
        self.sequence.clear();
        self.sequence.push(0x1b);
    }

    fn reset(&mut self) {
        self.state = State::Ground;
        self.sequence.clear();
    }

    /// Keeps a byte of a sequence; one byte too many marks a sequence that is swallowed.
    fn keep(&mut self, byte: u8) {
        if self.sequence.len() <= MAX_SEQUENCE {
            self.sequence.push(byte);
        }
    }

    fn escape(&mut self, byte: u8) {
        let is_first = self.sequence.len() == 1;
        match byte {
            b'[' if is_first => {
                self.keep(byte);
                self.state = State::Control;
            }
            b']' | b'P' | b'_' | b'^' | b'X' if is_first => self.state = State::String(0),
            0x20..=0x2f => self.keep(byte),
            b'Z' if is_first => self.asked(Query::Attributes),
            _ => {
                self.keep(byte);
                // The second form chooses alphabets: lines are drawn with one of them.
                let is_known = matches!(
                    self.sequence.get(1..),
                    Some(
                        [b'7' | b'8' | b'=' | b'>' | b'D' | b'E' | b'H' | b'M' | b'c']
                            | [b'(' | b')', b'0' | b'B']
                    )
                );
                self.end(is_known);
            }
        }
    }

    fn end_control(&mut self, last: u8) {
        if self.sequence.len() > MAX_SEQUENCE {
            return self.reset();
        }
        let body = self.sequence.get(2..).unwrap_or_default().to_vec();
        let (prefix, rest) = match body.split_first() {
            Some((prefix @ b'<'..=b'?', rest)) => (Some(*prefix), rest),
            Some(_) | None => (None, body.as_slice()),
        };
        let split = rest.iter().position(|byte| (0x20..=0x2f).contains(byte));
        let (params, marks) = rest.split_at(split.unwrap_or(rest.len()));
        match (prefix, marks, last) {
            (None, b"", b'c') => self.asked(Query::Attributes),
            (Some(b'>'), b"", b'c') => self.asked(Query::Version),
            (None, b"", b'n') if params == b"5" => self.asked(Query::Status),
            (None | Some(b'?'), b"", b'n') if params == b"6" => self.asked(Query::Cursor),
            (Some(b'?'), b"", b'h' | b'l') => self.end_modes(params, last),
            (
                None,
                b"",
                b'@'..=b'M'
                | b'P'
                | b'S'
                | b'T'
                | b'X'
                | b'Z'
                | b'`'
                | b'a'
                | b'b'
                | b'd'..=b'h'
                | b'l'
                | b'm'
                | b'r'
                | b's'
                | b'u',
            )
            | (Some(b'?'), b"", b'J' | b'K')
            | (None, b" ", b'q')
            | (None, b"!", b'p') => {
                self.keep(last);
                self.end(true);
            }
            (Some(_) | None, _, _) => self.reset(),
        }
    }

    /// Lets those modes through that are known.
    fn end_modes(&mut self, params: &[u8], last: u8) {
        let modes = std::str::from_utf8(params).unwrap_or_default().split(';');
        let modes = modes.filter(|mode| mode.parse().is_ok_and(|mode: u16| MODES.contains(&mode)));
        let modes: Vec<&str> = modes.collect();
        if modes.is_empty() {
            return self.reset();
        }
        self.sequence = format!("\x1b[?{}{}", modes.join(";"), char::from(last)).into_bytes();
        self.end(true);
    }

    fn end(&mut self, is_known: bool) {
        if is_known && self.sequence.len() <= MAX_SEQUENCE + 1 {
            let sequence = std::mem::take(&mut self.sequence);
            // A character that was not whole is not completed by what comes after a sequence.
            self.flush(Tail::Spend);
            self.show(&String::from_utf8_lossy(&sequence));
        }
        self.reset();
    }

    fn asked(&mut self, query: Query) {
        self.flush(Tail::Spend);
        self.parts.push(Part::Asked(query));
        self.reset();
    }

    fn flush(&mut self, tail: Tail) {
        let mut bytes = std::mem::take(&mut self.text);
        if tail == Tail::Keep {
            self.text = bytes.split_off(bytes.len() - unfinished(&bytes));
        }
        let text = String::from_utf8_lossy(&bytes);
        if text.chars().all(is_harmless) {
            self.show(&text);
        } else {
            let text: String = text.chars().filter(|letter| is_harmless(*letter)).collect();
            self.show(&text);
        }
    }

    fn show(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(Part::Show(shown)) = self.parts.last_mut() {
            shown.push_str(text);
        } else {
            self.parts.push(Part::Show(text.to_owned()));
        }
    }
}

/// What is done with a character at the end that is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Keep,
    Spend,
}

/// Whether a character is text, or a control character that moves the cursor. The control characters beyond ASCII begin
/// sequences in some terminals.
fn is_harmless(letter: char) -> bool {
    !letter.is_control() || matches!(letter, '\x07'..='\r')
}

/// How many bytes at the end begin a character that is not whole yet.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needed = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 0,
        };
        return if needed > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
