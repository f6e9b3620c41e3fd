//! JSON that this crate carries without looking into it: tool inputs, configurations, kinds of a newer version.
//!
//! The text is kept as it came, byte for byte: key order, spacing and the digits of numbers survive, and what is never
//! looked at is never parsed twice.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Any JSON value, as its text.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(transparent)]
pub struct Json(
    #[cfg_attr(
        feature = "gen",
        schemars(with = "serde_json::Value"),
        ts(type = "unknown")
    )]
    Box<RawValue>,
);

impl Json {
    /// Checks that the text is JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The JSON form of a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// The text, as it came.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Reads it as a type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.to_owned())
    }
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.get())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

/// An object whose `type` this version does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownObject {
    /// Its `type`.
    pub kind: String,
    /// The whole object, `type` included.
    pub object: Json,
}

/// The one field that tells the kinds of a union apart.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: std::borrow::Cow<'a, str>,
}

impl UnknownObject {
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.object.decode()
    }
}

impl Serialize for UnknownObject {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for UnknownObject {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Json::deserialize(deserializer)?;
        let kind: Kind<'_> =
            serde_json::from_str(object.get()).map_err(serde::de::Error::custom)?;
        let kind = kind.kind.into_owned();
        Ok(Self { kind, object })
    }
}
