//! Feeds arbitrary bytes in arbitrary chunks to the line reader.
//!
//! Asserts what holds for every input: nothing panics, the frames put together again are the input, the raw line is
//! untouched, and a typed message written back says the same as its line. The first byte chooses the chunk size and
//! the rest is the stream.

#![no_main]

use estelle_claude::framing::{Damage, Frame, Splitter};
use estelle_claude::wire::{Body, Message};
use libfuzzer_sys::fuzz_target;
use serde_json::{Number, Value};

fuzz_target!(|data: &[u8]| {
    let Some((&first, stream)) = data.split_first() else {
        return;
    };
    let mut splitter = Splitter::default();
    let mut seen = Vec::with_capacity(stream.len());
    for chunk in stream.chunks(usize::from(first) + 1) {
        splitter.push(chunk);
        while let Some(frame) = splitter.next_frame() {
            check(&frame);
            seen.extend_from_slice(frame.bytes());
            seen.push(b'\n');
        }
    }
    if let Some(frame) = splitter.finish() {
        check(&frame);
        seen.extend_from_slice(frame.bytes());
    }
    assert_eq!(seen, stream, "frames do not add up to the input");
    assert_eq!(splitter.offset(), stream.len() as u64);
});

fn check(frame: &Frame) {
    let line = match frame {
        Frame::Line(line) => line,
        Frame::Damage(Damage::InvalidUtf8 { .. } | Damage::HalfLine { .. }) => return,
        Frame::Damage(Damage::TooLong { .. }) => unreachable!("inputs are far below the limit"),
    };
    let message = Message::parse(line.clone());
    assert_eq!(message.raw(), line.as_str());
    let _ = (
        message.kind().to_string(),
        message.session_id(),
        message.uuid(),
    );
    let _ = format!("{:?}", message.diagnostics);
    if matches!(message.body, Body::Malformed(_)) {
        return;
    }
    if says_a_name_twice(line.as_str(), &message) {
        return;
    }
    let written = serde_json::to_string(&message.body).expect("a message can be written");
    let again = Message::parse(written.as_str().into());
    assert_eq!(
        again.body, message.body,
        "reading what was written gives another message"
    );
    // A lone surrogate or a number like 1e999 is no `Value`; there is nothing to compare with then.
    if let Ok(original) = serde_json::from_str::<Value>(line.as_str()) {
        let written: Value = serde_json::from_str(&written).expect("what is written is JSON");
        assert_eq!(
            plain(written),
            plain(original),
            "writing changed the meaning"
        );
    }
}

/// Numbers as doubles: `1`, `1.0` and `1e0` are the same value, and JavaScript writes only the first.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let double = number.as_f64().and_then(Number::from_f64);
            double.map_or(Value::Null, Value::Number)
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, value)| (key, plain(value)))
                .collect(),
        ),
        other @ (Value::Null | Value::Bool(_) | Value::String(_)) => other,
    }
}

/// Readers differ in which of two members of the same name they take, and so may two passes over one line. What is
/// written has each name once, so there is nothing to compare with.
fn says_a_name_twice(line: &str, message: &Message) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return false;
    };
    Message::parse(value.to_string().as_str().into()).body != message.body
}
