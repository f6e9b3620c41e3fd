//! The shell around the machine of deploys: takes things in, and does what the machine says.
//!
//! It waits for nobody: steps run in tasks of their own, and what is told is queued or dropped.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use estelle_proto::deploy::{
    DeployCancelled, DeployError, DeployReady, DeployRestart, DeployRestarting, DeployStart,
    DeployStartAck,
};
use estelle_proto::{
    ApiError, AppToPylon, Envelope, ErrorCode, Message as _, PylonToApp, PylonToPylon, Reply as _,
    Retry, To,
};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::command::Runner;
use super::kept::{Kept, Left};
use super::log::Log;
use super::machine::{Effect, Found, Input, Machine, Order, Ticket};
use super::plan::Role;
use super::steps::{self, Workshop, compact};
use super::succession::{Succession, prune};
use super::telling::failure;
use super::{DeployConfig, Deploys, Msg};
use crate::desk::{Asker, Changed, now};
use crate::link::relay::Outlet;
use crate::store::Store;

/// Messages that wait for the actor.
const INBOX: usize = 64;
/// Lines of a command that wait for it; the command waits when there are more.
const LINES: usize = 64;
/// Answers that are owed; the oldest are forgotten, because their askers are.
const OWED: usize = 64;
/// How long everybody has to hear that we restart.
const FAREWELL: Duration = Duration::from_secs(2);
/// Builds that are kept beside those in use.
const NEWEST: usize = 3;

/// What the actor works with.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) config: DeployConfig,
    pub(crate) store: Store,
    pub(crate) changed: Changed,
}

/// Starts the actor.
pub(crate) fn spawn(parts: Parts, tracker: &TaskTracker, stop: CancellationToken) -> Deploys {
    let (sender, inbox) = mpsc::channel(INBOX);
    let (said, lines) = mpsc::channel(LINES);
    let (done, results) = mpsc::channel(1);
    let (ready, is_ready) = watch::channel(false);
    let config = parts.config;
    let actor = Actor {
        machine: Machine::new(config.device_id),
        log: Log::open(&config.folder),
        config: Arc::new(config),
        store: parts.store,
        changed: parts.changed,
        way: None,
        askers: HashMap::new(),
        tickets: VecDeque::new(),
        next_ticket: 0,
        step: None,
        bench: Arc::default(),
        farewell: None,
        said,
        done,
        ready,
        tasks: tracker.clone(),
        left: None,
        owes_undo: false,
    };
    tracker.spawn(actor.run(Sources {
        inbox,
        lines,
        results,
        stop,
    }));
    Deploys {
        inbox: sender,
        is_ready,
    }
}

struct Sources {
    inbox: mpsc::Receiver<Msg>,
    lines: mpsc::Receiver<String>,
    results: mpsc::Receiver<(u64, Result<Found, String>)>,
    stop: CancellationToken,
}

#[derive(Debug)]
pub(super) struct Actor {
    pub(super) config: Arc<DeployConfig>,
    pub(super) machine: Machine,
    pub(super) log: Log,
    store: Store,
    changed: Changed,
    pub(super) way: Option<Outlet>,
    pub(super) askers: HashMap<Ticket, Asker>,
    /// The same, oldest first.
    tickets: VecDeque<Ticket>,
    next_ticket: Ticket,
    /// Ends the step that runs.
    step: Option<(u64, CancellationToken)>,
    /// One step at a time, even while one that was ended is dying.
    bench: Arc<Mutex<()>>,
    farewell: Option<Instant>,
    said: mpsc::Sender<String>,
    done: mpsc::Sender<(u64, Result<Found, String>)>,
    ready: watch::Sender<bool>,
    tasks: TaskTracker,
    /// What an earlier process left, until somebody can be told.
    left: Option<Kept>,
    /// What a deploy has changed could not be put back yet.
    owes_undo: bool,
}

