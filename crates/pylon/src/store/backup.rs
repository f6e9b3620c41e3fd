//! Copies of the database, made and put back while the pylon runs.
//!
//! A backup is one moment of the database in one file, compact, and complete before it has its name. A restore is one
//! transaction: readers see the old database or the new one. The cursors go back with it, so the caller subscribes to
//! the host again and what happened since arrives a second time.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::migrate::{self, MigrateError};
use super::open::{self, OpenError};
use super::{Store, StoreError};

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file is there already.
    #[error("{} is there already", path.display())]
    Exists {
        /// Which.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(BackupError);

/// Why nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The file cannot be read, or not copied.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The file is no backup of a pylon, or one of a newer build.
    #[error(transparent)]
    Format(#[from] MigrateError),
    /// The file is damaged.
    #[error("the backup is damaged: {finding}")]
    Damaged {
        /// What SQLite found.
        finding: String,
    },
    /// The database is used by somebody else for too long.
    #[error("the database is busy")]
    Busy,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(RestoreError);

impl From<OpenError> for RestoreError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Format(error) => Self::Format(error),
            OpenError::Store(error) => Self::Store(error),
            OpenError::Folder { path, source } => Self::Read { path, source },
            // Neither a lock nor a thread is asked for, and the version was checked at the start.
            OpenError::OldSqlite { .. } | OpenError::Taken { .. } | OpenError::Thread { .. } => {
                Self::Busy
            }
        }
    }
}

impl Store {
    /// Writes a backup to a new file. Reads and writes go on meanwhile; it has what was there when it began.
    pub async fn backup(&self, to: PathBuf) -> Result<(), BackupError> {
        self.at_reader(move |connection| write_backup(connection, &to))
            .await
    }

    /// Replaces everything by what a backup has. Subscribe to the host again afterwards.
    pub async fn restore(&self, from: PathBuf) -> Result<(), RestoreError> {
        let aside = beside(self.path(), "restore");
        self.at_desk(move |desk| {
            let restored = restore(&from, &aside, desk.connection());
            if let Err(error) = open::remove(&aside) {
                tracing::warn!(%error, path = %aside.display(), "cannot remove a copy of a backup");
            }
            restored
        })
        .await
    }
}

/// A name beside another: `pylon.db.restore`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn write_backup(connection: &Connection, to: &Path) -> Result<(), BackupError> {
    let failed = |source| BackupError::Write {
        path: to.to_owned(),
        source,
    };
    if to.symlink_metadata().is_ok() {
        let path = to.to_owned();
        return Err(BackupError::Exists { path });
    }
    let part = beside(to, "part");
    open::remove(&part).map_err(failed)?;
    // SQLite takes an empty file as a new one, and this one is readable by its owner alone.
    let mut private = OpenOptions::new();
    private.write(true).create_new(true).mode(0o600);
    private.open(&part).map_err(failed)?;
    let written = vacuum_into(connection, &part)
        .map_err(BackupError::from)
        .and_then(|()| finish(&part, to).map_err(failed));
    if written.is_err() {
        // Half a backup is of no use; that it cannot be removed says nothing new.
        let _ = open::remove(&part);
    }
    written
}

fn vacuum_into(connection: &Connection, part: &Path) -> rusqlite::Result<()> {
    let Some(name) = part.to_str() else {
        return Err(rusqlite::Error::InvalidPath(part.to_owned()));
    };
    connection.execute("VACUUM INTO ?1", [name]).map(|_| ())
}

fn finish(part: &Path, to: &Path) -> io::Result<()> {
    open::sync_named(part)?;
    // A link fails where a rename would replace a file that appeared meanwhile.
    fs::hard_link(part, to).or_else(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Err(error);
        }
        // Some file systems have no links.
        fs::rename(part, to)
    })?;
    open::remove(part)?;
    open::sync_named(to)
}

fn restore(from: &Path, aside: &Path, live: &mut Connection) -> Result<(), RestoreError> {
    open::remove(aside)
        .and_then(|()| copy_private(from, aside))
        .map_err(|source| RestoreError::Read {
            path: from.to_owned(),
            source,
        })?;
    examine(aside)?;
    // An older backup is brought to the format of this build before anything is replaced.
    let copy = open::writer(aside)?;
    let replacing = Backup::new(&copy, live)?;
    match replacing.step(-1)? {
        StepResult::Done => Ok(()),
        StepResult::More | StepResult::Busy | StepResult::Locked | _ => Err(RestoreError::Busy),
    }
}

fn copy_private(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = fs::File::open(from)?;
    let mut private = OpenOptions::new();
    private.write(true).create_new(true).mode(0o600);
    io::copy(&mut source, &mut private.open(to)?).map(|_| ())
}

/// Whether a file is a sound backup.
fn examine(path: &Path) -> Result<(), RestoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    migrate::check(&connection)?;
    let finding: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match finding.as_str() {
        "ok" => Ok(()),
        _ => Err(RestoreError::Damaged { finding }),
    }
}
