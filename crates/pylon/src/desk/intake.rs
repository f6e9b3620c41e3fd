//! What comes up from the host: into the store first, then to the clients.
//!
//! Events go in batches, each in one transaction with its cursors; only what is in the store is shown. When the store
//! cannot take it, for example because the disk is full, the batch waits and is tried again: the host is not read
//! further meanwhile, and nothing is lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use estelle_proto::claude::ClaudeEventMessage;
use estelle_proto::conversations::ConversationStatusUpdate;
use estelle_proto::ipc::{HostEvent, SessionStatus, StatusResponse};
use estelle_proto::{
    Broadcast, ClaudeEvent, ConversationId, ConversationStatus, DeviceId, Envelope, Seq, To,
    WorkspaceId,
};

use super::actor::Actor;
use super::context::Asker;
use super::local::Item;
use super::room::Audience;
use crate::link::host::FromHost;
use crate::store::{ConversationError, Outcome, StoreError};

/// How long a batch that could not be stored waits.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// Events of one transaction.
pub(super) const BATCH: usize = 256;

impl Actor {
    /// Takes in all that waits. What could not be stored is left, in order.
    pub(super) async fn take_in(&mut self) -> Result<(), StoreError> {
        while let Some(first) = self.from_host.front().cloned() {
            let events = self.run_of_events();
            if events.is_empty() {
                self.take_other(first).await?;
                self.from_host.pop_front();
            } else if let Err(error) = self.take_events(&events).await {
                let events = events.iter().cloned().map(FromHost::Event);
                events
                    .rev()
                    .for_each(|event| self.from_host.push_front(event));
                return Err(error);
            }
        }
        Ok(())
    }

    /// The events that come next.
    fn run_of_events(&mut self) -> Arc<[HostEvent]> {
        let mut events = Vec::new();
        while let Some(message) = self.from_host.pop_front() {
            if let FromHost::Event(event) = message {
                events.push(event);
            } else {
                self.from_host.push_front(message);
                break;
            }
        }
        events.into()
    }

    async fn take_events(&mut self, events: &Arc<[HostEvent]>) -> Result<(), StoreError> {
        let outcomes = self.cx.store.apply(Arc::clone(events)).await?;
        let (mut notable, mut is_used) = (BTreeSet::new(), false);
        for (event, outcome) in events.iter().zip(outcomes) {
            match outcome {
                Outcome::Applied | Outcome::Passing => {
                    is_used |=
                        matches!(event.event, ClaudeEvent::Result(_) | ClaudeEvent::Limits(_));
                    self.show(event).await;
                    if is_idle(&event.event) {
                        self.visit_worker_at(&event.session_id);
                    }
                    if is_notable(&event.event) {
                        notable.insert(event.session_id.clone());
                    }
                }
                Outcome::Repeated => {}
                Outcome::Gap { have } => {
                    tracing::warn!(conversation = %event.session_id, "the store has a gap; asking again");
                    let conversation = event.session_id.clone();
                    self.cx.host.follow(conversation, have).await;
                }
                Outcome::UnknownConversation => self.cx.host.forget(event.session_id.clone()).await,
                Outcome::Malformed => {
                    tracing::error!(?event, "the host sent an event that cannot be");
                }
            }
        }
        for conversation in notable {
            self.tell_unread(&conversation).await;
        }
        if is_used {
            self.announce_status();
        }
        Ok(())
    }

