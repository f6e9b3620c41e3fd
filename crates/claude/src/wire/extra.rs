//! What a typed value keeps besides its fields: unknown fields, unreadable ones, and which known ones were `null`.
//!
//! It exists so that a value written back says the same as the line it came from. Unknown members of a union are kept
//! here too. It does not interpret anything.

use std::borrow::Cow;

use serde::ser::SerializeMap;

use super::cursor::Cursor;
use super::json::Json;

/// Fields that are on the wire but not in the type, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra {
    fields: Vec<(Box<str>, Json)>,
    /// Bit n: the n-th optional field was `null`, which is not the same as absent when the value is written back.
    nulls: u64,
}

impl Extra {
    /// The raw JSON of the unknown field `name`.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.fields
            .iter()
            .find(|(key, _)| &**key == name)
            .map(|(_, value)| value)
    }

    /// Adds a field to be written, or replaces it.
    pub fn insert(&mut self, name: &str, value: Json) {
        match self.fields.iter_mut().find(|(key, _)| &**key == name) {
            Some((_, old)) => *old = value,
            None => self.fields.push((name.into(), value)),
        }
    }

    /// The fields in the order they came in.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.fields.iter().map(|(key, value)| (&**key, value))
    }

    /// Whether there is no unknown field.
    pub const fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn keep(&mut self, name: &str, raw: &str) {
        self.insert(name, Json::from_valid(raw));
    }

    /// Notes that a known field was read, so that an earlier duplicate of it does not come back.
    pub(crate) fn settle(&mut self, field: Field, null: bool) {
        if !self.fields.is_empty() {
            self.fields.retain(|(key, _)| &**key != field.name);
        }
        let bit = 1_u64.checked_shl(field.slot).unwrap_or(0);
        if null {
            self.nulls |= bit;
        } else {
            self.nulls &= !bit;
        }
    }

    pub(crate) fn was_null(&self, slot: u32) -> bool {
        self.nulls & 1_u64.checked_shl(slot).unwrap_or(0) != 0
    }

    pub(crate) fn write_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (key, value) in &self.fields {
            map.serialize_entry(&**key, value)?;
        }
        Ok(())
    }
}

/// An optional field of a struct: its wire name and its place among the optional ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) slot: u32,
}

/// The place of `name` in `names`. For use in constants: a name that is not there is a bug the compiler reports.
pub(crate) const fn slot(names: &[&str], name: &str) -> u32 {
    let mut index = 0;
    let mut found = 0;
    while index < names.len() {
        if same(names[index].as_bytes(), name.as_bytes()) {
            return found;
        }
        index += 1;
        found += 1;
    }
    found
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A member of a union that this version does not know, or that lacked what its kind requires.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// The value of the tag; empty when there was none.
    pub kind: String,
    /// The whole member as it came.
    pub raw: Json,
}

impl Unknown {
    /// Keeps the value at the cursor, which moves behind it.
    pub(crate) fn rest(cursor: &mut Cursor<'_>, kind: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            raw: Json::from_valid(cursor.raw().unwrap_or("null")),
        }
    }

    /// The `subtype`, if there is one without escapes.
    pub(crate) fn subtype(&self) -> &str {
        match Cursor::new(self.raw.as_str()).tag("subtype") {
            Some(Cow::Borrowed(text)) => text,
            Some(Cow::Owned(_)) | None => "",
        }
    }
}
