//! Workspaces, and which of them is active.
//!
//! Making a workspace makes its first conversation and activates both. Deleting the active one activates the first that
//! is left, or none. Whether a folder may be a workspace is not decided here, and runs are stopped by the caller once
//! the workspace is out of the lists (`removals`).

use std::str::FromStr;

use estelle_proto::{
    Conversation, ConversationId, DeviceId, Name, PathText, SkillType, TextError, Timestamp,
    WorkerStatus, Workspace, WorkspaceId,
};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::conversations::{self, NewConversation};
use super::row::{moment, parsed};
use super::threads::Keep;
use super::{Store, StoreError, removals};

/// A workspace to be.
#[derive(Debug, Clone)]
pub struct NewWorkspace {
    /// Its name.
    pub name: Name,
    /// The folder in which the agent will work.
    pub working_dir: PathText,
    /// The name of its first conversation.
    pub conversation_name: Name,
    /// Now.
    pub at: Timestamp,
}

/// All workspaces and what is active. Tasks and workers are known elsewhere: the lists are empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// In the order in which they were made.
    pub workspaces: Vec<Workspace>,
    /// The active one.
    pub active_workspace_id: Option<WorkspaceId>,
    /// The active conversation.
    pub active_conversation_id: Option<ConversationId>,
}

/// Why nothing was done with a workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// There is none of this id.
    #[error("there is no workspace {id}")]
    UnknownWorkspace {
        /// The id.
        id: WorkspaceId,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(WorkspaceError);

impl Store {
    /// All workspaces with their conversations; `unread` as seen by a device that is registered.
    pub async fn workspaces(&self, device: Option<DeviceId>) -> Result<Listing, StoreError> {
        self.read(move |db| Ok(list(db, device)?)).await
    }

    /// Makes a workspace with a first conversation and activates both.
    pub async fn create_workspace(
        &self,
        new: NewWorkspace,
    ) -> Result<(Workspace, Conversation), StoreError> {
        self.write(Keep::Own, move |db| Ok(create(db, &new)?)).await
    }

    /// Deletes a workspace with everything in it. Gives the conversations that are gone with it.
    pub async fn delete_workspace(
        &self,
        id: WorkspaceId,
    ) -> Result<Vec<ConversationId>, WorkspaceError> {
        self.write(Keep::Own, move |db| delete(db, &id)).await
    }

    /// Gives a workspace another name.
    pub async fn rename_workspace(
        &self,
        id: WorkspaceId,
        name: Name,
    ) -> Result<(), WorkspaceError> {
        self.write(Keep::Own, move |db| {
            let key = known_key(db, &id)?;
            db.prepare_cached("UPDATE workspaces SET name = ?2 WHERE key = ?1")?
                .execute(params![key, name.as_str()])?;
            Ok(())
        })
        .await
    }

    /// Makes a workspace and one of its conversations the active ones: the one named, else the first, else none.
    pub async fn switch_workspace(
        &self,
        id: WorkspaceId,
        conversation: Option<ConversationId>,
        at: Timestamp,
    ) -> Result<Option<ConversationId>, WorkspaceError> {
        self.write(Keep::Own, move |db| {
            let key = known_key(db, &id)?;
            let named = match conversation {
                Some(named) => conversations::key_in(db, key, &named)?,
                None => None,
            };
            let active = match named {
                Some(named) => Some(named),
                None => first_conversation(db, key)?,
            };
            activate(db, Some(key), active)?;
            db.prepare_cached("UPDATE workspaces SET last_used = ?2 WHERE key = ?1")?
                .execute(params![key, at.0])?;
            Ok(active_ids(db)?.1)
        })
        .await
    }

    /// Workspaces whose name is this one, or holds it, without regard to case: exact ones first.
    pub async fn find_workspaces(&self, name: String) -> Result<Vec<WorkspaceId>, StoreError> {
        let sought = name.to_lowercase();
        self.read(move |db| {
            let mut all = db.prepare_cached("SELECT id, name FROM workspaces ORDER BY key")?;
            let rows = all.query_map([], |row| Ok((parsed(row, 0)?, row.get::<_, String>(1)?)))?;
            let mut found = Vec::new();
            for row in rows {
                let (id, name): (WorkspaceId, String) = row?;
                let name = name.to_lowercase();
                if name.contains(&sought) {
                    found.push((name != sought, id));
                }
            }
            found.sort_by_key(|(is_partial, _)| *is_partial);
            Ok(found.into_iter().map(|(_, id)| id).collect())
        })
        .await
    }
}

/// The key of a workspace that must exist.
pub(super) fn known_key(db: &Connection, id: &WorkspaceId) -> Result<i64, WorkspaceError> {
    find_key(db, id)?.ok_or_else(|| WorkspaceError::UnknownWorkspace { id: id.clone() })
}

/// The key of a workspace.
pub(super) fn find_key(db: &Connection, id: &WorkspaceId) -> rusqlite::Result<Option<i64>> {
    let mut find = db.prepare_cached("SELECT key FROM workspaces WHERE id = ?1")?;
    find.query_row([id.as_str()], |row| row.get(0)).optional()
}

/// Sets what is active.
pub(super) fn activate(
    db: &Connection,
    workspace: Option<i64>,
    conversation: Option<i64>,
) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE pylon SET active_workspace = ?1, active_conversation = ?2")?
        .execute(params![workspace, conversation])
        .map(|_| ())
}

