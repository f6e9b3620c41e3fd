//! A line to a command, or to the `error` that says what is wrong with it.

use estelle_proto::ipc::parse_command;
use estelle_proto::{
    ApiError, DecodeError, ErrorCode, ErrorReport, Json, PylonToHost, RequestId, Retry, limits,
};
use serde::Deserialize;

use super::lines::Line;

/// An error text quotes what came; more of it than this helps nobody.
const MAX_TEXT_CHARS: usize = 500;

/// Reads a command.
pub(super) fn parse(line: &Line) -> Result<PylonToHost, ErrorReport> {
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong => return Err(too_long()),
        Line::NotText(at) => return Err(not_text(*at)),
    };
    match parse_command(text) {
        Ok(PylonToHost::Unknown(object)) => {
            let what = format!("there is no command `{}`; nothing was done", object.kind);
            Err(report(text, ErrorCode::UnknownType, what))
        }
        Ok(command) => Ok(command),
        Err(error) => {
            let code = ApiError::from(&error).code;
            // The limits of the lines have been kept, so this is about what is in them.
            let why = if let DecodeError::Line { source } = error {
                source.to_string()
            } else {
                error.to_string()
            };
            let what = format!("this is no message: {why}; nothing was done");
            Err(report(text, code, what))
        }
    }
}

fn too_long() -> ErrorReport {
    let limit = limits::MAX_IPC_LINE_BYTES;
    let text =
        format!("a line has at most {limit} bytes; this one was longer and nothing was done");
    ApiError::new(ErrorCode::TooLarge, text, Retry::Never).into()
}

fn not_text(at: usize) -> ErrorReport {
    let text = format!("this is no message: not UTF-8 from byte {at} on; nothing was done");
    ApiError::new(ErrorCode::InvalidMessage, text, Retry::Never).into()
}

fn report(line: &str, code: ErrorCode, text: String) -> ErrorReport {
    let text = match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let gist: Gist = serde_json::from_str(line).unwrap_or_default();
    let kind = gist.kind.and_then(|kind| kind.decode::<String>().ok());
    ErrorReport {
        about: kind.map(|kind| limits::cut(&kind, MAX_TEXT_CHARS).to_owned()),
        request_id: gist.request_id.and_then(|id| id.decode::<RequestId>().ok()),
        ..ApiError::new(code, text, Retry::Never).into()
    }
}

/// What can be said of a message that is not understood.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gist {
    #[serde(rename = "type")]
    kind: Option<Json>,
    request_id: Option<Json>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> ErrorReport {
        parse(&Line::Text(line.to_owned())).unwrap_err()
    }

    #[test]
    fn a_refusal_names_the_message_and_what_is_wrong() {
        let cases = [
            (
                r#"{"type":"touch","requestId":"r1"}"#,
                "invalid_message",
                "sessionId",
                "touch r1",
            ),
            (
                r#"{"type":"fly","requestId":"r2"}"#,
                "unknown_type",
                "`fly`",
                "fly r2",
            ),
            (
                r#"{"type":7,"requestId":[]}"#,
                "invalid_message",
                "this is no message",
                "- -",
            ),
            (
                r#"{"type":"touch","sessionId":"a","sessionId":"b"}"#,
                "invalid_message",
                "twice",
                "touch -",
            ),
            (
                r#"{"type":"touch","sessionId":"../x"}"#,
                "invalid_message",
                "'/'",
                "touch -",
            ),
            ("[]", "invalid_message", "this is no message", "- -"),
            ("hello", "invalid_message", "this is no message", "- -"),
        ];
        for (line, code, part, gist) in cases {
            let report = refusal(line);
            assert_eq!(report.error_code.unwrap().as_str(), code, "{line}");
            assert!(report.error.contains(part), "{line}: {}", report.error);
            let id = report
                .request_id
                .map_or("-".to_owned(), |id| id.to_string());
            assert_eq!(
                format!("{} {id}", report.about.as_deref().unwrap_or("-")),
                gist,
                "{line}"
            );
        }
    }

    #[test]
    fn a_refusal_is_short_however_long_the_line_was() {
        let long = "x".repeat(1024 * 1024);
        let report = refusal(&format!(r#"{{"type":"{long}"}}"#));
        assert!(report.error.len() < 2048 && report.about.unwrap().len() < 2048);
        let deep = format!(
            r#"{{"type":"touch","sessionId":{}{}}}"#,
            "[".repeat(5000),
            "]".repeat(5000)
        );
        assert_eq!(refusal(&deep).error_code, Some(ErrorCode::InvalidMessage));
    }
}
