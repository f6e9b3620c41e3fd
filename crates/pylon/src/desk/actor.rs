//! The desk's own task: takes in what comes from host and relay, and starts and finishes the jobs of clients.
//!
//! It never waits for the host or a client; what does, is a job of its own.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use estelle_proto::usage::PylonStatus;
use estelle_proto::{
    AppToPylon, Broadcast, ConversationId, DeviceId, DeviceKey, DeviceType, Envelope, ErrorCode,
    Message, PylonToApp, RelayToDevice, Retry, Right, WorkspaceId,
};
use tokio::sync::mpsc;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::context::{Asker, Context, Msg, Seen, now};
use super::error::refusal;
use super::intake::{BATCH, RETRY};
use super::lanes::{Entry, Lane, Lanes};
use super::local::{Local, Watchers};
use super::room::Room;
use super::wakes::Wakes;
use super::{conversations, requests, visit, worker, workspaces};
use crate::deploy;
use crate::link::host::{FromHost, HostState};
use crate::link::relay::{FromRelay, Outlet, SendError};
use crate::store::NewConversation;

/// Jobs that run at once; more are refused.
const MAX_JOBS: usize = 256;

/// Something to do in a task of its own.
#[derive(Debug)]
pub(super) enum Job {
    Request(Asker, Box<AppToPylon>),
    List,
    Status,
    /// Lets the worker of a workspace go on.
    Worker(WorkspaceId),
    /// Finds the workers that somebody has to look after.
    Workers,
    /// Lists the copies that an earlier pylon could not list.
    LeftForks(Vec<NewConversation>),
}

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
    Relay(FromRelay),
    Handler(Msg),
    Local(Local),
    Done(Id),
    Retry,
    Wake,
}

#[derive(Debug)]
pub(super) struct Actor {
    pub(super) cx: Context,
    pub(super) room: Room,
    pub(super) watchers: Watchers,
    pub(super) homes: HashMap<ConversationId, WorkspaceId>,
    /// What came from the host and is not in the store yet.
    pub(super) from_host: VecDeque<FromHost>,
    pub(super) wakes: Wakes,
    pub(super) lanes: Lanes<Job>,
    sources: Sources,
    outlet: Option<Outlet>,
    jobs: JoinSet<()>,
    lane_of: HashMap<Id, Lane>,
    retry_at: Option<Instant>,
    /// The relay has not said yet who is there.
    is_new_here: bool,
    /// Copies that an earlier pylon asked for and could not list, until the host is there.
    left_forks: Vec<NewConversation>,
}

