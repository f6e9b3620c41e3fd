//! Events that are longer than a frame may be: what is long in them is cut, with a mark, so that they reach people.
//!
//! The whole is in the host's log and in the store. Numbers, ids and hashes stay as they are: no event is missing, and an
//! answer is bound to the whole call, of which the person is told that it is shown cut.

use estelle_proto::events::PermissionAsked;
use estelle_proto::{ClaudeEvent, Envelope, Json, PylonToApp, limits};
use serde_json::{Value, json};

use crate::link::relay::{Outlet, SendError};

/// How much is left of a text, from the mildest cut to the hardest.
const CUTS: [usize; 3] = [256 * 1024, 16 * 1024, 1024];
/// What is longer after the hardest cut is long without long texts.
const MOST: usize = limits::MAX_FRAME_BYTES / 2;

/// Sends a message; if it is too long, a shorter form of it.
pub(super) fn send(outlet: &Outlet, envelope: &Envelope<PylonToApp>) -> Result<(), SendError> {
    let sent = outlet.send(envelope);
    let (Err(SendError::TooLarge { .. }), PylonToApp::ClaudeEventMessage(message)) =
        (&sent, &envelope.message)
    else {
        return sent;
    };
    for longest in CUTS {
        let Some(event) = shorter(&message.event, longest) else {
            break;
        };
        let mut shorter = message.clone();
        shorter.event = event;
        let shorter = Envelope {
            message: shorter.into(),
            ..envelope.clone()
        };
        match outlet.send(&shorter) {
            Err(SendError::TooLarge { .. }) => {}
            sent => return sent,
        }
    }
    sent
}

/// An event with shorter texts; none for what loses its meaning by that, such as pieces that are put together.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other events are short, or pieces of something"
)]
fn shorter(event: &ClaudeEvent, longest: usize) -> Option<ClaudeEvent> {
    match event {
        ClaudeEvent::PermissionAsked(asked) => Some(shorter_call(asked, longest)?.into()),
        ClaudeEvent::ToolInfo(info) => {
            let mut info = info.clone();
            info.input = shorter_json(&info.input, longest)?;
            Some(info.into())
        }
        ClaudeEvent::QuestionAsked(_)
        | ClaudeEvent::UserMessage(_)
        | ClaudeEvent::TextComplete(_)
        | ClaudeEvent::ToolComplete(_) => {
            let whole = Json::of(event).ok()?;
            shorter_json(&whole, longest)?.decode().ok()
        }
        _ => None,
    }
}

fn shorter_call(asked: &PermissionAsked, longest: usize) -> Option<PermissionAsked> {
    let length = asked.tool_input.get().len();
    let notice = format!("its input has {length} bytes and is shown cut");
    let reason = match &asked.reason {
        Some(reason) => format!("{reason}; {notice}"),
        None => notice,
    };
    Some(PermissionAsked {
        tool_input: shorter_json(&asked.tool_input, longest)?,
        reason: Some(reason),
        ..asked.clone()
    })
}

/// The same value with shorter texts; of one that is long without long texts, the beginning as a text.
fn shorter_json(whole: &Json, longest: usize) -> Option<Json> {
    if let Ok(mut value) = whole.decode::<Value>() {
        cut_texts(&mut value, longest);
        let short = Json::of(&value).ok()?;
        let is_hardest = CUTS.iter().all(|cut| longest <= *cut);
        if short.get().len() <= MOST || !is_hardest {
            return Some(short);
        }
    }
    let mut beginning = Value::String(whole.get().to_owned());
    cut_texts(&mut beginning, longest);
    Json::of(&json!({ "cut": beginning })).ok()
}

fn cut_texts(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) if text.len() > longest => {
            let mark = format!("… [cut: {} bytes in all]", text.len());
            text.truncate(text.floor_char_boundary(longest));
            text.push_str(&mark);
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| cut_texts(value, longest)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|value| cut_texts(value, longest)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use estelle_proto::ToolUseId;

    use super::*;

    fn asked(input: &Value) -> PermissionAsked {
        let call = ToolUseId::parse("toolu_1").unwrap();
        PermissionAsked {
            input_hash: Some("hash".to_owned()),
            ..PermissionAsked::new("Write".to_owned(), Json::of(input).unwrap(), call)
        }
    }

    #[test]
    fn whatever_is_long_gets_short_in_the_end_and_says_so() {
        let texts = json!({"path": "/a", "content": "글".repeat(1_000_000)});
        let many = json!({ "list": vec!["x".repeat(900); 3000] });
        let numbers = json!(vec![1; 1_000_000]);
        for input in [texts, many, numbers] {
            let asked = asked(&input);
            let short = shorter_call(&asked, CUTS[2]).unwrap();
            assert!(short.tool_input.get().len() <= MOST);
            assert!(short.tool_input.get().contains("bytes in all"));
            assert!(short.reason.unwrap().contains("shown cut"));
            assert_eq!(short.input_hash, asked.input_hash);
        }
    }

    #[test]
    fn the_mildest_cut_leaves_what_is_short() {
        let asked = asked(&json!({"path": "/a", "content": "x".repeat(2_000_000)}));
        let short = shorter_call(&asked, CUTS[0]).unwrap();
        let short: Value = short.tool_input.decode().unwrap();
        assert_eq!(short["path"], "/a");
        assert!(short["content"].as_str().unwrap().len() > CUTS[0]);
    }
}
