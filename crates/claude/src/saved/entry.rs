//! One line of a transcript, as far as this module must understand it.
//!
//! [`Entry`] borrows from the line and leaves the message itself raw. [`Members`] keeps every member of a line in its
//! order, so that a changed copy says the same in all else. A line that does not fit is no entry; nothing fails.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The members that matter for listing, ordering and copying.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) parent_uuid: Option<Cow<'a, str>>,
    pub(super) is_sidechain: Option<bool>,
    pub(super) is_meta: Option<bool>,
    pub(super) is_compact_summary: Option<bool>,
    #[serde(borrow)]
    pub(super) timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) git_branch: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) team_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) custom_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) ai_title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) last_prompt: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) summary: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) tag: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) compact_metadata: Option<&'a RawValue>,
}

impl<'a> Entry<'a> {
    /// Reads a line; none if it is not such an object.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    pub(super) fn is_boundary(&self) -> bool {
        self.is("system") && self.subtype.as_deref() == Some("compact_boundary")
    }
}

/// The part of a message that orders parallel tool calls and tells prompts from tool results.
#[derive(Debug, Deserialize)]
pub(super) struct MessagePart<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
}

/// A content block, as far as it matters here.
#[derive(Debug, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) text: Option<Cow<'a, str>>,
}

impl<'a> MessagePart<'a> {
    pub(super) fn parse(message: &'a RawValue) -> Option<Self> {
        serde_json::from_str(message.get()).ok()
    }

    /// The content as blocks; plain text is one text block.
    pub(super) fn blocks(&self) -> Vec<Block<'a>> {
        let Some(content) = self.content else {
            return Vec::new();
        };
        if let Ok(Text(text)) = serde_json::from_str(content.get()) {
            let kind = Some(Cow::Borrowed("text"));
            let text = Some(text);
            return vec![Block { kind, text }];
        }
        serde_json::from_str(content.get()).unwrap_or_default()
    }
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// All members of a JSON object in their order, each value as it was written.
#[derive(Debug, Default)]
pub(super) struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        serde_json::from_str(value.get()).ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| &**value)
    }

    /// Replaces a member where it stands, or adds it at the end.
    pub(super) fn set(&mut self, name: &str, value: &impl Serialize) -> serde_json::Result<()> {
        let value = serde_json::value::to_raw_value(value)?;
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name);
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
