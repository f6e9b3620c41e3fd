//! The actor behind the link to the host: what is followed, what is asked, and which connection stands.
//!
//! It waits for one of a few things at a time and never for one alone: a full inbox does not hold up requests, a host
//! that does not read does not hold up the inbox, and both can be shut down at any moment.

use std::collections::VecDeque;
use std::time::Duration;

use estelle_proto::ipc::{
    self, Hello, PylonReconnected, RequestResult, StatusResponse, Unsubscribe,
};
use estelle_proto::{ErrorCode, ErrorReport, HostToPylon, PylonToHost, Reply as _};
use estelle_state::link::{Backoff, Cursors, Ignored, Verdict};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::requests::{Reply, Requests};
use super::wire::{self, FromWire};
use super::{FromHost, HostConfig, HostState, LostHost, Msg, RequestError};

/// Lines between actor and wire, in each direction: enough that neither waits for the other's turn.
const WIRE: usize = 64;

/// The actor's side of the handle.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) commands: mpsc::Receiver<Msg>,
    pub(super) inbox: mpsc::Sender<FromHost>,
    pub(super) state: watch::Sender<HostState>,
    pub(super) stop: CancellationToken,
}

/// A connection, or the time until the next try.
#[derive(Debug)]
enum Wire {
    Open {
        incoming: mpsc::Receiver<FromWire>,
        outgoing: mpsc::Sender<String>,
        /// Since when it is good.
        up_since: Option<Instant>,
    },
    Closed {
        retry_at: Instant,
    },
}

/// One thing that happened.
#[derive(Debug)]
enum Input {
    Stop,
    Flushed,
    Command(Msg),
    Wire(Box<FromWire>),
    Retry,
}

#[derive(Debug)]
pub(super) struct Actor {
    config: HostConfig,
    ends: Ends,
    tracker: TaskTracker,
    cursors: Cursors,
    requests: Requests,
    backoff: Backoff,
    wire: Wire,
    /// What the inbox has no room for. The wire is not read before this is empty.
    to_desk: VecDeque<FromHost>,
    /// What the wire has no room for: at most the open requests and subscriptions.
    to_host: VecDeque<String>,
}

impl Actor {
    pub(super) fn new(config: HostConfig, ends: Ends, tracker: TaskTracker) -> Self {
        Self {
            backoff: Backoff::new(config.pace),
            config,
            ends,
            tracker,
            cursors: Cursors::new(),
            requests: Requests::default(),
            wire: Wire::Closed {
                retry_at: Instant::now(),
            },
            to_desk: VecDeque::new(),
            to_host: VecDeque::new(),
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            match self.next().await {
                Input::Stop => return,
                Input::Flushed => {}
                Input::Command(message) => self.on_command(message),
                Input::Wire(told) => match *told {
                    FromWire::Up(hello) => self.on_up(hello),
                    FromWire::Message(message) => self.on_message(message),
                    FromWire::Gone(lost) => self.on_gone(lost),
                },
                Input::Retry => self.call(),
            }
            self.ask();
        }
    }

    async fn next(&mut self) -> Input {
        let (incoming, outgoing, retry_at) = match &mut self.wire {
            Wire::Open {
                incoming, outgoing, ..
            } => (Some(incoming), Some(&*outgoing), None),
            Wire::Closed { retry_at } => (None, None, Some(*retry_at)),
        };
        // What is to be handed on goes before what is to be taken in, so that neither queue grows.
        tokio::select! {
            biased;
            () = self.ends.stop.cancelled() => Input::Stop,
            sent = hand_on(&self.ends.inbox, &mut self.to_desk) => if sent { Input::Flushed } else { Input::Stop },
            () = pass_down(outgoing, &mut self.to_host) => Input::Flushed,
            command = self.ends.commands.recv() => command.map_or(Input::Stop, Input::Command),
            message = receive(incoming), if self.to_desk.is_empty() => Input::Wire(Box::new(message)),
            () = until(retry_at) => Input::Retry,
        }
    }

