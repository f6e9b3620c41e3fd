//! The envelope as the relay sees it: its own messages readable, all others sealed.
//!
//! ```text
//! frame ──► RelayFrame ─┬─ Own(DeviceToRelay)   auth, ping, ...: the relay answers
//!                       └─ Forward              addresses only ──► splice(from) ──► the same frame, signed
//! ```
//!
//! **Invariant:** the relay cannot decode the payload of a message it forwards. [`Forward`] has no way to read it; the
//! one thing it can do is write the frame out again, with the payload's bytes untouched and the true sender put in.

use serde::ser::{SerializeMap as _, Serializer as _};

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
