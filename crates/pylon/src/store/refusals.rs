//! What the plan refused to a conversation: until when, and which turn failed of it.
//!
//! Windows are kept per machine (`plan.rs`), for people to see. Which of them is in the way of a conversation only its own
//! process says: another one may use a model with a window of its own. Both are facts of the log, so a replay folds them anew.

use estelle_proto::{
    Cause, ClaudeEvent, ConversationId, Epoch, LimitStatus, PlanLimit, Seq, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::conversations::{ConversationError, folded};
use super::folded::Folded;
use super::row::{count, int};
use super::{Store, StoreError};

/// How far the clock of the one who says when may be behind.
const CLOCKS_DIFFER_MS: i64 = 60_000;

/// A turn that failed because the plan is used up, and that nothing followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) epoch: Epoch,
    pub(super) seq: Seq,
    /// When the plan allows it again, if anybody said so.
    pub(super) resets_at: Option<Timestamp>,
}

impl Store {
    /// When the plan lets a conversation go on whose last turn it refused, if that is known.
    pub(crate) async fn refused_until(
        &self,
        id: ConversationId,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.read(move |db| {
            let conversation = match folded(db, &id) {
                Ok(conversation) => conversation,
                Err(ConversationError::Store(error)) => return Err(error),
                Err(_) => return Ok(None),
            };
            let last = last(db, conversation.key)?;
            Ok(last.and_then(|refusal| refusal.resets_at))
        })
        .await
    }
}

/// The turn that failed last, if it was refused and nothing followed it.
pub(super) fn last(db: &Connection, key: i64) -> rusqlite::Result<Option<Refusal>> {
    let found = db
        .prepare_cached(
            "SELECT epoch, seq, failed_at, resets_at FROM refusals WHERE conversation = ?1 AND seq IS NOT NULL",
        )?
        .query_row([key], |row| {
            let (failed_at, resets_at): (i64, Option<i64>) = (row.get(2)?, row.get(3)?);
            Ok((Epoch(count(row, 0)?), Seq(count(row, 1)?), failed_at, resets_at))
        })
        .optional()?;
    let Some((epoch, seq, failed_at, resets_at)) = found else {
        return Ok(None);
    };
    // A window that was over long before the turn failed says nothing about when it may go on: it would be asked for ever.
    let oldest = failed_at.saturating_sub(CLOCKS_DIFFER_MS);
    let resets_at = match resets_at.filter(|at| *at > oldest) {
        Some(at) => Some(at),
        None => of_any(db, oldest)?,
    };
    Ok(Some(Refusal {
        epoch,
        seq,
        resets_at: resets_at.map(Timestamp),
    }))
}

/// When the last window of the machine begins anew that refuses. The process of the turn has not named any.
fn of_any(db: &Connection, oldest: i64) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached(
        "SELECT max(resets_at) FROM plan_limits WHERE body ->> 'status' = ?1 AND resets_at > ?2",
    )?
    .query_row(params![LimitStatus::Rejected.as_str(), oldest], |row| {
        row.get(0)
    })
}

/// What an event of the log changes.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other events leave this as it is"
)]
pub(super) fn take_in(
    db: &Connection,
    conversation: &Folded,
    event: &ClaudeEvent,
    epoch: Epoch,
    at: Timestamp,
) -> rusqlite::Result<()> {
    match event {
        ClaudeEvent::Limits(told) => keep_reset(db, conversation.key, &told.limits),
        ClaudeEvent::Result(result) if result.cause == Some(Cause::UsageLimit) => db
            .prepare_cached(
                "INSERT INTO refusals (conversation, epoch, seq, failed_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (conversation) DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq, failed_at = excluded.failed_at",
            )?
            .execute(params![
                conversation.key,
                int(epoch.0),
                int(conversation.seq.0),
                at.0
            ])
            .map(|_| ()),
        ClaudeEvent::Result(_)
        | ClaudeEvent::UserMessage(_)
        | ClaudeEvent::Aborted(_)
        | ClaudeEvent::SessionReset(_)
        | ClaudeEvent::Rewound(_) => follow_up(db, conversation.key),
        _ => Ok(()),
    }
}

/// The last word counts: one that refuses names what is in the way, any other lets requests through.
fn keep_reset(db: &Connection, key: i64, limits: &[PlanLimit]) -> rusqlite::Result<()> {
    let refusing = limits
        .iter()
        .filter(|limit| limit.status == LimitStatus::Rejected);
    let resets_at = refusing.filter_map(|limit| limit.resets_at).max();
    db.prepare_cached(
        "INSERT INTO refusals (conversation, resets_at) VALUES (?1, ?2) \
         ON CONFLICT (conversation) DO UPDATE SET resets_at = excluded.resets_at",
    )?
    .execute(params![key, resets_at.map(|at| at.0)])
    .map(|_| ())
}

/// Something came after the turn that failed, or somebody does not want it to go on.
pub(super) fn follow_up(db: &Connection, key: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE refusals SET epoch = NULL, seq = NULL, failed_at = NULL WHERE conversation = ?1 AND seq IS NOT NULL",
    )?
    .execute([key])
    .map(|_| ())
}

/// Its log begins anew or is gone.
pub(super) fn forget(db: &Connection, key: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM refusals WHERE conversation = ?1")?
        .execute([key])
        .map(|_| ())
}
