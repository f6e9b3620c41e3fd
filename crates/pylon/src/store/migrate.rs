//! Brings a database to the format of this build, step by step.
//!
//! **Invariant:** each step is one transaction that also raises the version, so a database is never between two formats,
//! whenever the process dies. Steps are only ever added.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

/// The steps, oldest first. The version of a database is the number of steps it has taken.
const STEPS: &[&str] = &[
    include_str!("schema/v1.sql"),
    include_str!("schema/v2.sql"),
    include_str!("schema/v3.sql"),
    include_str!("schema/v4.sql"),
    include_str!("schema/v5.sql"),
    include_str!("schema/v6.sql"),
    include_str!("schema/v7.sql"),
    include_str!("schema/v8.sql"),
    include_str!("schema/v9.sql"),
    include_str!("schema/v10.sql"),
    include_str!("schema/v11.sql"),
    include_str!("schema/v12.sql"),
    include_str!("schema/v13.sql"),
];

/// Marks the file as ours: `EstP`.
const APPLICATION_ID: i32 = 0x4573_7450;

/// Why a database could not be brought to the format of this build.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A newer build wrote it.
    #[error(
        "the pylon's database has format {found}, and this Estelle knows formats up to {known}; \
         use the Estelle that wrote it or a newer one, or restore an older backup"
    )]
    Newer {
        /// The format of the file.
        found: i64,
        /// The newest format this build knows.
        known: i64,
    },
    /// It is a database of some other program.
    #[error("the file is a database of another program")]
    Foreign,
    /// A step failed and was undone.
    #[error(transparent)]
    Store(#[from] StoreError),
}

super::error::takes_sqlite_errors!(MigrateError);

/// Takes all steps that are missing.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), MigrateError> {
    take_steps(connection, STEPS)
}

/// Whether the database can be opened by this build at all, without changing it.
pub(super) fn check(connection: &Connection) -> Result<(), MigrateError> {
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    standing(connection, known).map(|_| ())
}

/// How many steps the database has taken.
fn standing(connection: &Connection, known: i64) -> Result<i64, MigrateError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (version, owner) = (pragma("user_version")?, pragma("application_id")?);
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
        row.get::<_, i64>(0)
    })?;
    let is_new = version == 0 && owner == 0 && tables == 0;
    if !is_new && owner != i64::from(APPLICATION_ID) {
        return Err(MigrateError::Foreign);
    }
    if version > known {
        let found = version;
        return Err(MigrateError::Newer { found, known });
    }
    Ok(version)
}

fn take_steps(connection: &mut Connection, steps: &[&str]) -> Result<(), MigrateError> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    loop {
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let taken = standing(&step, known)?;
        let Some(sql) = usize::try_from(taken).ok().and_then(|next| steps.get(next)) else {
            return Ok(());
        };
        step.execute_batch(sql)?;
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", taken + 1)?;
        step.commit()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1);";
    const SECOND: &str = "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1;";
    /// Fails at its last statement, after others have worked.
    const BROKEN: &str =
        "DELETE FROM a; CREATE TABLE b (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1);";

    fn state(connection: &Connection) -> (i64, i64, i64) {
        let one = |sql| connection.query_row(sql, [], |row| row.get(0)).unwrap();
        (
            one("PRAGMA user_version"),
            one("SELECT count(*) FROM sqlite_schema"),
            one("SELECT count(*) FROM a"),
        )
    }

    #[test]
    fn steps_are_taken_once_each() {
        let mut connection = Connection::open_in_memory().unwrap();
        take_steps(&mut connection, &[FIRST]).unwrap();
        take_steps(&mut connection, &[FIRST]).unwrap();
        assert_eq!(state(&connection), (1, 1, 1));
        take_steps(&mut connection, &[FIRST, SECOND]).unwrap();
        let y: i64 = connection
            .query_row("SELECT y FROM a", [], |row| row.get(0))
            .unwrap();
        assert_eq!((state(&connection).0, y), (2, 2));
    }

    #[test]
    fn a_step_that_fails_leaves_nothing_behind() {
        let mut connection = Connection::open_in_memory().unwrap();
        take_steps(&mut connection, &[FIRST]).unwrap();
        take_steps(&mut connection, &[FIRST, BROKEN]).unwrap_err();
        assert_eq!(state(&connection), (1, 1, 1));
        take_steps(&mut connection, &[FIRST, SECOND]).unwrap();
        assert_eq!(state(&connection).0, 2);
    }

    #[test]
    fn a_database_from_the_future_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        take_steps(&mut connection, &[FIRST, SECOND]).unwrap();
        let error = take_steps(&mut connection, &[FIRST]).unwrap_err();
        assert!(
            matches!(error, MigrateError::Newer { found: 2, known: 1 }),
            "{error}"
        );
        assert_eq!(state(&connection), (2, 1, 1));
    }

    #[test]
    fn a_database_of_another_program_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE notes (x TEXT)")
            .unwrap();
        let error = migrate(&mut connection).unwrap_err();
        assert!(matches!(error, MigrateError::Foreign), "{error}");
    }
}
