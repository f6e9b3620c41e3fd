//! One line of the CLI's JSON stream, kept exactly as it was printed.
//!
//! A [`Line`] is validated UTF-8 that shares its memory with the chunk it was read in: cloning it is a
//! reference count. It is never re-serialised; whoever needs the original bytes (a journal, a relay, a test)
//! takes them from here. [`Envelope`] is the cheap look at a line that routing needs; the typed view is
//! `wire::Message`, made from a line on demand.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// One line of JSON without its line feed, byte for byte as it was read.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Line(ByteString);

impl Line {
    /// Takes over text that the caller already holds.
    pub fn new(text: impl Into<ByteString>) -> Self {
        Self(text.into())
    }

    /// Checks that the bytes are UTF-8; gives them back untouched when they are not.
    pub fn from_utf8(bytes: Bytes) -> Result<Self, Bytes> {
        // `ByteString`'s conversion drops the bytes on failure, so it gets a second reference to them.
        ByteString::try_from(bytes.clone())
            .map(Self)
            .map_err(|_| bytes)
    }

    /// The text of the line.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes of the line, without the line feed.
    pub fn as_bytes(&self) -> &Bytes {
        self.0.as_bytes()
    }

    /// The top-level `type`: read off the start, where the CLI puts it on nearly every line, else found by a
    /// look at the whole line. None for what is not an object or has no type.
    ///
    /// The rest of a line that starts with its type is not looked at, so this says nothing about its validity.
    pub fn kind(&self) -> Option<Cow<'_, str>> {
        match self.leading_kind() {
            Some(kind) => Some(Cow::Borrowed(kind)),
            None => Envelope::peek(self).ok()?.kind,
        }
    }

    /// The type of a line that starts with it.
    pub(crate) fn leading_kind(&self) -> Option<&str> {
        self.string_behind("{\"type\":\"")
    }

    /// The id of a control request that starts with its type and its id.
    pub(crate) fn leading_request_id(&self) -> Option<&str> {
        self.string_behind("{\"type\":\"control_request\",\"request_id\":\"")
    }

    /// The rest of the string that the line starts with, unless it has escapes.
    fn string_behind(&self, start: &str) -> Option<&str> {
        let rest = self.as_str().strip_prefix(start)?;
        let end = memchr::memchr2(b'"', b'\\', rest.as_bytes())?;
        (rest.as_bytes()[end] == b'"').then(|| &rest[..end])
    }

    /// A copy in memory of its own.
    ///
    /// A line keeps the whole chunk alive that it was read in. A program that keeps a few lines of many
    /// detaches those.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(ByteString::from(self.as_str().to_owned()))
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Line").field(&self.as_str()).finish()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::new(text.to_owned())
    }
}

/// What routing needs to know of a line: its type and, for control traffic, which request it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope<'a> {
    /// The top-level `type`.
    pub kind: Option<Cow<'a, str>>,
    /// The top-level `subtype`, or that of the nested `request` or `response` of control traffic.
    pub subtype: Option<Cow<'a, str>>,
    /// The `request_id`, at the top or inside `response`.
    pub request_id: Option<Cow<'a, str>>,
}

impl<'a> Envelope<'a> {
    /// Looks at the whole line once, decoding only the fields above.
    ///
    /// Fails when the line is not one JSON object. Fields of an unexpected type are taken as absent.
    pub fn peek(line: &'a Line) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line.as_str())
    }

    /// The type, or an empty string.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor { depth: 0 })
    }
}

struct EnvelopeVisitor {
    depth: u8,
}

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.0.as_deref().unwrap_or_default() {
                "type" => envelope.kind = map.next_value::<Text<'de>>()?.0,
                "subtype" => envelope.subtype = map.next_value::<Text<'de>>()?.0,
                "request_id" => envelope.request_id = map.next_value::<Text<'de>>()?.0,
                "request" | "response" if self.depth == 0 => {
                    if let Some(inner) = map.next_value::<Nested<'de>>()?.0 {
                        envelope.subtype = envelope.subtype.or(inner.subtype);
                        envelope.request_id = envelope.request_id.or(inner.request_id);
                    }
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(envelope)
    }
}

