//! The environment variables the process is given.
//!
//! Describes changes only; nothing here reads the program's own environment. Names are shown in `Debug`, values
//! never, because keys and tokens travel this way.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// Environment of the process: what is inherited, set and removed.
///
/// ```
/// use estelle_claude::options::Environment;
///
/// let inherited = Environment::inherited().set("ANTHROPIC_MODEL", "haiku").remove("HTTP_PROXY");
/// let clean = Environment::clean().set("PATH", "/usr/bin").set("HOME", "/home/me");
/// # let _ = (inherited, clean);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct Environment {
    pub(crate) clean: bool,
    /// `None` removes the variable.
    pub(crate) changes: BTreeMap<OsString, Option<OsString>>,
}

impl Environment {
    /// Everything this program has. The default.
    pub fn inherited() -> Self {
        Self::default()
    }

    /// Nothing but what is set here and what the SDK itself adds.
    pub fn clean() -> Self {
        Self {
            clean: true,
            ..Self::default()
        }
    }

    /// Sets a variable.
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), Some(value.into()));
        self
    }

    /// Removes a variable, also one that the SDK would add.
    pub fn remove(mut self, name: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), None);
        self
    }

    /// Whether the caller has decided about this variable, one way or the other.
    pub(crate) fn decides(&self, name: &str) -> bool {
        self.changes.contains_key(OsStr::new(name))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |set: bool| {
            self.changes
                .iter()
                .filter(move |(_, value)| value.is_some() == set)
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        };
        f.debug_struct("Environment")
            .field("clean", &self.clean)
            .field("set", &names(true))
            .field("removed", &names(false))
            .finish()
    }
}
