//! Makes the database anew from the host's logs, with nobody using it.
//!
//! What people made is taken over from the old database as far as it can be read: workspaces, names, modes, settings,
//! what was settled. Everything that came from the host is counted and written afresh. The new database replaces the
//! old one in one step at the end; until then, and when the rebuild is given up, the old one is untouched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use estelle_proto::ipc::HostEvent;
use estelle_proto::{ConversationId, Name, PathText, SkillType, TextError, Timestamp, WorkspaceId};
use rusqlite::{Connection, TransactionBehavior};

use super::apply::{self, Outcome};
use super::backup::beside;
use super::conversations::{self, NewConversation};
use super::folded::Folded;
use super::migrate::MigrateError;
use super::open::{self, DATABASE, OpenError, Taken};
use super::{StoreError, devices, workspaces};

/// Where a conversation belongs, as far as the host knows it. The old database knows better, if it has it.
#[derive(Debug, Clone)]
pub struct Placement {
    /// Which conversation.
    pub conversation_id: ConversationId,
    /// A name for it.
    pub name: Name,
    /// In which workspace.
    pub workspace_id: WorkspaceId,
    /// A name for that.
    pub workspace_name: Name,
    /// The folder in which the agent works.
    pub working_dir: PathText,
    /// When it began.
    pub at: Timestamp,
}

impl Placement {
    /// For a conversation of which only its events matter.
    pub(super) fn nowhere(id: &ConversationId) -> Result<Self, TextError> {
        Ok(Self {
            conversation_id: id.clone(),
            name: Name::parse("nowhere")?,
            workspace_id: WorkspaceId::parse("nowhere")?,
            workspace_name: Name::parse("nowhere")?,
            working_dir: PathText::parse("/")?,
            at: Timestamp(0),
        })
    }
}

/// Why a rebuild failed.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The folder cannot be used; another pylon may be running.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A file cannot be replaced.
    #[error("cannot replace {}", path.display())]
    Replace {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The new database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(RebuildError);

/// A rebuild under way. Dropping it changes nothing.
#[derive(Debug)]
pub struct Rebuild {
    database: PathBuf,
    aside: PathBuf,
    connection: Connection,
    lost: Vec<&'static str>,
    _taken: Taken,
}

/// What is taken over as it is, in this order: later tables refer to earlier ones.
const KEPT: [(&str, &str); 7] = [
    (
        "workspaces",
        "INSERT INTO workspaces SELECT * FROM old.workspaces",
    ),
    (
        "conversations",
        "INSERT INTO shelves (key) SELECT key FROM old.conversations; \
         INSERT INTO conversations (key, id, workspace, name, skill_type, permission_mode, model, \
         claude_session_id, created_at, updated_at, shelf) \
         SELECT key, id, workspace, name, skill_type, permission_mode, model, claude_session_id, \
         created_at, updated_at, key FROM old.conversations",
    ),
    (
        "settings",
        "INSERT INTO settings SELECT * FROM old.settings",
    ),
    (
        "usage",
        "INSERT INTO usage SELECT * FROM old.usage WHERE is_settled = 1; \
         INSERT INTO claude_sessions SELECT * FROM old.claude_sessions",
    ),
    (
        "devices",
        "INSERT INTO devices (id, baseline) SELECT id, 0 FROM old.devices",
    ),
    (
        "paired devices",
        "INSERT INTO paired SELECT * FROM old.paired",
    ),
    (
        "active",
        "UPDATE pylon SET (active_workspace, active_conversation) = \
         (SELECT active_workspace, active_conversation FROM old.pylon)",
    ),
];

impl Rebuild {
    /// Begins: takes the folder, which no pylon may be using, and takes over what the old database has. One that a
    /// newer build wrote is refused.
    pub fn begin(folder: &Path) -> Result<Self, RebuildError> {
        let taken = open::take(folder)?;
        let database = folder.join(DATABASE);
        let aside = beside(&database, "rebuild");
        open::remove(&aside).map_err(|source| RebuildError::Replace {
            path: aside.clone(),
            source,
        })?;
        let old = examine(&database)?;
        let connection = open::writer(&aside)?;
        // Until the end nobody misses it: one sync then is enough.
        connection.pragma_update(None, "synchronous", "OFF")?;
        let lost = match old {
            Old::Readable => take_over(&connection, &database)?,
            Old::Missing => Vec::new(),
            Old::Damaged => KEPT.iter().map(|(what, _)| *what).collect(),
        };
        Ok(Self {
            database,
            aside,
            connection,
            lost,
            _taken: taken,
        })
    }

    /// What could not be taken over from the old database, because it is damaged.
    pub fn lost(&self) -> &[&'static str] {
        &self.lost
    }

    /// Makes sure that a conversation and its workspace are there, so that events of it find a place.
    pub fn place(&mut self, placement: &Placement) -> Result<(), RebuildError> {
        let step = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        place(&step, placement)?;
        Ok(step.commit()?)
    }

    /// Takes in events, as the store does.
    pub fn apply(&mut self, events: &[HostEvent]) -> Result<Vec<Outcome>, RebuildError> {
        let step = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let outcomes = apply::all(&step, events)?;
        step.commit()?;
        Ok(outcomes)
    }

    /// Puts the new database in the place of the old one, which stays beside it as `pylon.db.before-rebuild`.
    pub fn finish(self) -> Result<(), RebuildError> {
        devices::catch_up(&self.connection)?;
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection
            .close()
            .map_err(|(_, error)| StoreError::from(error))?;
        replace(&self.aside, &self.database).map_err(|source| RebuildError::Replace {
            path: self.database.clone(),
            source,
        })
    }
}

/// Makes sure that a conversation and its workspace are there.
pub(super) fn place(db: &Connection, placement: &Placement) -> rusqlite::Result<()> {
    if Folded::load(db, &placement.conversation_id)?.is_some() {
        return Ok(());
    }
    let workspace = match workspaces::find_key(db, &placement.workspace_id)? {
        Some(key) => key,
        None => workspaces::insert(
            db,
            &placement.workspace_id,
            &placement.workspace_name,
            &placement.working_dir,
            placement.at,
        )?,
    };
    let new = NewConversation {
        id: None,
        workspace_id: placement.workspace_id.clone(),
        name: placement.name.clone(),
        skill_type: SkillType::General,
        model: None,
        permission_mode: None,
        at: placement.at,
    };
    conversations::insert(db, workspace, &placement.conversation_id, &new).map(|_| ())
}

/// What is there to take over from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Old {
    Readable,
    Damaged,
    Missing,
}

