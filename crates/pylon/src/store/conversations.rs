//! Conversations: their names, modes, models and sessions, and what becomes active when one is deleted.
//!
//! The state of a conversation is folded from its events (`apply`); people change the rest here. Looked up by their own
//! id alone, so that a mode never depends on which workspace is active.

use std::collections::HashMap;

use estelle_proto::{
    ClaudeSessionId, Conversation, ConversationId, ConversationStatus, DeviceId, Name, PathText,
    PermissionMode, SkillType, Timestamp, WorkspaceId,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::folded::{Folded, Shelf};
use super::row::{moment, parsed, parsed_option, word, word_option};
use super::threads::Keep;
use super::{
    Store, StoreError, WorkspaceError, WorktreeRow, forks, lifecycle, removals, settings, sweep,
    usage, workspaces, worktrees,
};

/// A conversation to be.
#[derive(Debug, Clone)]
pub struct NewConversation {
    /// Under which id the host has it already; `None` if it has not.
    pub id: Option<ConversationId>,
    /// In which workspace.
    pub workspace_id: WorkspaceId,
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub skill_type: SkillType,
    /// Its own model.
    pub model: Option<String>,
    /// Its own permission mode.
    pub permission_mode: Option<PermissionMode>,
    /// Now.
    pub at: Timestamp,
}

/// A conversation with everything a run of it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownConversation {
    /// The conversation, as lists show it.
    pub conversation: Conversation,
    /// In which workspace.
    pub workspace_id: WorkspaceId,
    /// The folder in which the agent works: of its worktree, if it has one.
    pub working_dir: PathText,
    /// Its worktree, if it has one.
    pub worktree: Option<WorktreeRow>,
    /// Its own permission mode, else the pylon's default.
    pub permission_mode: PermissionMode,
    /// Its own model, else the pylon's default, else the agent's (`None`).
    pub model: Option<String>,
}

/// Why nothing was done with a conversation.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// There is no such workspace.
    #[error("there is no workspace {id}")]
    UnknownWorkspace {
        /// The id.
        id: WorkspaceId,
    },
    /// There is no such conversation, or not in that workspace.
    #[error("there is no conversation {id}")]
    UnknownConversation {
        /// The id.
        id: ConversationId,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(ConversationError);

impl From<WorkspaceError> for ConversationError {
    fn from(error: WorkspaceError) -> Self {
        match error {
            WorkspaceError::UnknownWorkspace { id } => Self::UnknownWorkspace { id },
            WorkspaceError::Store(error) => Self::Store(error),
        }
    }
}

impl Store {
    /// Makes a conversation and activates it.
    pub async fn create_conversation(
        &self,
        new: NewConversation,
    ) -> Result<Conversation, ConversationError> {
        self.write(Keep::Own, move |db| {
            let workspace = workspaces::known_key(db, &new.workspace_id)?;
            Ok(create_in(db, workspace, &new)?)
        })
        .await
    }

    /// Makes a conversation that goes on with a session of the agent.
    pub async fn create_continued(
        &self,
        new: NewConversation,
        session: ClaudeSessionId,
    ) -> Result<Conversation, ConversationError> {
        self.write(Keep::Own, move |db| {
            let workspace = workspaces::known_key(db, &new.workspace_id)?;
            let made = create_in(db, workspace, &new)?;
            db.prepare_cached("UPDATE conversations SET claude_session_id = ?2 WHERE id = ?1")?
                .execute(params![made.conversation_id.as_str(), session.as_str()])?;
            Ok(Conversation {
                claude_session_id: Some(session),
                ..made
            })
        })
        .await
    }

    /// The conversation that a session of the agent belongs to, or belonged to.
    pub async fn conversation_of(
        &self,
        session: ClaudeSessionId,
    ) -> Result<Option<ConversationId>, StoreError> {
        self.read(move |db| {
            let sql = "SELECT c.id FROM conversations c WHERE c.claude_session_id = ?1 UNION \
                       SELECT c.id FROM claude_sessions s JOIN conversations c ON c.id = s.conversation_id \
                       WHERE s.id = ?1 LIMIT 1";
            let found = db
                .prepare_cached(sql)?
                .query_row([session.as_str()], |row| parsed(row, 0))
                .optional()?;
            Ok(found)
        })
        .await
    }

    /// A conversation with everything a run of it needs.
    pub async fn conversation(
        &self,
        id: ConversationId,
    ) -> Result<KnownConversation, ConversationError> {
        self.read(move |db| known(db, &id)).await
    }

    /// Gives a conversation another name.
    pub async fn rename_conversation(
        &self,
        workspace: WorkspaceId,
        id: ConversationId,
        name: Name,
    ) -> Result<(), ConversationError> {
        self.write(Keep::Own, move |db| {
            let key = known_key_in(db, &workspace, &id)?.1;
            db.prepare_cached("UPDATE conversations SET name = ?2 WHERE key = ?1")?
                .execute(params![key, name.as_str()])?;
            Ok(())
        })
        .await
    }

    /// Deletes a conversation with its history. If it was active, the first one left in its workspace is.
    pub async fn delete_conversation(
        &self,
        workspace: WorkspaceId,
        id: ConversationId,
    ) -> Result<(), ConversationError> {
        self.write(Keep::Own, move |db| {
            let (workspace, key) = known_key_in(db, &workspace, &id)?;
            let was_active = workspaces::active_keys(db)?.1 == Some(key);
            delete(db, key)?;
            if was_active {
                let next = workspaces::first_conversation(db, workspace)?;
                workspaces::activate(db, Some(workspace), next)?;
            }
            Ok(())
        })
        .await
    }

    /// Sets how permissions are judged in a conversation; `None` means by the pylon's default again.
    pub async fn set_permission_mode(
        &self,
        id: ConversationId,
        mode: Option<PermissionMode>,
    ) -> Result<(), ConversationError> {
        let mode = mode.map(|mode| mode.as_str().to_owned());
        self.set_column("permission_mode", id, mode).await
    }

    /// Sets the model of a conversation; `None` means the pylon's default again.
    pub async fn set_model(
        &self,
        id: ConversationId,
        model: Option<String>,
    ) -> Result<(), ConversationError> {
        self.set_column("model", id, model).await
    }

    /// Sets the session that the next run resumes; `None` makes it start afresh.
    pub async fn set_claude_session(
        &self,
        id: ConversationId,
        session: Option<ClaudeSessionId>,
    ) -> Result<(), ConversationError> {
        let session = session.map(|session| session.as_str().to_owned());
        self.set_column("claude_session_id", id, session).await
    }

    /// Corrects the state of a conversation by what the host says of it, for example after a restart.
    pub async fn set_status(
        &self,
        id: ConversationId,
        status: ConversationStatus,
    ) -> Result<(), ConversationError> {
        let status = Some(status.as_str().to_owned());
        self.set_column("status", id, status).await
    }

    async fn set_column(
        &self,
        column: &'static str,
        id: ConversationId,
        value: Option<String>,
    ) -> Result<(), ConversationError> {
        self.write(Keep::Own, move |db| {
            let sql = format!("UPDATE conversations SET {column} = ?2 WHERE id = ?1");
            let changed = db
                .prepare_cached(&sql)?
                .execute(params![id.as_str(), value])?;
            match changed {
                0 => Err(ConversationError::UnknownConversation { id }),
                _ => Ok(()),
            }
        })
        .await
    }
}

/// A conversation that must exist.
pub(super) fn folded(db: &Connection, id: &ConversationId) -> Result<Folded, ConversationError> {
    Folded::load(db, id)?.ok_or_else(|| ConversationError::UnknownConversation { id: id.clone() })
}

/// The key of a conversation, if it is in this workspace.
pub(super) fn key_in(
    db: &Connection,
    workspace: i64,
    id: &ConversationId,
) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT key FROM conversations WHERE id = ?1 AND workspace = ?2")?
        .query_row(params![id.as_str(), workspace], |row| row.get(0))
        .optional()
}

