//! The windows of the agent's plan: one row each, the newest word wins.
//!
//! Conversations tell them in their logs, in any order between each other and again when a log is replayed; so what counts
//! is when it was said, not when it came.

use estelle_proto::{LimitStatus, PLAN, PlanLimit, Timestamp};
use rusqlite::{Connection, params};

use super::row::json;
use super::{Store, StoreError};

/// Windows that are kept. The CLI knows about six; a host that makes up more fills nothing.
const MOST: u32 = 32;

impl Store {
    /// The windows that were told, without those whose reset is over.
    pub async fn plan_limits(&self, now: Timestamp) -> Result<Vec<PlanLimit>, StoreError> {
        self.read(move |db| {
            let mut find = db.prepare_cached(
                "SELECT body FROM plan_limits WHERE resets_at IS NULL OR resets_at > ?1 \
                 ORDER BY window LIMIT ?2",
            )?;
            let rows = find.query_map(params![now.0, MOST], |row| json(row, 0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

/// Keeps what was told at this time, unless something newer is there.
pub(super) fn keep(db: &Connection, limits: &[PlanLimit], at: Timestamp) -> rusqlite::Result<()> {
    for limit in limits.iter().take(MOST as usize) {
        if limit.window == PLAN && limit.status != LimitStatus::Rejected {
            // It says of no window that it refuses, so none of those before does.
            db.prepare_cached(
                "DELETE FROM plan_limits WHERE told_at <= ?1 AND body ->> 'status' = 'rejected'",
            )?
            .execute([at.0])?;
        }
        let told = PlanLimit {
            told_at: Some(at),
            ..limit.clone()
        };
        let body = serde_json::to_string(&told)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        db.prepare_cached(
            "INSERT INTO plan_limits (window, told_at, resets_at, body) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (window) DO UPDATE SET told_at = excluded.told_at, resets_at = excluded.resets_at, \
             body = excluded.body WHERE excluded.told_at >= told_at",
        )?
        .execute(params![
            limit.window,
            at.0,
            limit.resets_at.map(|at| at.0),
            body
        ])?;
    }
    // Windows have few names; what makes up more keeps the newest.
    db.prepare_cached(
        "DELETE FROM plan_limits WHERE window NOT IN \
         (SELECT window FROM plan_limits ORDER BY told_at DESC, window LIMIT ?1)",
    )?
    .execute([MOST])
    .map(|_| ())
}
