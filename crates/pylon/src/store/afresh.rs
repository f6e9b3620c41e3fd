//! Histories that begin anew: because the host's log did, or because a person cleared them.
//!
//! The two differ in what is counted. A log that begins anew is replayed from its first event, so what was counted from
//! it is taken back; a cleared one is gone for good, and what it cost stays counted. A log that was lost and goes on begins
//! anew as well: whoever wants the old history rebuilds the database before.

use estelle_proto::{ConversationId, ConversationStatus, Seq};
use rusqlite::Connection;

use super::conversations::{ConversationError, folded};
use super::folded::Folded;
use super::threads::Keep;
use super::{Store, continuations, refusals, removals, usage};

impl Store {
    /// Forgets the cursor of a conversation, because the host replays it from the start. To be called when a subscription
    /// is answered with `fresh`. What is there is shown until the first event comes: a host that lost its logs does not
    /// take the history with them.
    pub async fn begin_afresh(&self, id: ConversationId) -> Result<(), ConversationError> {
        self.write(Keep::FromHost, move |db| {
            let mut conversation = folded(db, &id)?;
            conversation.awaits_start = conversation.epoch.is_some();
            Ok(conversation.save(db)?)
        })
        .await
    }

    /// Deletes the history of a conversation and drops its session, as `clear` asks, and keeps that the host has to
    /// follow. To be called before the host is told: its log begins a new epoch then. Usage stays counted.
    pub async fn clear_history(&self, id: ConversationId) -> Result<(), ConversationError> {
        self.write(Keep::Own, move |db| {
            let mut conversation = folded(db, &id)?;
            conversation.leave_shelf(db)?;
            conversation.claude_session_id = None;
            conversation.ended = None;
            usage::settle(db, &conversation.id)?;
            // There is nothing left that could go on.
            continuations::said(db, &conversation)?;
            refusals::forget(db, conversation.key)?;
            removals::of_history(db, &conversation.id)?;
            Ok(conversation.save(db)?)
        })
        .await
    }
}

/// The log begins anew: no cursor, no entries, nothing counted that will be counted again.
pub(super) fn restart(db: &Connection, conversation: &mut Folded) -> rusqlite::Result<()> {
    conversation.leave_shelf(db)?;
    usage::take_back(db, &conversation.id)?;
    refusals::forget(db, conversation.key)?;
    conversation.awaits_start = false;
    conversation.epoch = None;
    conversation.seq = Seq(0);
    conversation.chain_hash = None;
    conversation.seen_model = None;
    conversation.status = ConversationStatus::Idle;
    conversation.ended = None;
    Ok(())
}
