//! From the entries of a transcript to the conversation as it stands.
//!
//! Pure. Entries point to their parents; rewinding makes branches, parallel tool calls make short side branches,
//! compaction starts a new root and may keep older messages behind its summary. [`Index::conversation`] follows the
//! newest branch back to its root and puts those two back in.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::entry::{Entry, MessagePart};
use super::lines::Span;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    System,
    /// Part of the chain, but nothing to show.
    Link,
}

/// An entry of the chain, without its content.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) uuid: String,
    pub(super) span: Span,
    pub(super) role: Role,
    pub(super) sidechain: bool,
    /// A note of the CLI to the model, or a message to a teammate.
    hidden: bool,
    tool_result: bool,
    parent: Option<String>,
    timestamp: String,
    /// The API's id of the answer that the block belongs to.
    answer: Option<String>,
}

/// Whose file it is: in a sub-agent's own file every entry is marked as a side chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Session,
    Subagent,
}

/// All entries of a transcript that belong to chains.
#[derive(Debug, Default)]
pub(super) struct Index {
    records: Vec<Record>,
    by_uuid: HashMap<String, usize>,
    kept: Vec<Kept>,
}

/// Messages that a compaction keeps behind its summary.
#[derive(Debug)]
struct Kept {
    anchor: String,
    uuids: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompactMetadata {
    preserved_messages: Option<PreservedMessages>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PreservedMessages {
    anchor_uuid: String,
    #[serde(default)]
    uuids: Vec<String>,
    all_uuids: Option<Vec<String>>,
}

impl Index {
    /// Takes the next line of the file. A line with the id of an earlier one replaces it.
    pub(super) fn add(&mut self, span: Span, line: &[u8]) {
        let Some(entry) = Entry::parse(line) else {
            return;
        };
        let role = match &*entry.kind {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            "attachment" | "progress" => Role::Link,
            _ => return,
        };
        let Some(uuid) = entry.uuid.as_deref().map(ToOwned::to_owned) else {
            return;
        };
        if entry.is_boundary() {
            self.kept.extend(entry.compact_metadata.and_then(kept));
        }
        let part = entry.message.and_then(MessagePart::parse);
        let is_result = |part: &MessagePart<'_>| {
            let mut blocks = part.blocks().into_iter();
            blocks.any(|block| block.kind.as_deref() == Some("tool_result"))
        };
        let record = Record {
            span,
            role,
            sidechain: entry.is_sidechain == Some(true),
            hidden: entry.is_meta == Some(true) || entry.team_name.is_some(),
            tool_result: role == Role::User && part.as_ref().is_some_and(is_result),
            parent: entry.parent_uuid.as_deref().map(ToOwned::to_owned),
            timestamp: entry.timestamp.as_deref().unwrap_or_default().to_owned(),
            answer: part
                .filter(|_| role == Role::Assistant)
                .and_then(|part| part.id.map(std::borrow::Cow::into_owned)),
            uuid: uuid.clone(),
        };
        self.by_uuid.insert(uuid, self.records.len());
        self.records.push(record);
    }

    /// The conversation in its order, as far as it is to be shown.
    pub(super) fn conversation(&self, owner: Owner) -> Vec<&Record> {
        let parents = self.parents();
        let Some(leaf) = self.leaf(&parents, owner) else {
            return Vec::new();
        };
        let mut seen = HashSet::new();
        let mut chain: Vec<usize> = std::iter::successors(Some(leaf), |at| parents[*at])
            .take_while(|at| seen.insert(*at))
            .collect();
        chain.reverse();
        let chain = self.with_parallel_calls(&chain, &seen, &parents);
        let shown = chain.into_iter().map(|at| &self.records[at]);
        shown
            .filter(|record| record.role != Role::Link && !record.hidden)
            .filter(|record| owner == Owner::Subagent || !record.sidechain)
            .collect()
    }

    /// The parent of every record, with kept messages moved behind the summary.
    fn parents(&self) -> Vec<Option<usize>> {
        let find = |uuid: &String| self.by_uuid.get(uuid).copied();
        let parent = |record: &Record| record.parent.as_ref().and_then(find);
        let mut parents: Vec<_> = self.records.iter().map(parent).collect();
        for kept in &self.kept {
            let list: Vec<usize> = kept.uuids.iter().filter_map(find).collect();
            let (Some(anchor), Some(tail)) = (find(&kept.anchor), list.last().copied()) else {
                continue;
            };
            for parent in parents.iter_mut().filter(|parent| **parent == Some(anchor)) {
                *parent = Some(tail);
            }
            let mut before = anchor;
            for at in list {
                parents[at] = Some(before);
                before = at;
            }
        }
        parents
    }

    /// The last message of the newest branch.
    fn leaf(&self, parents: &[Option<usize>], owner: Owner) -> Option<usize> {
        let has_children: HashSet<usize> = parents.iter().flatten().copied().collect();
        let current = |at: &usize| self.by_uuid.get(&self.records[*at].uuid) == Some(at);
        let ends = (0..self.records.len())
            .rev()
            .filter(|at| current(at) && !has_children.contains(at));
        let mut second_choice = None;
        for end in ends {
            let mut seen = HashSet::new();
            let message = std::iter::successors(Some(end), |at| parents[*at])
                .take_while(|at| seen.insert(*at))
                .find(|at| matches!(self.records[*at].role, Role::User | Role::Assistant));
            let Some(at) = message else { continue };
            let record = &self.records[at];
            if !record.hidden && (owner == Owner::Subagent || !record.sidechain) {
                return Some(at);
            }
            second_choice = second_choice.or(Some(at));
        }
        second_choice
    }

    /// Adds the calls of the same answer, and their results, that the chain went past.
    fn with_parallel_calls(
        &self,
        chain: &[usize],
        seen: &HashSet<usize>,
        parents: &[Option<usize>],
    ) -> Vec<usize> {
        let answer = |at: usize| self.records[at].answer.as_deref();
        let mut last_of: HashMap<&str, usize> = HashMap::new();
        for at in chain {
            if let Some(answer) = answer(*at) {
                last_of.insert(answer, *at);
            }
        }
        let mut calls: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut results: HashMap<usize, Vec<usize>> = HashMap::new();
        for at in (0..self.records.len()).filter(|at| !seen.contains(at)) {
            let record = &self.records[at];
            if self.by_uuid.get(&record.uuid) != Some(&at) {
                continue;
            }
            let owner = if record.tool_result {
                parents[at].and_then(answer)
            } else {
                None
            };
            if let Some(last) = answer(at).and_then(|answer| last_of.get(answer)) {
                calls.entry(*last).or_default().push(at);
            } else if let Some(last) = owner.and_then(|answer| last_of.get(answer)) {
                results.entry(*last).or_default().push(at);
            }
        }
        let mut whole = Vec::with_capacity(chain.len());
        for at in chain {
            whole.push(*at);
            for group in [&mut calls, &mut results] {
                let mut missing = group.remove(at).unwrap_or_default();
                missing.sort_by_key(|at| &self.records[*at].timestamp);
                whole.append(&mut missing);
            }
        }
        whole
    }
}

fn kept(metadata: &RawValue) -> Option<Kept> {
    let metadata: CompactMetadata = serde_json::from_str(metadata.get()).ok()?;
    let preserved = metadata.preserved_messages?;
    Some(Kept {
        anchor: preserved.anchor_uuid,
        uuids: preserved.all_uuids.unwrap_or(preserved.uuids),
    })
}