impl Actor {
    async fn run(mut self, mut sources: Sources) {
        self.left = Kept::load(&self.config.folder);
        loop {
            let farewell = self.farewell;
            tokio::select! {
                () = sources.stop.cancelled() => break,
                Some(message) = sources.inbox.recv() => self.on_message(message),
                Some(line) = sources.lines.recv() => self.say(&line),
                Some((serial, result)) = sources.results.recv() => {
                    // What it has said comes before how it ended.
                    while let Ok(line) = sources.lines.try_recv() {
                        self.say(&line);
                    }
                    self.step.take_if(|(running, _)| *running == serial);
                    self.feed(Input::Done { serial, result });
                }
                () = async { tokio::time::sleep_until(farewell.unwrap_or_else(Instant::now)).await }, if farewell.is_some() => {
                    self.farewell = None;
                    self.feed(Input::Farewell);
                }
            }
        }
        if let Some((_, step)) = self.step.take() {
            step.cancel();
        }
    }

    fn on_message(&mut self, message: Msg) {
        match message {
            Msg::App(asker, message) => self.on_app(asker, *message),
            Msg::Pylon(envelope) => self.on_pylon(*envelope),
            Msg::Pylons(mut pylons) => {
                pylons.remove(&self.config.device_id);
                self.feed(Input::Pylons(pylons));
            }
            Msg::Way(way) => {
                self.way = way;
                if self.way.is_some()
                    && let Some(kept) = self.left.take()
                {
                    self.on_left(&kept);
                }
            }
        }
    }

    /// Says what became of the deploy of an earlier process.
    fn on_left(&mut self, kept: &Kept) {
        let running = self.config.running.commit.clone();
        let role = kept.role();
        let mut effects = Vec::new();
        match kept.left(running.as_deref()) {
            Left::Arrived => {
                let commit = running.unwrap_or_default();
                self.say(&format!("this machine runs {commit}"));
                effects.extend(self.machine.arrived(commit, role));
                self.tidy_up();
            }
            left @ (Left::Missed | Left::Interrupted) => {
                let note = Succession::load(&self.config.folder).ok().flatten();
                let why = note.and_then(|note| note.failure);
                let why = match (left, why) {
                    (_, Some(why)) => {
                        format!("the new build did not start, and the former runs again: {why}")
                    }
                    (Left::Missed, None) => format!(
                        "the new build does not run: whoever starts this machine does not start {}",
                        self.config.program.display()
                    ),
                    (_, None) => kept.interruption(),
                };
                self.undo();
                match (role, kept.commit.clone()) {
                    (Role::Lead, Some(commit)) => effects.extend(self.machine.withdraw(commit)),
                    (Role::Follower { lead }, _) => {
                        effects.push(Effect::AckTo(lead, Err(why.clone())));
                    }
                    (Role::Lead | Role::Alone, _) => {}
                }
                effects.extend([Effect::Log(why.clone()), Effect::Failed(why)]);
            }
        }
        effects.push(Effect::Keep);
        self.perform(effects);
    }

    /// Removes what the new program does not need any more.
    fn tidy_up(&self) {
        let config = Arc::clone(&self.config);
        self.tasks.spawn_blocking(move || {
            let program = config.program.canonicalize().ok();
            let keep: Vec<_> = program.into_iter().collect();
            let tidied =
                steps::settle(&config).and_then(|()| prune(&config.builds(), &keep, NEWEST));
            match tidied {
                Ok(removed) => tracing::info!(?removed, "old builds are removed"),
                Err(error) => tracing::warn!(%error, "old builds are not removed"),
            }
        });
    }

