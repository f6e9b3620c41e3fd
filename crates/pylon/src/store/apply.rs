//! Takes in what the host reports: exactly once, in order, in one transaction with the cursor.
//!
//! **Invariant:** the rows of a conversation and its cursor are of one moment. Whatever dies, the cursor names the last
//! event that is in the rows, and the host goes on from there.
//!
//! An event that was taken in before changes nothing. One that leaves a gap is refused, and so are its successors; the
//! caller subscribes again. The first event of another epoch sets the history of its conversation back.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use estelle_proto::ipc::HostEvent;
use estelle_proto::{ClaudeEvent, ConversationId, Epoch, Seq, Timestamp, ToolUseId};
use estelle_state::link::Cursor;
use rusqlite::{Connection, params};

use super::conversations::{ConversationError, folded};
use super::entry::{self, Beside, Call, Entry, Part};
use super::folded::Folded;
use super::row::{count, count_option, int, parsed, parsed_option};
use super::threads::Keep;
use super::{
    Store, StoreError, Telling, afresh, detail, devices, lifecycle, notices, plan, refusals,
    rewinds, usage, words,
};

/// What became of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the store from now on, and may be shown.
    Applied,
    /// It has no number, so nothing is kept of it; it may be shown.
    Passing,
    /// It was there already.
    Repeated,
    /// Events before it are missing: subscribe again from here. `None` means from the start.
    Gap {
        /// What the store has.
        have: Option<Cursor>,
    },
    /// The pylon has no such conversation, or no longer.
    UnknownConversation,
    /// A durable event without number or epoch, or with one that cannot be.
    Malformed,
}

impl Store {
    /// Takes in events of any number of conversations, in the order given. The outcomes are in the same order.
    pub async fn apply(
        &self,
        events: impl Into<Arc<[HostEvent]>>,
    ) -> Result<Vec<Outcome>, StoreError> {
        let events = events.into();
        self.write(Keep::FromHost, move |db| all(db, &events)).await
    }

    /// How far a conversation is; `None` if nothing was taken in yet.
    pub async fn cursor(&self, id: ConversationId) -> Result<Option<Cursor>, ConversationError> {
        self.read(move |db| Ok(folded(db, &id)?.cursor())).await
    }