/// A string, borrowed where it has no escapes; anything else is taken as absent.
struct Text<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_unit<E>(self) -> Result<Text<'de>, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Text<'de>, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Text(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text<'de>, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Text(None))
    }
}

/// The `request` or `response` of control traffic, when it is an object.
struct Nested<'a>(Option<Envelope<'a>>);

impl<'de> Deserialize<'de> for Nested<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NestedVisitor)
    }
}

struct NestedVisitor;

impl<'de> Visitor<'de> for NestedVisitor {
    type Value = Nested<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Nested<'de>, A::Error> {
        EnvelopeVisitor { depth: 1 }
            .visit_map(map)
            .map(|inner| Nested(Some(inner)))
    }

    fn visit_str<E>(self, _: &str) -> Result<Nested<'de>, E> {
        Ok(Nested(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Nested<'de>, E> {
        Ok(Nested(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Nested<'de>, E> {
        Ok(Nested(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Nested<'de>, E> {
        Ok(Nested(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Nested<'de>, E> {
        Ok(Nested(None))
    }

    fn visit_unit<E>(self) -> Result<Nested<'de>, E> {
        Ok(Nested(None))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Nested<'de>, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Nested(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peek(text: &str) -> (String, String, String) {
        let line = Line::from(text);
        let envelope = Envelope::peek(&line).expect("an object");
        let text = |field: Option<Cow<'_, str>>| field.unwrap_or_default().into_owned();
        (
            text(envelope.kind),
            text(envelope.subtype),
            text(envelope.request_id),
        )
    }

    fn expected(kind: &str, subtype: &str, id: &str) -> (String, String, String) {
        (kind.to_owned(), subtype.to_owned(), id.to_owned())
    }

    #[test]
    fn peek_finds_the_request_a_control_line_belongs_to() {
        assert_eq!(
            peek(
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"c1","response":{"subtype":"x"}}}"#
            ),
            expected("control_response", "success", "c1")
        );
        assert_eq!(
            peek(
                r#"{"request_id":"r","type":"control_request","request":{"subtype":"can_use_tool","request_id":"not this"}}"#
            ),
            expected("control_request", "can_use_tool", "r")
        );
    }

    #[test]
    fn peek_takes_fields_of_an_unexpected_type_as_absent() {
        assert_eq!(
            peek(r#"{"type":5,"subtype":["a"],"request":7,"response":null}"#),
            expected("", "", "")
        );
        assert_eq!(
            peek(r#"{"type":"a\nb","request":"text"}"#),
            expected("a\nb", "", "")
        );
    }

    #[test]
    fn peek_refuses_what_is_not_one_object() {
        for text in ["", "null", "[1]", "\"x\"", "{", "{} {}", "{\"type\":}"] {
            assert!(Envelope::peek(&Line::from(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn the_type_is_found_wherever_it_stands() {
        let kind = |text: &str| Line::from(text).kind().map(Cow::into_owned);
        assert_eq!(
            kind(r#"{"type":"assistant","message":{}}"#).as_deref(),
            Some("assistant")
        );
        assert_eq!(
            kind(r#"{"uuid":"u","type":"result"}"#).as_deref(),
            Some("result")
        );
        assert_eq!(kind(r#"{"type":"a\"b"}"#).as_deref(), Some("a\"b"));
        assert_eq!(kind(r#"{"event":{"type":"inner"}}"#), None);
        assert_eq!(kind(r#"{"type":"cut"#), None);
        assert_eq!(kind("[]"), None);
    }

    #[test]
    fn the_id_of_a_request_is_read_off_the_start_only_when_it_stands_there() {
        let id = |text: &str| Line::from(text).leading_request_id().map(str::to_owned);
        let request = r#"{"type":"control_request","request_id":"r1","request":{}}"#;
        assert_eq!(id(request).as_deref(), Some("r1"));
        assert_eq!(
            id(r#"{"type":"control_request","request_id":"r\n1"}"#),
            None
        );
        assert_eq!(id(r#"{"type":"control_response","request_id":"r1"}"#), None);
        assert_eq!(id(r#"{"request_id":"r1","type":"control_request"}"#), None);
    }

    #[test]
    fn invalid_utf8_comes_back_untouched() {
        let bytes = Bytes::from_static(b"ab\xff");
        assert_eq!(Line::from_utf8(bytes.clone()), Err(bytes));
    }
}