    fn ticket(&mut self, asker: Asker) -> Ticket {
        self.next_ticket += 1;
        self.tickets.push_back(self.next_ticket);
        self.askers.insert(self.next_ticket, asker);
        if self.tickets.len() > OWED
            && let Some(oldest) = self.tickets.pop_front()
        {
            self.askers.remove(&oldest);
        }
        self.next_ticket
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the desk hands on what belongs to deploys"
    )]
    fn on_app(&mut self, asker: Asker, message: AppToPylon) {
        let to_all = asker.to_all;
        let input = match message {
            AppToPylon::DeployStatusRequest(_) => {
                let result = self.status_result().in_reply_to(asker.request.as_ref());
                return asker.answer(result);
            }
            AppToPylon::DeployPrepare(request) => {
                if self.config.repository.is_none() {
                    let error = ApiError::new(
                        ErrorCode::NotConfigured,
                        "nothing is deployed by this machine: `deploy.repository` is not configured".to_owned(),
                        Retry::Never,
                    );
                    let refused = DeployReady::new(self.config.device_id).failed(error);
                    return asker.answer(refused.in_reply_to(asker.request.as_ref()));
                }
                let role = if request.relay_deploy {
                    Role::Lead
                } else {
                    Role::Alone
                };
                Input::Prepare {
                    ticket: self.ticket(asker),
                    role,
                    build_time: compact(now()),
                }
            }
            AppToPylon::DeployConfirm(request) if request.cancel => Input::Cancel {
                ticket: self.ticket(asker),
            },
            AppToPylon::DeployConfirm(request) => Input::Confirm {
                ticket: self.ticket(asker),
                pre_approved: request.pre_approved,
            },
            AppToPylon::DeployGo(_) => Input::Go {
                ticket: self.ticket(asker),
                to_all,
            },
            other => return tracing::error!(kind = other.kind(), "bug: this is no deploy"),
        };
        self.feed(input);
    }

    fn on_pylon(&mut self, envelope: Envelope<PylonToPylon>) {
        let Some(from) = envelope.from.map(|from| from.device_id) else {
            return;
        };
        let input = match envelope.message {
            PylonToPylon::DeployStart(start) => {
                // Nobody leads in the name of another.
                if start.lead_pylon_id != from {
                    return tracing::warn!(from = from.0, "a Pylon wants to lead for another");
                }
                if self.config.repository.is_none() {
                    let text = "`deploy.repository` is not configured there".to_owned();
                    return self.perform(vec![Effect::AckTo(from, Err(text))]);
                }
                let is_time = |time: &String| {
                    time.len() == 14 && time.bytes().all(|byte| byte.is_ascii_digit())
                };
                let build_time = start.build_time.filter(is_time);
                Input::Start {
                    lead: from,
                    commit: start.commit_hash,
                    build_time: build_time.unwrap_or_else(|| compact(now())),
                }
            }
            PylonToPylon::DeployStartAck(ack) => Input::Ack {
                from,
                result: ack.outcome().map_err(|error| error.message),
            },
            PylonToPylon::DeployRestart(restart) => Input::Restart {
                from,
                commit: restart.commit_hash,
            },
            PylonToPylon::DeployCancelled(cancelled) => Input::Cancelled {
                from,
                commit: cancelled.commit_hash,
            },
            PylonToPylon::ErrorReport(report) => match report.about.as_deref() {
                Some("deploy_start") => Input::Ack {
                    from,
                    result: Err(report.error),
                },
                _ => return,
            },
            PylonToPylon::Unknown(_) => return,
        };
        self.feed(input);
    }

    fn feed(&mut self, input: Input) {
        let effects = self.machine.step(input);
        self.perform(effects);
        let is_ready = self.machine.is_ready();
        if *self.ready.borrow() != is_ready {
            self.ready.send_replace(is_ready);
            self.changed.tell();
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.perform_one(effect);
        }
    }

    fn perform_one(&mut self, effect: Effect) {
        let own = self.config.device_id;
        match effect {
            Effect::Keep => self.keep(),
            Effect::Status => self.tell_apps(self.status()),
            Effect::Log(text) => self.say(&text),
            Effect::Run(order) => self.take(order),
            Effect::Abort => {
                if let Some((_, step)) = self.step.take() {
                    step.cancel();
                }
            }
            Effect::Undo => self.undo(),
            Effect::Accept(ticket) => {
                let result = self.status_result();
                if let Some(asker) = self.settled(ticket) {
                    asker.answer(result.in_reply_to(asker.request.as_ref()));
                }
            }
            Effect::Refuse(ticket, refusal) => {
                let result = self.status_result().failed(refusal.into());
                if let Some(asker) = self.settled(ticket) {
                    asker.answer(result.in_reply_to(asker.request.as_ref()));
                }
            }
            Effect::Ready(ticket, result) => self.tell_ready(ticket, result),
            Effect::TellAck {
                ticket,
                from,
                result,
                total,
            } => self.tell_ack(ticket, from, result, total),
            Effect::StartAll(build) => {
                let start = DeployStart {
                    build_time: Some(build.build_time),
                    ..DeployStart::new(build.commit, build.version, own)
                };
                self.tell_all::<PylonToApp>(start);
            }
            Effect::CancelAll { commit } => {
                self.tell_all::<PylonToApp>(DeployCancelled::new(commit, own));
            }
            Effect::RestartAll { commit } => self.tell_all::<PylonToApp>(DeployRestart {
                commit_hash: Some(commit),
                lead_pylon_id: Some(own),
                ..DeployRestart::default()
            }),
            Effect::AckTo(lead, result) => {
                let ack = DeployStartAck::new(own);
                let ack = match result {
                    Ok(()) => ack,
                    Err(why) => ack.failed(failure(why)),
                };
                self.send(&Envelope::<PylonToPylon>::to(To::device(lead), ack));
            }
            Effect::Failed(why) => self.tell_apps(DeployError::new(own, why)),
            Effect::Farewell => {
                self.tell_apps(DeployRestarting::new(own));
                self.farewell = Some(Instant::now() + FAREWELL);
            }
            Effect::Become => {
                let program = self.config.program.clone();
                if self.config.becoming.try_send(program).is_err() {
                    tracing::error!("bug: nobody restarts this process");
                }
            }
        }
    }

    /// Puts back what a deploy has changed. As long as that fails, the disk says how far the deploy was, so that the next
    /// process tries it again, or the next deploy.
    fn undo(&mut self) {
        self.owes_undo = match steps::undo(&self.config) {
            Ok(()) => false,
            Err(error) => {
                self.say(&format!("it cannot be undone yet: {error}"));
                true
            }
        };
        self.keep();
    }

    fn keep(&mut self) {
        if self.owes_undo {
            return;
        }
        let kept = self.machine.deploy.as_ref().map(Kept::of);
        if let Err(error) = Kept::store(kept.as_ref(), &self.config.folder) {
            self.say(&format!(
                "how far the deploy is could not be written down: {error}"
            ));
        }
    }

    /// Takes a step, in a task of its own.
    fn take(&mut self, order: Order) {
        if self.owes_undo {
            self.undo();
        }
        if self.owes_undo {
            let why = "what an earlier deploy has changed cannot be put back".to_owned();
            let (done, serial) = (self.done.clone(), order.serial);
            self.tasks.spawn(async move {
                // An actor that is gone does not need to know.
                let _ = done.send((serial, Err(why))).await;
            });
            return;
        }
        let stop = CancellationToken::new();
        self.step = Some((order.serial, stop.clone()));
        let workshop = Workshop {
            config: Arc::clone(&self.config),
            store: self.store.clone(),
            runner: Runner {
                leash: self.config.leash.clone(),
                limit: self.config.step_limit,
                lines: self.said.clone(),
                stop,
            },
            now: now(),
        };
        let (done, bench) = (self.done.clone(), Arc::clone(&self.bench));
        self.tasks.spawn(async move {
            let _turn = bench.lock().await;
            let result = workshop.take(&order).await;
            let result = result.map_err(|error| error.to_string());
            // An actor that is gone does not need to know.
            let _ = done.send((order.serial, result)).await;
        });
    }

    /// A request is answered.
    fn settled(&mut self, ticket: Ticket) -> Option<Asker> {
        self.tickets.retain(|owed| *owed != ticket);
        self.askers.remove(&ticket)
    }
}
