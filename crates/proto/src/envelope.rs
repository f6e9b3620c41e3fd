//! The envelope in which every message between devices travels, as its two ends see it.
//!
//! ```text
//! app ── {type, to | broadcast, payload} ──► relay ── {type, to | broadcast, from, payload} ──► pylon
//! app ◄─ {type, to | broadcast, from, payload} ── relay ◄── {type, to | broadcast, payload} ── pylon
//! ```
//!
//! `type` alone is mandatory. A message whose payload would be empty has none. What the relay may see of an envelope
//! is in [`crate::forward`]; who may be addressed, in [`crate::address`].
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | not JSON, not an object, a key twice, a known field of the wrong type | `error` with `invalid_message` |
//! | `to` names a device that is not connected | `error` with `undeliverable`, `about` = the message's `type` |
//! | a `type` the receiver does not know | `error` with `unknown_type`; nothing changes |
//! | a payload with a missing or wrong field | the result of the request, or `error`, with `invalid_message` |

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::{self, DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{ApiError, Broadcast, ErrorCode, Json, RequestId, Retry, Sender, To, limits};

/// Why a frame or line could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It is not an envelope.
    #[error("the message is no valid envelope: {source}")]
    Envelope {
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Its payload does not fit its type.
    #[error("`{kind}` has a bad payload: {source}")]
    Payload {
        /// The `type` of the message.
        kind: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// It is longer than allowed.
    #[error("the message has {length} bytes, at most {limit}")]
    TooLarge {
        /// What came.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// A line of the host's IPC is not valid.
    #[error("the line is no valid message: {source}")]
    Line {
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl From<&DecodeError> for ApiError {
    fn from(error: &DecodeError) -> Self {
        let code = match error {
            DecodeError::TooLarge { .. } => ErrorCode::TooLarge,
            DecodeError::Envelope { .. }
            | DecodeError::Payload { .. }
            | DecodeError::Line { .. } => ErrorCode::InvalidMessage,
        };
        Self::new(code, error.to_string(), Retry::Never)
    }
}

/// Why a message could not be written. Nothing in this crate makes it happen; embedded values might.
#[derive(Debug, thiserror::Error)]
#[error("write a message as JSON: {0}")]
pub struct EncodeError(#[from] serde_json::Error);

/// A table of messages, one per direction.
pub trait Message: Sized {
    /// The types this version knows.
    const KINDS: &'static [&'static str];

    /// Whether this version knows the type.
    fn knows(kind: &str) -> bool;

    /// The `type` on the wire.
    fn kind(&self) -> &str;

    /// Reads the payload of a message of this type. Unknown types are kept, not refused.
    fn from_parts(kind: &str, payload: Option<&RawValue>) -> Result<Self, DecodeError>;

    /// The `payload` on the wire; nothing when it would be empty.
    fn payload(&self) -> Result<Option<Json>, EncodeError>;
}

/// A message of a type that this version does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownMessage {
    /// Its `type`.
    pub kind: String,
    /// Its `payload`, unread.
    pub payload: Option<Json>,
}

impl UnknownMessage {
    pub(crate) fn new(kind: &str, payload: Option<&RawValue>) -> Self {
        let payload = payload.map(Json::from);
        let kind = kind.to_owned();
        Self { kind, payload }
    }
}

/// A message with its addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope<M> {
    /// The message.
    pub message: M,
    /// Addressed devices.
    pub to: Option<To>,
    /// Addressed group; `to` wins.
    pub broadcast: Option<Broadcast>,
    /// Who sent it. The relay puts it in; its own messages have none.
    pub from: Option<Sender>,
    /// The request's id once more, outside the payload: the relay, which cannot look inside, names the request with it
    /// when it cannot deliver.
    pub request_id: Option<RequestId>,
}

impl<M: Message> Envelope<M> {
    /// A message without an address: the relay's default applies.
    pub fn new(message: impl Into<M>) -> Self {
        Self {
            message: message.into(),
            to: None,
            broadcast: None,
            from: None,
            request_id: None,
        }
    }

    /// A message to some devices.
    pub fn to(to: To, message: impl Into<M>) -> Self {
        Self {
            to: Some(to),
            ..Self::new(message)
        }
    }

    /// A message to a group.
    pub fn broadcast(group: Broadcast, message: impl Into<M>) -> Self {
        Self {
            broadcast: Some(group),
            ..Self::new(message)
        }
    }

    /// Reads a frame.
    pub fn parse(frame: &str) -> Result<Self, DecodeError> {
        Parts::parse(frame)?.into_envelope()
    }

    /// Writes a frame.
    pub fn to_json(&self) -> Result<String, EncodeError> {
        let written = Written {
            kind: self.message.kind(),
            to: self.to.as_ref(),
            broadcast: self.broadcast.as_ref(),
            from: self.from.as_ref(),
            request_id: self.request_id.as_ref(),
            payload: self.message.payload()?,
        };
        Ok(serde_json::to_string(&written)?)
    }
}

#[cfg(feature = "gen")]
data! {
    /// What an envelope has beside `type` and `payload`: a frame is one of the tables of messages and this.
    pub struct Addresses {
        optional {
            /// Addressed devices.
            to: To,
            /// Addressed group; `to` wins.
            broadcast: Broadcast,
            /// Who sent it; put in by the relay.
            from: Sender,
            /// The request's id, outside the payload.
            request_id: RequestId,
        }
    }
}

/// The envelope in the order in which it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a To>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broadcast: Option<&'a Broadcast>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a Sender>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Json>,
}

/// A frame taken apart; the payload and unknown members are left as they are.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) kind: Cow<'a, str>,
    pub(crate) to: Option<To>,
    pub(crate) broadcast: Option<Broadcast>,
    pub(crate) from: Option<Sender>,
    pub(crate) request_id: Option<RequestId>,
    pub(crate) payload: Option<&'a RawValue>,
    /// Members of a newer version, by name.
    pub(crate) others: Vec<(String, &'a RawValue)>,
}

/// What a frame says about a sender is a claim. Only the relay's own is believed, and the relay overwrites it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    Read,
    Ignore,
}

impl<'a> Parts<'a> {
    /// For a device: what the relay delivered.
    pub(crate) fn parse(frame: &'a str) -> Result<Self, DecodeError> {
        Self::read(frame, Claim::Read)
    }

    /// For the relay: what a device sent. Its `from` is not even read.
    pub(crate) fn parse_unsigned(frame: &'a str) -> Result<Self, DecodeError> {
        Self::read(frame, Claim::Ignore)
    }

    fn read(frame: &'a str, claim: Claim) -> Result<Self, DecodeError> {
        let (length, limit) = (frame.len(), limits::MAX_FRAME_BYTES);
        if length > limit {
            return Err(DecodeError::TooLarge { length, limit });
        }
        let mut reader = serde_json::Deserializer::from_str(frame);
        let parts = de::Deserializer::deserialize_map(&mut reader, PartsVisitor { claim });
        parts
            .and_then(|parts| reader.end().map(|()| parts))
            .map_err(|source| DecodeError::Envelope { source })
    }

    pub(crate) fn into_envelope<M: Message>(self) -> Result<Envelope<M>, DecodeError> {
        Ok(Envelope {
            message: M::from_parts(&self.kind, self.payload)?,
            to: self.to,
            broadcast: self.broadcast,
            from: self.from,
            request_id: self.request_id,
        })
    }
}

struct PartsVisitor {
    claim: Claim,
}

/// Takes a value once; a second one is an error, for two readers could believe two different values.
fn once<'de, T, A>(slot: &mut Option<T>, name: &'static str, map: &mut A) -> Result<(), A::Error>
where
    T: de::Deserialize<'de>,
    A: MapAccess<'de>,
{
    if slot.is_some() {
        return Err(de::Error::duplicate_field(name));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = Parts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `type`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'de>, A::Error> {
        let (mut kind, mut to, mut broadcast, mut from) = (None, None, None, None);
        let (mut request_id, mut payload, mut ignored) = (None, None, None);
        let mut others: Vec<(String, &RawValue)> = Vec::new();
        let mut members = 0;
        while let Some(key) = map.next_key::<String>()? {
            members += 1;
            if members > limits::MAX_ENVELOPE_MEMBERS {
                return Err(de::Error::invalid_length(members, &"a short envelope"));
            }
            match key.as_str() {
                "type" => once::<String, _>(&mut kind, "type", &mut map)?,
                "to" => once::<Option<To>, _>(&mut to, "to", &mut map)?,
                "broadcast" => once::<Option<Broadcast>, _>(&mut broadcast, "broadcast", &mut map)?,
                "from" if self.claim == Claim::Read => {
                    once::<Option<Sender>, _>(&mut from, "from", &mut map)?;
                }
                "from" => once::<IgnoredAny, _>(&mut ignored, "from", &mut map)?,
                "requestId" => {
                    once::<Option<RequestId>, _>(&mut request_id, "requestId", &mut map)?;
                }
                "payload" => once::<&RawValue, _>(&mut payload, "payload", &mut map)?,
                _ if others.iter().any(|(known, _)| *known == key) => {
                    return Err(de::Error::custom(format_args!("duplicate field `{key}`")));
                }
                _ => others.push((key, map.next_value()?)),
            }
        }
        Ok(Parts {
            kind: kind.ok_or_else(|| de::Error::missing_field("type"))?.into(),
            to: to.flatten(),
            broadcast: broadcast.flatten(),
            from: from.flatten(),
            request_id: request_id.flatten(),
            payload,
            others,
        })
    }
}

/// Reads a payload; none, and `null`, count as an empty one.
pub(crate) fn decode_payload<T: DeserializeOwned>(
    kind: &'static str,
    payload: Option<&RawValue>,
) -> Result<T, DecodeError> {
    let text = payload.map(RawValue::get).filter(|text| *text != "null");
    let text = text.unwrap_or("{}");
    // Serde would take a list for the fields in their order; what a field is must be said by its name.
    let decoded = if text.starts_with('{') {
        serde_json::from_str(text)
    } else {
        Err(de::Error::custom("the payload must be an object"))
    };
    decoded.map_err(|source| DecodeError::Payload { kind, source })
}

/// Writes a payload; an empty one is left out.
pub(crate) fn encode_payload<T: Serialize>(body: &T) -> Result<Option<Json>, EncodeError> {
    let payload = Json::of(body)?;
    Ok(Some(payload).filter(|payload| payload.get() != "{}"))
}
