//! What went wrong with the CLI itself, and what to do about it.

use std::fmt::Write as _;

use estelle_claude::{ControlError, End, StartError, StreamError};

use super::clean;
use super::piece::{Piece, Tone};

/// Lines of standard error that are shown.
const LAST_LINES: usize = 12;

/// Why the conversation could not begin.
pub(crate) fn start(error: &StartError) -> anyhow::Error {
    let StartError::Initialize(reason) = error else {
        return anyhow::anyhow!("{}", causes(error));
    };
    let ControlError::Ended { end, .. } = &**reason else {
        return anyhow::anyhow!("Claude Code did not become ready: {}", causes(&**reason));
    };
    let mut text = format!("Claude Code ended while it started, with {}.", end.exit);
    for line in last_lines(end) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {line}");
    }
    if let Some(hint) = hint(&end.stderr) {
        let _ = write!(text, "\n→ {hint}");
    }
    anyhow::anyhow!(text)
}

/// The CLI ended by itself in the middle of a conversation.
pub(crate) fn crash(end: &End) -> Vec<Piece> {
    let mut pieces = vec![
        Piece::Gap,
        Piece::line(
            Tone::Bad,
            format!("✗ Claude Code ended unexpectedly, with {}.", end.exit),
        ),
    ];
    let lines = last_lines(end);
    if lines.is_empty() {
        pieces.push(Piece::line(
            Tone::Dim,
            "  It said nothing about the reason.",
        ));
    }
    pieces.extend(
        lines
            .iter()
            .map(|line| Piece::line(Tone::Plain, line).indented("  │ ")),
    );
    let hint = hint(&end.stderr)
        .unwrap_or("What was said before is saved; take the conversation up again as shown below.");
    pieces.push(Piece::line(Tone::Ask, format!("  → {hint}")));
    pieces
}

/// The messages ended for a reason this version does not know.
pub(crate) fn broken(error: &StreamError) -> Vec<Piece> {
    vec![Piece::Gap, Piece::line(Tone::Bad, format!("✗ {error}"))]
}

fn last_lines(end: &End) -> Vec<String> {
    let lines: Vec<&str> = end
        .stderr
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    lines[from..]
        .iter()
        .map(|line| clean::line(line).into_owned())
        .collect()
}

/// What to do, from the CLI's own words.
fn hint(stderr: &str) -> Option<&'static str> {
    let hints = [
        (
            "No conversation found",
            "Conversations belong to the folder they were held in: name it with --cwd, or leave --resume out to begin \
             a new one.",
        ),
        (
            "requires a valid session ID",
            "The id is no id of a conversation: `estelle chat` shows it when it ends.",
        ),
        (
            "is already in use",
            "Another program holds this conversation: end that one first.",
        ),
        (
            "cannot be used with root",
            "As root Claude Code refuses this mode: choose another --permission-mode.",
        ),
        (
            "/login",
            "Sign in: run `claude` in another terminal and type /login, or set ANTHROPIC_API_KEY.",
        ),
    ];
    hints
        .into_iter()
        .find(|(said, _)| stderr.contains(said))
        .map(|(_, hint)| hint)
}

/// An error with all its causes, harmless to a terminal.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    clean::text(&text).into_owned()
}
