//! `Json`: a JSON value kept as its text.
//!
//! Tool inputs, schemas and everything else whose shape the SDK does not own is carried this way: nothing is lost or
//! reordered, nothing is parsed that nobody reads. Invariant: the text is valid JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::cursor::Cursor;
use super::diagnostic::{Diagnostic, Diagnostics};
use super::lenient::Wire;

/// A JSON value as text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Box<str>);

impl Json {
    /// Takes text that came out of a validated line.
    pub(crate) fn from_valid(text: &str) -> Self {
        Self(text.into())
    }

    /// Checks that `text` is one JSON value and keeps it.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Self(raw.get().into()))
    }

    /// The JSON text of any serialisable value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// The empty object, `{}`.
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads it as a serde type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Reads it as a tree.
    pub fn value(&self) -> Result<Value, serde_json::Error> {
        self.to()
    }

    /// Reads it as one of the wire types, leniently; the diagnostics say which optional parts could not be read.
    pub fn wire<T: Wire>(&self) -> Result<(T, Vec<Diagnostic>), Diagnostic> {
        let mut diagnostics = Diagnostics::default();
        let value = T::read(&mut Cursor::new(&self.0), &mut diagnostics)?;
        Ok((value, diagnostics.into_vec()))
    }

    /// The value of a field, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<Self> {
        let mut at = Cursor::new(&self.0).find(name)?;
        at.raw().ok().map(Self::from_valid)
    }

    /// The value of a string field, if this is an object that has it.
    pub fn get_str(&self, name: &str) -> Option<String> {
        let mut at = Cursor::new(&self.0).find(name)?;
        at.string().ok().map(std::borrow::Cow::into_owned)
    }
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.get().into()))
    }
}

impl Wire for Json {
    fn read(cursor: &mut Cursor<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        cursor.raw().map(Self::from_valid)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }
}
