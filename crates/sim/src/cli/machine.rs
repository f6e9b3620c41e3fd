//! The machine in the middle: inputs go in, effects come out, nothing else happens.
//!
//! Time is part of every input, files go through the [`Disk`] port, ids come from the seed: the same inputs give the same
//! effects. The shell sleeps until [`Machine::wake_at`] and performs the effects in order.

use std::rc::Rc;

use super::flow::{self, Flow};
use super::ids::Ids;
use super::input::{Fatal, Line};
use super::json::Json;
use super::mcp::McpServer;
use super::permission::Rules;
use super::state::{
    Abort, Conversation, Disk, Effect, Inbox, Queued, Setup, Sim, State, Switch, Work,
};
use super::store::{self, Stored};
use super::usage::Totals;

/// What can happen to the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line of standard input without its newline.
    Line(Vec<u8>),
    /// Standard input has ended.
    Closed,
    /// Time has passed.
    Tick,
    /// A signal that asks the process to go.
    Signal(Signal),
}

/// The signals that are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGTERM.
    Term,
    /// SIGINT.
    Int,
    /// SIGHUP.
    Hup,
}

/// The simulated CLI without its input and output.
pub(crate) struct Machine {
    sim: Sim,
    flows: Vec<Flow>,
}

impl Machine {
    /// Starts the process; the effects may already end it.
    pub(crate) fn start(setup: Setup, disk: Box<dyn Disk>, now: u64) -> (Self, Vec<Effect>) {
        let opened = open(&setup, disk.as_ref());
        let sim = Sim::new(fresh_state(setup, disk, now));
        let mut machine = Self {
            sim,
            flows: Vec::new(),
        };
        match opened {
            Ok(opened) => {
                machine.sim.open_conversation(opened);
                machine
                    .flows
                    .push(Box::pin(super::play::session(machine.sim.clone())));
                machine.sim.connect_servers(&[]);
            }
            Err(OpenError::Quiet(text)) => machine.sim.with(|state| {
                state.effects.push(Effect::Stderr(format!("{text}\n")));
                state.effects.push(Effect::Exit(1));
            }),
            Err(OpenError::Loud(text)) => {
                let id = machine.sim.uuid();
                machine.sim.with(|state| {
                    let wanted = state.setup.args.session.resume.clone();
                    let wanted = wanted.filter(|id| uuid::Uuid::parse_str(id).is_ok());
                    state.chat.id = wanted.unwrap_or(id);
                });
                machine.sim.print_start_failure(&text);
                machine
                    .sim
                    .with(|state| state.effects.push(Effect::Exit(1)));
            }
        }
        let effects = machine.settle();
        (machine, effects)
    }

    /// Takes an input.
    pub(crate) fn step(&mut self, now: u64, input: Input) -> Vec<Effect> {
        self.sim.with(|state| {
            state.now = state.now.max(now);
            state.work.steps += 1;
        });
        match input {
            Input::Tick => {}
            Input::Line(bytes) => self.sim.take_line(&bytes),
            Input::Closed => self.sim.with(|state| {
                let now = state.now;
                state.inbox.closed.get_or_insert(now);
            }),
            Input::Signal(signal) => self.on_signal(signal),
        }
        self.settle()
    }

    /// The moment of the next step, finer than steps are: stamps are compared with other clocks.
    pub(crate) fn set_micros(&mut self, now_us: u64) {
        self.sim.with(|state| state.now_us = now_us);
    }

    /// When the machine wants to be asked again.
    pub(crate) fn wake_at(&self) -> Option<u64> {
        self.sim.with(|state| state.wake)
    }

    fn settle(&mut self) -> Vec<Effect> {
        flow::run(&self.sim, &mut self.flows);
        self.sim.with(|state| std::mem::take(&mut state.effects))
    }

    fn on_signal(&mut self, signal: Signal) {
        let turn = self.sim.with(|state| state.work.turn);
        if let (Signal::Int, Some(scope)) = (signal, turn) {
            // An interrupt of the terminal ends the turn with its result before the process goes.
            self.sim
                .with(|state| state.work.aborted.insert(scope, Abort::Interrupt));
            flow::run(&self.sim, &mut self.flows);
        }
        self.sim.flush_record();
        self.flows.clear();
        let code = match signal {
            Signal::Term => 143,
            Signal::Int => 0,
            Signal::Hup => 129,
        };
        self.sim
            .with(|state| state.effects.push(Effect::Exit(code)));
    }
}

/// What `--resume` and its kin found.
struct Opened {
    id: Option<String>,
    stored: Stored,
}

enum OpenError {
    /// On standard error only.
    Quiet(String),
    /// On standard error and as a result.
    Loud(String),
}