    /// Opens the next connection.
    fn call(&mut self) {
        let (to_actor, incoming) = mpsc::channel(WIRE);
        let (outgoing, from_actor) = mpsc::channel(WIRE);
        let wire = wire::carry(self.config.clone(), from_actor, to_actor);
        self.tracker.spawn(wire);
        self.wire = Wire::Open {
            incoming,
            outgoing,
            up_since: None,
        };
    }

    fn on_command(&mut self, message: Msg) {
        match message {
            Msg::Request(command, answer) => self.requests.add(*command, answer),
            Msg::Follow(conversation, cursor) => self.cursors.follow(conversation, cursor),
            Msg::Forget(conversation) => {
                if self.cursors.forget(&conversation) {
                    self.say(Unsubscribe::new(conversation));
                }
            }
        }
    }

    fn on_up(&mut self, hello: Hello) {
        tracing::info!(build = %hello.build, protocol = hello.protocol, "the host is there");
        if let Wire::Open { up_since, .. } = &mut self.wire {
            *up_since = Some(Instant::now());
        }
        self.ends.state.send_replace(HostState::Up(hello.clone()));
        self.to_desk.push_back(FromHost::Up(hello));
        self.say(PylonReconnected::default());
        self.cursors.connected();
    }

    fn on_gone(&mut self, lost: LostHost) {
        let lasted = match &self.wire {
            Wire::Open {
                up_since: Some(since),
                ..
            } => since.elapsed(),
            Wire::Open { up_since: None, .. } | Wire::Closed { .. } => Duration::ZERO,
        };
        let was_up = matches!(*self.ends.state.borrow(), HostState::Up(_));
        let wait = self.backoff.wait_after(lasted, fastrand::u64(..));
        tracing::debug!(%lost, ?wait, "no connection to the host");
        self.wire = Wire::Closed {
            retry_at: Instant::now() + wait,
        };
        self.to_host.clear();
        self.cursors.lost();
        self.requests.lost();
        if was_up {
            self.to_desk.push_back(FromHost::Down(lost.clone()));
        }
        self.ends.state.send_replace(HostState::Away(lost));
    }

    fn on_message(&mut self, message: HostToPylon) {
        match message {
            HostToPylon::Event(event) => {
                let verdict = self.cursors.event(&event);
                self.judge(verdict, FromHost::Event(event));
            }
            HostToPylon::Subscribed(began) => {
                let verdict = self.cursors.subscribed(&began);
                self.judge(verdict, FromHost::Began(began));
            }
            HostToPylon::Snapshot(snapshot) => {
                let verdict = self.cursors.snapshot(&snapshot);
                self.judge(verdict, FromHost::Snapshot(snapshot));
            }
            HostToPylon::PermissionRequest(open) => {
                self.to_desk.push_back(FromHost::Permission(open));
            }
            HostToPylon::QuestionRequest(open) => self.to_desk.push_back(FromHost::Question(open)),
            HostToPylon::StatusResponse(status) => self.on_status(status),
            HostToPylon::RequestResult(result) => self.on_result(result),
            HostToPylon::Error(report) => self.on_error(report),
            HostToPylon::ServerShutdown(notice) => {
                self.to_desk.push_back(FromHost::Shutdown(notice));
            }
            // Its cursors say what it sent; ours say what arrived, and those count.
            HostToPylon::CutOff(_) => self.on_gone(LostHost::CutOff),
            HostToPylon::Hello(_) => {}
            HostToPylon::ToolCall(call) => self.to_desk.push_back(FromHost::Call(call)),
            HostToPylon::Unknown(message) => {
                tracing::debug!(kind = %message.kind, "the host said something this build does not know");
            }
        }
    }

