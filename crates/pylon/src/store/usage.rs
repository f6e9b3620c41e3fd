//! What the agent has used, counted once: per day, conversation and model.
//!
//! A result says what its own turn cost, so the counts are sums. They follow the log: when a log is replayed from its
//! start, what was counted from it is taken back first; when it is deleted, what was counted is settled and stays.
//! Days are those of the machine's time zone.

use estelle_proto::events::{TurnResult, Usage};
use estelle_proto::usage::{ClaudeUsage, UsageGroup, UsageRow};
use estelle_proto::{ClaudeSessionId, ConversationId, IsoTime, Timestamp};
use rusqlite::{Connection, Row, params};

use super::folded::Folded;
use super::row::{count as counted, int, parsed};
use super::{Store, StoreError};

/// Rows of one page.
const PAGE: u32 = 100;
/// A single turn uses less; what claims more is cut, so that no sum can overflow.
const MOST_TOKENS: u64 = 1 << 40;
const MOST_USD: f64 = 1e9;
/// The model of results that came before any `init`.
const NO_MODEL: &str = "unknown";

/// Which rows of usage to show.
#[derive(Debug, Clone)]
pub struct UsageQuery {
    /// What one row stands for.
    pub group_by: UsageGroup,
    /// First day, `YYYY-MM-DD`.
    pub from: Option<String>,
    /// Last day.
    pub until: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// A page of usage: days newest first, conversations and models by cost.
#[derive(Debug, Clone, PartialEq)]
pub struct UsagePage {
    /// The rows.
    pub rows: Vec<UsageRow>,
    /// Where the next page begins; `None` at the end.
    pub next_cursor: Option<String>,
}

impl Store {
    /// Everything that was used.
    pub async fn usage_totals(&self) -> Result<ClaudeUsage, StoreError> {
        self.read(|db| Ok(totals(db)?)).await
    }

    /// What was used, in rows.
    pub async fn usage_rows(&self, query: UsageQuery) -> Result<UsagePage, StoreError> {
        self.read(move |db| Ok(rows(db, &query)?)).await
    }
}

/// Counts the result of a turn, each model's share as its own. Where the host does not tell shares, all of it counts for
/// the model of the newest `init`.
pub(super) fn count(
    db: &Connection,
    conversation: &Folded,
    result: &TurnResult,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let shares = result.models.as_deref().unwrap_or_default();
    if shares.is_empty() {
        let model = conversation.seen_model.as_deref().unwrap_or(NO_MODEL);
        return add(
            db,
            conversation,
            model,
            result.total_cost_usd,
            &result.usage,
            at,
        );
    }
    for share in shares {
        add(
            db,
            conversation,
            &share.model,
            share.cost_usd,
            &share.usage,
            at,
        )?;
    }
    Ok(())
}

fn add(
    db: &Connection,
    conversation: &Folded,
    model: &str,
    cost: f64,
    used: &Usage,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let tokens = |number: u64| int(number.min(MOST_TOKENS));
    db.prepare_cached(
        "INSERT INTO usage (conversation_id, day, model, is_settled, cost_usd, input_tokens, output_tokens, \
         cache_read_tokens, cache_creation_tokens, updated_at) \
         VALUES (?1, coalesce(date(?2 / 1000, 'unixepoch', 'localtime'), '1970-01-01'), ?3, 0, ?4, ?5, ?6, ?7, ?8, ?2) \
         ON CONFLICT (conversation_id, day, model, is_settled) DO UPDATE SET \
         cost_usd = cost_usd + excluded.cost_usd, \
         input_tokens = input_tokens + excluded.input_tokens, \
         output_tokens = output_tokens + excluded.output_tokens, \
         cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, \
         cache_creation_tokens = cache_creation_tokens + excluded.cache_creation_tokens, \
         updated_at = max(updated_at, excluded.updated_at)",
    )?
    .execute(params![
        conversation.id.as_str(),
        at.0,
        model,
        cost.clamp(0.0, MOST_USD),
        tokens(used.input_tokens),
        tokens(used.output_tokens),
        tokens(used.cache_read_input_tokens),
        tokens(used.cache_creation_input_tokens),
    ])
    .map(|_| ())
}

/// Remembers a session of Claude.
pub(super) fn count_session(
    db: &Connection,
    conversation: &Folded,
    session: &ClaudeSessionId,
    at: Timestamp,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO claude_sessions (id, conversation_id, first_seen) VALUES (?1, ?2, ?3) \
         ON CONFLICT (id) DO NOTHING",
    )?
    .execute(params![session.as_str(), conversation.id.as_str(), at.0])
    .map(|_| ())
}