    async fn take_other(&mut self, message: FromHost) -> Result<(), StoreError> {
        match message {
            FromHost::Up(_) => {
                self.announce_status();
                self.list_left_forks();
                self.visit_all_workers();
            }
            FromHost::Down(_) => self.announce_status(),
            FromHost::Status(status) => self.on_status(&status).await?,
            FromHost::Began(began) if began.fresh => {
                let id = began.session_id;
                ignore_unknown(self.cx.store.begin_afresh(id.clone()).await)?;
                self.watchers.cut(&id);
                self.room.mute(id);
            }
            FromHost::Began(_) => {}
            FromHost::Snapshot(snapshot) => {
                self.on_session(&snapshot.status).await?;
                let id = &snapshot.session_id;
                let is_news = self.room.live(id).catch_up(&snapshot.status);
                if self.room.unmute(id) {
                    self.tell_status(id, Some(snapshot.seq)).await;
                } else if is_news {
                    self.show_writing(id).await;
                }
            }
            FromHost::Permission(open) => {
                let conversation = open.session_id.clone();
                if let Some(event) = self.room.live(&conversation).permission(open) {
                    self.show(&HostEvent::new(conversation, event)).await;
                }
            }
            FromHost::Question(open) => {
                let conversation = open.session_id.clone();
                if let Some(event) = self.room.live(&conversation).question(open) {
                    self.show(&HostEvent::new(conversation, event)).await;
                }
            }
            FromHost::Shutdown(notice) => {
                tracing::info!(reason = %notice.reason, "the host goes down with its runs");
                self.watchers.tell_all(&Item::Shutdown(notice));
            }
            FromHost::Complaint(report) => {
                tracing::warn!(error = %report.error, about = ?report.about, "the host complains");
            }
            FromHost::Event(_) => tracing::error!("bug: an event was not taken as one"),
        }
        Ok(())
    }

    /// The host says how all conversations are. Those it does not know do nothing.
    async fn on_status(&mut self, status: &StatusResponse) -> Result<(), StoreError> {
        for session in &status.sessions {
            self.on_session(session).await?;
        }
        let known: BTreeSet<_> = status.sessions.iter().map(|s| &s.session_id).collect();
        for workspace in self.cx.store.workspaces(None).await?.workspaces {
            for conversation in workspace.conversations {
                let id = conversation.conversation_id;
                if conversation.status != ConversationStatus::Idle && !known.contains(&id) {
                    let idle = SessionStatus::new(id, ConversationStatus::Idle);
                    self.on_session(&idle).await?;
                }
            }
        }
        Ok(())
    }

    /// The host says how a conversation is; that counts.
    async fn on_session(&mut self, session: &SessionStatus) -> Result<(), StoreError> {
        let id = &session.session_id;
        let is_changed = self.room.live(id).is_changed_by(session);
        if is_changed {
            let status = session.state.clone();
            let kept = self.cx.store.set_status(id.clone(), status).await;
            if !ignore_unknown(kept)? {
                return Ok(());
            }
        }
        self.room.live(id).correct(session);
        if is_changed {
            self.tell_status(id, session.seq).await;
            if session.state == ConversationStatus::Idle {
                self.visit_worker_at(id);
            }
        }
        Ok(())
    }

    /// Shows an event to whom it concerns.
    async fn show(&mut self, event: &HostEvent) {
        let id = &event.session_id;
        self.room.live(id).fold(&event.event, event.timestamp);
        if self.room.is_muted(id) {
            return;
        }
        self.watchers
            .tell(id, || Item::Event(Arc::new(event.clone())));
        let Some(workspace) = self.home(id).await else {
            return;
        };
        let mut message = ClaudeEventMessage::new(workspace, id.clone(), event.event.clone());
        message.device_id = Some(self.cx.device());
        message.seq = event.seq;
        message.epoch = event.epoch;
        message.timestamp = event.timestamp;
        match Audience::of(&event.event) {
            Audience::Everybody => self.post(&Envelope::broadcast(Broadcast::Clients, message)),
            Audience::Viewers => {
                if let Some(viewers) = To::devices(self.room.viewers(id)) {
                    self.post(&Envelope::to(viewers, message));
                }
            }
        }
        if matches!(event.event, ClaudeEvent::State(_)) {
            self.tell_status(id, event.seq).await;
        }
    }

