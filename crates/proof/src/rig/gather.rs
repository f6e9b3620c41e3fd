//! From what lies on the disk to a history.

use std::path::Path;

use anyhow::Context as _;
use estelle_host::log::inspect;
use estelle_proto::ConversationId;

use super::agent::{MARKERS, TRUTH};
use super::{Rig, Viewer, census};
use crate::history::{
    Conversation, End, Fact, History, Life, Logged, from_journal, from_simulator,
};

pub(super) fn history(rig: &Rig, viewers: &[&Viewer], end: End) -> anyhow::Result<History> {
    let data = rig.data();
    let mut history = History {
        conversations: Vec::new(),
        clients: viewers.iter().map(|viewer| viewer.client()).collect(),
        processes: Vec::new(),
        killed: rig.killed.clone(),
        end,
    };
    for id in &rig.conversations {
        if !data.join("conversations").join(id.as_str()).exists() {
            continue;
        }
        history.processes.extend(census::processes(&data, id));
        let work = rig.work(id);
        let truth = if rig.agent.tells_truth {
            from_simulator(&work.join(TRUTH)).context("read the truth")?
        } else {
            from_journals(&data, id)?
        };
        history.conversations.push(Conversation {
            id: id.clone(),
            lives: vec![life(&data, id)?],
            truth: Some(truth),
            markers: markers(&work.join(MARKERS)),
        });
    }
    Ok(history)
}

fn life(data: &Path, id: &ConversationId) -> anyhow::Result<Life> {
    let path = data
        .join("conversations")
        .join(id.as_str())
        .join("log.jsonl");
    let inspected = inspect(&path).with_context(|| format!("read {}", path.display()))?;
    let records = inspected.records.into_iter().map(|record| {
        let entry = serde_json::from_slice(&record.payload)
            .with_context(|| String::from_utf8_lossy(&record.payload).into_owned())?;
        Ok(Logged {
            entry,
            payload: record.payload,
            hash: record.hash.to_string(),
        })
    });
    Ok(Life {
        records: records.collect::<anyhow::Result<_>>()?,
        damage: inspected.damage.map(|damage| format!("{damage:?}")),
    })
}

/// A real CLI does not tell; its journals must do.
fn from_journals(data: &Path, id: &ConversationId) -> anyhow::Result<Vec<Fact>> {
    let mut facts = Vec::new();
    for (_, folder, record) in census::run_records(data, id) {
        if let Some(record) = record {
            let journal = std::fs::read(folder.journal()).context("read a journal")?;
            facts.extend(from_journal(&journal, record.pid, record.start_ticks));
        }
    }
    Ok(facts)
}

fn markers(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect()
}
