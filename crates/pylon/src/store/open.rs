//! Opens the database: one pylon at a time, of a format this build knows, with the settings that durability rests on.
//!
//! The folder and its files are readable by their owner alone, whatever the umask says. Connections are made here and
//! nowhere else.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::StoreError;
use super::migrate::{self, MigrateError};

/// The name of the database in its folder.
pub const DATABASE: &str = "pylon.db";
const LOCK: &str = "pylon.lock";

/// Older versions can damage a database in WAL mode when a checkpoint and a write meet in the wrong moment.
const OLDEST_SQLITE: i32 = 3_051_003;
/// KiB of page cache per connection: the pages that a reader of a long history comes back to fit.
const CACHE_KIB: i64 = 8 * 1024;
/// Statements a connection keeps prepared: all of them, there are about as many.
const CACHED_STATEMENTS: usize = 96;
/// Bytes that the WAL file is cut back to after a checkpoint.
const WAL_BYTES: i64 = 64 * 1024 * 1024;

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The SQLite in this build is not fit for use.
    #[error("SQLite {found} is too old; this needs 3.51.3 or newer")]
    OldSqlite {
        /// Its version.
        found: &'static str,
    },
    /// Another pylon has it open.
    #[error("another pylon is using {}", folder.display())]
    Taken {
        /// The folder it is in.
        folder: PathBuf,
    },
    /// The folder or a file in it cannot be made or opened.
    #[error("cannot use {}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The format does not fit this build, or could not be made to.
    #[error(transparent)]
    Format(#[from] MigrateError),
    /// The database itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gave no thread.
    #[error("cannot start a thread for the database")]
    Thread {
        /// Why not.
        #[source]
        source: io::Error,
    },
}

super::error::takes_sqlite_errors!(OpenError);

/// The right to be the only pylon on a folder; given back when dropped, or when the process dies.
#[derive(Debug)]
pub(super) struct Taken {
    _lock: File,
}

/// Takes the folder for this process, making it if need be.
pub(super) fn take(folder: &Path) -> Result<Taken, OpenError> {
    let failed = |path: &Path, source| {
        let path = path.to_owned();
        OpenError::Folder { path, source }
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| failed(folder, error))?;
    let path = folder.join(LOCK);
    let lock = private_file(&path).map_err(|error| failed(&path, error))?;
    match lock.try_lock() {
        Ok(()) => Ok(Taken { _lock: lock }),
        Err(TryLockError::WouldBlock) => Err(OpenError::Taken {
            folder: folder.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(failed(&path, source)),
    }
}

/// Opens or makes a file that only its owner can read.
fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

/// The one connection that writes, to a database of the current format.
pub(super) fn writer(path: &Path) -> Result<Connection, OpenError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let found = rusqlite::version();
        return Err(OpenError::OldSqlite { found });
    }
    // SQLite gives the files beside it the same mode.
    private_file(path).map_err(|source| OpenError::Folder {
        path: path.to_owned(),
        source,
    })?;
    let mut connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    migrate::check(&connection)?;
    settle(&connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    migrate::migrate(&mut connection)?;
    Ok(connection)
}

/// A connection that only reads. The writer must have been opened before.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    settle(&connection)?;
    Ok(connection)
}

fn settle(connection: &Connection) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

impl super::Store {
    /// Whether a newer build wrote the database in a folder. Nothing is changed.
    pub fn is_newer(folder: &Path) -> bool {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let opened = Connection::open_with_flags(folder.join(DATABASE), flags);
        opened.is_ok_and(|connection| {
            let checked = migrate::check(&connection);
            matches!(checked, Err(MigrateError::Newer { .. }))
        })
    }
}

/// Makes sure that a file and its name are on the disk.
pub(super) fn sync_named(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Removes a database with the files beside it, if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
