//! Ids that may become part of a path.
//!
//! Both are checked when they are made, so that no separator, dot or empty name ever reaches the file system. They keep
//! the letters as given, because file names are compared byte for byte.

use std::fmt;
use std::str::FromStr;

/// A text that is no id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {kind} id: {text:?}")]
pub struct InvalidId {
    kind: &'static str,
    text: String,
}

/// The id of a saved conversation: a UUID in its hyphenated form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

impl SessionId {
    pub(super) fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        // The parser also takes braces and forms without hyphens, which are no file names of the CLI.
        if text.len() == 36 && uuid::Uuid::try_parse(text).is_ok() {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId {
                kind: "session",
                text: text.to_owned(),
            })
        }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a sub-agent of a conversation: letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(String);

impl AgentId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !text.is_empty() && text.len() <= 128 && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId {
                kind: "agent",
                text: text.to_owned(),
            })
        }
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
