//! What the desk has carried out in tasks of their own: in which lane each runs, how many may run at once, and what each is.

use std::collections::{BTreeSet, HashMap};

use estelle_proto::ipc::ToolCall;
use estelle_proto::usage::PylonStatus;
use estelle_proto::{
    AppToPylon, Broadcast, ConversationId, DeviceId, Envelope, ErrorCode, Message as _, PylonToApp,
    Retry, WorkspaceId,
};
use tokio::task::{Id, JoinSet};

use super::actor::Actor;
use super::context::{Asker, Context, now};
use super::error::refusal;
use super::lanes::{Entry, Lane, Lanes};
use super::{budgets, conversations, planner, removing, requests, visit, worker, workspaces};
use crate::link::host::HostState;
use crate::link::relay::Outlet;
use crate::store::NewConversation;

/// Jobs that run at once; more are refused.
const MAX_JOBS: usize = 256;

/// Something to do in a task of its own.
#[derive(Debug)]
pub(super) enum Job {
    Request(Asker, Box<AppToPylon>),
    List,
    Status,
    /// Carries out a call of a tool.
    Call(Box<ToolCall>),
    /// Lets the worker of a workspace go on.
    Worker(WorkspaceId),
    /// Finds the workers that somebody has to look after.
    Workers,
    /// Holds what was spent against budgets.
    Budgets,
    /// Tells the host what was deleted and cleared.
    Removals,
    /// Tells the host what people have begun to look at.
    Looks,
    /// Lists the copies that an earlier pylon could not list.
    LeftForks(Vec<NewConversation>),
}

/// What runs, and what waits for its turn.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) lanes: Lanes<Job>,
    running: JoinSet<()>,
    lane_of: HashMap<Id, Lane>,
}

impl Jobs {
    /// The next job that is done; never, if none runs.
    pub(super) async fn next_done(&mut self) -> Id {
        match self.running.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => error.id(),
            None => std::future::pending().await,
        }
    }
}

impl Actor {
    pub(super) fn on_done(&mut self, id: Id) {
        let Some(lane) = self.jobs.lane_of.remove(&id) else {
            return;
        };
        if let Some(next) = self.jobs.lanes.leave(&lane) {
            self.start(Some(lane), next);
        }
    }

    /// Tells all clients what workspaces there are, soon.
    pub(super) fn announce_list(&mut self) {
        let entry = self.jobs.lanes.enter_once(&Lane::List, Job::List);
        self.entered(Lane::List, entry);
    }

    /// Tells all clients how the pylon is, soon.
    pub(super) fn announce_status(&mut self) {
        let entry = self.jobs.lanes.enter_once(&Lane::Status, Job::Status);
        self.entered(Lane::Status, entry);
    }

    /// Holds what was spent against budgets, soon.
    pub(super) fn hold_budgets(&mut self) {
        let entry = self.jobs.lanes.enter_once(&Lane::Budgets, Job::Budgets);
        self.entered(Lane::Budgets, entry);
    }

    /// Tells the host what was deleted and cleared, if it has not heard of it.
    pub(super) fn finish_removals(&mut self) {
        let entry = self.jobs.lanes.enter_once(&Lane::Removals, Job::Removals);
        self.entered(Lane::Removals, entry);
    }

    /// Tells the host what people look at, soon. One that is away has nothing to stop, and is told all of it when it is back.
    pub(super) fn touch(&mut self, looked_at: BTreeSet<ConversationId>) {
        let is_there = matches!(*self.cx.host.state().borrow(), HostState::Up(_));
        if is_there && !looked_at.is_empty() {
            self.looked_at.extend(looked_at);
            let entry = self.jobs.lanes.enter_once(&Lane::Looks, Job::Looks);
            self.entered(Lane::Looks, entry);
        }
    }

    pub(super) fn enter(&mut self, lane: Lane, job: Job) {
        let entry = self.jobs.lanes.enter(&lane, job);
        self.entered(lane, entry);
    }

    pub(super) fn entered(&mut self, lane: Lane, entry: Entry<Job>) {
        match entry {
            Entry::Run(job) => self.start(Some(lane), job),
            Entry::Waits => {}
            Entry::Refused(job) => refuse(&job),
        }
    }

    pub(super) fn start(&mut self, lane: Option<Lane>, job: Job) {
        // What has a lane is bounded by the lanes; what has none is bounded here.
        if lane.is_none() && self.jobs.running.len() >= MAX_JOBS {
            return refuse(&job);
        }
        let cx = self.cx.clone();
        let started = match (job, self.outlet.clone()) {
            (Job::Request(asker, message), _) => self
                .jobs
                .running
                .spawn(requests::carry_out(cx, asker, *message)),
            (Job::List, Some(outlet)) => {
                let clients = self.room.clients();
                let clients = clients.map(|client| (client, self.room.reader(client)));
                let clients = clients.collect();
                self.jobs.running.spawn(tell_list(cx, outlet, clients))
            }
            (Job::Call(call), _) => self.jobs.running.spawn(planner::carry_out(cx, *call)),
            (Job::Worker(id), _) => self
                .jobs
                .running
                .spawn(async move { visit::visit(&cx, &id).await }),
            (Job::Workers, _) => self.jobs.running.spawn(worker::wake_all(cx)),
            (Job::LeftForks(left), _) => self
                .jobs
                .running
                .spawn(conversations::list_left_forks(cx, left)),
            (Job::Looks, _) => {
                let looked_at = std::mem::take(&mut self.looked_at);
                let told = conversations::touch_all(cx, looked_at);
                self.jobs.running.spawn(told)
            }
            (Job::Removals, _) => self
                .jobs
                .running
                .spawn(removing::finish_all(cx, self.old_removals)),
            (Job::Budgets, _) => self
                .jobs
                .running
                .spawn(budgets::enforce(cx, self.room.spending())),
            (Job::Status, Some(outlet)) => self.jobs.running.spawn(tell_status(cx, outlet)),
            // Nobody is there to be told.
            (Job::List | Job::Status, None) => self.jobs.running.spawn(async {}),
        };
        if let Some(lane) = lane {
            self.jobs.lane_of.insert(started.id(), lane);
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
    let health = cx.store.notification_health().await.ok();
    status.notifications = health.filter(|health| health.waiting + health.lost > 0);
    // Whoever is not there when it is said hears it when they come.
    let _ = outlet.send(&Envelope::<PylonToApp>::broadcast(
        Broadcast::Clients,
        status,
    ));
}
