//! JSON that this crate carries without looking into it: tool inputs, configurations, kinds of a newer version.
//!
//! The text is kept as it came, byte for byte: key order, spacing and the digits of numbers survive, and what is never
//! looked at is never parsed twice.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor};
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

/// Checks all of a text, also what nothing looks into: it is one JSON value, no name stands twice in an object, numbers
/// are in range, and nothing is nested deeper than 128 levels.
pub fn check_strictly(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<Strict>(text).map(|Strict| ())
}

/// A value that was checked and not kept.
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if names.contains(&name) {
                let twice = format_args!("`{name}` stands twice in one object");
                return Err(de::Error::custom(twice));
            }
            names.insert(name);
            map.next_value::<Self>()?;
        }
        Ok(self)
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
#[serde(expecting = "an object with a `type`")]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        check_strictly(text).unwrap_err().to_string()
    }

    #[test]
    fn a_name_that_stands_twice_is_refused_at_any_depth() {
        assert!(
            check_strictly(r#"{"a":{"a":1},"b":[{"a":1},{"a":2}],"n":-0.5e3,"t":"x","z":null}"#)
                .is_ok()
        );
        assert!(refusal(r#"{"decision":"deny","decision":"allow"}"#).contains("`decision`"));
        assert!(refusal(r#"{"a":[1,{"b":{"c":1,"d":2,"c":3}}]}"#).contains("`c`"));
        // The same name, written differently.
        assert!(refusal(r#"{"a":1,"\u0061":2}"#).contains("`a`"));
    }

    #[test]
    fn what_other_readers_would_stumble_over_is_refused() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(check_strictly(&deep(100)).is_ok());
        assert!(refusal(&deep(10_000)).contains("recursion"));
        for bad in [
            "1e400",
            "NaN",
            r#""\ud800""#,
            "{} {}",
            "\u{feff}{}",
            "{}\0",
            "",
            "{\"a\":}",
        ] {
            assert!(check_strictly(bad).is_err(), "{bad:?}");
        }
    }
}
