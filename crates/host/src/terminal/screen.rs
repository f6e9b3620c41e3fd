//! The screen of a terminal as a model, so that whoever comes later sees what everybody sees.
//!
//! It is fed what the filter lets through, and gives the whole screen, with the lines that scrolled out of it, as text for a
//! terminal that was cleared. Its memory is bounded by the largest size and the number of lines that are kept.

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use estelle_proto::terminals::TerminalSize;

/// Lines that are kept of what scrolled out of the screen.
pub(super) const SCROLLBACK: usize = 1000;
/// The most bytes of them that are shown to somebody who comes: with the largest screen it fits a frame of the relay,
/// whatever JSON makes of it.
const SHOWN_BACK: usize = 48 * 1024;
/// The most bytes of the screen itself: six times as many still fit a frame.
const SHOWN: usize = 96 * 1024;

/// The most bytes of its letters alone, which JSON leaves as they are.
const LETTERS: usize = 600 * 1024;

/// A screen.
pub(super) struct Screen {
    parser: vt100::Parser,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Screen({:?})", self.parser.screen().size())
    }
}

fn parser(size: &TerminalSize) -> vt100::Parser {
    let (rows, cols) = (sure(size.rows), sure(size.cols));
    vt100::Parser::new(rows, cols, SCROLLBACK)
}

fn sure(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN)
}

impl Screen {
    pub(super) fn new(size: &TerminalSize) -> Self {
        Self {
            parser: parser(size),
        }
    }

    pub(super) fn size(&self) -> TerminalSize {
        let (rows, cols) = self.parser.screen().size();
        TerminalSize::new(cols.get(), rows.get())
    }

    /// The program printed this.
    pub(super) fn show(&mut self, text: &str) {
        self.guarded(|parser| parser.process(text.as_bytes()));
    }

    pub(super) fn resize(&mut self, size: &TerminalSize) {
        let (rows, cols) = (sure(size.rows), sure(size.cols));
        self.guarded(|parser| parser.set_size(rows, cols));
    }

    /// A mistake in the model costs what is on the screen, not the terminal.
    fn guarded(&mut self, change: impl FnOnce(&mut vt100::Parser)) {
        let size = self.size();
        let parser_now = &mut self.parser;
        if catch_unwind(AssertUnwindSafe(|| change(parser_now))).is_err() {
            self.parser = parser(&size);
        }
    }

    /// Where the cursor is, counted from 1: row and column.
    pub(super) fn cursor(&self) -> (u16, u16) {
        let (row, col) = self.parser.screen().cursor_position();
        let size = self.size();
        (row.min(size.rows - 1) + 1, col.min(size.cols - 1) + 1)
    }

