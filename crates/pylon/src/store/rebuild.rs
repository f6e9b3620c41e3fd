//! Makes the database anew from the host's logs, with nobody using it.
//!
//! What people made is taken over from the old database as far as it can be read: workspaces, names, modes, settings,
//! what was settled. Everything that came from the host is counted and written afresh, and what the host does not tell
//! any more is taken over as well ([`kept`]). The new database replaces the old one in one step at the end; until then, and
//! when the rebuild is given up, the old one is untouched. In the end it stays beside the new one: each rebuild leaves one.

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
use super::kept::{self, KeptHistory};
use super::migrate::MigrateError;
use super::open::{self, DATABASE, OpenError, Taken};
use super::row::parsed;
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
    old: Old,
    _taken: Taken,
}

/// What is taken over as it is, in this order: later tables refer to earlier ones.
const KEPT: [(&str, &str); 13] = [
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
        "notifications",
        "INSERT INTO push_subscriptions SELECT * FROM old.push_subscriptions; \
         INSERT INTO notify_settings SELECT * FROM old.notify_settings; \
         INSERT INTO notify_muted SELECT * FROM old.notify_muted; \
         INSERT INTO noted SELECT * FROM old.noted; \
         INSERT INTO notices SELECT * FROM old.notices; \
         INSERT INTO deliveries SELECT * FROM old.deliveries",
    ),
    (
        "continuations",
        "INSERT INTO continuations SELECT * FROM old.continuations",
    ),
    (
        "budgets",
        "INSERT INTO budgets SELECT * FROM old.budgets; \
         INSERT INTO task_budgets SELECT * FROM old.task_budgets",
    ),
    (
        "worktrees",
        "INSERT INTO worktrees SELECT * FROM old.worktrees",
    ),
    (
        "removals",
        "INSERT INTO removals SELECT * FROM old.removals",
    ),
    ("forks", "INSERT INTO forks SELECT * FROM old.forks"),
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
        // What had a history, to be held against what has one in the end.
        connection.execute_batch("CREATE TEMP TABLE told (id TEXT PRIMARY KEY)")?;
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
            old,
            _taken: taken,
        })
    }

    /// What could not be taken over from the old database, because it is damaged.
    pub fn lost(&self) -> &[&'static str] {
        &self.lost
    }

    /// Whether the next pylon has something to finish about a conversation: it was deleted or cleared, and the host has not
    /// followed yet, or it is a copy that no list shows. What the host tells of it is for that pylon.
    pub fn is_unfinished(&self, id: &ConversationId) -> Result<bool, RebuildError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM removals WHERE id = ?1 AND kind <> 'workspace') \
                   OR EXISTS (SELECT 1 FROM forks WHERE id = ?1)";
        let found = self
            .connection
            .query_row(sql, [id.as_str()], |row| row.get(0));
        Ok(found?)
    }

    /// All conversations that are in the new database.
    pub fn conversations(&self) -> Result<Vec<ConversationId>, RebuildError> {
        let mut all = self.connection.prepare("SELECT id FROM conversations")?;
        let all = all.query_map([], |row| parsed(row, 0))?;
        Ok(all.collect::<rusqlite::Result<_>>()?)
    }

    /// The conversations that had a history in the old database and have none in the new one, with their names.
    pub fn emptied(&self) -> Result<Vec<(ConversationId, String)>, RebuildError> {
        let mut all = self.connection.prepare(
            "SELECT c.id, c.name FROM conversations c JOIN temp.told t ON t.id = c.id \
             WHERE c.entries = 0 AND c.id NOT IN (SELECT id FROM removals) ORDER BY c.key",
        )?;
        let all = all.query_map([], |row| Ok((parsed(row, 0)?, row.get(1)?)))?;
        Ok(all.collect::<rusqlite::Result<_>>()?)
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

    /// Takes over the histories that only the old database has: of logs that are gone, that are shorter than they were, or
    /// that the host did not tell to their end. To be called when all others were told.
    pub fn keep_histories(
        &mut self,
        untold: &[ConversationId],
    ) -> Result<Vec<KeptHistory>, RebuildError> {
        if self.old != Old::Readable {
            return Ok(Vec::new());
        }
        attach(&self.connection, &self.database)?;
        let mut kept = Vec::new();
        let mut is_whole = true;
        for id in kept::candidates(&self.connection)? {
            let behaviour = TransactionBehavior::Immediate;
            let step = self.connection.transaction_with_behavior(behaviour)?;
            match kept::take_over(&step, &id, !untold.contains(&id)) {
                Ok(one) => {
                    step.commit()?;
                    kept.extend(one);
                }
                Err(error) => {
                    tracing::warn!(%error, conversation = %id, "cannot take over its history");
                    is_whole = false;
                }
            }
        }
        if !is_whole {
            self.lost.push("histories");
        }
        self.connection.execute_batch("DETACH old")?;
        Ok(kept)
    }

    /// Puts the new database in the place of the old one, which stays beside it. Gives where: `pylon.db.before-rebuild`, with
    /// a number if there is one of an earlier rebuild. Without the old one kept, nothing is replaced.
    pub fn finish(self) -> Result<Option<PathBuf>, RebuildError> {
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

fn attach(connection: &Connection, old: &Path) -> Result<(), RebuildError> {
    let Some(name) = old.to_str() else {
        return Err(rusqlite::Error::InvalidPath(old.to_owned()).into());
    };
    connection.execute("ATTACH ?1 AS old", [name])?;
    Ok(())
}

fn take_over(connection: &Connection, old: &Path) -> Result<Vec<&'static str>, RebuildError> {
    attach(connection, old)?;
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
    let had = "INSERT INTO temp.told SELECT id FROM old.conversations WHERE entries > 0";
    if let Err(error) = connection.execute_batch(had) {
        tracing::warn!(%error, "what had a history in the old database is not known");
    }
    connection.execute_batch("DETACH old")?;
    Ok(lost)
}

fn replace(new: &Path, old: &Path) -> io::Result<Option<PathBuf>> {
    open::sync_named(new)?;
    let kept = old.exists().then(|| free_name(old));
    if let Some(kept) = &kept {
        // Not every file system has hard links.
        fs::hard_link(old, kept).or_else(|_| fs::copy(old, kept).map(drop))?;
        open::sync_named(kept)?;
    }
    // The WAL was emptied into the old database, unless that is damaged. Left beside the new one, it would be taken for
    // its own.
    for suffix in ["-wal", "-shm"] {
        let name = with(old, suffix);
        let moved = match &kept {
            Some(kept) => fs::rename(&name, with(kept, suffix)),
            None => fs::remove_file(&name),
        };
        match moved {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    fs::rename(new, old)?;
    open::sync_named(old)?;
    Ok(kept)
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A name beside the database that no earlier rebuild has used.
fn free_name(database: &Path) -> PathBuf {
    let numbers = (2_u64..).map(|number| format!("before-rebuild-{number}"));
    std::iter::once("before-rebuild".to_owned())
        .chain(numbers)
        .map(|suffix| beside(database, &suffix))
        .find(|path| !path.exists())
        .unwrap_or_else(|| beside(database, "before-rebuild"))
}
