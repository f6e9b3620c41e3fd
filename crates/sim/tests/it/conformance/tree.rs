//! JSON as it was printed: the fields of an object keep their order, numbers keep their text.
//!
//! `serde_json::Value` sorts the fields, and their order is part of what is compared.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// A field of an object.
    pub(super) fn get(&self, key: &str) -> &Self {
        match self {
            Self::Object(fields) => {
                let found = fields.iter().find(|(name, _)| name == key);
                found.map_or(&Self::Null, |(_, value)| value)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => {
                &Self::Null
            }
        }
    }

    /// A field of an object, to change it.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match self {
            Self::Object(fields) => {
                let mut fields = fields.iter_mut();
                fields.find(|(name, _)| name == key).map(|(_, value)| value)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// The text of a string, else nothing.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => "",
        }
    }

    /// The names of the fields in their order.
    pub(super) fn keys(&self) -> Vec<&str> {
        match self {
            Self::Object(fields) => fields.iter().map(|(key, _)| key.as_str()).collect(),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => {
                Vec::new()
            }
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Number(text) => out.write_str(text),
            Self::Text(text) => write!(out, "{text:?}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(out, "[{}]", items.join(","))
            }
            Self::Object(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{key}:{value}"))
                    .collect();
                write!(out, "{{{}}}", fields.join(","))
            }
        }
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            fields.push(entry);
        }
        Ok(Tree::Object(fields))
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Reader)
    }
}
