//! The life of a conversation's process: how it ended, what those are told who come back, and when somebody last looked.
//!
//! The host knows how a process is. What is kept here is for the time while the host is away, and for clients that were
//! away themselves, and for the list: the entries of the history say the same to whoever reads them.

use std::collections::HashMap;

use estelle_proto::conversations::ProcessState;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::ProcessStatus;
use estelle_proto::limits::{LIVE_ERROR_CHARS, cut};
use estelle_proto::{ConversationId, Seq, Timestamp};
use rusqlite::{Connection, Row, params};

use super::conversations::{ConversationError, folded};
use super::folded::{Folded, Shelf};
use super::row::{count, int, json, parsed};
use super::threads::Keep;
use super::{Store, StoreError};

/// Events that are told again at most; there are few in any life.
const MOST: u32 = 2000;

/// How the last process of a conversation ended, if no other has begun since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It was stopped: by a person, for being idle, or with the host.
    Stopped,
    /// It ended by itself, with an exit code or a signal.
    Failed,
}

impl ProcessEnd {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "stopped" => Some(Self::Stopped),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }

    /// How the process stands after an event; `None` if the event says nothing about that.
    #[expect(
        clippy::option_option,
        reason = "an event that says nothing and one by which a process begins are different things"
    )]
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events say nothing about the process"
    )]
    fn after(event: &ClaudeEvent) -> Option<Option<Self>> {
        match event {
            ClaudeEvent::Paused(_) => Some(Some(Self::Stopped)),
            ClaudeEvent::Error(error) if error.exit_code.is_some() => Some(Some(Self::Failed)),
            ClaudeEvent::Init(_) | ClaudeEvent::Resumed(_) | ClaudeEvent::SessionReset(_) => {
                Some(None)
            }
            _ => None,
        }
    }
}

/// What is known of the process of a conversation without its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Life {
    /// How it ended, if it is not known to have begun again.
    pub ended: Option<ProcessEnd>,
    /// When somebody last came to look.
    pub touched_at: Option<Timestamp>,
}

impl Life {
    fn from_row(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        let ended: Option<String> = row.get(column)?;
        let touched_at: Option<i64> = row.get(column + 1)?;
        Ok(Self {
            ended: ended.as_deref().and_then(ProcessEnd::parse),
            touched_at: touched_at.map(Timestamp),
        })
    }
}

impl Store {
    /// What is known of the process of a conversation.
    pub async fn life(&self, id: ConversationId) -> Result<Life, ConversationError> {
        self.read(move |db| {
            let key = folded(db, &id)?.key;
            let mut find =
                db.prepare_cached("SELECT ended, touched_at FROM conversations WHERE key = ?1")?;
            Ok(find.query_row([key], |row| Life::from_row(row, 0))?)
        })
        .await
    }

    /// What is known of the processes of all conversations.
    pub async fn lives(&self) -> Result<HashMap<ConversationId, Life>, StoreError> {
        self.read(|db| {
            let mut find = db.prepare_cached("SELECT id, ended, touched_at FROM conversations")?;
            let rows = find.query_map([], |row| Ok((parsed(row, 0)?, Life::from_row(row, 1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Somebody came to look at a conversation. Of one that is gone nothing is kept.
    pub async fn touch(&self, id: ConversationId, at: Timestamp) -> Result<(), StoreError> {
        self.write(Keep::FromHost, move |db| {
            db.prepare_cached(
                "UPDATE conversations SET touched_at = max(coalesce(touched_at, 0), ?2) WHERE id = ?1",
            )?
            .execute(params![id.as_str(), at.0])?;
            Ok(())
        })
        .await
    }

    /// What became of the processes of a conversation after one event and up to another, in order.
    pub async fn lifecycle(
        &self,
        id: ConversationId,
        after: Seq,
        until: Seq,
    ) -> Result<Vec<(Seq, ClaudeEvent)>, ConversationError> {
        self.read(move |db| {
            let conversation = folded(db, &id)?;
            let mut find = db.prepare_cached(
                "SELECT seq, body FROM lifecycle WHERE shelf = ?1 AND seq > ?2 AND seq <= ?3 \
                 ORDER BY seq LIMIT ?4",
            )?;
            let place = conversation.shelf.0;
            let values = params![place, int(after.0), int(until.0), MOST];
            let rows = find.query_map(values, |row| Ok((Seq(count(row, 0)?), json(row, 1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

/// How the last process of a conversation ended and why, from the columns `ended` and the last event of its life; none if
/// another one has begun, or may begin with the next message as if nothing had been.
pub(super) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ProcessState>> {
    let ended: Option<String> = row.get(column)?;
    let Some(ended) = ended.as_deref().and_then(ProcessEnd::parse) else {
        return Ok(None);
    };
    let last: Option<String> = row.get(column + 1)?;
    let last = last.and_then(|body| serde_json::from_str::<ClaudeEvent>(&body).ok());
    Ok(Some(told(ended, last)))
}

fn told(ended: ProcessEnd, last: Option<ClaudeEvent>) -> ProcessState {
    let status = match ended {
        ProcessEnd::Stopped => ProcessStatus::Stopped,
        ProcessEnd::Failed => ProcessStatus::Error,
    };
    let state = ProcessState::new(status);
    match last {
        Some(ClaudeEvent::Paused(paused)) => ProcessState {
            paused: Some(paused),
            ..state
        },
        Some(ClaudeEvent::Error(failure)) => ProcessState {
            exit_code: failure.exit_code,
            cause: failure.cause,
            why: Some(cut(&failure.error, LIVE_ERROR_CHARS).to_owned()),
            ..state
        },
        _ => state,
    }
}

/// Takes in what an event says about the process of its conversation.
pub(super) fn take_in(
    db: &Connection,
    conversation: &mut Folded,
    event: &ClaudeEvent,
) -> rusqlite::Result<()> {
    let Some(ended) = ProcessEnd::after(event) else {
        return Ok(());
    };
    conversation.ended = ended;
    if matches!(event, ClaudeEvent::Init(_) | ClaudeEvent::SessionReset(_)) {
        return Ok(());
    }
    let body = serde_json::to_string(event)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    db.prepare_cached("INSERT OR REPLACE INTO lifecycle (shelf, seq, body) VALUES (?1, ?2, ?3)")?
        .execute(params![conversation.shelf.0, int(conversation.seq.0), body])?;
    Ok(())
}

/// Nobody looks at this shelf any more.
pub(super) fn forget(db: &Connection, shelf: Shelf) -> rusqlite::Result<()> {
    let mut delete = db.prepare_cached("DELETE FROM lifecycle WHERE shelf = ?1")?;
    delete.execute([shelf.0]).map(|_| ())
}
