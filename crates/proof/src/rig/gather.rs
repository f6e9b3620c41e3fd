//! From what lies on the disk to a history.

use std::path::Path;

use anyhow::Context as _;
use estelle_host::log::inspect;
use estelle_proto::{ConversationId, Epoch, Seq};
use rusqlite::{Connection, OpenFlags};

use super::agent::{MARKERS, TRUTH};
use super::{Rig, census};
use crate::history::{
    App, Client, Conversation, End, Fact, History, Life, Logged, Shelf, ShelfRow, from_journal,
    from_simulator,
};

pub(super) fn history(
    rig: &Rig,
    clients: Vec<Client>,
    apps: Vec<App>,
    end: End,
) -> anyhow::Result<History> {
    let data = rig.data();
    let mut history = History {
        conversations: Vec::new(),
        clients,
        apps,
        shelves: shelves(&data)?,
        processes: Vec::new(),
        killed: rig.killed.clone(),
        end,
    };
    for id in &rig.conversations {
        let lives = lives(rig, id)?;
        if lives.is_empty() {
            continue;
        }
        history.processes.extend(census::processes(&data, id));
        let work = rig.work(id);
        // A run is told before its mark is made. So the marks are read first: a process that still works could otherwise
        // leave one between the two, and its run would not be known.
        let markers = markers(&work.join(MARKERS));
        let truth = if rig.agent.tells_truth {
            Some(from_simulator(&work.join(TRUTH)).context("read the truth")?)
        } else if lives.len() > 1 || !rig.log(id).exists() {
            // Journals go with what they told.
            None
        } else {
            Some(from_journals(&data, id)?)
        };
        history.conversations.push(Conversation {
            id: id.clone(),
            lives,
            truth,
            markers,
        });
    }
    Ok(history)
}

/// What the Pylon's database holds, read without the Pylon's own code.
fn shelves(data: &Path) -> anyhow::Result<Vec<Shelf>> {
    let path = data.join("pylon").join("pylon.db");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    // All of one moment.
    db.execute_batch("BEGIN")?;
    let mut list = db.prepare("SELECT id, epoch, seq, shelf FROM conversations")?;
    let found = list.query_map([], |row| {
        let (id, epoch): (String, Option<u32>) = (row.get(0)?, row.get(1)?);
        let (seq, shelf): (u32, i64) = (row.get(2)?, row.get(3)?);
        Ok((id, epoch, seq, shelf))
    })?;
    let mut shelves = Vec::new();
    for found in found {
        let (id, epoch, seq, shelf) = found?;
        shelves.push(Shelf {
            conversation: ConversationId::parse(&id)?,
            epoch: epoch.map(|epoch| Epoch(epoch.into())),
            seq: Seq(seq.into()),
            rows: rows(&db, shelf)?,
        });
    }
    Ok(shelves)
}

fn rows(db: &Connection, shelf: i64) -> anyhow::Result<Vec<ShelfRow>> {
    let mut list =
        db.prepare("SELECT epoch, seq, body FROM history WHERE shelf = ?1 ORDER BY id")?;
    let found = list.query_map([shelf], |row| {
        let (epoch, seq): (u32, u32) = (row.get(0)?, row.get(1)?);
        let body: String = row.get(2)?;
        Ok((epoch, seq, body))
    })?;
    let mut rows = Vec::new();
    for found in found {
        let (epoch, seq, body) = found?;
        rows.push(ShelfRow {
            epoch: Epoch(epoch.into()),
            seq: Seq(seq.into()),
            message: serde_json::from_str(&body).with_context(|| body.clone())?,
        });
    }
    Ok(rows)
}

/// The logs that were kept while they were there, and the one that is.
fn lives(rig: &Rig, id: &ConversationId) -> anyhow::Result<Vec<Life>> {
    let mut lives = Vec::new();
    for kept in rig.kept.iter().filter(|kept| kept.id == *id) {
        let replaced = kept.replaced;
        lives.push(Life {
            replaced,
            ..life(&kept.path)?
        });
    }
    let path = rig.log(id);
    if path.exists() {
        lives.push(life(&path)?);
    }
    Ok(lives)
}

fn life(path: &Path) -> anyhow::Result<Life> {
    let inspected = inspect(path).with_context(|| format!("read {}", path.display()))?;
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
        replaced: false,
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
