//! Worktrees: which there are, and how far their making or removal is.
//!
//! What is about to be made or removed is written down first, so that a pylon which dies in between knows what to finish.

use estelle_proto::worktrees::WorktreeState;
use estelle_proto::{ConversationId, PathText, Timestamp, WorkspaceId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::row::{moment, parsed, word};
use super::threads::Keep;
use super::{Store, StoreError};

/// A worktree, as it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct WorktreeRow {
    /// The conversation it was made for.
    pub conversation: ConversationId,
    /// In which workspace.
    pub workspace: WorkspaceId,
    /// The folder of the repository's main working tree.
    pub repository: PathText,
    /// Its own folder.
    pub path: PathText,
    /// Where in it the agent works.
    pub folder: PathText,
    /// The branch that was made for it.
    pub branch: String,
    /// The branch it began from.
    pub base_branch: Option<String>,
    /// The commit it began from.
    pub base: String,
    /// How far it is.
    pub state: WorktreeState,
    /// When it was made.
    pub created_at: Timestamp,
}

const COLUMNS: &str = "conversation, workspace, repository, path, folder, branch, base_branch, base, state, created_at \
    FROM worktrees";

impl Store {
    /// Keeps what is about to be made. False if the conversation has one already.
    pub async fn add_worktree(&self, new: WorktreeRow) -> Result<bool, StoreError> {
        self.write(Keep::Own, move |db| {
            let mut insert = db.prepare_cached(
                "INSERT OR IGNORE INTO worktrees (conversation, workspace, repository, path, folder, \
                 branch, base_branch, base, state, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?;
            let added = insert.execute(params![
                new.conversation.as_str(),
                new.workspace.as_str(),
                new.repository.as_str(),
                new.path.as_str(),
                new.folder.as_str(),
                new.branch,
                new.base_branch,
                new.base,
                new.state.as_str(),
                new.created_at.0,
            ])?;
            Ok(added > 0)
        })
        .await
    }

    /// Says how far a worktree is.
    pub async fn mark_worktree(
        &self,
        conversation: ConversationId,
        state: WorktreeState,
    ) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            db.prepare_cached("UPDATE worktrees SET state = ?2 WHERE conversation = ?1")?
                .execute(params![conversation.as_str(), state.as_str()])?;
            Ok(())
        })
        .await
    }

    /// Forgets a worktree whose folder is gone.
    pub async fn drop_worktree(&self, conversation: ConversationId) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            db.prepare_cached("DELETE FROM worktrees WHERE conversation = ?1")?
                .execute([conversation.as_str()])?;
            Ok(())
        })
        .await
    }

    /// The worktree of a conversation.
    pub async fn worktree(
        &self,
        conversation: ConversationId,
    ) -> Result<Option<WorktreeRow>, StoreError> {
        self.read(move |db| Ok(of(db, &conversation)?)).await
    }

    /// All worktrees, in the order in which they were made.
    pub async fn worktrees(&self) -> Result<Vec<WorktreeRow>, StoreError> {
        self.read(|db| {
            let sql = format!("SELECT {COLUMNS} ORDER BY created_at, conversation");
            let mut list = db.prepare_cached(&sql)?;
            let rows = list.query_map([], one)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

/// With its conversation a worktree that was being made is ready.
pub(super) fn ready(db: &Connection, conversation: &ConversationId) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE worktrees SET state = ?2 WHERE conversation = ?1 AND state = ?3")?
        .execute(params![
            conversation.as_str(),
            WorktreeState::Ready.as_str(),
            WorktreeState::Making.as_str(),
        ])?;
    Ok(())
}

/// The worktree of a conversation.
pub(super) fn of(
    db: &Connection,
    conversation: &ConversationId,
) -> rusqlite::Result<Option<WorktreeRow>> {
    let sql = format!("SELECT {COLUMNS} WHERE conversation = ?1");
    db.prepare_cached(&sql)?
        .query_row([conversation.as_str()], one)
        .optional()
}

fn one(row: &Row<'_>) -> rusqlite::Result<WorktreeRow> {
    Ok(WorktreeRow {
        conversation: parsed(row, 0)?,
        workspace: parsed(row, 1)?,
        repository: parsed(row, 2)?,
        path: parsed(row, 3)?,
        folder: parsed(row, 4)?,
        branch: row.get(5)?,
        base_branch: row.get(6)?,
        base: row.get(7)?,
        state: word(row, 8)?,
        created_at: moment(row, 9)?,
    })
}
