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
    Broadcast, ClaudeEvent, ConversationId, ConversationStatus, DeviceId, Envelope, Seq, Timestamp,
    WorkspaceId,
};

use super::actor::Actor;
use super::context::{Asker, now};
use super::continuing;
use super::live::Standing;
use super::local::Item;
use super::room::{Audience, Room};
use crate::failpoint;
use crate::link::host::FromHost;
use crate::store::{ConversationError, Outcome, StoreError, Telling, is_about_continuing};

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
        let telling = Telling {
            now: now(),
            watched: self.room.all_viewed(),
            silent: self.room.all_muted(),
            has_webhook: self.cx.config.notify.webhook.is_some(),
        };
        let is_old_decision = |event: &&HostEvent| {
            is_decision(&event.event) && event.timestamp.is_some_and(|at| telling.is_old(at))
        };
        let old = events.iter().filter(is_old_decision);
        let old: BTreeSet<_> = old.map(|event| event.session_id.clone()).collect();
        let applied = self.cx.store.apply_telling(Arc::clone(events), telling);
        let outcomes = applied.await?;
        failpoint::reach("events-stored");
        self.cx.wake.notify_one();
        self.cx.reset.notify_one();
        let (mut notable, mut continuing) = (BTreeSet::new(), BTreeSet::new());
        let (mut is_used, mut is_spent) = (false, false);
        for (event, outcome) in events.iter().zip(outcomes) {
            match outcome {
                Outcome::Applied | Outcome::Passing => {
                    is_used |=
                        matches!(event.event, ClaudeEvent::Result(_) | ClaudeEvent::Limits(_));
                    if matches!(event.event, ClaudeEvent::Result(_)) {
                        self.room.ended(event.session_id.clone());
                    }
                    // What begins may have been sent just before a line was passed.
                    is_spent |= matches!(
                        event.event,
                        ClaudeEvent::Result(_)
                            | ClaudeEvent::State(_)
                            | ClaudeEvent::ToolComplete(_)
                    );
                    self.show(event).await;
                    if is_idle(&event.event) {
                        self.visit_worker_at(&event.session_id);
                    }
                    if is_about_continuing(&event.event) {
                        continuing.insert(event.session_id.clone());
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
        for conversation in continuing {
            self.tell_continuation(&conversation).await;
        }
        for conversation in notable {
            self.tell_unread(&conversation).await;
        }
        // A machine that slept hears late of what is asked now.
        for conversation in old {
            if !self.room.is_behind(&conversation)
                && let Err(error) = self.settle_decisions(&conversation).await
            {
                tracing::warn!(%error, "what was asked long ago is told of when the host is back");
            }
        }
        if is_used {
            self.announce_status();
        }
        if is_spent {
            self.hold_budgets();
        }
        Ok(())
    }

    async fn take_other(&mut self, message: FromHost) -> Result<(), StoreError> {
        match message {
            FromHost::Up(_) => {
                self.announce_status();
                self.list_left_forks();
                self.finish_removals();
                // What was touched before is not in its logs.
                self.touch(self.room.all_viewed());
                self.visit_all_workers();
            }
            FromHost::Down(_) => {
                self.announce_status();
                self.lost_hosts.send_modify(|count| *count += 1);
            }
            FromHost::Status(status) => self.on_status(&status).await?,
            FromHost::Began(began) if began.fresh => {
                let id = began.session_id;
                self.room.fall_behind(id.clone());
                ignore_unknown(self.cx.store.begin_afresh(id.clone()).await)?;
                self.watchers.cut(&id);
                self.room.mute(id);
            }
            FromHost::Began(began) => self.room.fall_behind(began.session_id),
            FromHost::Snapshot(snapshot) => {
                self.on_session(&snapshot.status).await?;
                let id = &snapshot.session_id;
                let is_news = self.room.live(id).catch_up(&snapshot.status);
                self.room.catch_up(id);
                self.settle_decisions(id).await?;
                if self.room.unmute(id) {
                    self.tell_status(id, Some(snapshot.seq)).await;
                } else if is_news {
                    self.show_writing(id).await;
                }
            }
            FromHost::Permission(open) => {
                let (conversation, since) = (open.session_id.clone(), open.opened_at);
                if let Some(event) = self.room.live(&conversation).permission(open) {
                    self.show(&asked(conversation, event, since)).await;
                }
            }
            FromHost::Question(open) => {
                let (conversation, since) = (open.session_id.clone(), open.opened_at);
                if let Some(event) = self.room.live(&conversation).question(open) {
                    self.show(&asked(conversation, event, since)).await;
                }
            }
            FromHost::Shutdown(notice) => {
                tracing::info!(reason = %notice.reason, "the host goes down with its runs");
                self.watchers.tell_all(&Item::Shutdown(notice));
            }
            FromHost::Call(call) => self.begin_call(call),
            FromHost::Complaint(report) => {
                tracing::warn!(error = %report.error, about = ?report.about, "the host complains");
            }
            FromHost::Event(_) => tracing::error!("bug: an event was not taken as one"),
        }
        Ok(())
    }

    /// The host says how all conversations are. Those it does not know do nothing.
    ///
    /// That may be about thousands of them, while everybody waits: what is new is written at once, and told as one list.
    async fn on_status(&mut self, status: &StatusResponse) -> Result<(), StoreError> {
        let mut sessions = status.sessions.clone();
        let known: BTreeSet<_> = status.sessions.iter().map(|s| &s.session_id).collect();
        for workspace in self.cx.store.workspaces(None).await?.workspaces {
            let conversations = workspace.conversations.into_iter();
            let busy = conversations.filter(|one| one.status != ConversationStatus::Idle);
            let unknown = busy.filter(|one| !known.contains(&one.conversation_id));
            sessions.extend(
                unknown
                    .map(|one| SessionStatus::new(one.conversation_id, ConversationStatus::Idle)),
            );
        }
        let news = |room: &Room, session: &SessionStatus| {
            let live = room.get(&session.session_id);
            live.is_none_or(|live| live.is_changed_by(session))
        };
        let said = sessions.iter().filter(|session| news(&self.room, session));
        let said = said.map(|session| (session.session_id.clone(), session.state.clone()));
        let kept = self.cx.store.set_statuses(said.collect()).await?;
        for session in &sessions {
            let is_news = news(&self.room, session);
            if is_news && !kept.known.contains(&session.session_id) {
                continue;
            }
            self.room.live(&session.session_id).correct(session);
            if is_news && session.state == ConversationStatus::Idle {
                self.visit_worker_at(&session.session_id);
            }
        }
        let changed = sessions.iter();
        let changed = changed.filter(|one| kept.changed.contains(&one.session_id));
        match changed.collect::<Vec<_>>().as_slice() {
            [] => {}
            [one] => self.tell_status(&one.session_id, one.seq).await,
            several => {
                for session in several {
                    let state = || Item::Status(session.state.clone());
                    self.watchers.tell(&session.session_id, state);
                }
                self.announce_list();
            }
        }
        // What an earlier pylon counted, it may neither have told nor stopped; only now is it known what runs.
        self.hold_budgets();
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

    /// It is known which decisions of a conversation wait, so that people can be told of those that were asked long ago.
    async fn settle_decisions(&mut self, id: &ConversationId) -> Result<(), StoreError> {
        let open = self.room.live(id).open_calls();
        self.cx.store.settle_held(id.clone(), open).await?;
        self.cx.wake.notify_one();
        Ok(())
    }

    /// Shows an event to whom it concerns.
    async fn show(&mut self, event: &HostEvent) {
        let id = &event.session_id;
        let was_at = self.room.live(id).activity();
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
                let viewers = self.room.viewers(id);
                self.post_to(&viewers, message);
            }
        }
        if matches!(event.event, ClaudeEvent::State(_)) {
            self.tell_status(id, event.seq).await;
        } else if self.room.live(id).is_at_other(was_at.as_ref()) || is_about_process(&event.event)
        {
            let update = self.status_of(id).await;
            self.post(&Envelope::broadcast(Broadcast::Clients, update));
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
        let standing = standing.map(Standing::from);
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
    async fn repeat(&mut self, asker: &Asker, id: &ConversationId, events: Vec<Standing>) {
        let Some(workspace) = self.home(id).await else {
            return;
        };
        for Standing { event, at } in events {
            let mut message = ClaudeEventMessage::new(workspace.clone(), id.clone(), event);
            message.device_id = Some(self.cx.device());
            message.timestamp = at;
            asker.answer(message);
        }
    }

    /// Tells all clients the state of a conversation.
    async fn tell_status(&mut self, id: &ConversationId, seq: Option<Seq>) {
        let status = self.room.live(id).status();
        self.watchers.tell(id, || Item::Status(status.clone()));
        let mut update = self.status_of(id).await;
        update.seq = seq;
        self.post(&Envelope::broadcast(Broadcast::Clients, update));
    }

    /// The state of a conversation, with what is known of its process.
    async fn status_of(&mut self, id: &ConversationId) -> ConversationStatusUpdate {
        let live = self.room.live(id);
        let (status, suspect) = (live.status(), live.suspect());
        let activity = live.activity();
        let mut update = ConversationStatusUpdate::new(self.cx.device(), id.clone(), status);
        update.activity = activity;
        update.process = suspect;
        if let Ok(known) = self.cx.store.conversation(id.clone()).await {
            update.process = update.process.or(known.conversation.process);
            update.workspace_id = Some(known.workspace_id);
        }
        update
    }

    /// Tells all clients when a conversation goes on by itself, if it does.
    pub(super) async fn tell_continuation(&mut self, id: &ConversationId) {
        if let Some(status) = continuing::status(&self.cx, id.clone()).await {
            self.post(&Envelope::broadcast(Broadcast::Clients, status));
        }
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
        let untold = self.room.untold(id, &unread_by);
        if untold.is_empty() {
            return;
        }
        let mut update = self.status_of(id).await;
        update.unread = Some(true);
        self.post_to(&untold, update);
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

/// What a person has to decide, as it was asked; it is as old as it is.
fn asked(id: ConversationId, event: ClaudeEvent, since: Option<Timestamp>) -> HostEvent {
    HostEvent {
        timestamp: since,
        ..HostEvent::new(id, event)
    }
}

/// A turn ended.
fn is_idle(event: &ClaudeEvent) -> bool {
    matches!(event, ClaudeEvent::State(change) if change.state == ConversationStatus::Idle)
}

/// A person has to answer.
fn is_decision(event: &ClaudeEvent) -> bool {
    matches!(
        event,
        ClaudeEvent::PermissionAsked(_) | ClaudeEvent::QuestionAsked(_)
    )
}

/// A process ended or began, which the list of conversations tells.
fn is_about_process(event: &ClaudeEvent) -> bool {
    matches!(event, ClaudeEvent::Error(failure) if failure.exit_code.is_some())
        || matches!(
            event,
            ClaudeEvent::Paused(_) | ClaudeEvent::Resumed(_) | ClaudeEvent::Init(_)
        )
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