/// Looks at the old database. Opening it also empties its WAL into it.
fn examine(database: &Path) -> Result<Old, RebuildError> {
    if !database.exists() {
        return Ok(Old::Missing);
    }
    match open::writer(database) {
        Ok(connection) => {
            // What cannot be closed is closed by the system in the end.
            drop(connection);
            Ok(Old::Readable)
        }
        Err(
            OpenError::Format(MigrateError::Store(StoreError::Damaged { .. }))
            | OpenError::Store(StoreError::Damaged { .. }),
        ) => Ok(Old::Damaged),
        Err(error) => Err(error.into()),
    }
}

fn take_over(connection: &Connection, old: &Path) -> Result<Vec<&'static str>, RebuildError> {
    let Some(name) = old.to_str() else {
        return Err(rusqlite::Error::InvalidPath(old.to_owned()).into());
    };
    connection.execute("ATTACH ?1 AS old", [name])?;
    let mut lost = Vec::new();
    for (what, sql) in KEPT {
        let taken = connection.execute_batch(&format!("BEGIN IMMEDIATE; {sql}; COMMIT"));
        if let Err(error) = taken {
            tracing::warn!(%error, what, "cannot take over from the old database");
            lost.push(what);
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK")?;
            }
        }
    }
    connection.execute_batch("DETACH old")?;
    Ok(lost)
}

fn replace(new: &Path, old: &Path) -> io::Result<()> {
    open::sync_named(new)?;
    let before = beside(old, "before-rebuild");
    if old.exists() {
        open::remove(&before)?;
        // A file system without links keeps no old database.
        let _ = fs::hard_link(old, &before);
    }
    // The WAL was emptied into the old database. Left beside the new one, it would be taken for its own.
    for suffix in ["-wal", "-shm"] {
        let mut name = old.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    fs::rename(new, old)?;
    open::sync_named(old)
}
