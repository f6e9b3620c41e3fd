//! The envelope as the relay sees it: its own messages readable, all others sealed.
//!
//! ```text
//! frame ──► RelayFrame ─┬─ Own(DeviceToRelay)   auth, ping, ...: the relay answers
//!                       └─ Forward              addresses only ──► splice(from) ──► the same frame, signed
//! ```
//!
//! **Invariant:** the relay cannot decode the payload of a message it forwards. [`Forward`] has no way to read it; the
//! one thing it can do is write the frame out again, with the payload's bytes untouched and the true sender put in.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer as _};
use serde_json::value::RawValue;

use crate::envelope::Parts;
use crate::{Broadcast, DecodeError, DeviceToRelay, EncodeError, Message, RequestId, Sender, To};

/// What a device sent to the relay.
#[derive(Debug)]
pub enum RelayFrame<'a> {
    /// Meant for the relay itself.
    Own(DeviceToRelay),
    /// Meant for other devices.
    Forward(Forward<'a>),
}

impl<'a> RelayFrame<'a> {
    /// Takes a frame apart. A `from` in it is ignored: the relay knows better.
    pub fn parse(frame: &'a str) -> Result<Self, DecodeError> {
        let parts = Parts::parse_unsigned(frame)?;
        if DeviceToRelay::knows(&parts.kind) {
            return DeviceToRelay::from_parts(&parts.kind, parts.payload).map(Self::Own);
        }
        Ok(Self::Forward(Forward(parts)))
    }
}

/// A message for other devices: the relay may read where it goes and nothing else.
#[derive(Debug)]
pub struct Forward<'a>(Parts<'a>);

impl Forward<'_> {
    /// The `type`, for rights, limits and metrics.
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Addressed devices.
    pub fn to(&self) -> Option<&To> {
        self.0.to.as_ref()
    }

    /// Addressed group; `to` wins.
    pub fn broadcast(&self) -> Option<&Broadcast> {
        self.0.broadcast.as_ref()
    }

    /// The request's id, for an `error` about this message.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.0.request_id.as_ref()
    }

    /// The frame for the addressees: the true sender put in, unknown members kept, the payload byte for byte.
    pub fn splice(&self, from: &Sender) -> Result<String, EncodeError> {
        let parts = &self.0;
        let payload = parts.payload.map_or(0, |payload| payload.get().len());
        let mut frame = Vec::with_capacity(payload + 256);
        let mut writer = serde_json::Serializer::new(&mut frame);
        let mut map = writer.serialize_map(None)?;
        map.serialize_entry("type", &parts.kind)?;
        if let Some(to) = &parts.to {
            map.serialize_entry("to", to)?;
        }
        if let Some(group) = &parts.broadcast {
            map.serialize_entry("broadcast", group)?;
        }
        map.serialize_entry("from", from)?;
        if let Some(request_id) = &parts.request_id {
            map.serialize_entry("requestId", request_id)?;
        }
        for (name, value) in &parts.others {
            map.serialize_entry(name, value)?;
        }
        if let Some(payload) = parts.payload {
            map.serialize_entry("payload", payload)?;
        }
        map.end()?;
        // JSON is UTF-8, so this takes the bytes as they are.
        Ok(String::from_utf8(frame)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

/// What an `error` about a frame can name, also when the frame cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// Its `type`, if it has one.
    pub kind: Option<String>,
    /// Its `requestId`. For a message to the relay itself it may stand in the payload, as its results have it.
    pub request_id: Option<RequestId>,
}

impl Hint {
    /// Finds out what it can. Of a key that is there twice the first value counts; this decides nothing.
    pub fn of(frame: &str) -> Self {
        let mut reader = serde_json::Deserializer::from_str(frame);
        let Ok(found) = reader.deserialize_map(HintVisitor) else {
            return Self::default();
        };
        let kind: Option<String> = found.kind.and_then(read);
        let is_own = kind.as_deref().is_some_and(DeviceToRelay::knows);
        let outside = found.request_id.and_then(read);
        let inside = || {
            let payload = found.payload.filter(|_| is_own)?;
            let mut reader = serde_json::Deserializer::from_str(payload.get());
            let payload = reader.deserialize_map(HintVisitor).ok()?;
            payload.request_id.and_then(read)
        };
        Self {
            request_id: outside.or_else(inside),
            kind,
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(value: &RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

/// The members of an object that a [`Hint`] is made of.
#[derive(Default)]
struct Hinted<'a> {
    kind: Option<&'a RawValue>,
    request_id: Option<&'a RawValue>,
    payload: Option<&'a RawValue>,
}

struct HintVisitor;

impl<'de> Visitor<'de> for HintVisitor {
    type Value = Hinted<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Hinted<'de>, A::Error> {
        let mut found = Hinted::default();
        while let Some(key) = map.next_key::<String>()? {
            let value: &RawValue = map.next_value()?;
            match key.as_str() {
                "type" => _ = found.kind.get_or_insert(value),
                "requestId" => _ = found.request_id.get_or_insert(value),
                "payload" => _ = found.payload.get_or_insert(value),
                _ => {}
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(frame: &str) -> (Option<String>, Option<String>) {
        let Hint { kind, request_id } = Hint::of(frame);
        (kind, request_id.map(|id| id.to_string()))
    }

    #[test]
    fn what_cannot_be_read_is_named_all_the_same() {
        let named = |kind: &str, id: &str| (Some(kind.to_owned()), Some(id.to_owned()));
        let bad_address = r#"{"type":"claude_send","to":-1,"requestId":"r"}"#;
        assert_eq!(hint(bad_address), named("claude_send", "r"));
        let twice = r#"{"type":"a","type":"b","requestId":"r","requestId":"s"}"#;
        assert_eq!(hint(twice), named("a", "r"));
        let own = r#"{"type":"auth","payload":{"token":5,"requestId":"r"}}"#;
        assert_eq!(hint(own), named("auth", "r"));
        for nothing in ["no JSON", "[]", "{}", r#"{"type":7,"requestId":{}}"#] {
            assert_eq!(hint(nothing), (None, None), "{nothing}");
        }
    }

    #[test]
    fn the_payload_of_others_is_not_looked_into() {
        let sealed = r#"{"type":"claude_send","to":-1,"payload":{"requestId":"r"}}"#;
        assert_eq!(hint(sealed).1, None);
    }
}