impl Actor {
    pub(super) fn new(cx: Context, sources: Sources) -> Self {
        Self {
            cx,
            room: Room::default(),
            watchers: Watchers::default(),
            homes: HashMap::new(),
            from_host: VecDeque::new(),
            wakes: Wakes::default(),
            lanes: Lanes::default(),
            sources,
            outlet: None,
            jobs: JoinSet::new(),
            lane_of: HashMap::new(),
            retry_at: None,
            is_new_here: false,
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
        self.start(None, Job::Workers);
        loop {
            match self.next().await {
                Input::Stop => return,
                Input::Host(messages) => {
                    self.from_host.extend(messages);
                    self.drain().await;
                }
                Input::Retry => self.drain().await,
                Input::Wake => self.wake_workers(),
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
        // Neither the host nor the clients may keep the other waiting, so the order is left to chance.
        tokio::select! {
            () = stop.cancelled() => Input::Stop,
            count = host.recv_many(&mut messages, BATCH), if self.from_host.is_empty() => match count {
                0 => Input::Stop,
                _ => Input::Host(messages),
            },
            message = relay.recv() => message.map_or(Input::Stop, Input::Relay),
            Some(message) = handlers.recv() => Input::Handler(message),
            Some(message) = local.recv() => Input::Local(message),
            Some(done) = self.jobs.join_next_with_id(), if !self.jobs.is_empty() => Input::Done(match done {
                Ok((id, ())) => id,
                Err(error) => error.id(),
            }),
            () = async { tokio::time::sleep_until(retry_at.unwrap_or_else(Instant::now)).await }, if retry_at.is_some() => Input::Retry,
            () = async { tokio::time::sleep_until(wake_at.unwrap_or_else(Instant::now)).await }, if wake_at.is_some() => Input::Wake,
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

    /// The host is there, and can be asked which of them it has made.
    pub(super) fn list_left_forks(&mut self) {
        if !self.left_forks.is_empty() {
            let left = std::mem::take(&mut self.left_forks);
            self.start(None, Job::LeftForks(left));
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

    async fn on_relay(&mut self, message: FromRelay) {
        match message {
            FromRelay::Up { outlet, .. } => {
                let way = deploy::Msg::Way(Some(outlet.clone()));
                self.outlet = Some(outlet);
                self.cx.deploys.tell(way).await;
                self.is_new_here = true;
                self.announce_status();
            }
            FromRelay::Down(_) => {
                self.outlet = None;
                self.cx.deploys.tell(deploy::Msg::Way(None)).await;
                self.on_presence(BTreeSet::new()).await;
            }
            FromRelay::App(envelope) => self.on_request(*envelope).await,
            FromRelay::Relay(message) => self.on_notice(*message).await,
            FromRelay::Pylon(envelope) => {
                self.cx.deploys.tell(deploy::Msg::Pylon(envelope)).await;
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the relay's other messages are for whoever asked it something"
    )]
    async fn on_notice(&mut self, message: RelayToDevice) {
        match message {
            RelayToDevice::DeviceStatus(status) => {
                let devices = status.devices.into_iter();
                let (pylons, clients): (BTreeSet<_>, BTreeSet<_>) = devices
                    .map(|device| (device.device_type == DeviceType::Pylon, device.device_id))
                    .partition(|(is_pylon, _)| *is_pylon);
                let ids = |devices: BTreeSet<(bool, DeviceId)>| {
                    devices.into_iter().map(|(_, id)| id).collect()
                };
                self.cx.deploys.tell(deploy::Msg::Pylons(ids(pylons))).await;
                self.on_presence(ids(clients)).await;
                // Whoever was there before us may not have noticed that we were away, and is told what waits.
                if std::mem::take(&mut self.is_new_here) {
                    self.announce_list();
                }
                self.announce_status();
            }
            RelayToDevice::ClientDisconnect(gone) => {
                if let Some(reader) = self.room.leave(gone.device_id) {
                    self.went(gone.device_id, reader).await;
                }
            }
            RelayToDevice::ErrorReport(report) => {
                tracing::debug!(error = %report.error, about = ?report.about, "the relay complains");
            }
            _ => {}
        }
    }

    async fn on_presence(&mut self, clients: BTreeSet<DeviceId>) {
        let (came, went) = self.room.present(clients);
        for (client, reader) in went {
            self.went(client, reader).await;
        }
        for device in came {
            self.register_device(device).await;
        }
    }

    /// What was kept under this number belongs to somebody else.
    async fn register_device(&self, device: DeviceId) {
        self.forget_device(device).await;
        if let Err(error) = self.cx.store.register_device(device).await {
            tracing::warn!(%error, "a client is not registered");
        }
    }

    /// What a paired device has seen is kept for when it is back; a connection does not come back.
    async fn went(&self, client: DeviceId, reader: DeviceId) {
        self.cx.looks.leave(client);
        if client == reader {
            return self.forget_device(client).await;
        }
        if let Err(error) = self.cx.store.look_away(reader).await {
            tracing::warn!(%error, "a device that went still counts as looking");
        }
    }

    /// Finds out which paired device a client is.
    async fn recognise(&mut self, client: DeviceId, key: DeviceKey) {
        match self.cx.store.paired_device(key).await {
            Ok(reader) => {
                self.forget_device(client).await;
                self.room.recognise(client, reader);
            }
            Err(error) => tracing::warn!(%error, "a device is not recognised"),
        }
    }

    async fn forget_device(&self, device: DeviceId) {
        if let Err(error) = self.cx.store.forget_device(device).await {
            tracing::warn!(%error, "a client is not forgotten");
        }
    }

    async fn on_request(&mut self, envelope: Envelope<AppToPylon>) {
        let (Some(from), Some(outlet)) = (envelope.from, self.outlet.clone()) else {
            return;
        };
        if self.room.join(from.device_id) {
            self.register_device(from.device_id).await;
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
        let right = message.right();
        // The relay checks this as well; a relay that says nothing about rights gives none.
        if !rights.contains(&right) {
            let error = refusal(
                ErrorCode::Forbidden,
                format!("`{}` needs the right `{right}`", message.kind()),
            );
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
            } => self.show_under_way(&asker, &conversation).await,
            Msg::ShowDecisions(asker) => self.show_decisions(&asker).await,
            Msg::ListChanged => self.announce_list(),
            Msg::StatusChanged => self.announce_status(),
            Msg::Viewed { client, viewed } => drop(viewed.send(self.room.viewed(client))),
            Msg::Broadcast(message) => {
                self.post(&Envelope::broadcast(Broadcast::Clients, *message));
            }
            Msg::Worker(workspace, note, known) => {
                self.note_worker(workspace, note);
                // Whoever is gone does not need to know.
                let _ = known.map(|known| known.send(()));
            }
            Msg::Deleted(conversation) => {
                self.visit_worker_at(&conversation);
                self.homes.remove(&conversation);
                self.watchers.cut(&conversation);
                self.room.forget(&conversation);
            }
        }
    }

    fn on_done(&mut self, id: Id) {
        let Some(lane) = self.lane_of.remove(&id) else {
            return;
        };
        if let Some(next) = self.lanes.leave(&lane) {
            self.start(Some(lane), next);
        }
    }

    /// Tells all clients what workspaces there are, soon.
    pub(super) fn announce_list(&mut self) {
        let entry = self.lanes.enter_once(&Lane::List, Job::List);
        self.entered(Lane::List, entry);
    }

    /// Tells all clients how the pylon is, soon.
    pub(super) fn announce_status(&mut self) {
        let entry = self.lanes.enter_once(&Lane::Status, Job::Status);
        self.entered(Lane::Status, entry);
    }

    fn enter(&mut self, lane: Lane, job: Job) {
        let entry = self.lanes.enter(&lane, job);
        self.entered(lane, entry);
    }

    pub(super) fn entered(&mut self, lane: Lane, entry: Entry<Job>) {
        match entry {
            Entry::Run(job) => self.start(Some(lane), job),
            Entry::Waits => {}
            Entry::Refused(job) => refuse(&job),
        }
    }

    fn start(&mut self, lane: Option<Lane>, job: Job) {
        // What has a lane is bounded by the lanes; what has none is bounded here.
        if lane.is_none() && self.jobs.len() >= MAX_JOBS {
            return refuse(&job);
        }
        let cx = self.cx.clone();
        let started = match (job, self.outlet.clone()) {
            (Job::Request(asker, message), _) => {
                self.jobs.spawn(requests::carry_out(cx, asker, *message))
            }
            (Job::List, Some(outlet)) => {
                let clients = self.room.clients();
                let clients = clients.map(|client| (client, self.room.reader(client)));
                let clients = clients.collect();
                self.jobs.spawn(tell_list(cx, outlet, clients))
            }
            (Job::Worker(id), _) => self.jobs.spawn(async move { visit::visit(&cx, &id).await }),
            (Job::Workers, _) => self.jobs.spawn(worker::wake_all(cx)),
            (Job::LeftForks(left), _) => self.jobs.spawn(conversations::list_left_forks(cx, left)),
            (Job::Status, Some(outlet)) => self.jobs.spawn(tell_status(cx, outlet)),
            // Nobody is there to be told.
            (Job::List | Job::Status, None) => self.jobs.spawn(async {}),
        };
        if let Some(lane) = lane {
            self.lane_of.insert(started.id(), lane);
        }
    }

    /// Sends something, if there is a way. Clients that miss it notice by the numbers, or are told anew when they are back.
    pub(super) fn post(&self, envelope: &Envelope<PylonToApp>) {
        let Some(outlet) = &self.outlet else {
            return;
        };
        match outlet.send(envelope) {
            Ok(()) | Err(SendError::Gone | SendError::Full) => {}
            Err(error @ (SendError::TooLarge { .. } | SendError::Encode(_))) => {
                tracing::warn!(%error, kind = envelope.message.kind(), "a message is left out");
            }
        }
    }
}

fn refuse(job: &Job) {
    if let Job::Request(asker, message) = job {
        let mut error = refusal(ErrorCode::RateLimited, "too many requests wait");
        error.retry = Retry::Later;
        asker.complain(error, Some(message.kind()));
    }
}

/// Each client gets its own list, because each has read something else.
async fn tell_list(cx: Context, outlet: Outlet, clients: Vec<(DeviceId, DeviceId)>) {
    for (device, reader) in clients {
        let asker = Asker {
            device,
            reader,
            request: None,
            sender: None,
            to_all: false,
            outlet: outlet.clone(),
        };
        asker.answer(workspaces::listing(&cx, reader).await);
        cx.show_decisions(asker).await;
    }
}

async fn tell_status(cx: Context, outlet: Outlet) {
    let usage = match cx.store.usage_totals().await {
        Ok(usage) => usage,
        Err(error) => return tracing::warn!(%error, "what was used is not known"),
    };
    let is_deploy_ready = cx.deploys.is_ready();
    let mut status = PylonStatus::new(cx.device(), usage, is_deploy_ready);
    status.host_connected = Some(matches!(*cx.host.state().borrow(), HostState::Up(_)));
    status.version = Some(cx.config.build.clone());
    status.limits = cx.store.plan_limits(now()).await.ok();
    // Whoever is not there when it is said hears it when they come.
    let _ = outlet.send(&Envelope::<PylonToApp>::broadcast(
        Broadcast::Clients,
        status,
    ));
}
