//! The task that owns the machine: takes inputs, lets the machine decide, and hands out what it decided.
//!
//! Frames that wait for it are bounded in bytes: a connection asks for room before it hands one over and reads nothing
//! more until it has it. The hub itself waits for nobody.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use estelle_proto::{Timestamp, Token};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::Instant;
use tracing::{debug, error, info, warn};

use super::outbox::{Out, Outbox};
use super::refusals::{Refusals, Refused};
use super::saver::{Job, Saved};
use crate::machine::{
    Command, CommandResult, ConnId, Effect, Input, Machine, Note, Now, Outcome, Recognized, Role,
    Ticket, Why,
};
use crate::metrics::Metrics;
use crate::ws;

/// Inputs that may wait: enough for every core to be busy handing them over.
const WAITING: usize = 1024;
/// Bytes of frames that may wait, in units of 1 KiB.
const WAITING_KIB: usize = 16 * 1024;
/// Inputs that are taken at once, between two looks at the clock.
const BATCH: usize = 64;

/// What reaches the hub.
#[derive(Debug)]
pub(super) enum ToHub {
    Opened {
        conn: ConnId,
        address: Option<String>,
        outbox: Outbox,
    },
    Frame {
        conn: ConnId,
        text: String,
        /// Given back when the frame is done with.
        room: OwnedSemaphorePermit,
    },
    Closed(ConnId),
    Command(Command, oneshot::Sender<CommandResult>),
    Stop(oneshot::Sender<()>),
}

/// The way to the hub.
#[derive(Debug, Clone)]
pub(super) struct HubHandle {
    queue: mpsc::Sender<ToHub>,
    room: Arc<Semaphore>,
}

/// The relay is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the relay has stopped")]
pub(super) struct Stopped;

impl HubHandle {
    /// A handle, and what its hub reads.
    pub(super) fn new() -> (Self, mpsc::Receiver<ToHub>) {
        let (queue, inputs) = mpsc::channel(WAITING);
        let room = Arc::new(Semaphore::new(WAITING_KIB));
        (Self { queue, room }, inputs)
    }

    /// Whether nobody reads it any more.
    pub(super) fn is_gone(&self) -> bool {
        self.queue.is_closed()
    }

    /// Whether nothing more can be handed over at this moment.
    pub(super) fn is_full(&self) -> bool {
        self.queue.capacity() == 0
    }

    /// Hands over anything but a frame.
    pub(super) async fn tell(&self, message: ToHub) -> Result<(), Stopped> {
        self.queue.send(message).await.map_err(|_| Stopped)
    }

    /// The device with this secret; nobody if the relay is going.
    pub(super) async fn recognize(&self, token: Token) -> Option<Recognized> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Recognize { token };
        self.tell(ToHub::Command(command, reply)).await.ok()?;
        match answer.await.ok().flatten()? {
            Ok(Outcome::Recognized(known)) => known,
            Ok(Outcome::Issued(..) | Outcome::Removed | Outcome::Pylons(_)) | Err(_) => None,
        }
    }

    /// Hands over a frame, when there is room for it.
    pub(super) async fn frame(&self, conn: ConnId, text: String) -> Result<(), Stopped> {
        let units = u32::try_from(text.len() / 1024 + 1).unwrap_or(u32::MAX);
        let room = self.room.clone().acquire_many_owned(units).await;
        let room = room.map_err(|_| Stopped)?;
        self.tell(ToHub::Frame { conn, text, room }).await
    }
}

/// The machine with its surroundings.
pub(super) struct Hub {
    pub(super) machine: Machine,
    pub(super) inputs: mpsc::Receiver<ToHub>,
    pub(super) jobs: mpsc::Sender<Job>,
    pub(super) saved: mpsc::Receiver<Saved>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) started: Instant,
    /// Bytes that may wait for a Pylon.
    pylon_queue_bytes: usize,
    outboxes: HashMap<ConnId, Outbox>,
    commands: HashMap<Ticket, oneshot::Sender<CommandResult>>,
    tickets: u64,
    refusals: Refusals,
}

impl Hub {
    pub(super) fn new(
        machine: Machine,
        inputs: mpsc::Receiver<ToHub>,
        (jobs, saved): (mpsc::Sender<Job>, mpsc::Receiver<Saved>),
        metrics: Arc<Metrics>,
        started: Instant,
        pylon_queue_bytes: usize,
    ) -> Self {
        Self {
            machine,
            inputs,
            jobs,
            saved,
            metrics,
            started,
            pylon_queue_bytes,
            outboxes: HashMap::new(),
            commands: HashMap::new(),
            tickets: 0,
            refusals: Refusals::default(),
        }
    }

