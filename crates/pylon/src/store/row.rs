//! Columns to the types of the wire and back.
//!
//! What stands in the database was checked when it was written; a value that no longer passes is damage, and is
//! reported as such instead of being shown.

use std::error::Error;
use std::str::FromStr;

use estelle_proto::{HistoryMessage, Timestamp};
use rusqlite::Row;
use rusqlite::types::Type;

fn misfit(column: usize, error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// A checked text.
pub(super) fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: Error + Send + Sync + 'static,
{
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(|e| misfit(column, e))?;
    text.parse().map_err(|error| misfit(column, error))
}

/// A checked text that may be missing.
pub(super) fn parsed_option<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: FromStr,
    T::Err: Error + Send + Sync + 'static,
{
    match row.get_ref(column)?.as_str_or_null() {
        Ok(Some(text)) => text.parse().map(Some).map_err(|e| misfit(column, e)),
        Ok(None) => Ok(None),
        Err(error) => Err(misfit(column, error)),
    }
}

/// A word of a list.
pub(super) fn word<T: for<'a> From<&'a str>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(|e| misfit(column, e))?;
    Ok(T::from(text))
}

/// A word of a list that may be missing.
pub(super) fn word_option<T: for<'a> From<&'a str>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let text = row
        .get_ref(column)?
        .as_str_or_null()
        .map_err(|e| misfit(column, e))?;
    Ok(text.map(T::from))
}

/// A value kept as JSON.
pub(super) fn json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(|e| misfit(column, e))?;
    serde_json::from_str(text).map_err(|error| misfit(column, error))
}

/// An entry of history, as it was written here.
pub(super) fn message(row: &Row<'_>, column: usize) -> rusqlite::Result<HistoryMessage> {
    let text = row
        .get_ref(column)?
        .as_str()
        .map_err(|e| misfit(column, e))?;
    HistoryMessage::read_back(text).map_err(|error| misfit(column, error))
}

/// A moment.
pub(super) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp)
}

/// A count that is never negative.
pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    Ok(u64::try_from(number).unwrap_or_default())
}

/// A count that may be missing.
pub(super) fn count_option(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    Ok(number.map(|number| u64::try_from(number).unwrap_or_default()))
}

/// As SQLite counts; what is larger than it can hold is the largest.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