/// Takes back what a replay will count again.
pub(super) fn take_back(db: &Connection, conversation: &ConversationId) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM usage WHERE conversation_id = ?1 AND is_settled = 0")?
        .execute([conversation.as_str()])
        .map(|_| ())
}

/// Keeps what was counted from a log that is gone for good.
pub(super) fn settle(db: &Connection, conversation: &ConversationId) -> rusqlite::Result<()> {
    settle_from(db, "usage", conversation)?;
    take_back(db, conversation)
}

/// The same for what was counted in this table; it stays there.
pub(super) fn settle_from(
    db: &Connection,
    table: &'static str,
    conversation: &ConversationId,
) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT INTO usage SELECT conversation_id, day, model, 1, cost_usd, input_tokens, output_tokens, \
         cache_read_tokens, cache_creation_tokens, updated_at FROM {table} \
         WHERE conversation_id = ?1 AND is_settled = 0 \
         ON CONFLICT (conversation_id, day, model, is_settled) DO UPDATE SET \
         cost_usd = cost_usd + excluded.cost_usd, \
         input_tokens = input_tokens + excluded.input_tokens, \
         output_tokens = output_tokens + excluded.output_tokens, \
         cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, \
         cache_creation_tokens = cache_creation_tokens + excluded.cache_creation_tokens, \
         updated_at = max(updated_at, excluded.updated_at)"
    );
    db.prepare_cached(&sql)?
        .execute([conversation.as_str()])
        .map(|_| ())
}

fn totals(db: &Connection) -> rusqlite::Result<ClaudeUsage> {
    db.prepare_cached(
        "SELECT total(cost_usd), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), \
         coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_creation_tokens), 0), \
         (SELECT count(*) FROM claude_sessions), \
         coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(max(updated_at), 0) / 1000.0, 'unixepoch'), \
                  '1970-01-01T00:00:00.000Z') \
         FROM usage",
    )?
    .query_row([], |row| {
        let last_updated: IsoTime = parsed(row, 6)?;
        Ok(ClaudeUsage::new(
            row.get(0)?,
            counted(row, 1)?,
            counted(row, 2)?,
            counted(row, 3)?,
            counted(row, 4)?,
            counted(row, 5)?,
            last_updated,
        ))
    })
}

fn rows(db: &Connection, query: &UsageQuery) -> rusqlite::Result<UsagePage> {
    let (column, order) = match query.group_by {
        UsageGroup::Conversation => ("conversation_id", "2 DESC, 1"),
        UsageGroup::Model => ("model", "2 DESC, 1"),
        UsageGroup::Day | UsageGroup::Unknown(_) => ("day", "1 DESC"),
    };
    let sql = format!(
        "SELECT {column}, sum(cost_usd), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), \
         sum(cache_creation_tokens) FROM usage WHERE day >= ?1 AND day <= ?2 \
         GROUP BY {column} ORDER BY {order} LIMIT ?3 OFFSET ?4"
    );
    // There is a row per day, conversation or model, not per turn: few enough to be counted off.
    let skip: u32 = query
        .cursor
        .as_deref()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let from = query.from.as_deref().unwrap_or("");
    let until = query.until.as_deref().unwrap_or("9999-99-99");
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_map(params![from, until, PAGE + 1, skip], usage_row)?;
    let mut rows: Vec<UsageRow> = found.collect::<rusqlite::Result<_>>()?;
    let has_more = rows.len() > PAGE as usize;
    rows.truncate(PAGE as usize);
    let next_cursor = has_more.then(|| skip.saturating_add(PAGE).to_string());
    Ok(UsagePage { rows, next_cursor })
}

fn usage_row(row: &Row<'_>) -> rusqlite::Result<UsageRow> {
    Ok(UsageRow::new(
        row.get(0)?,
        row.get(1)?,
        counted(row, 2)?,
        counted(row, 3)?,
        counted(row, 4)?,
        counted(row, 5)?,
    ))
}
