//! Copies on their way: the host is asked for one before it is in a list.
//!
//! What is wanted is kept first, so that a pylon which dies in between can list the copy that the host has made. Listing
//! it, or giving it up, takes it from here.

use estelle_proto::{ConversationId, PermissionMode};
use rusqlite::{Connection, params};

use super::conversations::NewConversation;
use super::row::{moment, parsed, word, word_option};
use super::threads::Keep;
use super::{Store, StoreError};

impl Store {
    /// Keeps what the host is about to be asked for. Without an id there is nothing to find again.
    pub async fn intend_fork(&self, new: NewConversation) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| Ok(insert(db, &new)?)).await
    }

    /// Forgets a copy that the host does not have.
    pub async fn give_up_fork(&self, id: ConversationId) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| Ok(settle(db, &id)?)).await
    }

    /// Copies that were asked for and are in no list.
    pub async fn unlisted_forks(&self) -> Result<Vec<NewConversation>, StoreError> {
        self.read(|db| {
            let mut list = db.prepare_cached(
                "SELECT id, workspace, name, skill_type, permission_mode, model, at FROM forks ORDER BY at",
            )?;
            let rows = list.query_map([], |row| {
                Ok(NewConversation {
                    id: Some(parsed(row, 0)?),
                    workspace_id: parsed(row, 1)?,
                    name: parsed(row, 2)?,
                    skill_type: word(row, 3)?,
                    permission_mode: word_option(row, 4)?,
                    model: row.get(5)?,
                    at: moment(row, 6)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

fn insert(db: &Connection, new: &NewConversation) -> rusqlite::Result<()> {
    let Some(id) = &new.id else {
        return Ok(());
    };
    db.prepare_cached(
        "INSERT OR REPLACE INTO forks (id, workspace, name, skill_type, permission_mode, model, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        id.as_str(),
        new.workspace_id.as_str(),
        new.name.as_str(),
        new.skill_type.as_str(),
        new.permission_mode.as_ref().map(PermissionMode::as_str),
        new.model,
        new.at.0,
    ])
    .map(|_| ())
}

/// It is in a list, or nowhere.
pub(super) fn settle(db: &Connection, id: &ConversationId) -> rusqlite::Result<()> {
    let mut delete = db.prepare_cached("DELETE FROM forks WHERE id = ?1")?;
    delete.execute([id.as_str()]).map(|_| ())
}