fn open(setup: &Setup, disk: &dyn Disk) -> Result<Opened, OpenError> {
    let (session, env) = (&setup.args.session, &setup.env);
    let latest = session
        .continue_latest
        .then(|| store::latest(disk, env))
        .flatten();
    let Some(wanted) = session.resume.clone().or(latest) else {
        let taken = session
            .id
            .as_ref()
            .filter(|id| store::load(disk, env, id).is_some());
        if let Some(id) = taken {
            return Err(OpenError::Quiet(format!(
                "Error: Session ID {id} is already in use."
            )));
        }
        return Ok(Opened {
            id: session.id.clone(),
            stored: Stored::default(),
        });
    };
    if uuid::Uuid::parse_str(&wanted).is_err() {
        return Err(OpenError::Loud(format!(
            "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. Provided value \"{wanted}\" is not a UUID and does not match any session title."
        )));
    }
    let Some(mut stored) = store::load(disk, env, &wanted) else {
        return Err(OpenError::Loud(format!(
            "No conversation found with session ID: {wanted}"
        )));
    };
    if let Some(at) = &session.resume_at {
        let found = stored
            .entries
            .iter()
            .position(|entry| entry.text("uuid") == Some(at));
        let Some(found) = found else {
            return Err(OpenError::Loud(format!(
                "No message found with message.uuid of: {at}"
            )));
        };
        stored.entries.truncate(found + 1);
    }
    let id = if session.fork {
        session.id.clone()
    } else {
        Some(wanted)
    };
    Ok(Opened { id, stored })
}

fn fresh_state(setup: Setup, disk: Box<dyn Disk>, now: u64) -> State {
    let args = &setup.args;
    let version = setup.version;
    let model = args.model.as_deref().filter(|name| *name != "default");
    let model = model.map_or(version.default_model().to_owned(), |name| {
        version.resolve_model(name)
    });
    let mode = args
        .permissions
        .mode
        .clone()
        .unwrap_or_else(|| "default".to_owned());
    let mcp = args
        .mcp
        .iter()
        .map(|(name, config)| McpServer::new(name, config.clone()));
    State {
        now,
        now_us: 0,
        started: now,
        initialized: false,
        agent_text: args.agent_text,
        initializing: 0,
        ids: Ids::new(setup.env.seed, ""),
        effects: Vec::new(),
        wake: None,
        chat: Conversation {
            mode,
            model,
            ..Conversation::default()
        },
        inbox: Inbox::default(),
        pending: Vec::new(),
        answers: std::collections::BTreeMap::new(),
        rules: Rules::from_args(&args.permissions),
        hooks: Vec::new(),
        mcp: mcp.collect(),
        tasks: Vec::new(),
        totals: Totals::default(),
        refused: None,
        work: Work {
            last_scope: 0,
            steps: 0,
            deeds: 0,
            turn: None,
            turn_uuids: Vec::new(),
            aborted: std::collections::BTreeMap::new(),
            tools_running: false,
            ends_after_tools: false,
            spawned: Vec::new(),
            disk,
        },
        setup: Rc::new(setup),
    }
}

/// The newer CLI goes on counting where the last process ended; the older one forgets that its model has a long memory.
fn resume_model(state: &mut State, requests: u64) {
    let version = state.setup.version;
    let model = state.chat.model.clone();
    if version.is_325() {
        state.totals.restore(version, &model, requests);
    } else if state.setup.args.model.is_none() {
        state.chat.model = model.replace("[1m]", "");
    }
}

/// Puts a prompt that never got an answer back into the queue.
fn requeue_interrupted(state: &mut State, entries: &[Json]) {
    let last = entries
        .last()
        .filter(|entry| entry.text("type") == Some("user"));
    if let Some(content) = last.and_then(|entry| entry.at(&["message", "content"])) {
        let at = state.now;
        state.inbox.queue.push_back(Queued {
            uuid: None,
            content: content.clone(),
            query: true,
            at,
        });
    }
}

impl Sim {
    fn open_conversation(&self, opened: Opened) {
        let entries = opened.stored.entries;
        self.with(|state| {
            // The ids of a resumed run must differ from those of the run before.
            let salt = format!("{:?}/{}", opened.id, entries.len());
            state.ids = Ids::new(state.setup.env.seed, &salt);
            state.chat.id = opened.id.unwrap_or_else(|| state.ids.uuid());
            state.chat.messages = entries.len();
            let answers = entries
                .iter()
                .filter(|entry| entry.text("type") == Some("assistant"));
            state.chat.answers = answers.clone().count();
            if state.chat.answers > 0 {
                let ids = answers.filter_map(|entry| entry.at(&["message", "id"])?.as_text());
                let ids: std::collections::BTreeSet<&str> = ids.collect();
                resume_model(state, ids.len() as u64);
            }
            let uuids = entries
                .iter()
                .filter_map(|entry| entry.text("uuid"))
                .map(str::to_owned);
            state.chat.resumed = uuids.collect();
            state.chat.seen = state.chat.resumed.clone();
            let last = entries.last().and_then(|entry| entry.text("uuid"));
            state.chat.last_uuid = last.map(str::to_owned);
            state.chat.dangling = store::dangling_calls(&entries);
            if state.setup.env.is_on(Switch::RerunInterrupted) {
                requeue_interrupted(state, &entries);
            }
            if state.setup.args.session.fork {
                state.chat.unsaved = entries;
            }
        });
    }

    fn take_line(&self, bytes: &[u8]) {
        if self.with(|state| state.inbox.ending) {
            return;
        }
        match super::input::read(self.version(), bytes) {
            Ok(Line::User(line)) => self.take_user(&line),
            Ok(Line::Request(line)) => self.take_request(&line),
            Ok(Line::Response(line)) => self.take_answer(&line),
            Ok(Line::Cancel | Line::Ignored) => {}
            Err(Fatal(text)) => self.with(|state| {
                state.effects.push(Effect::Stderr(text));
                state.effects.push(Effect::Exit(1));
            }),
        }
    }
}
