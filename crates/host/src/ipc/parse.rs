//! A line to a command, or to the `error` that says what is wrong with it.

use estelle_proto::ipc::parse_command;
use estelle_proto::{
    ApiError, DecodeError, ErrorCode, ErrorReport, Json, PylonToHost, RequestId, Retry, limits,
};
use serde::Deserialize;

use super::lines::{Ends, Line};

/// An error text quotes what came; more of it than this helps nobody.
const MAX_TEXT_CHARS: usize = 500;

/// The command whose payload people write by hand.
const SEND_MESSAGE: &str = "send_message";

/// Reads a command.
pub(super) fn parse(line: &Line) -> Result<PylonToHost, ErrorReport> {
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong(ends) => return Err(too_long(ends)),
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
            let (code, what) = known_mistake(text).unwrap_or_else(|| {
                let what = format!("this is no message: {}", for_people(&why));
                (code, what)
            });
            Err(report(text, code, format!("{what}; nothing was done")))
        }
    }
}

fn too_long(ends: &Ends) -> ErrorReport {
    let limit = limits::MAX_IPC_LINE_BYTES;
    let text = format!(
        "a line has at most {limit} bytes; this one was longer and nothing was done: put what is long into a file and \
         name the file instead"
    );
    let request_id = field(ends, "requestId").and_then(|id| RequestId::parse(&id).ok());
    ErrorReport {
        about: field(ends, "type").map(|kind| limits::cut(&kind, MAX_TEXT_CHARS).to_owned()),
        request_id,
        ..ApiError::new(ErrorCode::TooLarge, text, Retry::Never).into()
    }
}

/// The text of a field that stands whole at the beginning or the end of a line. Inside of another text its quotes would
/// be escaped, so it is a field; that it is one of the message itself is likely enough for an error.
fn field(ends: &Ends, name: &str) -> Option<String> {
    let name = format!("\"{name}\"");
    [&ends.head, &ends.tail].into_iter().find_map(|bytes| {
        let at = memchr::memmem::find(bytes, name.as_bytes())?;
        let rest = bytes[at + name.len()..].trim_ascii_start();
        let value = rest.strip_prefix(b":")?;
        let mut values = serde_json::Deserializer::from_slice(value).into_iter::<String>();
        values.next()?.ok()
    })
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

/// Mistakes that have a code of their own: a message that is too long, and a folder that was not named.
fn known_mistake(line: &str) -> Option<(ErrorCode, String)> {
    let gist: Gist = serde_json::from_str(line).ok()?;
    if gist.kind?.decode::<String>().ok()? != SEND_MESSAGE {
        return None;
    }
    let payload: Payload = gist.payload?.decode().ok()?;
    let text = |json: Option<Json>| json.and_then(|json| json.decode::<String>().ok());
    let (length, limit) = (
        text(payload.prompt).map_or(0, |prompt| prompt.len()),
        limits::MAX_PROMPT_BYTES,
    );
    if length > limit {
        let what = format!(
            "the message has {length} bytes, at most {limit}: put the text into a file and name the file instead"
        );
        return Some((ErrorCode::TooLarge, what));
    }
    if text(payload.working_dir).is_none_or(|folder| folder.trim().is_empty()) {
        let what =
            "`workingDir` is missing or empty: name the folder in which the agent shall work";
        return Some((ErrorCode::BadPath, what.to_owned()));
    }
    None
}

/// The words of the parser without the names of our types, which say nothing to whoever wrote the line.
fn for_people(why: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut rest = why.split(' ').peekable();
    while let Some(word) = rest.next() {
        match word {
            "internally" | "adjacently" | "tagged" | "tuple" | "unit" | "newtype" => {}
            "struct" | "enum" | "variant" if rest.peek().is_some_and(|next| is_type(next)) => {
                rest.next();
                words.push(if word == "struct" {
                    "an object"
                } else {
                    "one of the known forms"
                });
            }
            "u8" | "u16" | "u32" | "u64" | "usize" => words.push("a whole number from 0 on"),
            "i32" | "i64" => words.push("a whole number"),
            "f64" => words.push("a number"),
            _ => words.push(word),
        }
    }
    words.join(" ")
}

fn is_type(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && word.contains(|letter: char| letter.is_ascii_lowercase())
}

/// What can be said of a message that is not understood.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gist {
    #[serde(rename = "type")]
    kind: Option<Json>,
    request_id: Option<Json>,
    payload: Option<Json>,
}