/// The keys of a workspace and of a conversation in it, both of which must exist.
fn known_key_in(
    db: &Connection,
    workspace: &WorkspaceId,
    id: &ConversationId,
) -> Result<(i64, i64), ConversationError> {
    let workspace = workspaces::known_key(db, workspace)?;
    match key_in(db, workspace, id)? {
        Some(key) => Ok((workspace, key)),
        None => Err(ConversationError::UnknownConversation { id: id.clone() }),
    }
}

/// Makes a conversation with a new id and activates it with its workspace.
pub(super) fn create_in(
    db: &Connection,
    workspace: i64,
    new: &NewConversation,
) -> rusqlite::Result<Conversation> {
    let id = match &new.id {
        Some(id) => id.clone(),
        None => workspaces::fresh_id()?,
    };
    let key = insert(db, workspace, &id, new)?;
    forks::settle(db, &id)?;
    worktrees::ready(db, &id)?;
    workspaces::activate(db, Some(workspace), Some(key))?;
    db.prepare_cached("UPDATE workspaces SET last_used = ?2 WHERE key = ?1")?
        .execute(params![workspace, new.at.0])?;
    Ok(Conversation {
        permission_mode: new.permission_mode.clone(),
        model: new.model.clone(),
        is_active: Some(true),
        created_at: Some(new.at),
        updated_at: Some(new.at),
        ..Conversation::new(
            id,
            new.name.clone(),
            new.skill_type.clone(),
            ConversationStatus::Idle,
        )
    })
}

/// Puts a conversation with an empty history into the database.
pub(super) fn insert(
    db: &Connection,
    workspace: i64,
    id: &ConversationId,
    new: &NewConversation,
) -> rusqlite::Result<i64> {
    let shelf = Shelf::new(db)?;
    db.prepare_cached(
        "INSERT INTO conversations \
         (id, workspace, name, skill_type, permission_mode, model, created_at, updated_at, shelf) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)",
    )?
    .execute(params![
        id.as_str(),
        workspace,
        new.name.as_str(),
        new.skill_type.as_str(),
        new.permission_mode.as_ref().map(PermissionMode::as_str),
        new.model,
        new.at.0,
        shelf.0
    ])?;
    Ok(db.last_insert_rowid())
}