    /// How far all conversations are, for the subscriptions at the start.
    pub async fn cursors(&self) -> Result<Vec<(ConversationId, Option<Cursor>)>, StoreError> {
        self.read(|db| {
            let mut list = db.prepare_cached(
                "SELECT id, iif(awaits_start, NULL, epoch), seq, chain_hash FROM conversations ORDER BY key",
            )?;
            let rows = list.query_map([], |row| {
                let cursor = match count_option(row, 1)? {
                    Some(epoch) => Some(Cursor {
                        epoch: Epoch(epoch),
                        seq: Seq(count(row, 2)?),
                        chain_hash: parsed_option(row, 3)?,
                    }),
                    None => None,
                };
                Ok((parsed(row, 0)?, cursor))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

impl Folded {
    pub(super) fn cursor(&self) -> Option<Cursor> {
        let epoch = self.epoch.filter(|_| !self.awaits_start)?;
        Some(Cursor {
            epoch,
            seq: self.seq,
            chain_hash: self.chain_hash.clone(),
        })
    }
}

/// Takes in a batch; what it changes is written when all of it is done.
pub(super) fn all(db: &Connection, events: &[HostEvent]) -> Result<Vec<Outcome>, StoreError> {
    all_telling(db, events, None)
}

/// The same, and notes what people are told of.
pub(super) fn all_telling(
    db: &Connection,
    events: &[HostEvent],
    telling: Option<&Telling>,
) -> Result<Vec<Outcome>, StoreError> {
    let mut open: HashMap<&ConversationId, Option<Folded>> = HashMap::new();
    let mut outcomes = Vec::with_capacity(events.len());
    for event in events {
        let conversation = match open.entry(&event.session_id) {
            Slot::Occupied(slot) => slot.into_mut(),
            Slot::Vacant(slot) => slot.insert(Folded::load(db, &event.session_id)?),
        };
        outcomes.push(match conversation {
            Some(conversation) => one(db, conversation, event, telling)?,
            None => Outcome::UnknownConversation,
        });
    }
    for conversation in open.into_values().flatten() {
        conversation.save(db)?;
    }
    Ok(outcomes)
}

fn one(
    db: &Connection,
    conversation: &mut Folded,
    event: &HostEvent,
    telling: Option<&Telling>,
) -> Result<Outcome, StoreError> {
    let (seq, epoch) = match (event.seq, event.epoch) {
        (Some(seq), Some(epoch)) if is_possible(seq, epoch) => (seq, epoch),
        (None, _) if event.event.is_passing() => {
            if let Some(telling) = telling {
                let at = event.timestamp.unwrap_or(telling.now);
                notices::note(db, conversation, event, at, telling)?;
            }
            return Ok(Outcome::Passing);
        }
        // A newer host may have kinds of its own that pass.
        (None, _) if matches!(event.event, ClaudeEvent::Unknown(_)) => return Ok(Outcome::Passing),
        _ => return Ok(Outcome::Malformed),
    };
    let is_same_log = conversation.epoch == Some(epoch) && !conversation.awaits_start;
    if is_same_log && seq <= conversation.seq {
        return Ok(Outcome::Repeated);
    }
    let is_next = is_same_log && seq.0 == conversation.seq.0 + 1;
    if !is_next && (is_same_log || seq != Seq(1)) {
        let have = conversation.cursor().filter(|_| is_same_log);
        return Ok(Outcome::Gap { have });
    }
    if !is_same_log && conversation.epoch.is_some() {
        afresh::restart(db, conversation)?;
    }
    conversation.epoch = Some(epoch);
    conversation.seq = seq;
    conversation.chain_hash.clone_from(&event.chain_hash);
    take_in(db, conversation, event, epoch)?;
    if let Some(telling) = telling.filter(|_| event.copied != Some(true)) {
        // The host says when; what it does not date is of now.
        let at = event.timestamp.unwrap_or(telling.now);
        notices::note(db, conversation, event, at, telling)?;
    }
    Ok(Outcome::Applied)
}

/// Numbers beyond what SQLite can count come from nowhere good.
fn is_possible(seq: Seq, epoch: Epoch) -> bool {
    let fits = |number: u64| i64::try_from(number).is_ok();
    seq.0 > 0 && fits(seq.0) && fits(epoch.0)
}

fn take_in(
    db: &Connection,
    conversation: &mut Folded,
    event: &HostEvent,
    epoch: Epoch,
) -> Result<(), StoreError> {
    let at = moment_of(event, conversation.updated_at);
    conversation.updated_at = at;
    let beside = Beside {
        call: known_call(db, conversation, &event.event)?,
        full_result: event.full_result.as_deref(),
        full_images: event.full_images.as_deref().unwrap_or_default(),
    };
    if let Some(entry) = entry::entry(&event.event, at, conversation.seq, beside) {
        put(db, conversation, epoch, at, &entry)?;
    }
    if let ClaudeEvent::Rewound(rewound) = &event.event {
        rewinds::take_back(db, conversation.shelf, rewound.before_seq, conversation.seq)?;
    }
    if event.copied == Some(true) {
        fold_copied(conversation, &event.event);
        return Ok(());
    }
    fold(db, conversation, &event.event, at)?;
    refusals::take_in(db, conversation, &event.event, epoch, at)?;
    lifecycle::take_in(db, conversation, &event.event)?;
    if entry::is_notable(&event.event) {
        conversation.notable = devices::raise_mark(db)?;
    }
    Ok(())
}

/// When it happened; the host says so, but an event that does not is no older than the one before it.
fn moment_of(event: &HostEvent, last: Timestamp) -> Timestamp {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events have no time of their own"
    )]
    event.timestamp.unwrap_or(match &event.event {
        ClaudeEvent::UserMessage(message) => message.timestamp,
        _ => last,
    })
}

/// Whether the call that a decision is about has an entry of its own.
fn known_call(
    db: &Connection,
    conversation: &Folded,
    event: &ClaudeEvent,
) -> rusqlite::Result<Call> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other events are no decisions"
    )]
    let id = match event {
        ClaudeEvent::PermissionAsked(asked) => &asked.tool_use_id,
        ClaudeEvent::QuestionAsked(asked) => &asked.tool_use_id,
        _ => return Ok(Call::Unseen),
    };
    let mut find =
        db.prepare_cached("SELECT 1 FROM tool_calls WHERE shelf = ?1 AND tool_use_id = ?2")?;
    let is_known = find.exists(params![conversation.shelf.0, id.as_str()])?;
    Ok(if is_known { Call::Shown } else { Call::Unseen })
}

/// Puts an entry on the shelf of its conversation.
fn put(
    db: &Connection,
    conversation: &mut Folded,
    epoch: Epoch,
    at: Timestamp,
    entry: &Entry,
) -> Result<(), StoreError> {
    conversation.entries += 1;
    let id = conversation.shelf.entry(conversation.entries);
    let doc = words::index(db, conversation, id, &entry.text())?;
    let body = serde_json::to_string(&entry.message)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    db.prepare_cached(
        "INSERT INTO history (id, shelf, epoch, seq, at, doc, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        id,
        conversation.shelf.0,
        int(epoch.0),
        int(conversation.seq.0),
        at.0,
        doc,
        body
    ])?;
    if let Some((call, part)) = &entry.part {
        keep_part(db, conversation, call, part)?;
    }
    Ok(())
}

