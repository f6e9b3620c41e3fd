//! The desk's own task: takes in what comes from host and relay, and starts and finishes the jobs of clients.
//!
//! It never waits for the host or a client; what does, is a job of its own. When the relay is behind, what the host says is
//! left with the host, which joins the pieces of a text that wait; what clients ask is answered all the same.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use estelle_proto::ipc::ToolCall;
use estelle_proto::{
    AppToPylon, Broadcast, ConversationId, DeviceId, Envelope, Message as _, PylonToApp, Right, To,
    WorkspaceId, limits,
};
use tokio::sync::{mpsc, watch};
use tokio::task::Id;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::context::{Asker, Context, Msg, Seen};
use super::error::permitted;
use super::intake::{BATCH, RETRY};
use super::jobs::{Job, Jobs};
use super::lanes::Lane;
use super::local::{Local, Watchers};
use super::room::Room;
use super::wakes::Wakes;
use super::{fit, portion, requests, worker};
use crate::link::host::FromHost;
use crate::link::relay::{FromRelay, Outlet, SendError};
use crate::store::NewConversation;

/// When a conversation is stopped again that could not be stopped beyond a hard line.
const BUDGETS_RETRY: Duration = Duration::from_secs(5);

/// What the desk is fed from.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) host: mpsc::Receiver<FromHost>,
    pub(super) relay: mpsc::Receiver<FromRelay>,
    pub(super) handlers: mpsc::Receiver<Msg>,
    pub(super) local: mpsc::Receiver<Local>,
    pub(super) stop: CancellationToken,
}

#[derive(Debug)]
enum Input {
    Stop,
    Host(Vec<FromHost>),
    CaughtUp,
    Relay(FromRelay),
    Handler(Msg),
    Local(Local),
    Done(Id),
    Retry,
    Wake,
    Budgets,
}

#[derive(Debug)]
pub(super) struct Actor {
    pub(super) cx: Context,
    pub(super) room: Room,
    pub(super) watchers: Watchers,
    /// How often the connection to the host was lost, for those who wait for that.
    pub(super) lost_hosts: watch::Sender<u64>,
    pub(super) homes: HashMap<ConversationId, WorkspaceId>,
    /// What came from the host and waits until the relay has caught up.
    unread: VecDeque<FromHost>,
    /// The next portion of it, which is not in the store yet.
    pub(super) from_host: VecDeque<FromHost>,
    pub(super) wakes: Wakes,
    pub(super) jobs: Jobs,
    pub(super) outlet: Option<Outlet>,
    /// The relay has not said yet who is there.
    pub(super) is_new_here: bool,
    /// The newest removal that an earlier pylon left.
    pub(super) old_removals: i64,
    /// What somebody began to look at, and the host was not told of yet.
    pub(super) looked_at: BTreeSet<ConversationId>,
    sources: Sources,
    retry_at: Option<Instant>,
    /// When budgets are held again against what could not be stopped.
    budgets_at: Option<Instant>,
    /// Copies that an earlier pylon asked for and could not list, until the host is there.
    left_forks: Vec<NewConversation>,
}

impl Actor {
    pub(super) fn new(cx: Context, sources: Sources, lost_hosts: watch::Sender<u64>) -> Self {
        Self {
            cx,
            room: Room::default(),
            watchers: Watchers::default(),
            lost_hosts,
            homes: HashMap::new(),
            unread: VecDeque::new(),
            from_host: VecDeque::new(),
            wakes: Wakes::default(),
            jobs: Jobs::default(),
            outlet: None,
            is_new_here: false,
            old_removals: 0,
            looked_at: BTreeSet::new(),
            sources,
            retry_at: None,
            budgets_at: None,
            left_forks: Vec::new(),
        }
    }

