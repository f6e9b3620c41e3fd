//! Tools that a person has allowed for a conversation: since when, and on which device.
//!
//! A grant holds as long as the process for which it was given, and at the longest until somebody takes it back. Whether a
//! call may run is decided in `policy`.

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::Remark;
use estelle_proto::{Author, DeviceId, Timestamp};

use super::Conversation;
use super::record::{Entry, Record};
use crate::decisions::Fact;

/// What a person has allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Since when.
    pub since: Timestamp,
    /// On which device.
    pub by: Option<DeviceId>,
    /// The paired device behind that.
    pub author: Option<Author>,
}

/// The tools that are allowed, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Grants(BTreeMap<String, Grant>);

impl Grants {
    pub(super) fn add(&mut self, tool: Option<&String>, fact: &Fact, at: Timestamp) {
        let Some(tool) = tool else { return };
        let (by, author) = match fact {
            Fact::Answered(answered) => (answered.by, answered.author.clone()),
            Fact::Opened(_) | Fact::Delivered(_) | Fact::Settled(_) | Fact::Voided(_) => {
                (None, None)
            }
        };
        let since = at;
        let grant = Grant { since, by, author };
        self.0.entry(tool.clone()).or_insert(grant);
    }

    pub(super) fn remove(&mut self, tool: &str) {
        self.0.remove(tool);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Conversation {
    /// Tools that a person allowed for this conversation.
    pub fn remembered(&self) -> BTreeSet<String> {
        self.grants.0.keys().cloned().collect()
    }

    /// The same, with what is known of each.
    pub fn grants(&self) -> impl Iterator<Item = (&String, &Grant)> {
        self.grants.0.iter()
    }

    /// A person takes it back that a tool runs unasked. Nothing if it does not.
    pub fn revoke(&mut self, at: Timestamp, tool: &str, by: Option<DeviceId>) -> Option<Entry> {
        self.grants.0.get(tool)?;
        let remark = Remark::new("revoked".to_owned(), format!("asks again: {tool}"));
        let record = Record::Revoked {
            tool: tool.to_owned(),
            by,
        };
        let events = vec![ClaudeEvent::Remark(remark).into()];
        Some(self.commit(at, record, events))
    }
}
