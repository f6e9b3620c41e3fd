//! Removals under way: what is out of the lists, and of which the host may still have something.
//!
//! The row is written in the transaction that takes the thing out of the lists. So a pylon that dies, whenever it does,
//! leaves either everything as it was or a row that says what the next one has to finish
//! ([crash windows](../../../../docs/design/removals.md)).

use estelle_proto::{ConversationId, PathText, WorkspaceId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::row::parsed;
use super::threads::Keep;
use super::{Store, StoreError};

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// A conversation: the host has a log, and perhaps a run.
    Conversation(ConversationId),
    /// A workspace that was in this folder: its worker had a task in hand, perhaps.
    Workspace(WorkspaceId, PathText),
    /// The history of a conversation that stays: the host has the log, and the agent its session.
    History(ConversationId),
}

/// A removal that may not be finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Its number; later ones have higher ones.
    pub key: i64,
    /// What was removed.
    pub what: Removed,
}

const CONVERSATION: &str = "conversation";
const WORKSPACE: &str = "workspace";
const HISTORY: &str = "history";

impl Store {
    /// All removals that may not be finished, oldest first.
    pub async fn removals(&self) -> Result<Vec<Removal>, StoreError> {
        self.read(|db| {
            let mut all =
                db.prepare_cached("SELECT key, kind, id, folder FROM removals ORDER BY key")?;
            let mut rows = all.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let kind: String = row.get(1)?;
                let what = match kind.as_str() {
                    CONVERSATION => Removed::Conversation(parsed(row, 2)?),
                    WORKSPACE => Removed::Workspace(parsed(row, 2)?, parsed(row, 3)?),
                    _ => Removed::History(parsed(row, 2)?),
                };
                let key = row.get(0)?;
                found.push(Removal { key, what });
            }
            Ok(found)
        })
        .await
    }

    /// The number of the newest removal; 0 if there is none.
    pub async fn last_removal(&self) -> Result<i64, StoreError> {
        self.read(|db| {
            let mut newest = db.prepare_cached("SELECT coalesce(max(key), 0) FROM removals")?;
            Ok(newest.query_row([], |row| row.get(0))?)
        })
        .await
    }

    /// Nothing is left to do about it.
    pub async fn finish_removal(&self, what: Removed) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            let (kind, id) = match &what {
                Removed::Conversation(id) => (CONVERSATION, id.as_str()),
                Removed::Workspace(id, _) => (WORKSPACE, id.as_str()),
                Removed::History(id) => (HISTORY, id.as_str()),
            };
            Ok(forget(db, kind, id)?)
        })
        .await
    }

    /// Whether the history of a conversation was cleared here and the host is not known to have followed.
    pub async fn is_clearing(&self, id: ConversationId) -> Result<bool, StoreError> {
        self.read(move |db| {
            let mut find =
                db.prepare_cached("SELECT 1 FROM removals WHERE kind = ?1 AND id = ?2")?;
            let found = find.query_row([HISTORY, id.as_str()], |_| Ok(()));
            Ok(found.optional()?.is_some())
        })
        .await
    }
}

/// A conversation goes, and with it whatever was to be done about its history.
pub(super) fn of_conversation(db: &Connection, id: &ConversationId) -> rusqlite::Result<()> {
    forget(db, HISTORY, id.as_str())?;
    insert(db, CONVERSATION, id.as_str(), None)
}

/// A workspace goes. To be called after its conversations.
pub(super) fn of_workspace(
    db: &Connection,
    id: &WorkspaceId,
    folder: &PathText,
) -> rusqlite::Result<()> {
    insert(db, WORKSPACE, id.as_str(), Some(folder.as_str()))
}

/// A history goes.
pub(super) fn of_history(db: &Connection, id: &ConversationId) -> rusqlite::Result<()> {
    insert(db, HISTORY, id.as_str(), None)
}

fn insert(db: &Connection, kind: &str, id: &str, folder: Option<&str>) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO removals (kind, id, folder) VALUES (?1, ?2, ?3)")?
        .execute(params![kind, id, folder])
        .map(|_| ())
}

fn forget(db: &Connection, kind: &str, id: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM removals WHERE kind = ?1 AND id = ?2")?
        .execute([kind, id])
        .map(|_| ())
}
