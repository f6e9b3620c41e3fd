//! One conversation over a connection that comes back: what happens in it, each thing once.
//!
//! Selecting a conversation gives the newest page of its history, and then its events without a gap. When the connection
//! breaks, the conversation is selected again and what was missed is read from history, from the last event on that was
//! seen. A message that was on its way is sent again with the same id, and runs once.

use std::time::Duration;

use estelle_proto::claude::ClaudeEventMessage;
use estelle_proto::conversations::ConversationSelect;
use estelle_proto::events::StateChanged;
use estelle_proto::history::{HistoryRequest, HistoryResult};
use estelle_proto::{
    ClaudeEvent, ConversationStatus, Epoch, ErrorCode, PylonToApp, RelayToDevice, Seq,
};
use estelle_state::link::{Backoff, Pace};

use super::ask::Ask;
use super::failure::Failure;
use super::fleet::{Fleet, Spot};
use super::link::{Heard, Link};
use super::past;
use super::way::ClientArgs;

/// How long a relay that went away is waited for.
const PATIENCE: Duration = Duration::from_mins(5);

/// A conversation that is looked at.
pub(super) struct Session {
    client: ClientArgs,
    link: Link,
    pub(super) spot: Spot,
    /// The newest event that was seen.
    seen: Seen,
}

/// The newest event that was seen. Numbers are those of one epoch: a conversation that was cleared counts from 1 again.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    epoch: Option<Epoch>,
    seq: Option<Seq>,
}

impl Seen {
    /// Whether an event was not seen before; from now on it was.
    fn is_new(&mut self, epoch: Option<Epoch>, seq: Option<Seq>) -> bool {
        let Some(seq) = seq else { return true };
        let is_new = match (epoch, self.epoch) {
            (Some(epoch), Some(seen)) if epoch != seen => epoch.0 > seen.0,
            (Some(_) | None, _) => self.seq.is_none_or(|seen| seq.0 > seen.0),
        };
        if is_new {
            *self = Self {
                epoch: epoch.or(self.epoch),
                seq: Some(seq),
            };
        }
        is_new
    }

    /// From where on what is now `head` was missed.
    fn missed_from(self, head: Self) -> Option<Seq> {
        let is_same = self.epoch.is_none() || self.epoch == head.epoch;
        self.seq.filter(|_| is_same)
    }
}

impl Session {
    /// Finds a conversation by what a person calls it, without looking at it yet.
    pub(super) async fn find(client: &ClientArgs, conversation: &str) -> anyhow::Result<Self> {
        let (link, fleet) = Fleet::reach(client).await?;
        let spot = fleet.conversation(conversation)?;
        Ok(Self {
            client: client.clone(),
            link,
            spot,
            seen: Seen::default(),
        })
    }

    /// Begins to look. The page is the newest of the history.
    pub(super) async fn look(&mut self) -> anyhow::Result<HistoryResult> {
        let (workspace, conversation) = (&self.spot.workspace, &self.spot.conversation);
        let request = ConversationSelect::new(workspace.clone(), conversation.clone());
        let page = self.link.ask(self.spot.pylon, request).await?;
        self.seen = Seen {
            epoch: page.epoch,
            seq: page.head_seq,
        };
        Ok(page)
    }

    /// The events of the conversation that came while answers were awaited.
    pub(super) fn kept_events(&mut self) -> Vec<ClaudeEvent> {
        let kept = self.link.kept().into_iter();
        let events = kept.filter_map(|heard| match heard {
            Heard::Pylon(from, message) if from == self.spot.pylon => {
                let PylonToApp::ClaudeEventMessage(message) = *message else {
                    return None;
                };
                Some(message)
            }
            Heard::Pylon(..) | Heard::Relay(_) => None,
        });
        let ours = events.filter(|message| message.conversation_id == self.spot.conversation);
        ours.map(|message| message.event).collect()
    }

    /// Asks the machine of the conversation.
    pub(super) async fn ask<R: Ask>(&mut self, request: R) -> anyhow::Result<R::Answer> {
        self.link.ask(self.spot.pylon, request).await
    }

    /// The same for what may be asked twice: a connection that breaks is made anew. What was missed meanwhile is added.
    pub(super) async fn ask_surely<R: Ask + Clone>(
        &mut self,
        request: R,
        missed: &mut Vec<ClaudeEventMessage>,
    ) -> anyhow::Result<R::Answer> {
        loop {
            match self.ask(request.clone()).await {
                Err(error) if is_away(&error) => missed.extend(self.again(error).await?),
                answered => return answered,
            }
        }
    }

