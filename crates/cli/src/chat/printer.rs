//! Pieces on standard output.
//!
//! Knows where the cursor is: whether a line is open, whether the last line was empty, whether a prompt or a status
//! stands on the current line and must go before anything else is shown. Colours go through `anstream`, which
//! leaves them out for pipes and `NO_COLOR`. The terminal itself is left in its ordinary mode.

use std::io::{self, IsTerminal as _, Write as _};

use owo_colors::{OwoColorize as _, Style};

use super::clean;
use super::piece::{Piece, Span, Tone};

/// Goes to the beginning of the line and takes away what stands there.
const RETURN_AND_ERASE: &str = "\r\x1b[K";
/// Columns when nobody tells.
const DEFAULT_WIDTH: usize = 100;
/// A window narrower than this is treated as this wide; lines then wrap.
const LEAST_WIDTH: usize = 40;

/// Writes pieces to standard output.
#[derive(Debug)]
pub(crate) struct Printer {
    out: anstream::AutoStream<io::Stdout>,
    /// The cursor can be moved: a terminal, and not a dumb one.
    movable: bool,
    column: Column,
    /// What stands on the current line and may be overwritten.
    transient: Option<Transient>,
}

/// A line that goes when something else is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transient {
    /// Where the user types.
    Prompt(&'static str),
    /// What is going on.
    Status,
}

/// What the line before the cursor holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// The line above is empty, or there is none.
    AfterGap,
    /// A new line.
    Start,
    /// Behind text.
    Open,
}

impl Printer {
    /// Writes to the standard output of this process.
    pub(crate) fn stdout() -> Self {
        let movable = io::stdout().is_terminal()
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self {
            out: anstream::AutoStream::auto(io::stdout()),
            movable,
            column: Column::AfterGap,
            transient: None,
        }
    }

    /// How many characters fit on a line.
    pub(crate) fn width() -> usize {
        Self::columns().unwrap_or(DEFAULT_WIDTH)
    }

    /// The same if standard output is a terminal; whoever reads a pipe wants all of it.
    pub(crate) fn columns() -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        let columns = size.map_or(0, |size| usize::from(size.ws_col));
        (columns > 0).then(|| columns.max(LEAST_WIDTH))
    }

    /// Shows the pieces.
    pub(crate) fn show(&mut self, pieces: &[Piece]) -> io::Result<()> {
        for piece in pieces {
            match piece {
                Piece::Line(spans) => self.line(spans)?,
                Piece::Flow(flow) => self.flow(flow.as_str())?,
                Piece::Gap => self.gap()?,
                Piece::Status(span) => self.status(span)?,
            }
        }
        self.out.flush()
    }

    /// Shows the prompt the user types behind, unless it is there already.
    pub(crate) fn prompt(&mut self, prompt: &'static str) -> io::Result<()> {
        if self.transient == Some(Transient::Prompt(prompt)) {
            return Ok(());
        }
        self.clear()?;
        self.end_line()?;
        self.styled(&Span::new(Tone::Ask, prompt))?;
        self.transient = Some(Transient::Prompt(prompt));
        self.out.flush()
    }

    /// The user ended the line with the enter key, which the terminal has shown.
    pub(crate) fn line_entered(&mut self) {
        self.transient = None;
        self.column = Column::Start;
    }

    /// The user pressed a key that the terminal shows as `^C` or `^D` and nothing more.
    pub(crate) fn key_echoed(&mut self) -> io::Result<()> {
        self.transient = None;
        self.column = Column::Open;
        self.end_line()?;
        self.out.flush()
    }

    fn line(&mut self, spans: &[Span]) -> io::Result<()> {
        self.clear()?;
        self.end_line()?;
        for span in spans {
            self.styled(span)?;
        }
        self.out.write_all(b"\n")?;
        self.column = Column::Start;
        Ok(())
    }

    fn flow(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.clear()?;
        self.out.write_all(text.as_bytes())?;
        self.column = match (text.ends_with("\n\n"), text.ends_with('\n')) {
            (true, _) => Column::AfterGap,
            (false, true) => Column::Start,
            (false, false) => Column::Open,
        };
        Ok(())
    }

    fn gap(&mut self) -> io::Result<()> {
        self.clear()?;
        self.end_line()?;
        if self.column != Column::AfterGap {
            self.out.write_all(b"\n")?;
            self.column = Column::AfterGap;
        }
        Ok(())
    }

    fn status(&mut self, span: &Span) -> io::Result<()> {
        // Neither a text that is being written nor a line that is being typed is broken up for it.
        let in_the_way = match self.transient {
            Some(Transient::Prompt(_)) => true,
            Some(Transient::Status) => false,
            None => self.column == Column::Open,
        };
        if !self.movable || in_the_way {
            return Ok(());
        }
        self.clear()?;
        // A second row could not be taken away again; the space is for what the user types.
        let text = clean::clip(span.text(), Self::width().saturating_sub(2)) + " ";
        self.styled(&Span::new(span.tone(), text))?;
        self.transient = Some(Transient::Status);
        Ok(())
    }

    /// Takes away a prompt or status; where the cursor cannot be moved, it gets a line of its own.
    fn clear(&mut self) -> io::Result<()> {
        if self.transient.take().is_none() {
            return Ok(());
        }
        if self.movable {
            // Past `AutoStream`, which would strip it together with the colours.
            self.out
                .as_inner()
                .lock()
                .write_all(RETURN_AND_ERASE.as_bytes())
        } else {
            self.column = Column::Open;
            self.end_line()
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        if self.column == Column::Open {
            self.out.write_all(b"\n")?;
            self.column = Column::Start;
        }
        Ok(())
    }

    fn styled(&mut self, span: &Span) -> io::Result<()> {
        match style(span.tone()) {
            Some(style) => write!(self.out, "{}", span.text().style(style)),
            None => self.out.write_all(span.text().as_bytes()),
        }
    }
}

fn style(tone: Tone) -> Option<Style> {
    match tone {
        Tone::Plain => None,
        Tone::Dim => Some(Style::new().dimmed()),
        Tone::Strong => Some(Style::new().bold()),
        Tone::Ask => Some(Style::new().cyan().bold()),
        Tone::Good => Some(Style::new().green()),
        Tone::Bad => Some(Style::new().red()),
    }
}