    /// Runs until it is told to stop.
    pub(super) async fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let now = self.now();
            let wakes = [self.machine.wake_at(now), self.refusals.wake_at()];
            let wake = wakes.into_iter().flatten().min();
            let wake = wake.unwrap_or(now.elapsed + Duration::from_hours(1));
            let wake = self.started + wake;
            tokio::select! {
                biased;
                // What is written down is told first: somebody has waited for the disk.
                Some(saved) = self.saved.recv() => self.perform(saved.effects),
                taken = self.inputs.recv_many(&mut batch, BATCH) => {
                    if taken == 0 {
                        return;
                    }
                    let now = self.now();
                    for message in batch.drain(..) {
                        if let Some(stopped) = self.take(now, message) {
                            return self.end(stopped).await;
                        }
                    }
                }
                () = tokio::time::sleep_until(wake) => {}
            }
            // A busy hub never sleeps, so what is due is looked for in every round.
            let now = self.now();
            if self
                .machine
                .wake_at(now)
                .is_some_and(|at| at <= now.elapsed)
            {
                self.step(now, Input::Tick);
            }
            for (refused, count) in self.refusals.due(now.elapsed) {
                warn!(count, "{refused}, in the last minute");
            }
        }
    }

    fn now(&self) -> Now {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = wall.map_or(0, |since| since.as_millis());
        Now {
            elapsed: self.started.elapsed(),
            wall: Timestamp(i64::try_from(millis).unwrap_or(i64::MAX)),
        }
    }

    /// One message; whoever told the relay to stop comes back.
    fn take(&mut self, now: Now, message: ToHub) -> Option<oneshot::Sender<()>> {
        match message {
            ToHub::Opened {
                conn,
                address,
                outbox,
            } => {
                self.outboxes.insert(conn, outbox);
                self.metrics.connections.one();
                self.step(now, Input::Opened { conn, address });
            }
            ToHub::Frame { conn, text, room } => {
                self.metrics.frames_in_total.one();
                self.metrics.bytes_in_total.add(text.len());
                self.step(now, Input::Frame { conn, text });
                drop(room);
            }
            ToHub::Closed(conn) => {
                self.outboxes.remove(&conn);
                self.metrics.connections.less_one();
                self.step(now, Input::Closed { conn });
            }
            ToHub::Command(command, reply) => {
                self.tickets += 1;
                let ticket = Ticket(self.tickets);
                self.commands.insert(ticket, reply);
                self.step(now, Input::Command { ticket, command });
            }
            ToHub::Stop(stopped) => return Some(stopped),
        }
        None
    }

    fn step(&mut self, now: Now, input: Input) {
        let effects = self.machine.step(now, input);
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let mut waiting = VecDeque::from(effects);
        while let Some(effect) = waiting.pop_front() {
            match effect {
                Effect::Send { to, text } => {
                    for slow in self.send(&to, &text) {
                        let now = self.now();
                        waiting.extend(self.machine.step(now, Input::Closed { conn: slow }));
                    }
                }
                Effect::Admit { conn, role } => self.admit(conn, role),
                Effect::Deadline { conn, at } => self.tell(conn, Out::Deadline(at)),
                Effect::Close { conn, why } => self.close(conn, why),
                Effect::Save { then, otherwise } => waiting.extend(self.save(then, otherwise)),
                Effect::Done { ticket, result } => {
                    let reply = self.commands.remove(&ticket);
                    // Whoever asked may have stopped waiting.
                    let _ = reply.map(|reply| reply.send(result));
                }
                Effect::Note(note) => self.note(&note),
                Effect::IdsWritten { realm, below } => {
                    let input = Input::IdsWritten { realm, below };
                    waiting.extend(self.machine.step(self.now(), input));
                }
                Effect::TakeBack(replaced) => {
                    let input = Input::TakeBack(replaced);
                    waiting.extend(self.machine.step(self.now(), input));
                }
            }
        }
    }

    /// Hands a frame to connections; those that were too slow for it are cut off.
    fn send(&self, to: &[ConnId], text: &str) -> Vec<ConnId> {
        let frame = ws::text(text);
        let mut slow = Vec::new();
        for conn in to {
            let Some(outbox) = self.outboxes.get(conn) else {
                continue;
            };
            self.metrics.frames_out_total.one();
            self.metrics.bytes_out_total.add(frame.len());
            if outbox.push(frame.clone()).is_err() {
                outbox.cut();
                self.metrics.cut_off_total.one();
                info!(conn = conn.0, "cut off: it does not take what it is sent");
                slow.push(*conn);
            }
        }
        slow
    }

    fn admit(&mut self, conn: ConnId, role: Role) {
        if let (Role::Pylon, Some(outbox)) = (role, self.outboxes.get_mut(&conn)) {
            outbox.widen(self.pylon_queue_bytes);
        }
        self.tell(conn, Out::Admit(role));
    }

    fn close(&self, conn: ConnId, why: Why) {
        if let Some(outbox) = self.outboxes.get(&conn)
            && outbox.close(why).is_err()
        {
            outbox.cut();
        }
    }

    fn tell(&self, conn: ConnId, out: Out) {
        if let Some(outbox) = self.outboxes.get(&conn)
            && outbox.tell(out).is_err()
        {
            outbox.cut();
        }
    }

    /// Asks for the registry to be written. What cannot even be asked for has failed.
    fn save(&mut self, then: Vec<Effect>, otherwise: Vec<Effect>) -> Vec<Effect> {
        let version = match crate::registry::encode(self.machine.directory()) {
            Ok(version) => version,
            Err(error) => {
                error!(%error, "bug: the registry has no JSON form");
                return otherwise;
            }
        };
        let job = Job {
            version,
            then,
            otherwise,
        };
        match self.jobs.try_send(job) {
            Ok(()) => Vec::new(),
            Err(mpsc::error::TrySendError::Full(job) | mpsc::error::TrySendError::Closed(job)) => {
                self.metrics.save_failures_total.one();
                job.otherwise
            }
        }
    }

    /// Tells everybody, writes the registry a last time, and waits for the saver to be done.
    async fn end(mut self, stopped: oneshot::Sender<()>) {
        let now = self.now();
        self.step(now, Input::Stopping);
        let effects = self.save(Vec::new(), Vec::new());
        self.perform(effects);
        let (closed, _) = mpsc::channel(1);
        drop(std::mem::replace(&mut self.jobs, closed));
        while let Some(saved) = self.saved.recv().await {
            self.perform(saved.effects);
        }
        let _ = stopped.send(());
    }

    /// Anybody can be refused as often as they like, so that only the first of a minute has a line of its own.
    fn refused(&mut self, conn: ConnId, what: Refused) {
        let now = self.now().elapsed;
        if self.refusals.is_first(now, what) {
            warn!(conn = conn.0, "{what}");
        }
    }

    fn note(&mut self, note: &Note) {
        let metrics = self.metrics.clone();
        match note {
            Note::Joined {
                conn,
                realm,
                device,
                role,
            } => {
                self.gauge(*role).one();
                metrics.logins_total.one();
                info!(conn = conn.0, %realm, %device, ?role, "joined");
            }
            Note::Left {
                conn,
                realm,
                device,
                role,
            } => {
                self.gauge(*role).less_one();
                info!(conn = conn.0, %realm, %device, ?role, "left");
            }
            Note::LoginRefused { conn } => {
                metrics.login_refusals_total.one();
                self.refused(*conn, Refused::Login);
            }
            Note::Forbidden { conn } => {
                metrics.forbidden_total.one();
                self.refused(*conn, Refused::Message);
            }
            Note::Undeliverable { conn } => {
                metrics.undeliverable_total.one();
                debug!(conn = conn.0, "undeliverable message");
            }
            Note::Invalid { conn } => {
                metrics.invalid_total.one();
                debug!(conn = conn.0, "invalid message");
            }
            Note::Offered { realm } => info!(%realm, "pairing offered"),
            Note::PairRefused { conn } => {
                metrics.pair_refusals_total.one();
                self.refused(*conn, Refused::Pairing);
            }
            Note::Paired { realm } => {
                metrics.pairings_total.one();
                info!(%realm, "device added");
            }
            Note::Revoked { realm } => {
                metrics.revocations_total.one();
                info!(%realm, "secret revoked");
            }
            Note::Unwritten { kind } => error!(kind, "bug: a message has no JSON form"),
        }
    }

    fn gauge(&self, role: Role) -> &crate::metrics::Count {
        match role {
            Role::Pylon => &self.metrics.pylons,
            Role::App => &self.metrics.apps,
        }
    }
}