    fn judge(&mut self, verdict: Verdict, message: FromHost) {
        match verdict {
            Verdict::Deliver => self.to_desk.push_back(message),
            Verdict::Ignore(Ignored::Gap) => {
                tracing::warn!(?message, "something is missing before this; asking again");
            }
            Verdict::Ignore(Ignored::Stuck) => {
                tracing::error!(?message, "bug: the host cannot complete this conversation");
            }
            Verdict::Ignore(Ignored::Unfollowed | Ignored::Early | Ignored::Duplicate) => {}
        }
    }

    fn on_status(&mut self, status: StatusResponse) {
        for session in &status.sessions {
            self.cursors.known(&session.session_id);
        }
        match self.requests.take(status.request_id.as_ref()) {
            Some(waiting) => drop(waiting.settle(Ok(Reply::Status(status)))),
            None => self.to_desk.push_back(FromHost::Status(status)),
        }
    }

    fn on_result(&mut self, result: RequestResult) {
        let is_done = result.outcome().is_ok();
        let Some(waiting) = self.requests.take(result.request_id.as_ref()) else {
            if let (Some(id), false) = (&result.request_id, is_done) {
                self.cursors.refused(id);
            }
            return;
        };
        let conversation = waiting.settle(Ok(Reply::Result(Box::new(result))));
        if let (Some(conversation), true) = (conversation, is_done) {
            self.cursors.known(&conversation);
        }
    }

    fn on_error(&mut self, report: ErrorReport) {
        let error = wire::from_report(&report);
        if error.code == ErrorCode::ProtocolMismatch {
            return self.on_gone(LostHost::Refused(error));
        }
        let id = report.request_id.as_ref();
        if let Some(waiting) = self.requests.take(id) {
            waiting.settle(Err(RequestError::Refused(error)));
        } else if !id.is_some_and(|id| self.cursors.refused(id)) {
            self.to_desk.push_back(FromHost::Complaint(report));
        }
    }

    /// Sends what the cursors and the requests want to have sent.
    fn ask(&mut self) {
        if !matches!(
            self.wire,
            Wire::Open {
                up_since: Some(_),
                ..
            }
        ) {
            return;
        }
        for ask in self.cursors.take_asks() {
            self.say(ask);
        }
        self.to_host.extend(self.requests.take_lines());
    }

    fn say(&mut self, command: impl Into<PylonToHost>) {
        match ipc::to_line(&command.into()) {
            Ok(line) => self.to_host.push_back(line),
            Err(error) => tracing::error!(%error, "bug: a command cannot be written"),
        }
    }
}

/// Hands the first message on as soon as there is room; waits for ever when there is none to hand on. False when nobody
/// reads any more.
async fn hand_on(inbox: &mpsc::Sender<FromHost>, waiting: &mut VecDeque<FromHost>) -> bool {
    if waiting.is_empty() {
        inbox.closed().await;
        return false;
    }
    let Ok(room) = inbox.reserve().await else {
        return false;
    };
    if let Some(message) = waiting.pop_front() {
        room.send(message);
    }
    true
}

/// The same towards the wire. One that is gone tells so itself.
async fn pass_down(outgoing: Option<&mpsc::Sender<String>>, waiting: &mut VecDeque<String>) {
    let (Some(outgoing), false) = (outgoing, waiting.is_empty()) else {
        return std::future::pending().await;
    };
    let Ok(room) = outgoing.reserve().await else {
        return std::future::pending().await;
    };
    if let Some(line) = waiting.pop_front() {
        room.send(line);
    }
}

async fn receive(incoming: Option<&mut mpsc::Receiver<FromWire>>) -> FromWire {
    match incoming {
        Some(incoming) => {
            let message = incoming.recv().await;
            // A wire tells why it ends; one that could not was ended with its task.
            message.unwrap_or(FromWire::Gone(LostHost::Closed))
        }
        None => std::future::pending().await,
    }
}

async fn until(retry_at: Option<Instant>) {
    match retry_at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
