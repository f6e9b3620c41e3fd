//! Lines of standard input: which are taken, which are ignored, and which end the process.
//!
//! A line that is not JSON, or `null`, or a user message of somebody else is fatal. Each version has its own words for it,
//! and 2.1.325 forgives a line of blanks.

use super::json::Json;
use super::version::Version;

/// A line that makes sense.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// A user message.
    User(Json),
    /// A control request.
    Request(Json),
    /// An answer to a request of ours.
    Response(Json),
    /// The host takes a request back; nothing answers it.
    Cancel,
    /// Anything else.
    Ignored,
}

/// The text for standard error of a line that ends the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fatal(pub(crate) String);

/// Reads a line.
pub(crate) fn read(version: Version, bytes: &[u8]) -> Result<Line, Fatal> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix('\r').unwrap_or(&text);
    let blank = text.trim().is_empty();
    if text.is_empty() || (blank && version.is_325()) {
        return Ok(Line::Ignored);
    }
    let Ok(line) = Json::parse(text) else {
        let inside = text.trim_start().strip_prefix('{').map(str::trim_start);
        let unnamed = inside.is_some_and(|rest| !rest.starts_with('"'));
        let why = if blank {
            "SyntaxError: JSON Parse error: Unexpected EOF"
        } else if unnamed {
            "SyntaxError: JSON Parse error: Expected '}'"
        } else {
            "SyntaxError: JSON Parse error: Property name must be a string literal"
        };
        return Err(unreadable(version, text, why, "SyntaxError"));
    };
    if line.is_null() {
        let why = "TypeError: null is not an object (evaluating 't.type')";
        return Err(unreadable(version, text, why, "TypeError"));
    }
    match line.text("type") {
        Some("user") => {
            let role = line
                .at(&["message", "role"])
                .and_then(Json::as_text)
                .unwrap_or("undefined");
            if role == "user" {
                return Ok(Line::User(line));
            }
            Err(Fatal(format!(
                "Error: Expected message role 'user', got '{role}'\n"
            )))
        }
        Some("control_request") => Ok(Line::Request(line)),
        Some("control_response") => Ok(Line::Response(line)),
        Some("control_cancel_request") => Ok(Line::Cancel),
        Some(_) | None => Ok(Line::Ignored),
    }
}

fn unreadable(version: Version, text: &str, why: &str, kind: &str) -> Fatal {
    if !version.is_325() {
        return Fatal(format!(
            "Error parsing streaming input line: {text}: {why}\n"
        ));
    }
    // The newer one keeps the content out of its words, but guesses the type.
    let guessed = text
        .split_once("\"type\":")
        .and_then(|(_, rest)| rest.trim_start().strip_prefix('"')?.split('"').next())
        .unwrap_or("unknown");
    let chars = text.chars().count();
    Fatal(format!(
        "Error parsing streaming input line (type={guessed}, {chars} chars): {kind}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::{Fatal, Line, read};
    use crate::cli::version::Version::{V197, V325};

    #[test]
    fn fatal_lines_have_the_words_of_their_version() {
        let bad = br#"{"type":"user", broken"#;
        assert_eq!(
            read(V325, bad),
            Err(Fatal(
                "Error parsing streaming input line (type=user, 22 chars): SyntaxError\n"
                    .to_owned()
            ))
        );
        assert_eq!(
            read(V197, b"null"),
            Err(Fatal("Error parsing streaming input line: null: TypeError: null is not an object (evaluating 't.type')\n".to_owned()))
        );
        let role = br#"{"type":"user","message":{"content":"hi"}}"#;
        let words = "Error: Expected message role 'user', got 'undefined'\n";
        assert_eq!(read(V325, role), Err(Fatal(words.to_owned())));
    }

    #[test]
    fn blank_lines() {
        assert_eq!(read(V197, b""), Ok(Line::Ignored));
        assert!(read(V197, b"  ").is_err());
        assert_eq!(read(V325, b"  "), Ok(Line::Ignored));
    }

    #[test]
    fn what_is_tolerated() {
        for text in [
            "42",
            "\"str\"",
            "[]",
            r#"{"type":"keep_alive"}"#,
            r#"{"type":"wibble"}"#,
        ] {
            assert_eq!(read(V197, text.as_bytes()), Ok(Line::Ignored), "{text}");
        }
        let user = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\r";
        assert!(matches!(read(V325, user), Ok(Line::User(_))));
    }
}
