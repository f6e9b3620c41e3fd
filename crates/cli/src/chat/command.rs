//! Commands of the conversation itself; every other line that begins with a slash goes to the CLI.

use super::args::MODES;
use super::piece::{Piece, Tone};

/// A command that is carried out here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Lists the commands.
    Help,
    /// Leaves.
    Quit,
    /// Stops the running turn, as Ctrl-C does.
    Stop,
    /// Tells session, model, mode and background work.
    Status,
    /// Lists the models, or chooses one.
    Model(Option<String>),
    /// Lists the permission modes, or chooses one.
    Mode(Option<String>),
}

/// The command a line stands for, if it is one of ours.
pub(crate) fn parse(line: &str) -> Option<Command> {
    let mut words = line
        .trim()
        .strip_prefix('/')?
        .splitn(2, char::is_whitespace);
    let name = words.next()?;
    let argument = words
        .next()
        .map(str::trim)
        .filter(|argument| !argument.is_empty());
    Some(match (name, argument) {
        ("help" | "?", None) => Command::Help,
        ("quit" | "exit", None) => Command::Quit,
        ("stop", None) => Command::Stop,
        ("status", None) => Command::Status,
        ("model", argument) => Command::Model(argument.map(ToOwned::to_owned)),
        ("mode", argument) => Command::Mode(argument.map(ToOwned::to_owned)),
        _ => return None,
    })
}

/// The mode a word stands for, whatever its case.
pub(crate) fn mode(word: &str) -> Option<&'static str> {
    MODES
        .into_iter()
        .find(|mode| mode.eq_ignore_ascii_case(word))
}

/// The list of commands; `passed_on` are those of the CLI.
pub(crate) fn help(passed_on: &[String]) -> Vec<Piece> {
    let rows = [
        ("/model [NAME]", "show the models, or change to one"),
        ("/mode [MODE]", "show when Claude asks, or change it"),
        (
            "/status",
            "show the session, the model and what runs in the background",
        ),
        ("/stop", "stop the running turn; Ctrl-C does the same"),
        (
            "/quit",
            "leave; so do Ctrl-D, and Ctrl-C twice when nothing runs",
        ),
        (
            "/compact",
            "sum up the conversation to make room (Claude Code's own)",
        ),
        ("/clear", "begin a new conversation (Claude Code's own)"),
    ];
    let mut pieces = vec![Piece::Gap];
    for (name, what) in rows {
        pieces.push(Piece::spans([
            (Tone::Strong, &format!("  {name:<14}")),
            (Tone::Plain, what),
        ]));
    }
    pieces.push(Piece::line(
        Tone::Plain,
        "  A line that ends in \\ goes on in the next one.",
    ));
    if !passed_on.is_empty() {
        let names: Vec<String> = passed_on.iter().map(|name| format!("/{name}")).collect();
        pieces.push(Piece::line(
            Tone::Dim,
            format!("  Passed on to Claude Code: {}", names.join(" ")),
        ));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_commands_are_told_from_the_clis() {
        assert_eq!(parse("/help"), Some(Command::Help));
        assert_eq!(
            parse(" /model  opus "),
            Some(Command::Model(Some("opus".to_owned())))
        );
        assert_eq!(parse("/model"), Some(Command::Model(None)));
        assert_eq!(parse("/compact"), None);
        assert_eq!(parse("/quit the job"), None);
        assert_eq!(parse("please /help"), None);
    }

    #[test]
    fn modes_are_found_whatever_their_case() {
        assert_eq!(mode("acceptedits"), Some("acceptEdits"));
        assert_eq!(mode("yolo"), None);
    }
}