    pub(super) async fn run(mut self) {
        if let Err(error) = self.cx.store.empty_room().await {
            tracing::warn!(%error, "devices that are gone still count as looking");
        }
        self.follow_all().await;
        match self.cx.store.unlisted_forks().await {
            Ok(left) => self.left_forks = left,
            Err(error) => tracing::warn!(%error, "copies that no list shows are not known"),
        }
        match self.cx.store.last_removal().await {
            Ok(last) => self.old_removals = last,
            Err(error) => tracing::warn!(%error, "what was left of removals stays noted"),
        }
        worker::hold_again(&self.cx).await;
        self.start(None, Job::Workers);
        loop {
            match self.next().await {
                Input::Stop => return,
                Input::Host(messages) => {
                    self.unread.extend(messages);
                    self.read_on().await;
                }
                Input::CaughtUp => self.read_on().await,
                Input::Retry => {
                    self.drain().await;
                    self.read_on().await;
                }
                Input::Wake => self.wake_workers(),
                Input::Budgets => {
                    self.budgets_at = None;
                    self.hold_budgets();
                }
                Input::Relay(message) => self.on_relay(message).await,
                Input::Handler(message) => self.on_handler(message).await,
                Input::Local(message) => self.on_local(message).await,
                Input::Done(id) => self.on_done(id),
            }
        }
    }

    async fn next(&mut self) -> Input {
        let Sources {
            host,
            relay,
            handlers,
            local,
            stop,
        } = &mut self.sources;
        let mut messages = Vec::new();
        let (retry_at, wake_at) = (self.retry_at, self.wakes.next());
        let budgets_at = self.budgets_at;
        let (is_stored, is_read) = (self.from_host.is_empty(), self.unread.is_empty());
        let outlet = self.outlet.clone();
        let is_behind = outlet.as_ref().is_some_and(Outlet::is_behind);
        // Neither the host nor the clients may keep the other waiting, so the order is left to chance.
        tokio::select! {
            () = stop.cancelled() => Input::Stop,
            count = host.recv_many(&mut messages, BATCH), if is_stored && is_read && !is_behind => match count {
                0 => Input::Stop,
                _ => Input::Host(messages),
            },
            () = caught_up(outlet.as_ref()), if is_stored && (is_behind || !is_read) => Input::CaughtUp,
            message = relay.recv() => message.map_or(Input::Stop, Input::Relay),
            Some(message) = handlers.recv() => Input::Handler(message),
            Some(message) = local.recv() => Input::Local(message),
            done = self.jobs.next_done() => Input::Done(done),
            () = until(retry_at) => Input::Retry,
            () = until(wake_at) => Input::Wake,
            () = until(budgets_at) => Input::Budgets,
        }
    }

    /// Follows all conversations from where the store is.
    async fn follow_all(&mut self) {
        match self.cx.store.cursors().await {
            Ok(cursors) => {
                for (conversation, cursor) in cursors {
                    self.cx.host.follow(conversation, cursor).await;
                }
            }
            Err(error) => tracing::error!(%error, "the conversations are not known"),
        }
    }

    /// An agent called one of our tools.
    pub(super) fn begin_call(&mut self, call: ToolCall) {
        self.start(None, Job::Call(Box::new(call)));
    }

    /// The host is there, and can be asked which of them it has made.
    pub(super) fn list_left_forks(&mut self) {
        if !self.left_forks.is_empty() {
            let left = std::mem::take(&mut self.left_forks);
            self.start(None, Job::LeftForks(left));
        }
    }

    /// Takes in what came from the host, portion by portion, for as long as the relay keeps up and the store takes it.
    async fn read_on(&mut self) {
        while self.from_host.is_empty()
            && !self.unread.is_empty()
            && !self.outlet.as_ref().is_some_and(Outlet::is_behind)
        {
            self.from_host = portion::next(&mut self.unread);
            self.drain().await;
        }
    }

    /// Takes in what came from the host; tries again later what the store does not take.
    async fn drain(&mut self) {
        self.retry_at = None;
        if let Err(error) = self.take_in().await {
            tracing::error!(%error, "what the host said cannot be stored; trying again");
            self.retry_at = Some(Instant::now() + RETRY);
        }
    }

    pub(super) async fn on_request(&mut self, envelope: Envelope<AppToPylon>) {
        let (Some(from), Some(outlet)) = (envelope.from, self.outlet.clone()) else {
            return;
        };
        if self.room.join(from.device_id) {
            self.register_device(from.device_id).await;
            self.hold_budgets();
        }
        if let Some(key) = from.device_key.clone()
            && !self.room.is_recognised(from.device_id)
        {
            self.recognise(from.device_id, key).await;
        }
        let message = envelope.message;
        let asker = Asker {
            device: from.device_id,
            reader: self.room.reader(from.device_id),
            request: envelope
                .request_id
                .or_else(|| requests::request_id(&message)),
            sender: Some(Arc::new(from.clone())),
            to_all: envelope.to.is_none(),
            outlet,
        };
        let rights = from.rights.unwrap_or_default();
        if !rights.contains(&Right::Terminal) {
            // It may have been taken away while a terminal was looked at.
            self.cx.looks.leave(from.device_id);
        }
        // The relay checks this as well, as far as it can read; one that says nothing about rights gives none.
        if let Err(error) = permitted(&rights, &message) {
            return asker.complain(error, Some(message.kind()));
        }
        self.admit(asker, Box::new(message));
    }

