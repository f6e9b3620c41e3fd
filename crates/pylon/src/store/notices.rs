//! What people are told of, until they were told: a durable queue.
//!
//! A notice is noted in the transaction that takes in its event, so neither is there without the other. `fan_out` makes a
//! delivery for each who is told, in one transaction; from then on each delivery is tried until it is taken, gone or given
//! up. docs/design/notifications.md has the crash windows.

use std::collections::BTreeSet;
use std::sync::Arc;

use estelle_proto::ipc::HostEvent;
use estelle_proto::notifications::{LostNotice, NoticeKind, NotificationHealth};
use estelle_proto::{
    Cause, ClaudeEvent, ConversationId, Epoch, Seq, Timestamp, ToolUseId, WorkspaceId,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::apply::{self, Outcome};
use super::folded::Folded;
use super::row::{count, int, parsed_option, word};
use super::threads::Keep;
use super::{Store, StoreError, continuations, subscriptions};
use crate::notify::fan::{self, Hook, Notice};

/// What is older than this when it comes is no news: a log that is told again, or a machine that slept.
const NEWS_MS: i64 = 60 * 60 * 1000;
/// Notices that are kept at once; a machine that makes more has told enough.
const MOST_NOTICES: i64 = 1000;
/// What failed more often than this is not tried before its time when a pylon starts.
const HURRIED_TRIES: i64 = 3;
/// Deliveries that were given up and are still shown.
const MOST_LOST: i64 = 50;

/// What the desk knows when events are taken in, and the store does not.
#[derive(Debug, Clone)]
pub struct Telling {
    /// The time.
    pub now: Timestamp,
    /// Conversations that somebody looks at.
    pub watched: BTreeSet<ConversationId>,
    /// Conversations whose log is told again from its start.
    pub silent: BTreeSet<ConversationId>,
    /// Whether there is somebody to tell beside devices.
    pub has_webhook: bool,
}

impl Telling {
    /// Whether what happened then is no news any more.
    pub(crate) fn is_old(&self, at: Timestamp) -> bool {
        at.0 < self.now.0.saturating_sub(NEWS_MS)
    }
}

/// A delivery that is due.
#[derive(Debug, Clone)]
pub(crate) struct Due {
    pub(crate) key: i64,
    /// The same for every try.
    pub(crate) id: String,
    pub(crate) kind: NoticeKind,
    pub(crate) at: Timestamp,
    pub(crate) attempts: u64,
    /// None is the webhook.
    pub(crate) subscription: Option<subscriptions::Subscription>,
    pub(crate) workspace_id: Option<WorkspaceId>,
    pub(crate) conversation_id: Option<ConversationId>,
    pub(crate) title: Option<String>,
}

/// What became of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tried {
    Delivered,
    /// The subscription is no longer there.
    Gone,
    /// Again at this time.
    Again {
        at: Timestamp,
        error: String,
    },
    Lost {
        error: String,
    },
}

impl Store {
    /// Takes in events, and notes what people are told of.
    pub async fn apply_telling(
        &self,
        events: impl Into<Arc<[HostEvent]>>,
        telling: Telling,
    ) -> Result<Vec<Outcome>, StoreError> {
        let events = events.into();
        self.write(Keep::FromHost, move |db| {
            apply::all_telling(db, &events, Some(&telling))
        })
        .await
    }

    /// Which decisions of a conversation still wait: those that were asked long ago are told of now, and the others never.
    pub(crate) async fn settle_held(
        &self,
        id: ConversationId,
        open: BTreeSet<ToolUseId>,
    ) -> Result<(), StoreError> {
        let of = id.clone();
        let held = self.read(move |db| {
            let mut find = db.prepare_cached(
                "SELECT 1 FROM notices n JOIN conversations c ON c.key = n.conversation WHERE c.id = ?1 AND n.is_held = 1",
            )?;
            Ok::<_, StoreError>(find.exists([of.as_str()])?)
        });
        if !held.await? {
            return Ok(());
        }
        self.write(Keep::Own, move |db| {
            let held =
                "conversation = (SELECT key FROM conversations WHERE id = ?1) AND is_held = 1";
            for call in &open {
                let sql =
                    format!("UPDATE notices SET is_held = 0 WHERE tool_use_id = ?2 AND {held}");
                db.prepare_cached(&sql)?
                    .execute(params![id.as_str(), call.as_str()])?;
            }
            db.prepare_cached(&format!("DELETE FROM notices WHERE {held}"))?
                .execute([id.as_str()])?;
            Ok(())
        })
        .await
    }