/// Deletes all conversations of a workspace and names them.
pub(super) fn delete_all(db: &Connection, workspace: i64) -> rusqlite::Result<Vec<ConversationId>> {
    let mut find =
        db.prepare_cached("SELECT key, id FROM conversations WHERE workspace = ?1 ORDER BY key")?;
    let all: Vec<(i64, ConversationId)> = find
        .query_map([workspace], |row| Ok((row.get(0)?, parsed(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (key, _) in &all {
        delete(db, *key)?;
    }
    Ok(all.into_iter().map(|(_, id)| id).collect())
}

/// Deletes a conversation and keeps that the host has to follow; what it used stays counted.
fn delete(db: &Connection, key: i64) -> rusqlite::Result<()> {
    let mut delete =
        db.prepare_cached("DELETE FROM conversations WHERE key = ?1 RETURNING id, shelf")?;
    let (id, shelf): (ConversationId, i64) =
        delete.query_row([key], |row| Ok((parsed(row, 0)?, row.get(1)?)))?;
    sweep::discard(db, Shelf(shelf))?;
    removals::of_conversation(db, &id)?;
    usage::settle(db, &id)
}

/// Columns of a conversation in a list, for `one`. `?1` is the device that looks.
const LISTED: &str = "c.workspace, c.id, c.name, c.skill_type, c.status, c.claude_session_id, \
    c.permission_mode, c.model, c.created_at, c.updated_at, \
    c.key IS (SELECT active_conversation FROM pylon), \
    CASE WHEN d.id IS NOT NULL THEN \
        d.viewing IS NOT c.key AND c.notable > max(d.baseline, coalesce(s.mark, 0)) END, \
    w.folder, w.branch, c.ended, \
    CASE WHEN c.ended IS NOT NULL THEN \
        (SELECT body FROM lifecycle WHERE shelf = c.shelf ORDER BY seq DESC LIMIT 1) END \
    FROM conversations c \
    LEFT JOIN worktrees w ON w.conversation = c.id \
    LEFT JOIN devices d ON d.id = ?1 \
    LEFT JOIN seen s ON s.device = ?1 AND s.conversation = c.key";

fn one(row: &Row<'_>) -> rusqlite::Result<(i64, Conversation)> {
    let conversation = Conversation {
        claude_session_id: parsed_option(row, 5)?,
        permission_mode: word_option(row, 6)?,
        model: row.get(7)?,
        created_at: Some(moment(row, 8)?),
        updated_at: Some(moment(row, 9)?),
        is_active: Some(row.get(10)?),
        unread: row.get(11)?,
        working_dir: parsed_option(row, 12)?,
        branch: row.get(13)?,
        process: lifecycle::state(row, 14)?,
        ..Conversation::new(
            parsed(row, 1)?,
            parsed(row, 2)?,
            word(row, 3)?,
            word(row, 4)?,
        )
    };
    Ok((row.get(0)?, conversation))
}

/// All conversations by the key of their workspace, in the order in which they were made.
pub(super) fn by_workspace(
    db: &Connection,
    device: Option<DeviceId>,
) -> rusqlite::Result<HashMap<i64, Vec<Conversation>>> {
    let mut all = db.prepare_cached(&format!("SELECT {LISTED} ORDER BY c.key"))?;
    let mut found: HashMap<i64, Vec<Conversation>> = HashMap::new();
    for row in all.query_map([device.map(|device| device.0)], one)? {
        let (workspace, conversation) = row?;
        found.entry(workspace).or_default().push(conversation);
    }
    Ok(found)
}

fn known(db: &Connection, id: &ConversationId) -> Result<KnownConversation, ConversationError> {
    let mut find = db.prepare_cached(&format!("SELECT {LISTED} WHERE c.id = ?2"))?;
    let found = find
        .query_row(params![None::<u32>, id.as_str()], one)
        .optional()?;
    let Some((workspace, conversation)) = found else {
        return Err(ConversationError::UnknownConversation { id: id.clone() });
    };
    let (workspace_id, working_dir) = db
        .prepare_cached("SELECT id, working_dir FROM workspaces WHERE key = ?1")?
        .query_row([workspace], |row| Ok((parsed(row, 0)?, parsed(row, 1)?)))?;
    let permission_mode = match &conversation.permission_mode {
        Some(mode) => mode.clone(),
        None => settings::default_permission_mode(db)?,
    };
    let model = match &conversation.model {
        Some(model) => Some(model.clone()),
        None => settings::default_model(db)?,
    };
    let worktree = worktrees::of(db, id)?;
    Ok(KnownConversation {
        conversation,
        workspace_id,
        working_dir: worktree
            .as_ref()
            .map_or(working_dir, |row| row.folder.clone()),
        worktree,
        permission_mode,
        model,
    })
}
