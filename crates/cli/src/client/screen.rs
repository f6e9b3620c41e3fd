//! How what happens in a conversation is printed: as text, as the agent's words alone, or as JSON lines.

use std::io::Write as _;

use estelle_proto::ClaudeEvent;
use estelle_proto::claude::ClaudeEventMessage;

use super::print_json;
use crate::chat::clean;
use crate::chat::piece::{Piece, Tone};
use crate::chat::printer::Printer;

/// Where it goes, and in which form.
pub(super) enum Screen {
    /// Everything, for people.
    Text(Printer),
    /// What the agent says in the end, and nothing else.
    Words,
    /// Every event as a line of JSON.
    Json,
}

impl Screen {
    /// An event, with the pieces that it gives.
    pub(super) fn event(
        &mut self,
        message: &ClaudeEventMessage,
        pieces: &[Piece],
    ) -> anyhow::Result<()> {
        match self {
            Self::Text(printer) => Ok(printer.show(pieces)?),
            Self::Json => print_json(message),
            Self::Words => words(&message.event),
        }
    }

    /// Something that is for people alone.
    pub(super) fn show(&mut self, pieces: &[Piece]) -> anyhow::Result<()> {
        if let Self::Text(printer) = self {
            printer.show(pieces)?;
        }
        Ok(())
    }

    /// Something that a person must know whatever is printed.
    pub(super) fn remark(&mut self, text: &str) -> anyhow::Result<()> {
        match self {
            Self::Text(printer) => printer.show(&[Piece::line(Tone::Dim, text)])?,
            Self::Words | Self::Json => anstream::eprintln!("{}", clean::line(text)),
        }
        Ok(())
    }

    /// The prompt that a person types behind.
    pub(super) fn prompt(&mut self, prompt: &'static str) -> anyhow::Result<()> {
        if let Self::Text(printer) = self {
            printer.prompt(prompt)?;
        }
        Ok(())
    }

    /// A line was typed, or a key pressed that shows.
    pub(super) fn typed(&mut self) {
        if let Self::Text(printer) = self {
            printer.line_entered();
        }
    }

    /// Ctrl-C shows as `^C`.
    pub(super) fn interrupted(&mut self) -> anyhow::Result<()> {
        if let Self::Text(printer) = self {
            printer.key_echoed()?;
        }
        Ok(())
    }
}

fn words(event: &ClaudeEvent) -> anyhow::Result<()> {
    let ClaudeEvent::TextComplete(text) = event else {
        return Ok(());
    };
    if text.parent_tool_use_id.is_some() {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", clean::text(&text.text))?;
    Ok(out.flush()?)
}
