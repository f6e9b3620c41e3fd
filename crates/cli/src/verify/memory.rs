//! The Pylon's memory against the host's logs: every entry of history is what its event says, once and in order.
//!
//! The database is read before the logs: whatever it knows is in a log by then. What it has not taken in yet is unproven,
//! and so is what a host at work may be changing.

use std::path::Path;

use anyhow::Context as _;
use estelle_host::verify::{Finding, FindingKind, Published, Report, published};
use estelle_proto::{ConversationId, Seq};
use estelle_pylon::store::{Differences, Kept, Witness};
use serde::Serialize;

use super::counted;

/// How many numbers are named.
const NAMED: usize = 5;

/// What was found out about the database.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Memory {
    /// Entries of history that say what their events say.
    pub(super) entries: u64,
    /// What is wrong with the file itself.
    pub(super) findings: Vec<Finding>,
}

/// A database that was looked at before the logs.
pub(super) struct Asked {
    witness: Witness,
    kept: Vec<Kept>,
    memory: Memory,
}

impl Asked {
    /// Looks at the database of a data folder; none if there is none.
    pub(super) fn open(folder: &Path) -> anyhow::Result<Option<Self>> {
        let failed = || format!("failed to look at the database in {}", folder.display());
        let Some(witness) = Witness::open(folder).with_context(failed)? else {
            return Ok(None);
        };
        let kept = witness.conversations().with_context(failed)?;
        let findings = witness.findings().with_context(failed)?;
        let findings = findings.into_iter();
        let findings = findings.map(|what| finding(FindingKind::Damage, 1, what));
        let memory = Memory {
            entries: 0,
            findings: findings.collect(),
        };
        Ok(Some(Self {
            witness,
            kept,
            memory,
        }))
    }

    /// Holds what it has against the logs; what is found is added to the report.
    pub(super) fn compare(
        mut self,
        data: &Path,
        only: Option<&ConversationId>,
        report: &mut Report,
    ) -> anyhow::Result<Memory> {
        let kept = std::mem::take(&mut self.kept);
        let asked_for = |one: &&Kept| only.is_none_or(|only| *only == one.conversation_id);
        for one in kept.iter().filter(asked_for) {
            let id = &one.conversation_id;
            let told = published(data, id)?;
            let mut checked = report.conversations.iter_mut();
            let found = match (checked.find(|checked| checked.conversation == *id), told) {
                (Some(checked), Some(told)) => {
                    let found = self.findings(one, &told)?;
                    checked.findings.extend(found);
                    continue;
                }
                (_, None) if one.entries == 0 => continue,
                (_, _) => finding(
                    FindingKind::Lost,
                    one.entries,
                    format!(
                        "the database has {} of {id}, and the host has no log of it that can be read",
                        counted(one.entries, "entry")
                    ),
                ),
            };
            self.memory.findings.push(found);
        }
        for checked in &mut report.conversations {
            if !kept
                .iter()
                .any(|one| one.conversation_id == checked.conversation)
            {
                let what = "the Pylon does not list this conversation, so it has no history of it";
                checked
                    .findings
                    .push(finding(FindingKind::Unproven, 1, what.to_owned()));
            }
        }
        Ok(self.memory)
    }

    fn findings(&mut self, kept: &Kept, told: &Published) -> anyhow::Result<Vec<Finding>> {
        let head = Seq(told.events.len() as u64);
        let Some(cursor) = kept
            .cursor
            .as_ref()
            .filter(|cursor| cursor.epoch == told.epoch)
        else {
            if head == Seq(0) {
                return Ok(Vec::new());
            }
            let what = "the Pylon has not taken in this life of the log yet";
            return Ok(vec![finding(
                FindingKind::Unproven,
                head.0,
                what.to_owned(),
            )]);
        };
        if cursor.seq > head {
            let what = format!(
                "the Pylon knows events up to {}, and the log ends at {head}",
                cursor.seq
            );
            return Ok(vec![finding(
                FindingKind::Lost,
                cursor.seq.0 - head.0,
                what,
            )]);
        }
        let mut found = Vec::new();
        let newest = cursor.seq.0.checked_sub(1);
        let newest = newest.and_then(|at| told.events.get(usize::try_from(at).ok()?));
        if newest.is_some_and(|event| event.chain_hash != cursor.chain_hash) {
            let what = format!("the Pylon's event {} is not the one of the log", cursor.seq);
            found.push(finding(FindingKind::Damage, 1, what));
        }
        if cursor.seq < head {
            let what = format!(
                "the Pylon has not taken in what follows event {}",
                cursor.seq
            );
            found.push(finding(FindingKind::Unproven, head.0 - cursor.seq.0, what));
        }
        let differences = self.witness.compare(&kept.conversation_id, &told.events)?;
        self.memory.entries += differences.agree;
        found.extend(of_rows(&differences));
        Ok(found)
    }
}

fn of_rows(differences: &Differences) -> impl Iterator<Item = Finding> + use<> {
    let Differences {
        lost,
        doubled,
        altered,
        gaps,
        ..
    } = differences;
    let named = |kind, seqs: &[Seq], what: &str| {
        (!seqs.is_empty()).then(|| {
            let first: Vec<String> = seqs.iter().take(NAMED).map(Seq::to_string).collect();
            let more = if seqs.len() > NAMED { ", ..." } else { "" };
            let what = format!("history: {what}: {}{more}", first.join(", "));
            finding(kind, seqs.len() as u64, what)
        })
    };
    let skipped = (*gaps > 0).then(|| {
        let what = "history: places of entries are skipped".to_owned();
        finding(FindingKind::Gap, *gaps, what)
    });
    [
        named(FindingKind::Lost, lost, "events without their entry"),
        named(
            FindingKind::Duplicated,
            doubled,
            "entries that no event made",
        ),
        named(
            FindingKind::Damage,
            altered,
            "entries that say something else than their event",
        ),
        skipped,
    ]
    .into_iter()
    .flatten()
}

fn finding(kind: FindingKind, count: u64, what: String) -> Finding {
    Finding { kind, count, what }
}

impl Memory {
    /// How much of a kind there is in the file itself.
    pub(super) fn count(&self, kind: FindingKind) -> u64 {
        let of_kind = self.findings.iter().filter(|finding| finding.kind == kind);
        of_kind.map(|finding| finding.count).sum()
    }

    /// Whether nothing is wrong with the file itself.
    pub(super) fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}
