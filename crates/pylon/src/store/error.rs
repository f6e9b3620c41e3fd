//! What can go wrong with the database itself, told apart by what can be done about it.
//!
//! Each operation has an error of its own for what the asker did wrong; this is the part they share. A failed write
//! leaves nothing behind: every job of the writer is one transaction.

use rusqlite::ErrorCode;

/// Why the database did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No room on the disk. Nothing was changed; the next write works as soon as there is room.
    #[error("no room on the disk for the pylon's database")]
    Full {
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is damaged.
    #[error(
        "the pylon's database is damaged; `estelle rebuild` makes it anew from the host's logs"
    )]
    Damaged {
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The disk, or the right to use it, failed.
    #[error("the pylon's database cannot be read or written")]
    Io {
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The store was closed, or the job failed in a way that is a bug.
    #[error("the store is closed")]
    Closed,
    /// SQLite refused; this is a bug.
    #[error("the pylon's database refused a statement")]
    Refused {
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
}

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { source },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { source },
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked,
            ) => Self::Io { source },
            _ => Self::Refused { source },
        }
    }
}

/// Lets an operation's own error take in what SQLite says, through [`StoreError`].
macro_rules! takes_sqlite_errors {
    ($($error:ty),+ $(,)?) => {
        $(impl From<rusqlite::Error> for $error {
            fn from(source: rusqlite::Error) -> Self {
                Self::Store(source.into())
            }
        })+
    };
}

pub(super) use takes_sqlite_errors;