/// Remembers which entry shows a part of a call, and the whole of it if the entry shows it cut.
fn keep_part(
    db: &Connection,
    conversation: &Folded,
    call: &ToolUseId,
    part: &Part,
) -> rusqlite::Result<()> {
    let ordinal = int(conversation.entries);
    let (shelf, call) = (conversation.shelf.0, call.as_str());
    match part {
        Part::Input { whole } => db
            .prepare_cached(
                "INSERT INTO tool_calls (shelf, tool_use_id, started, input) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (shelf, tool_use_id) DO UPDATE SET started = excluded.started, input = excluded.input",
            )?
            .execute(params![shelf, call, ordinal, whole]),
        Part::Output { whole, images } => db
            .prepare_cached(
                "INSERT INTO tool_calls (shelf, tool_use_id, completed, output, images) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (shelf, tool_use_id) DO UPDATE SET completed = excluded.completed, output = excluded.output, \
                 images = excluded.images",
            )?
            .execute(params![shelf, call, ordinal, whole, detail::kept(images)]),
    }
    .map(|_| ())
}

/// What an event of another conversation changes beside the history: its session and its cost are not of this one, and
/// people have seen it there.
fn fold_copied(conversation: &mut Folded, event: &ClaudeEvent) {
    if let ClaudeEvent::State(change) = event {
        conversation.status = change.state.clone();
    }
}

/// What an event changes beside the history.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other events change the history alone"
)]
fn fold(
    db: &Connection,
    conversation: &mut Folded,
    event: &ClaudeEvent,
    at: Timestamp,
) -> rusqlite::Result<()> {
    match event {
        ClaudeEvent::Init(init) => {
            conversation.claude_session_id = Some(init.session_id.clone());
            conversation.seen_model = Some(init.model.clone());
            usage::count_session(db, conversation, &init.session_id, at)
        }
        ClaudeEvent::SessionReset(_) | ClaudeEvent::Rewound(_) => {
            conversation.claude_session_id = None;
            Ok(())
        }
        ClaudeEvent::State(change) => {
            conversation.status = change.state.clone();
            Ok(())
        }
        ClaudeEvent::Result(result) => usage::count(db, conversation, result, at),
        ClaudeEvent::Limits(told) => plan::keep(db, &told.limits, at),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
