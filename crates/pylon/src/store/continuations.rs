//! Conversations that go on by themselves at the reset of a limit: who wants it, and what waits for when.
//!
//! What waits is written in the transaction that takes in the failed turn, or in the one that turns it on after that, under
//! an id that is made of that turn. The host runs an id once, so sending it again after a crash does no harm. A message of a
//! person takes its place.

use estelle_proto::{Cause, ClaudeEvent, ClientMessageId, ConversationId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::conversations::{ConversationError, folded};
use super::folded::Folded;
use super::refusals::{self, Refusal};
use super::row::{parsed, parsed_option};
use super::threads::Keep;
use super::{Store, StoreError};

/// After the reset, so that two clocks that differ a little do not matter.
const AFTER_RESET_MS: i64 = 15_000;

/// How a conversation stands to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Continuation {
    /// Whether it goes on by itself.
    pub is_enabled: bool,
    /// Under which id and when, if it waits.
    pub waiting: Option<(ClientMessageId, Timestamp)>,
    /// Why it last did not.
    pub failure: Option<String>,
}

impl Store {
    /// How a conversation stands to it.
    pub async fn continuation(
        &self,
        id: ConversationId,
    ) -> Result<Continuation, ConversationError> {
        self.read(move |db| Ok(load(db, folded(db, &id)?.key)?))
            .await
    }

    /// Turns it on or off. Off takes back what waits; on plans for a turn that failed before.
    pub async fn set_continuation(
        &self,
        id: ConversationId,
        is_enabled: bool,
        now: Timestamp,
    ) -> Result<(), ConversationError> {
        self.write(Keep::Own, move |db| {
            let conversation = folded(db, &id)?;
            let key = conversation.key;
            db.prepare_cached(
                "INSERT INTO continuations (conversation, is_enabled) VALUES (?1, ?2) \
                 ON CONFLICT (conversation) DO UPDATE SET is_enabled = excluded.is_enabled, failure = NULL",
            )?
            .execute(params![key, is_enabled])?;
            if is_enabled {
                plan(db, &conversation, now)?;
            } else {
                forget(db, key)?;
            }
            Ok(())
        })
        .await
    }

    /// Takes back what waits. Tells whether something did.
    pub async fn cancel_continuation(&self, id: ConversationId) -> Result<bool, ConversationError> {
        self.write(Keep::Own, move |db| {
            let key = folded(db, &id)?.key;
            // Turning it on once more does not bring back what somebody did not want.
            refusals::follow_up(db, key)?;
            Ok(forget(db, key)?)
        })
        .await
    }

    /// The continuation that comes next.
    pub async fn next_continuation(
        &self,
    ) -> Result<Option<(ConversationId, ClientMessageId, Timestamp)>, StoreError> {
        self.read(|db| {
            let mut find = db.prepare_cached(
                "SELECT c.id, n.message_id, n.at FROM continuations n JOIN conversations c ON c.key = n.conversation \
                 WHERE n.message_id IS NOT NULL ORDER BY n.at, n.conversation LIMIT 1",
            )?;
            let found = find.query_row([], |row| {
                Ok((parsed(row, 0)?, parsed(row, 1)?, Timestamp(row.get(2)?)))
            });
            Ok(found.optional()?)
        })
        .await
    }

    /// It went out, or never will. Only what waits under this id: meanwhile there may be another.
    pub async fn continued(
        &self,
        id: ConversationId,
        message: ClientMessageId,
        failure: Option<String>,
    ) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            db.prepare_cached(
                "UPDATE continuations SET message_id = NULL, at = NULL, failure = ?3 WHERE message_id = ?2 \
                 AND conversation = (SELECT key FROM conversations WHERE id = ?1)",
            )?
            .execute(params![id.as_str(), message.as_str(), failure])?;
            Ok(())
        })
        .await
    }

    /// Tries it later: the host is not there.
    pub async fn postpone_continuation(
        &self,
        message: ClientMessageId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            db.prepare_cached("UPDATE continuations SET at = ?2 WHERE message_id = ?1")?
                .execute(params![message.as_str(), at.0])?;
            Ok(())
        })
        .await
    }
}

fn load(db: &Connection, key: i64) -> rusqlite::Result<Continuation> {
    let found = db
        .prepare_cached(
            "SELECT is_enabled, message_id, at, failure FROM continuations WHERE conversation = ?1",
        )?
        .query_row([key], |row| {
            let message: Option<ClientMessageId> = parsed_option(row, 1)?;
            let at: Option<i64> = row.get(2)?;
            Ok(Continuation {
                is_enabled: row.get(0)?,
                waiting: message.zip(at.map(Timestamp)),
                failure: row.get(3)?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Nothing waits any more. Tells whether something did.
fn forget(db: &Connection, key: i64) -> rusqlite::Result<bool> {
    let changed = db
        .prepare_cached(
            "UPDATE continuations SET message_id = NULL, at = NULL WHERE conversation = ?1 AND message_id IS NOT NULL",
        )?
        .execute([key])?;
    Ok(changed > 0)
}

/// Whether people have to be told that something is different.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "no other event changes what waits"
)]
pub(crate) fn is_about(event: &ClaudeEvent) -> bool {
    match event {
        ClaudeEvent::Result(result) => result.cause == Some(Cause::UsageLimit),
        ClaudeEvent::UserMessage(_) => true,
        _ => false,
    }
}

/// A message of anybody takes the place of what waits; our own is what waited.
pub(super) fn said(db: &Connection, conversation: &Folded) -> rusqlite::Result<()> {
    forget(db, conversation.key).map(|_| ())
}

/// Plans that the turn goes on that failed last because the plan is used up, if that is wanted and nothing followed it.
pub(super) fn plan(db: &Connection, conversation: &Folded, now: Timestamp) -> rusqlite::Result<()> {
    let Some(refusal) = refusals::last(db, conversation.key)? else {
        return Ok(());
    };
    let (message, at, failure) = match refusal.resets_at {
        Some(at) => {
            let Refusal { epoch, seq, .. } = refusal;
            let id = format!("continue-{}-{epoch}-{seq}", conversation.id);
            (
                Some(id),
                Some(at.0.max(now.0).saturating_add(AFTER_RESET_MS)),
                None,
            )
        }
        None => (
            None,
            None,
            Some("the CLI did not say when the plan allows it again"),
        ),
    };
    db.prepare_cached(
        "UPDATE continuations SET message_id = ?2, at = ?3, failure = ?4 WHERE conversation = ?1 AND is_enabled = 1",
    )?
    .execute(params![conversation.key, message, at, failure])
    .map(|_| ())
}