    /// Notes that a device wants to see whether it works.
    pub(crate) async fn note_test(&self, device: u32, now: Timestamp) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            db.execute(
                "INSERT INTO notices (kind, is_watched, only_for, at) VALUES (?1, 0, ?2, ?3)",
                params![NoticeKind::Test.as_str(), device, now.0],
            )?;
            Ok(())
        })
        .await
    }

    /// Makes deliveries of what is noted.
    pub(crate) async fn fan_out(&self, hook: Hook, now: Timestamp) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| Ok(fan_out(db, hook, now)?))
            .await
    }

    /// Deliveries that are due, oldest first.
    pub(crate) async fn due(&self, now: Timestamp, most: u32) -> Result<Vec<Due>, StoreError> {
        self.read(move |db| {
            let mut find = db.prepare_cached(
                "SELECT d.key, n.key, n.kind, n.at, d.attempts, w.id, c.id, c.name, \
                 s.key, s.endpoint, s.p256dh, s.auth \
                 FROM deliveries d JOIN notices n ON n.key = d.notice \
                 LEFT JOIN push_subscriptions s ON s.key = d.subscription \
                 LEFT JOIN conversations c ON c.key = n.conversation \
                 LEFT JOIN workspaces w ON w.key = c.workspace \
                 WHERE d.next_at <= ?1 ORDER BY d.next_at, d.key LIMIT ?2",
            )?;
            let rows = find.query_map(params![now.0, most], due)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// When the next delivery is due.
    pub(crate) async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read(|db| {
            let next: Option<i64> = db
                .prepare_cached("SELECT min(next_at) FROM deliveries WHERE next_at IS NOT NULL")?
                .query_row([], |row| row.get(0))?;
            Ok(next.map(Timestamp))
        })
        .await
    }

    /// Says what became of a try.
    pub(crate) async fn tried(
        &self,
        due: &Due,
        tried: Tried,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = due.key;
        let subscription = due.subscription.as_ref().map(|found| found.key);
        self.write(Keep::Own, move |db| {
            Ok(record(db, key, subscription, &tried, now)?)
        })
        .await
    }

    /// What failed is tried again now: the pylon was started anew, and maybe the network with it.
    pub(crate) async fn hurry(&self, now: Timestamp) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            // One that is started over and over does not use up the tries.
            db.execute(
                "UPDATE deliveries SET next_at = ?1 WHERE next_at > ?1 AND attempts BETWEEN 1 AND ?2",
                params![now.0, HURRIED_TRIES],
            )?;
            Ok(())
        })
        .await
    }

    /// How notifications fare.
    pub async fn notification_health(&self) -> Result<NotificationHealth, StoreError> {
        self.read(|db| Ok(health(db)?)).await
    }
}

/// Notes an event that was taken in, if people are told of it; and forgets what is no longer to be told.
pub(super) fn note(
    db: &Connection,
    conversation: &Folded,
    event: &HostEvent,
    at: Timestamp,
    telling: &Telling,
) -> rusqlite::Result<()> {
    if let ClaudeEvent::DecisionAnswered(answered) = &event.event {
        db.prepare_cached("DELETE FROM notices WHERE conversation = ?1 AND tool_use_id = ?2")?
            .execute(params![conversation.key, answered.tool_use_id.as_str()])?;
    }
    let is_silent = telling.silent.contains(&conversation.id);
    // What a log tells again was said before the turn that failed.
    if matches!(event.event, ClaudeEvent::UserMessage(_)) && !is_silent {
        continuations::said(db, conversation)?;
    }
    let Some((kind, call)) = kind_of(&event.event) else {
        return Ok(());
    };
    if let (Some(epoch), Some(seq)) = (event.epoch, event.seq)
        && !is_first(db, conversation, epoch, seq)?
    {
        return Ok(());
    }
    if let ClaudeEvent::Result(result) = &event.event
        && result.cause == Some(Cause::UsageLimit)
        && !is_silent
    {
        continuations::plan(db, conversation, telling.now)?;
    }
    let is_old = telling.is_old(at);
    // A decision may still wait, however long ago it was asked.
    if (is_old && call.is_none()) || is_silent || !is_wanted(db, telling)? {
        return Ok(());
    }
    db.prepare_cached(
        "INSERT INTO notices (conversation, kind, tool_use_id, is_watched, at, is_held) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        conversation.key,
        kind.as_str(),
        call.map(ToolUseId::as_str),
        telling.watched.contains(&conversation.id),
        at.0,
        is_old
    ])
    .map(|_| ())
}