/// The conversation of a workspace that was made first.
pub(super) fn first_conversation(db: &Connection, workspace: i64) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT key FROM conversations WHERE workspace = ?1 ORDER BY key LIMIT 1")?
        .query_row([workspace], |row| row.get(0))
        .optional()
}

/// The keys of what is active.
pub(super) fn active_keys(db: &Connection) -> rusqlite::Result<(Option<i64>, Option<i64>)> {
    db.prepare_cached("SELECT active_workspace, active_conversation FROM pylon")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn active_ids(db: &Connection) -> rusqlite::Result<(Option<WorkspaceId>, Option<ConversationId>)> {
    db.prepare_cached(
        "SELECT w.id, c.id FROM pylon \
         LEFT JOIN workspaces w ON w.key = active_workspace \
         LEFT JOIN conversations c ON c.key = active_conversation",
    )?
    .query_row([], |row| {
        Ok((
            super::row::parsed_option(row, 0)?,
            super::row::parsed_option(row, 1)?,
        ))
    })
}

/// Puts a workspace into the database.
pub(super) fn insert(
    db: &Connection,
    id: &WorkspaceId,
    name: &Name,
    working_dir: &PathText,
    at: Timestamp,
) -> rusqlite::Result<i64> {
    db.prepare_cached(
        "INSERT INTO workspaces (id, name, working_dir, created_at, last_used) VALUES (?1, ?2, ?3, ?4, ?4)",
    )?
    .execute(params![id.as_str(), name.as_str(), working_dir.as_str(), at.0])?;
    Ok(db.last_insert_rowid())
}

fn create(db: &Connection, new: &NewWorkspace) -> rusqlite::Result<(Workspace, Conversation)> {
    let id = fresh_id::<WorkspaceId>()?;
    let key = insert(db, &id, &new.name, &new.working_dir, new.at)?;
    let first = NewConversation {
        id: None,
        workspace_id: id.clone(),
        name: new.conversation_name.clone(),
        skill_type: SkillType::General,
        model: None,
        permission_mode: None,
        at: new.at,
    };
    let conversation = conversations::create_in(db, key, &first)?;
    let workspace = Workspace {
        is_active: Some(true),
        created_at: Some(new.at),
        last_used: Some(new.at),
        ..Workspace::new(
            id,
            new.name.clone(),
            new.working_dir.clone(),
            vec![conversation.clone()],
            Vec::new(),
            WorkerStatus::new(false),
        )
    };
    Ok((workspace, conversation))
}

/// A new id, sortable by the time of its making.
pub(super) fn fresh_id<T: FromStr<Err = TextError>>() -> rusqlite::Result<T> {
    let text = Uuid::now_v7().to_string();
    let parsed = text.parse();
    parsed.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn delete(db: &Connection, id: &WorkspaceId) -> Result<Vec<ConversationId>, WorkspaceError> {
    let key = known_key(db, id)?;
    let was_active = active_keys(db)?.0 == Some(key);
    let gone = conversations::delete_all(db, key)?;
    let folder = db
        .prepare_cached("DELETE FROM workspaces WHERE key = ?1 RETURNING working_dir")?
        .query_row([key], |row| parsed(row, 0))?;
    removals::of_workspace(db, id, &folder)?;
    if was_active {
        let next = db
            .prepare_cached("SELECT key FROM workspaces ORDER BY key LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        let conversation = match next {
            Some(next) => first_conversation(db, next)?,
            None => None,
        };
        activate(db, next, conversation)?;
    }
    Ok(gone)
}

fn list(db: &Connection, device: Option<DeviceId>) -> rusqlite::Result<Listing> {
    let (active_workspace_id, active_conversation_id) = active_ids(db)?;
    let mut all = db.prepare_cached(
        "SELECT key, id, name, working_dir, created_at, last_used FROM workspaces ORDER BY key",
    )?;
    let mut rows = all.query([])?;
    let mut conversations = conversations::by_workspace(db, device)?;
    let mut workspaces = Vec::new();
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        let id: WorkspaceId = parsed(row, 1)?;
        workspaces.push(Workspace {
            is_active: Some(active_workspace_id.as_ref() == Some(&id)),
            created_at: Some(moment(row, 4)?),
            last_used: Some(moment(row, 5)?),
            ..Workspace::new(
                id,
                parsed(row, 2)?,
                parsed(row, 3)?,
                conversations.remove(&key).unwrap_or_default(),
                Vec::new(),
                WorkerStatus::new(false),
            )
        });
    }
    Ok(Listing {
        workspaces,
        active_workspace_id,
        active_conversation_id,
    })
}