/// What can be said of the payload of `send_message`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    prompt: Option<Json>,
    working_dir: Option<Json>,
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
    fn a_line_that_is_too_long_is_told_to_the_one_who_asked() {
        let ends = |head: &str, tail: &str| Ends {
            head: head.as_bytes().to_vec(),
            tail: tail.as_bytes().to_vec(),
        };
        let cases = [
            (
                r#"{"type":"send_message","requestId": "r1","payload":{"prompt":"xx"#,
                "xx\"}}",
                "send_message r1",
            ),
            (
                r#"{"type":"touch","x":"xx"#,
                r#"x \"requestId\":\"no\"","requestId":"r2"}"#,
                "touch r2",
            ),
            ("xxx", r#"xxx","requestId":7}"#, "- -"),
            ("\u{1F319}xx", "", "- -"),
        ];
        for (head, tail, gist) in cases {
            let report = parse(&Line::TooLong(ends(head, tail))).unwrap_err();
            assert_eq!(report.error_code, Some(ErrorCode::TooLarge));
            assert!(report.error.contains("into a file"), "{}", report.error);
            let id = report
                .request_id
                .map_or("-".to_owned(), |id| id.to_string());
            let about = report.about.unwrap_or("-".to_owned());
            assert_eq!(format!("{about} {id}"), gist);
        }
    }

    #[test]
    fn no_type_of_ours_is_named_to_people() {
        let cases = [
            (
                r#"{"type":"touch","sessionId":"../x"}"#,
                "the conversation id holds",
            ),
            (
                r#"{"type":"send_message","sessionId":"c","payload":7}"#,
                "expected an object",
            ),
            (
                r#"{"type":"subscribe","sessionId":"c","seq":"one"}"#,
                "expected a whole number",
            ),
            (
                r#"{"type":"send_message","sessionId":"c","payload":{"prompt":"","workingDir":"/","workspaceId":"w"}}"#,
                "the prompt is empty",
            ),
        ];
        for (line, words) in cases {
            let error = refusal(line).error;
            assert!(error.contains(words), "{line}: {error}");
            let of_ours = [
                "ConversationId",
                "Payload",
                "Seq",
                "u64",
                "Prompt",
                "struct",
            ];
            assert!(!of_ours.iter().any(|name| error.contains(name)), "{error}");
        }
    }

    #[test]
    fn a_message_that_is_too_long_and_a_folder_that_is_not_named_have_codes() {
        let send = |payload: &str| {
            let line = format!(
                r#"{{"type":"send_message","requestId":"r","sessionId":"c","payload":{{"workspaceId":"w",{payload}}}}}"#
            );
            let report = refusal(&line);
            assert_eq!(report.request_id.unwrap().as_str(), "r");
            (report.error_code.unwrap(), report.error)
        };
        let long = "x".repeat(7 * 1024 * 1024);
        let (code, text) = send(&format!(r#""prompt":"{long}","workingDir":"/tmp""#));
        assert_eq!(code, ErrorCode::TooLarge);
        assert!(text.contains("into a file"), "{text}");
        for folder in [
            "",
            r#","workingDir":"""#,
            r#","workingDir":null"#,
            r#","workingDir":7"#,
        ] {
            let (code, text) = send(&format!(r#""prompt":"hi"{folder}"#));
            assert_eq!(code, ErrorCode::BadPath, "{folder}");
            assert!(text.contains("name the folder"), "{text}");
        }
        let (code, _) = send(r#""prompt":7,"workingDir":"/tmp""#);
        assert_eq!(code, ErrorCode::InvalidMessage);
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