/// What people are told of an event, and the call that it is about.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "people who do not look are told of few events"
)]
fn kind_of(event: &ClaudeEvent) -> Option<(NoticeKind, Option<&ToolUseId>)> {
    match event {
        ClaudeEvent::PermissionAsked(asked) => {
            Some((NoticeKind::Decision, Some(&asked.tool_use_id)))
        }
        ClaudeEvent::QuestionAsked(asked) => Some((NoticeKind::Decision, Some(&asked.tool_use_id))),
        ClaudeEvent::Result(result) => match &result.cause {
            // Whoever broke it off knows.
            Some(Cause::Aborted) => None,
            Some(_) => Some((NoticeKind::Failed, None)),
            None if result.subtype.starts_with("error") => Some((NoticeKind::Failed, None)),
            None => Some((NoticeKind::Finished, None)),
        },
        // The process ended by itself; an error of a turn comes with its result.
        ClaudeEvent::Error(error) if error.exit_code.is_some() => Some((NoticeKind::Failed, None)),
        ClaudeEvent::IdleWarning(_) => Some((NoticeKind::IdleWarning, None)),
        _ => None,
    }
}

/// Whether an event of this log was not noted before; from now on it is.
fn is_first(
    db: &Connection,
    conversation: &Folded,
    epoch: Epoch,
    seq: Seq,
) -> rusqlite::Result<bool> {
    let changed = db
        .prepare_cached(
            "INSERT INTO noted (conversation, epoch, seq) VALUES (?1, ?2, ?3) ON CONFLICT (conversation) \
             DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq WHERE epoch <> excluded.epoch OR seq < excluded.seq",
        )?
        .execute(params![conversation.key, int(epoch.0), int(seq.0)])?;
    Ok(changed > 0)
}

/// Whether there is somebody to tell, and room for it.
fn is_wanted(db: &Connection, telling: &Telling) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "SELECT (?1 OR EXISTS (SELECT 1 FROM push_subscriptions)) AND (SELECT count(*) FROM notices) < ?2",
    )?
    .query_row(params![telling.has_webhook, MOST_NOTICES], |row| row.get(0))
}