    /// Tells those who look what is being written: pieces that come next go on from there.
    async fn show_writing(&mut self, id: &ConversationId) {
        if let Some(event) = self.room.live(id).under_way() {
            self.show(&HostEvent::new(id.clone(), event)).await;
        }
    }

    /// Tells somebody who has the page of a conversation what is under way in it.
    pub(super) async fn show_under_way(&mut self, asker: &Asker, id: &ConversationId) {
        let live = self.room.live(id);
        let standing = live.under_way().into_iter().chain(live.waiting());
        let events = standing.chain(live.pending()).collect();
        self.repeat(asker, id, events).await;
    }

    /// Tells somebody who has the list of workspaces what waits for a person.
    pub(super) async fn show_decisions(&mut self, asker: &Asker) {
        for id in self.room.asking() {
            let events = self.room.live(&id).pending();
            self.repeat(asker, &id, events).await;
        }
    }

    /// Tells one client what others know.
    async fn repeat(&mut self, asker: &Asker, id: &ConversationId, events: Vec<ClaudeEvent>) {
        let Some(workspace) = self.home(id).await else {
            return;
        };
        for event in events {
            let mut message = ClaudeEventMessage::new(workspace.clone(), id.clone(), event);
            message.device_id = Some(self.cx.device());
            asker.answer(message);
        }
    }

    /// Tells all clients the state of a conversation.
    async fn tell_status(&mut self, id: &ConversationId, seq: Option<Seq>) {
        let status = self.room.live(id).status();
        self.watchers.tell(id, || Item::Status(status.clone()));
        let mut update = ConversationStatusUpdate::new(self.cx.device(), id.clone(), status);
        update.workspace_id = self.home(id).await;
        update.seq = seq;
        self.post(&Envelope::broadcast(Broadcast::Clients, update));
    }

    /// Tells those who look elsewhere that there is something new: once, until they look.
    async fn tell_unread(&mut self, id: &ConversationId) {
        if !self.room.has_others(id) {
            return;
        }
        let unread_by: Vec<DeviceId> = match self.cx.store.unread_by(id.clone()).await {
            Ok(devices) => devices,
            Err(error) => return tracing::warn!(%error, "who has not read it is not known"),
        };
        let Some(to) = To::devices(self.room.untold(id, &unread_by)) else {
            return;
        };
        let status = self.room.live(id).status();
        let mut update = ConversationStatusUpdate::new(self.cx.device(), id.clone(), status);
        update.workspace_id = self.home(id).await;
        update.unread = Some(true);
        self.post(&Envelope::to(to, update));
    }

    /// The workspace of a conversation, which never changes.
    async fn home(&mut self, id: &ConversationId) -> Option<WorkspaceId> {
        if let Some(home) = self.homes.get(id) {
            return Some(home.clone());
        }
        let known = self.cx.store.conversation(id.clone()).await.ok()?;
        self.homes.insert(id.clone(), known.workspace_id.clone());
        Some(known.workspace_id)
    }
}

/// A turn ended.
fn is_idle(event: &ClaudeEvent) -> bool {
    matches!(event, ClaudeEvent::State(change) if change.state == ConversationStatus::Idle)
}

/// What a person who looks elsewhere wants to know of.
fn is_notable(event: &ClaudeEvent) -> bool {
    matches!(
        event,
        ClaudeEvent::TextComplete(_)
            | ClaudeEvent::ToolComplete(_)
            | ClaudeEvent::Result(_)
            | ClaudeEvent::Aborted(_)
    )
}

/// A conversation that was deleted meanwhile is no failure. Tells whether it is there.
fn ignore_unknown(done: Result<(), ConversationError>) -> Result<bool, StoreError> {
    match done {
        Ok(()) => Ok(true),
        Err(
            ConversationError::UnknownConversation { .. }
            | ConversationError::UnknownWorkspace { .. },
        ) => Ok(false),
        Err(ConversationError::Store(error)) => Err(error),
    }
}
