//! Taking secrets out of lines before they are logged.
//!
//! Three ways to know one: by its value (what this program's environment holds under telling names), by the name it goes
//! by (a key of an object, a variable, a header), and by its looks (the prefixes that vendors give their tokens, bearer
//! tokens, private keys, passwords in addresses). Rather too much is taken out than too little; numbers stay, so that
//! counts of tokens can be read. This is care, not a guarantee.

mod text;

use std::fmt;

use serde_json::{Map, Value};

/// What stands in the place of a secret.
pub(super) const REDACTED: &str = "[redacted]";
/// A shorter value is too likely to be an ordinary word.
const MIN_KNOWN_BYTES: usize = 8;
/// How deep a line is looked into; the rest is taken out as a whole.
const MAX_DEPTH: usize = 64;

/// Takes secrets out of lines.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first, so that a secret within another does not spoil it.
    known: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} known secrets)", self.known.len())
    }
}

impl Redactor {
    /// Knows these secrets by value.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = secrets
            .into_iter()
            .filter(|secret| secret.len() >= MIN_KNOWN_BYTES)
            .collect();
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        known.dedup();
        Self { known }
    }

    /// Knows what this program's environment holds under telling names.
    pub fn from_environment() -> Self {
        let secrets = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            text::is_telling(&name).then(|| value.into_string().ok())?
        });
        Self::new(secrets)
    }

    /// A line without secrets, always valid JSON: one that is none comes back as a string.
    pub fn line(&self, line: &str) -> String {
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(mut object)) => {
                if object
                    .get("type")
                    .is_some_and(|kind| kind == "stream_event")
                {
                    leave_out_pieces(&mut object);
                }
                let mut value = Value::Object(object);
                self.value(&mut value, Place::Ordinary, 0);
                value.to_string()
            }
            Ok(mut value) => {
                self.value(&mut value, Place::Ordinary, 0);
                value.to_string()
            }
            Err(_) => Value::from(self.text(line)).to_string(),
        }
    }

    fn text(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.known {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), REDACTED);
            }
        }
        text::redact(&clean)
    }

    fn value(&self, value: &mut Value, place: Place, depth: usize) {
        if depth > MAX_DEPTH {
            *value = REDACTED.into();
            return;
        }
        match value {
            Value::String(text) if place == Place::Secret => REDACTED.clone_into(text),
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => {
                for item in items {
                    self.value(item, place, depth + 1);
                }
            }
            Value::Object(object) => {
                for (key, value) in object.iter_mut() {
                    let place = place.of(key);
                    self.value(value, place, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Where in a line a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Ordinary,
    /// Below a key that tells of a secret.
    Secret,
}

impl Place {
    fn of(self, key: &str) -> Self {
        let holds_secrets = ["env", "headers"]
            .iter()
            .any(|name| key.eq_ignore_ascii_case(name));
        if self == Self::Secret || holds_secrets || text::is_telling(key) {
            Self::Secret
        } else {
            Self::Ordinary
        }
    }
}

/// The pieces of a streamed message: their lengths instead of their texts.
fn leave_out_pieces(object: &mut Map<String, Value>) {
    let delta = object
        .get_mut("event")
        .and_then(|event| event.get_mut("delta"));
    if let Some(Value::Object(delta)) = delta {
        for key in ["text", "partial_json", "thinking", "signature"] {
            if let Some(Value::String(piece)) = delta.get_mut(key) {
                *piece = format!("[{} characters]", piece.chars().count());
            }
        }
    }
}