fn fan_out(db: &Connection, hook: Hook, now: Timestamp) -> rusqlite::Result<()> {
    let mut find = db.prepare_cached(
        "SELECT key, conversation, kind, is_watched, only_for FROM notices WHERE is_fanned = 0 AND is_held = 0 ORDER BY key",
    )?;
    let known = find.query_map([], |row| {
        let notice = Notice {
            kind: word(row, 2)?,
            is_watched: row.get(3)?,
            only_for: row.get(4)?,
        };
        Ok((row.get(0)?, row.get(1)?, notice))
    })?;
    let known: Vec<(i64, Option<i64>, Notice)> = known.collect::<rusqlite::Result<_>>()?;
    for (key, conversation, notice) in known {
        let ways = subscriptions::ways(db, conversation)?;
        let targets = fan::targets(&notice, &ways, hook, now);
        for target in &targets {
            db.prepare_cached(
                "INSERT INTO deliveries (notice, subscription, next_at) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![key, target.subscription, target.at.0])?;
        }
        let end = if targets.is_empty() {
            "DELETE FROM notices WHERE key = ?1"
        } else {
            "UPDATE notices SET is_fanned = 1 WHERE key = ?1"
        };
        db.prepare_cached(end)?.execute([key])?;
    }
    Ok(())
}

fn due(row: &Row<'_>) -> rusqlite::Result<Due> {
    let (notice, at): (i64, i64) = (row.get(1)?, row.get(3)?);
    let key: Option<i64> = row.get(8)?;
    let subscription = match key {
        Some(key) => Some(subscriptions::Subscription {
            key,
            endpoint: row.get(9)?,
            p256dh: row.get(10)?,
            auth: row.get(11)?,
        }),
        None => None,
    };
    Ok(Due {
        key: row.get(0)?,
        id: format!("{notice}-{at}"),
        kind: word(row, 2)?,
        at: Timestamp(at),
        attempts: count(row, 4)?,
        subscription,
        workspace_id: parsed_option(row, 5)?,
        conversation_id: parsed_option(row, 6)?,
        title: row.get(7)?,
    })
}

fn record(
    db: &Connection,
    key: i64,
    subscription: Option<i64>,
    tried: &Tried,
    now: Timestamp,
) -> rusqlite::Result<()> {
    match tried {
        Tried::Delivered => {
            db.execute("DELETE FROM deliveries WHERE key = ?1", [key])?;
            db.execute(
                "UPDATE push_subscriptions SET delivered_at = ?2, failed_at = NULL, error = NULL WHERE key = ?1",
                params![subscription, now.0],
            )?;
        }
        Tried::Gone => {
            db.execute(
                "DELETE FROM push_subscriptions WHERE key = ?1",
                [subscription],
            )?;
            // A webhook is not taken away by what it answers.
            db.execute("DELETE FROM deliveries WHERE key = ?1", [key])?;
        }
        Tried::Again { at, error } => {
            db.execute(
                "UPDATE deliveries SET attempts = attempts + 1, next_at = ?2, failed_at = ?3, error = ?4 WHERE key = ?1",
                params![key, at.0, now.0, error],
            )?;
        }
        Tried::Lost { error } => {
            db.execute(
                "UPDATE deliveries SET attempts = attempts + 1, next_at = NULL, failed_at = ?2, error = ?3 WHERE key = ?1",
                params![key, now.0, error],
            )?;
        }
    }
    if let Tried::Again { error, .. } | Tried::Lost { error } = tried {
        db.execute(
            "UPDATE push_subscriptions SET failed_at = ?2, error = ?3 WHERE key = ?1",
            params![subscription, now.0, error],
        )?;
    }
    db.execute(
        "DELETE FROM deliveries WHERE next_at IS NULL AND key NOT IN \
         (SELECT key FROM deliveries WHERE next_at IS NULL ORDER BY key DESC LIMIT ?1)",
        [MOST_LOST],
    )?;
    db.execute(
        "DELETE FROM notices WHERE is_fanned = 1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE notice = notices.key)",
        [],
    )
    .map(|_| ())
}

fn health(db: &Connection) -> rusqlite::Result<NotificationHealth> {
    let (waiting, lost) = db
        .prepare_cached(
            "SELECT count(next_at) + (SELECT count(*) FROM notices WHERE is_fanned = 0 AND is_held = 0), \
             count(*) - count(next_at) FROM deliveries",
        )?
        .query_row([], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
    let error: Option<String> = db
        .prepare_cached(
            "SELECT error FROM deliveries WHERE next_at IS NULL ORDER BY failed_at DESC LIMIT 1",
        )?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(NotificationHealth {
        error,
        ..NotificationHealth::new(waiting, lost)
    })
}

/// What was given up, newest first. `service` names the way from its endpoint.
pub(super) fn lost(
    db: &Connection,
    service: impl Fn(Option<&str>) -> String,
) -> rusqlite::Result<Vec<LostNotice>> {
    let mut find = db.prepare_cached(
        "SELECT n.kind, s.endpoint, d.failed_at, d.attempts, coalesce(d.error, ''), c.id \
         FROM deliveries d JOIN notices n ON n.key = d.notice \
         LEFT JOIN push_subscriptions s ON s.key = d.subscription \
         LEFT JOIN conversations c ON c.key = n.conversation \
         WHERE d.next_at IS NULL ORDER BY d.failed_at DESC, d.key DESC",
    )?;
    let rows = find.query_map([], |row| {
        let endpoint: Option<String> = row.get(1)?;
        Ok(LostNotice {
            conversation_id: parsed_option(row, 5)?,
            ..LostNotice::new(
                word(row, 0)?,
                service(endpoint.as_deref()),
                Timestamp(row.get(2)?),
                count(row, 3)?,
                row.get(4)?,
            )
        })
    })?;
    rows.collect()
}