    /// Whether the program wants to know what was pasted.
    pub(super) fn marks_pastes(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    /// Whether the program has the other screen, without lines that scroll out of it.
    pub(super) fn is_alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Text that makes a cleared terminal of this size look like this one.
    pub(super) fn snapshot(&mut self) -> String {
        let mut taken = String::new();
        self.guarded(|parser| taken = snapshot(parser));
        taken
    }
}

fn snapshot(parser: &mut vt100::Parser) -> String {
    let (rows, cols) = parser.screen().size();
    let mut text = String::new();
    if parser.screen().alternate_screen() {
        text.push_str("\x1b[?1049h");
    } else {
        let back = scrolled_out(parser.screen_mut(), cols.get());
        if !back.is_empty() {
            for line in back {
                text.push_str(&line);
                text.push_str("\x1b[m\r\n");
            }
            // The rest of these lines is still on the screen, and scrolls out of it.
            text.push_str(&"\r\n".repeat(usize::from(rows.get() - 1)));
        }
    }
    let shown = parser.screen().state_formatted();
    if shown.len() <= SHOWN {
        text.push_str(&shown);
    } else {
        // A screen full of colours: its letters alone.
        text.push_str("\x1b[H\x1b[J");
        let mut letters = parser.screen().contents().replace('\n', "\r\n");
        // A cell may hold many marks; more than this is no text.
        letters.truncate(letters.floor_char_boundary(LETTERS));
        text.push_str(&letters);
        text.push_str(&parser.screen().cursor_state_formatted());
        text.push_str(&parser.screen().input_mode_formatted());
    }
    text
}

/// The newest lines that scrolled out, oldest first, as many as are shown.
fn scrolled_out(screen: &mut vt100::Screen, cols: u16) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut bytes, total) = (0, screen.scrollback_len());
    for back in 1..=total {
        screen.set_scrollback(back);
        let Some(line) = screen.rows_formatted(0, cols).next() else {
            break;
        };
        bytes += line.len() + 5;
        if bytes > SHOWN_BACK {
            break;
        }
        lines.push(line);
    }
    screen.set_scrollback(0);
    lines.reverse();
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(cols: u16, rows: u16) -> TerminalSize {
        TerminalSize::new(cols, rows)
    }

    fn rows(screen: &Screen) -> Vec<String> {
        screen.parser.screen().rows(0, 500).collect()
    }

    #[test]
    fn who_comes_later_sees_the_same_and_what_scrolled_out() {
        let mut screen = Screen::new(&size(20, 4));
        for number in 1..=10 {
            screen.show(&format!("\x1b[3{}mline {number}\x1b[m\r\n", number % 8));
        }
        screen.show("\x1b[?2004hhere");
        let mut other = Screen::new(&size(20, 4));
        other.show(&screen.snapshot());
        assert_eq!(rows(&other), rows(&screen));
        assert_eq!(other.cursor(), (4, 5));
        assert!(other.marks_pastes());
        assert_eq!(other.parser.screen().scrollback_len(), 7);
        other.parser.screen_mut().set_scrollback(7);
        assert_eq!(rows(&other)[0], "line 1");
        assert_eq!(rows(&other)[3], "line 4");
        // And again from the copy.
        let mut third = Screen::new(&size(20, 4));
        other.parser.screen_mut().set_scrollback(0);
        third.show(&other.snapshot());
        assert_eq!(rows(&third), rows(&screen));
    }

    #[test]
    fn the_other_screen_is_shown_as_such() {
        let mut screen = Screen::new(&size(20, 4));
        screen.show("shell$ \x1b[?1049h\x1b[2;3Hediting");
        let mut other = Screen::new(&size(20, 4));
        other.show(&screen.snapshot());
        assert!(other.is_alternate() && rows(&other)[1] == "  editing");
    }

    #[test]
    fn t7_a_screen_takes_a_bounded_room() {
        let mut screen = Screen::new(&size(500, 300));
        for number in 0..3000 {
            screen.show(&format!("\x1b[38;2;{};1;2m", number % 256));
            screen.show(&"\x1b[31mx\x1b[32my".repeat(250));
        }
        assert_eq!(screen.parser.screen().scrollback_len(), SCROLLBACK);
        let json = serde_json::to_string(&screen.snapshot()).unwrap();
        assert!(
            json.len() < estelle_proto::limits::MAX_FRAME_BYTES - 8192,
            "{}",
            json.len()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn t6_t11_nothing_printed_and_no_size_breaks_the_model(
            steps in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..60), 2u16..40, 2u16..20), 1..12)
        ) {
            let mut screen = Screen::new(&size(10, 5));
            let mut filter = crate::terminal::filter::Filter::new();
            for (bytes, cols, rows) in steps {
                for part in filter.feed(&bytes) {
                    if let crate::terminal::filter::Part::Show(text) = part {
                        screen.show(&text);
                    }
                }
                screen.resize(&size(cols, rows));
                prop_assert_eq!(screen.size(), size(cols, rows));
                let (row, col) = screen.cursor();
                prop_assert!(row <= rows && col <= cols);
                screen.snapshot();
            }
        }
    }
}