    /// A request that is allowed enters its lane.
    pub(super) fn admit(&mut self, asker: Asker, message: Box<AppToPylon>) {
        match Lane::of(message.key()) {
            Some(lane) => self.enter(lane, Job::Request(asker, message)),
            None => self.start(None, Job::Request(asker, message)),
        }
    }

    async fn on_handler(&mut self, message: Msg) {
        match message {
            Msg::Look {
                client,
                conversation,
                seen,
            } => {
                let live = self.room.live(&conversation);
                let view = Seen {
                    is_active: live.is_active(),
                    working_since: live.working_since,
                };
                self.room.look(client, conversation);
                // A handler that is gone does not need to know.
                drop(seen.send(view));
            }
            Msg::Show {
                asker,
                conversation,
            } => {
                self.show_under_way(&asker, &conversation).await;
                self.touch(BTreeSet::from([conversation]));
            }
            Msg::ShowDecisions(asker) => self.show_decisions(&asker).await,
            Msg::ListChanged => self.announce_list(),
            Msg::StatusChanged => self.announce_status(),
            Msg::Viewed { client, viewed } => drop(viewed.send(self.room.viewed(client))),
            Msg::Asides(asides) => drop(asides.send(self.room.asides())),
            Msg::Broadcast(message) => {
                self.post(&Envelope::broadcast(Broadcast::Clients, *message));
            }
            Msg::Worker(workspace, note, known) => {
                self.note_worker(workspace, note);
                // Whoever is gone does not need to know.
                let _ = known.map(|known| known.send(()));
            }
            Msg::RemovalsLeft => self.finish_removals(),
            Msg::Budgets => self.hold_budgets(),
            Msg::Passed(warning, heard) => {
                // Whoever comes later is told then, and not twice.
                let is_heard = self.room.clients().next().is_some();
                if is_heard {
                    self.post(&Envelope::broadcast(Broadcast::Clients, warning));
                }
                // A handler that is gone does not need to know.
                let _ = heard.send(is_heard);
            }
            Msg::NotStopped(conversations) => {
                for conversation in conversations {
                    self.room.ended(conversation);
                }
                self.budgets_at = Some(Instant::now() + BUDGETS_RETRY);
            }
            Msg::Continuation(conversation) => self.tell_continuation(&conversation).await,
            Msg::Deleted(conversation) => {
                self.visit_worker_at(&conversation);
                self.homes.remove(&conversation);
                self.watchers.cut(&conversation);
                self.room.forget(&conversation);
            }
        }
    }

    /// Sends something to these clients, to as many at a time as a message may have addressees.
    pub(super) fn post_to(&self, clients: &[DeviceId], message: impl Into<PylonToApp>) {
        let message = message.into();
        for some in clients.chunks(limits::MAX_TARGETS) {
            if let Some(to) = To::devices(some.iter().copied()) {
                self.post(&Envelope::to(to, message.clone()));
            }
        }
    }

    /// Sends something, if there is a way. Clients that miss it notice by the numbers, or are told anew when they are back.
    pub(super) fn post(&self, envelope: &Envelope<PylonToApp>) {
        let Some(outlet) = &self.outlet else {
            return;
        };
        match fit::send(outlet, envelope) {
            Ok(()) | Err(SendError::Gone | SendError::Full) => {}
            Err(error @ (SendError::TooLarge { .. } | SendError::Encode(_))) => {
                tracing::warn!(%error, kind = envelope.message.kind(), "a message is left out");
            }
        }
    }
}

/// Comes when the relay keeps up, or there is none.
async fn caught_up(outlet: Option<&Outlet>) {
    if let Some(outlet) = outlet {
        outlet.caught_up().await;
    }
}

/// Comes at that time, or never.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
