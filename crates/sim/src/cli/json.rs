//! JSON with the order of its fields kept.
//!
//! The real CLI prints its fields in a fixed order, and a stand-in is compared with it line by line. `serde_json::Map` sorts
//! its keys unless a feature is on that would then be on for the whole workspace, so this module has its own small value.
//! It reads and writes; it does not validate anything.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A JSON value with ordered fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object in the order of its fields.
    Object(Vec<(String, Json)>),
}

/// Builds an object; `key if condition => value` leaves the field out when the condition does not hold.
macro_rules! obj {
    ($($key:literal $(if $cond:expr)? => $value:expr),* $(,)?) => {{
        #[allow(unused_mut, clippy::allow_attributes, reason = "an empty object needs no mutation")]
        let mut fields: Vec<(String, $crate::cli::json::Json)> = Vec::new();
        $(
            if true $(&& $cond)? {
                fields.push(($key.to_owned(), $crate::cli::json::Json::from($value)));
            }
        )*
        $crate::cli::json::Json::Object(fields)
    }};
}
pub(crate) use obj;

impl Json {
    /// The empty object.
    pub(crate) fn empty() -> Self {
        Self::Object(Vec::new())
    }

    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Field `key` of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Object(fields) => fields
                .iter()
                .rev()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::List(_) => None,
        }
    }

    /// A field of a field.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Field `key` as a string.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::as_text)
    }

    /// Field `key` as a boolean, false if it is anything else.
    pub(crate) fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Self::Bool(true)))
    }

    /// The string, if it is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::List(_)
            | Self::Object(_) => None,
        }
    }

    /// The number as a float, if it is one.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "timeouts and budgets are small")]
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// The items, none if it is no list.
    pub(crate) fn items(&self) -> &[Json] {
        match self {
            Self::List(items) => items,
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Object(_) => &[],
        }
    }

    /// The fields, none if it is no object.
    pub(crate) fn fields(&self) -> &[(String, Json)] {
        match self {
            Self::Object(fields) => fields,
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::List(_) => &[],
        }
    }

    /// The fields, taken out.
    pub(crate) fn into_fields(self) -> Vec<(String, Json)> {
        match self {
            Self::Object(fields) => fields,
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::List(_) => Vec::new(),
        }
    }

    /// Whether it is an object.
    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether it is `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Sets a field where it stands, or at the end; does nothing to a value that is no object.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Json>) {
        if let Self::Object(fields) = self {
            let value = value.into();
            if let Some(field) = fields.iter_mut().find(|(name, _)| name == key) {
                field.1 = value;
            } else {
                fields.push((key.to_owned(), value));
            }
        }
    }

    /// The same with a field set.
    #[must_use]
    pub(crate) fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.set(key, value);
        self
    }

    /// The same with a field set if there is a value.
    #[must_use]
    pub(crate) fn with_some(self, key: &str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&String> for Json {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Null, Self::Int)
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        i64::try_from(value).map_or(Self::Null, Self::Int)
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(value: Vec<T>) -> Self {
        Self::List(value.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<&Json> for Json {
    fn from(value: &Json) -> Self {
        value.clone()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            // The CLI is a JavaScript program: a whole number has no decimal point.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "checked to be whole and small"
            )]
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
                serializer.serialize_i64(*value as i64)
            }
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "what JavaScript does with such a number"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Float(value as f64), Json::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn order_and_numbers_survive() {
        let text = r#"{"z":1,"a":[true,null,"x"],"m":{"b":0.5,"a":2}}"#;
        assert_eq!(Json::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn a_whole_float_prints_like_javascript() {
        assert_eq!(Json::from(2.0).to_string(), "2");
    }
}