    /// The same for what is only read, by somebody who does not look at the conversation.
    pub(super) async fn read_surely<R: Ask + Clone>(
        &mut self,
        request: R,
    ) -> anyhow::Result<R::Answer> {
        let asked = self.ask(request.clone()).await;
        // Whatever else was said is for nobody, and there may be much of it.
        drop(self.link.kept());
        let lost = match asked {
            Err(error) if is_away(&error) => error,
            answered => return answered,
        };
        tracing::debug!("trying again: {lost:#}");
        self.patiently(lost, async |session| {
            session.link = Link::open(&session.client.way().await?).await?;
            session.ask(request.clone()).await
        })
        .await
    }

    /// The next event of the conversation. Safe to cancel.
    pub(super) async fn next(&mut self) -> anyhow::Result<ClaudeEventMessage> {
        loop {
            let (from, message) = match self.link.next().await? {
                Heard::Pylon(from, message) => (from, message),
                Heard::Relay(notice) => {
                    self.is_there(&notice)?;
                    continue;
                }
            };
            let PylonToApp::ClaudeEventMessage(message) = *message else {
                continue;
            };
            let is_ours = from == self.spot.pylon
                && message.conversation_id == self.spot.conversation
                && self.seen.is_new(message.epoch, message.seq);
            if is_ours {
                return Ok(message);
            }
        }
    }

    /// A machine that went away has forgotten that we look.
    fn is_there(&self, notice: &RelayToDevice) -> Result<(), Failure> {
        let RelayToDevice::DeviceStatus(status) = notice else {
            return Ok(());
        };
        if self.link.is_still_there(self.spot.pylon, &status.devices) {
            return Ok(());
        }
        Err(Failure::away(
            "the machine lost its connection to the relay",
        ))
    }

    /// Comes back after the connection broke, and gives what was missed, oldest first.
    pub(super) async fn again(
        &mut self,
        lost: anyhow::Error,
    ) -> anyhow::Result<Vec<ClaudeEventMessage>> {
        if !is_away(&lost) {
            return Err(lost);
        }
        self.patiently(lost, async |session| session.back().await)
            .await
    }

    /// Tries until it works, or fails for another reason than that somebody is away, or took too long.
    async fn patiently<T>(
        &mut self,
        lost: anyhow::Error,
        mut attempt: impl AsyncFnMut(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let coming = async {
            let mut backoff = Backoff::new(Pace::default());
            loop {
                let random = uuid::Uuid::new_v4().as_u64_pair().0;
                tokio::time::sleep(backoff.wait_after(Duration::ZERO, random)).await;
                match attempt(&mut *self).await {
                    Err(error) if is_away(&error) => tracing::debug!("not yet: {error:#}"),
                    done => return done,
                }
            }
        };
        match tokio::time::timeout(PATIENCE, coming).await {
            Ok(done) => done,
            Err(_) => Err(lost),
        }
    }

    async fn back(&mut self) -> anyhow::Result<Vec<ClaudeEventMessage>> {
        // It may have another address than before.
        self.link = Link::open(&self.client.way().await?).await?;
        self.link.machines().await?;
        let before = self.seen;
        let page = self.look().await?;
        let head = self.seen;
        let mut entries = Vec::new();
        let mut from = before.missed_from(head);
        while from.map(|seq| seq.0) < head.seq.map(|seq| seq.0) {
            let (workspace, conversation) = (&self.spot.workspace, &self.spot.conversation);
            let request = HistoryRequest {
                after_seq: Some(from.unwrap_or(Seq(0))),
                ..HistoryRequest::new(workspace.clone(), conversation.clone())
            };
            let next = self.link.ask(self.spot.pylon, request).await?;
            let last = next.messages.iter().filter_map(past::seq).next_back();
            entries.extend(next.messages);
            match last {
                Some(last) if next.has_more => from = Some(last),
                Some(_) | None => break,
            }
        }
        let spot = &self.spot;
        let missed = entries
            .iter()
            .filter_map(|entry| past::message(spot, entry));
        let mut missed: Vec<_> = missed.collect();
        // States are no entries, and somebody may wait for this one.
        let state = page.current_status.unwrap_or(ConversationStatus::Idle);
        let (workspace, conversation) = (spot.workspace.clone(), spot.conversation.clone());
        let state = StateChanged::new(state).into();
        missed.push(ClaudeEventMessage::new(workspace, conversation, state));
        Ok(missed)
    }
}

/// Whether trying again may help.
pub(super) fn is_away(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(Failure::Away { .. }) => true,
        Some(Failure::Refused(error)) => error.code == ErrorCode::Undeliverable,
        Some(Failure::Missing { .. } | Failure::Ambiguous { .. }) | None => false,
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
