//! Lines that are for people: what the CLI remarks, and three kinds of lines that other releases print instead of ours.
//!
//! A remark without words is none. That a summary has taken the place of what was said is told in words of ours, from which
//! an app takes the figures again: `compacted by itself, 155000 tokens before, 20000 after`. A permission that is asked outside of the control protocol cannot be answered, so it is
//! told as what it is: nothing is let through by it.

use estelle_claude::wire::system::{CompactMetadata, CompactTrigger};
use estelle_claude::wire::{SystemMessage, Unknown};
use estelle_proto::events::{ClaudeEvent, ErrorEvent, TextDelta};
use estelle_proto::limits::{LIVE_RESULT_CHARS, cut};
use estelle_proto::runs::Remark;
use serde_json::Value;

/// What the CLI says to people, if it does.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the vendor's list is open and most of it has no words for people"
)]
pub(super) fn remark(system: &SystemMessage) -> Option<ClaudeEvent> {
    if let SystemMessage::CompactBoundary(boundary) = system {
        let text = compacted(&boundary.compact_metadata);
        return Some(Remark::new("compact_boundary".to_owned(), text).into());
    }
    let (subtype, text) = match system {
        SystemMessage::Informational(said) => ("informational", Some(&said.content)),
        SystemMessage::Notification(said) => ("notification", Some(&said.text)),
        SystemMessage::LocalCommandOutput(said) => ("local_command_output", Some(&said.content)),
        SystemMessage::ModelRefusalFallback(said) => {
            ("model_refusal_fallback", said.content.as_ref())
        }
        SystemMessage::ModelRefusalNoFallback(said) => {
            ("model_refusal_no_fallback", said.content.as_ref())
        }
        _ => return None,
    };
    let text = text
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())?;
    let text = cut(text, LIVE_RESULT_CHARS).to_owned();
    Some(Remark::new(subtype.to_owned(), text).into())
}

fn compacted(metadata: &CompactMetadata) -> String {
    let is_wished = metadata.trigger == CompactTrigger::Manual;
    let who = if is_wished { "on request" } else { "by itself" };
    let before = metadata.pre_tokens;
    let before = before.map_or(String::new(), |tokens| format!(", {tokens} tokens before"));
    let after = metadata.post_tokens;
    let after = after.map_or(String::new(), |tokens| format!(", {tokens} after"));
    format!("compacted {who}{before}{after}")
}

/// What a line of a kind that our releases do not print comes to.
pub(super) fn foreign(unknown: &Unknown) -> Option<ClaudeEvent> {
    let line: Value = match unknown.kind.as_str() {
        "error" | "content_block_delta" | "permission_request" => {
            serde_json::from_str(unknown.raw.as_str()).ok()?
        }
        _ => return None,
    };
    if unknown.kind == "content_block_delta" {
        let text = line["delta"]["text"].as_str()?;
        return Some(TextDelta::new(text.to_owned()).into());
    }
    let what = [&line["error"]["message"], &line["error"], &line["message"]];
    let what = what.into_iter().find_map(Value::as_str);
    let text = match (unknown.kind.as_str(), what) {
        ("error", Some(text)) => cut(text, LIVE_RESULT_CHARS).to_owned(),
        ("error", None) => "the agent reported an error without a word about it".to_owned(),
        _ => "the agent asked for a permission in a form that cannot be answered here; it was not given"
            .to_owned(),
    };
    Some(ErrorEvent::new(text).into())
}

#[cfg(test)]
mod tests {
    use estelle_claude::line::Line;
    use estelle_claude::wire::{Body, Message};
    use serde_json::json;

    use super::*;

    fn told(line: &Value) -> Option<ClaudeEvent> {
        let body = Message::parse(Line::from(line.to_string())).body;
        if let Body::System(system) = &body {
            return remark(system);
        }
        let Body::Unknown(unknown) = &body else {
            panic!("{body:?}");
        };
        foreign(unknown)
    }

    #[test]
    fn remarks_with_words_are_told_and_others_are_not() {
        let system = |subtype: &str, name: &str, text: &str| {
            told(&json!({"type": "system", "subtype": subtype, name: text}))
        };
        for (subtype, name) in [
            ("informational", "content"),
            ("notification", "text"),
            ("local_command_output", "content"),
        ] {
            let expected = Remark::new(subtype.to_owned(), "mind the gap".to_owned());
            assert_eq!(
                system(subtype, name, " mind the gap\n"),
                Some(expected.into())
            );
            assert_eq!(system(subtype, name, " \n"), None);
        }
        let refused = json!({"type": "system", "subtype": "model_refusal_no_fallback", "original_model": "m"});
        assert_eq!(told(&refused), None);
        assert_eq!(
            told(&json!({"type": "system", "subtype": "zebra", "content": "x"})),
            None
        );
    }

    #[test]
    fn a_summary_in_place_of_what_was_said_is_told_with_its_figures() {
        for (metadata, text) in [
            (
                json!({"trigger": "auto", "pre_tokens": 155_000, "post_tokens": 20_000}),
                "compacted by itself, 155000 tokens before, 20000 after",
            ),
            (
                json!({"trigger": "manual", "pre_tokens": 125}),
                "compacted on request, 125 tokens before",
            ),
            (json!({"trigger": "zebra"}), "compacted by itself"),
        ] {
            let line = json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata});
            let expected = Remark::new("compact_boundary".to_owned(), text.to_owned());
            assert_eq!(told(&line), Some(expected.into()), "{line}");
        }
    }

    #[test]
    fn errors_of_every_shape_are_told() {
        for (line, text) in [
            (
                json!({"type": "error", "error": {"message": "too much"}}),
                "too much",
            ),
            (json!({"type": "error", "error": "too much"}), "too much"),
            (json!({"type": "error", "message": "too much"}), "too much"),
            (
                json!({"type": "error", "error": 7}),
                "the agent reported an error without a word about it",
            ),
        ] {
            let Some(ClaudeEvent::Error(error)) = told(&line) else {
                panic!("{line}");
            };
            assert_eq!(error.error, text);
        }
    }

    #[test]
    fn pieces_are_told_and_permissions_that_cannot_be_answered_are_errors() {
        let piece = json!({"type": "content_block_delta", "delta": {"text": "a"}});
        assert!(matches!(told(&piece), Some(ClaudeEvent::Text(piece)) if piece.content == "a"));
        let asked = json!({"type": "permission_request", "tool": "Bash"});
        assert!(matches!(told(&asked), Some(ClaudeEvent::Error(_))));
        assert_eq!(
            told(&json!({"type": "content_block_delta", "delta": {}})),
            None
        );
        assert_eq!(told(&json!({"type": "zebra", "error": "x"})), None);
    }
}
