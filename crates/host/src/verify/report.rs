//! What was proven, and what was not.

use std::fmt;

use estelle_proto::ConversationId;
use serde::Serialize;

/// What is wrong, or not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// Something was there once and is not in the log.
    Lost,
    /// Something is in the log more than once.
    Duplicated,
    /// Something was skipped.
    Gap,
    /// Something is not what was written.
    Damage,
    /// It cannot be known.
    Unproven,
}

/// One thing that is wrong, or not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// How many bytes, messages or events it is about.
    pub count: u64,
    /// What and where, for people.
    pub what: String,
}

/// What was found out about one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Which.
    pub conversation: ConversationId,
    /// Records of the log whose chain is proven.
    pub records: u64,
    /// Events in them.
    pub events: u64,
    /// How often the end of the log was cut off because an append had not finished or a record was damaged.
    pub cuts: u64,
    /// The bytes that this was about.
    pub cut_bytes: u64,
    /// Runs that the log knows.
    pub runs: u64,
    /// Bytes of journals that are the ones that were read.
    pub journal_bytes: u64,
    /// Messages of the CLI's transcripts that went through a journal.
    pub transcript_messages: u64,
    /// What is wrong, or not known.
    pub findings: Vec<Finding>,
}

/// What was found out about all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// One by one.
    pub conversations: Vec<Checked>,
}

impl Checked {
    pub(super) fn new(conversation: ConversationId) -> Self {
        Self {
            conversation,
            records: 0,
            events: 0,
            cuts: 0,
            cut_bytes: 0,
            runs: 0,
            journal_bytes: 0,
            transcript_messages: 0,
            findings: Vec::new(),
        }
    }

    pub(super) fn find(&mut self, kind: FindingKind, count: u64, what: impl Into<String>) {
        let what = what.into();
        self.findings.push(Finding { kind, count, what });
    }
}

impl Report {
    /// How much of a kind there is, over all conversations.
    pub fn count(&self, kind: FindingKind) -> u64 {
        let findings = self.conversations.iter().flat_map(|one| &one.findings);
        let of_kind = findings.filter(|finding| finding.kind == kind);
        of_kind.map(|finding| finding.count).sum()
    }

    /// Whether nothing is wrong. What is unproven is not wrong.
    pub fn is_sound(&self) -> bool {
        let findings = self.conversations.iter().flat_map(|one| &one.findings);
        findings
            .filter(|finding| finding.kind != FindingKind::Unproven)
            .count()
            == 0
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "lost",
            Self::Duplicated => "duplicated",
            Self::Gap => "gap",
            Self::Damage => "damage",
            Self::Unproven => "unproven",
        })
    }
}
