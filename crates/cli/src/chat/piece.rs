//! What is to be shown, before anybody knows on what.
//!
//! The fold of the conversation and the questions give pieces; the printer turns them into bytes. A piece can only
//! be made through the constructors here, and they all pass their text through [`super::clean`].
//!
//! **Invariant:** no text in a piece holds a character a terminal would act on.

use super::clean;

/// How a text is meant; the printer chooses the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Ordinary text.
    Plain,
    /// Beside the point.
    Dim,
    /// The name of a thing.
    Strong,
    /// Asks the user.
    Ask,
    /// A line that is added, or something that went well.
    Good,
    /// A line that is removed, or something that failed.
    Bad,
}

/// A text in one tone, without line feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    tone: Tone,
    text: String,
}

impl Span {
    /// A span of this text, made harmless.
    pub(crate) fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        Self {
            tone,
            text: clean::line(text.as_ref()).into_owned(),
        }
    }

    /// Its tone.
    pub(crate) const fn tone(&self) -> Tone {
        self.tone
    }

    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Something to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A line of its own.
    Line(Vec<Span>),
    /// Text that goes on where the last flow stopped, line feeds included.
    Flow(Flow),
    /// One empty line, however often it is asked for.
    Gap,
    /// What is going on right now; gone as soon as anything else is shown, never seen in a pipe.
    Status(Span),
}

/// Running text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flow(String);

impl Flow {
    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Piece {
    /// A line in one tone.
    pub(crate) fn line(tone: Tone, text: impl AsRef<str>) -> Self {
        Self::Line(vec![Span::new(tone, text)])
    }

    /// A line of several tones.
    pub(crate) fn spans<const N: usize>(spans: [(Tone, &str); N]) -> Self {
        Self::Line(
            spans
                .iter()
                .map(|(tone, text)| Span::new(*tone, text))
                .collect(),
        )
    }

    /// More of a running text.
    pub(crate) fn flow(text: &str) -> Self {
        Self::Flow(Flow(clean::text(text).into_owned()))
    }

    /// What is going on right now.
    pub(crate) fn status(text: impl AsRef<str>) -> Self {
        Self::Status(Span::new(Tone::Dim, text))
    }

    /// The same piece, further to the right if it is a line.
    pub(crate) fn indented(self, prefix: &str) -> Self {
        if let Self::Line(mut spans) = self {
            spans.insert(0, Span::new(Tone::Dim, prefix));
            return Self::Line(spans);
        }
        self
    }

    /// The text without tones, for tests and for the plain output.
    #[cfg(test)]
    pub(crate) fn plain(&self) -> String {
        match self {
            Self::Line(spans) => spans.iter().map(Span::text).collect::<String>() + "\n",
            Self::Flow(flow) => flow.as_str().to_owned(),
            Self::Gap => "\n".to_owned(),
            Self::Status(span) => format!("({})\n", span.text()),
        }
    }
}

/// The pieces as plain text, for tests.
#[cfg(test)]
pub(crate) fn plain(pieces: &[Piece]) -> String {
    pieces.iter().map(Piece::plain).collect()
}
