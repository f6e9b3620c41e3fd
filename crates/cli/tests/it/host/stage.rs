//! A host in this process with a real shim, a real CLI or the simulator, and clients that listen.
//!
//! Dropping a [`Stage`]'s host stands for its death: nothing is left but what is on the disk.

use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use estelle_claude::options::Search;
use estelle_host::data::DataFolder;
use estelle_host::ipc::{Desk, Done, Refusal};
use estelle_host::mailbox::{Mail, MailReader, mailbox};
use estelle_host::run::ShimCommand;
use estelle_host::{Host, HostSettings};
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::events::{ClaudeEvent, PermissionAsked};
use estelle_proto::ipc::{
    HostEvent, HostToPylon, MessagePayload, PylonToHost, SendMessage, SessionStatus, Subscribe,
};
use estelle_proto::{ConversationId, OnBusy, PathText, Prompt, WorkspaceId};
use estelle_sim::api::{Config, FakeApi, RealCli};
use estelle_state::idle::IdleTimeout;
use estelle_state::policy::DenyPatterns;
use tempfile::TempDir;

use crate::durable::stage::shim_command;
use crate::program::simulator;

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_mins(1);

/// Who plays the CLI.
pub(crate) enum Agent {
    Simulator,
    Real(RealCli),
}

/// A place with a data folder, a home and a folder to work in.
pub(crate) struct Stage {
    pub(crate) place: TempDir,
    pub(crate) program: PathBuf,
    environment: BTreeMap<std::ffi::OsString, std::ffi::OsString>,
    pub(crate) grace: Duration,
    pub(crate) shim: ShimCommand,
    pub(crate) patterns: DenyPatterns,
    pub(crate) deny_first: bool,
    pub(crate) on_busy: OnBusy,
    pub(crate) turn_limit: Option<Duration>,
    _api: Option<FakeApi>,
}

impl Stage {
    pub(crate) async fn new(agent: &Agent) -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["home", "gates", "markers", "work"] {
            std::fs::create_dir(place.path().join(folder)).unwrap();
        }
        let text = |name: &str| place.path().join(name).to_string_lossy().into_owned();
        let (program, environment, api) = match agent {
            Agent::Simulator => {
                let environment = BTreeMap::from([
                    ("HOME".to_owned(), text("home")),
                    ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
                    ("ESTELLE_SIM_GATES".to_owned(), text("gates")),
                    ("ESTELLE_SIM_MARKERS".to_owned(), text("markers")),
                    ("ESTELLE_SIM_TRUTH".to_owned(), text("truth.jsonl")),
                ]);
                (simulator().to_owned(), environment, None)
            }
            Agent::Real(cli) => {
                let config = Config {
                    gates: Some(place.path().join("gates")),
                    ..Config::default()
                };
                let api = FakeApi::start(config).await.unwrap();
                let environment = cli.env(&place.path().join("home"), api.url());
                (cli.path().to_owned(), environment, Some(api))
            }
        };
        let environment = environment
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        Self {
            environment: environment.collect(),
            place,
            program,
            grace: Duration::from_secs(5),
            patterns: DenyPatterns::default(),
            deny_first: false,
            on_busy: OnBusy::Inject,
            turn_limit: None,
            shim: shim_command(),
            _api: api,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn open_gate(&self, name: &str) {
        std::fs::write(self.path("gates").join(name), "").unwrap();
    }

    /// A program that does `first` and then becomes the given one.
    pub(crate) fn wrapped(&self, name: &str, first: &str, program: &Path) -> PathBuf {
        let path = self.path(name);
        let script = format!("#!/bin/sh\n{first}\nexec {} \"$@\"\n", program.display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The words of a program that wait for a gate.
    pub(crate) fn wait_for(&self, gate: &str) -> String {
        let gate = self.path("gates").join(gate);
        format!("until [ -e {} ]; do sleep 0.02; done", gate.display())
    }

    pub(crate) fn settings(&self) -> HostSettings {
        HostSettings {
            data: self.path("data"),
            shim: self.shim.clone(),
            search: Search::default().explicit(&self.program),
            environment: self.environment.clone(),
            home: Some(self.path("home")),
            deny_first: self.deny_first,
            patterns: self.patterns.clone(),
            on_busy: self.on_busy.clone(),
            turn_limit: self.turn_limit,
            idle: IdleTimeout::default(),
            grace: self.grace,
        }
    }

    pub(crate) fn open(&self) -> Host {
        let settings = self.settings();
        let folder = DataFolder::take(&settings.data).unwrap();
        Host::open(folder, settings).unwrap()
    }

    /// Opens a host as soon as the one before has let go of the data folder.
    pub(crate) async fn reopen(&self) -> Host {
        let settings = self.settings();
        let folder = loop {
            match DataFolder::take(&settings.data) {
                Ok(folder) => break folder,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        Host::open(folder, settings).unwrap()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        end_runs(&self.path("data"));
    }
}

/// Ends all runs of a data folder whose host is gone.
pub(crate) fn end_runs(data: &Path) {
    for record in walk(data) {
        let record: serde_json::Value =
            serde_json::from_slice(&std::fs::read(record).unwrap_or_default()).unwrap_or_default();
        let pid = record.get("pid").and_then(serde_json::Value::as_u64);
        let ticks = record.get("startTicks").and_then(serde_json::Value::as_u64);
        if let (Some(pid), Some(ticks)) = (pid.and_then(|pid| u32::try_from(pid).ok()), ticks)
            && estelle_host::run::shim::start_ticks(pid).ok() == Some(ticks)
        {
            crate::durable::stage::kill(pid);
        }
    }
}

/// The records of all runs below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else if path.file_name().is_some_and(|name| name == "run.json") {
            found.push(path);
        }
    }
    found
}

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::parse(name).unwrap()
}

/// A message for a conversation, as a Pylon would send it.
pub(crate) fn message(stage: &Stage, id: &ConversationId, text: &str) -> SendMessage {
    let folder = stage.path("work").to_string_lossy().into_owned();
    let payload = MessagePayload::new(
        Prompt::parse(text).unwrap(),
        PathText::parse(&folder).unwrap(),
        WorkspaceId::parse("ws-1").unwrap(),
    );
    SendMessage::new(id.clone(), payload)
}

/// Somebody who listens to a conversation.
pub(crate) struct Listener {
    reader: MailReader,
    /// What came before the subscription was complete.
    early: VecDeque<Mail>,
    /// Longest wait for a message.
    pub(crate) patience: Duration,
    pub(crate) events: Vec<HostEvent>,
}

impl Listener {
    /// Listens from the start.
    pub(crate) async fn new(host: &Host, id: &ConversationId) -> Self {
        Self::from(host, Subscribe::new(id.clone())).await
    }

    pub(crate) async fn from(host: &Host, request: Subscribe) -> Self {
        let (mailbox, mut reader) = mailbox();
        let mut early = VecDeque::new();
        // A past that is longer than a mailbox must be read while it is sent.
        let mut begin = pin!(host.subscribe(request, mailbox));
        loop {
            tokio::select! {
                biased;
                done = &mut begin => break done.unwrap(),
                mail = reader.next() => early.push_back(mail),
            }
        }
        Self {
            reader,
            early,
            patience: PATIENCE,
            events: Vec::new(),
        }
    }

    pub(crate) async fn message(&mut self) -> HostToPylon {
        let mail = match self.early.pop_front() {
            Some(mail) => Ok(mail),
            None => tokio::time::timeout(self.patience, self.reader.next()).await,
        };
        let Ok(Mail::Line(line)) = mail else {
            let lines = self.events.iter().map(serde_json::to_string);
            let lines: Vec<_> = lines.map(Result::unwrap).collect();
            panic!("nothing more came after\n{}", lines.join("\n"));
        };
        let message: HostToPylon = serde_json::from_str(&line).unwrap();
        if let HostToPylon::Event(event) = &message {
            self.events.push(event.clone());
        }
        message
    }

    /// Reads on until an event is as wanted.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&ClaudeEvent) -> bool) -> ClaudeEvent {
        loop {
            if let HostToPylon::Event(event) = self.message().await
                && wanted(&event.event)
            {
                return event.event;
            }
        }
    }

    pub(crate) async fn result(&mut self) -> estelle_proto::events::TurnResult {
        let event = self
            .until(|event| matches!(event, ClaudeEvent::Result(_)))
            .await;
        let ClaudeEvent::Result(result) = event else {
            panic!("{event:?}");
        };
        result
    }

    /// The durable texts so far.
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts = self.events.iter().filter_map(|event| {
            let ClaudeEvent::TextComplete(text) = &event.event else {
                return None;
            };
            Some(text.text.clone())
        });
        texts.collect()
    }

    /// Reads everything that happened before it began to listen.
    pub(crate) async fn caught_up(&mut self) {
        while !matches!(self.message().await, HostToPylon::Snapshot(_)) {}
    }

    /// Waits for nothing to go on.
    pub(crate) async fn idle(&mut self) {
        self.until(|event| matches!(event, ClaudeEvent::State(now) if now.state == ConversationStatus::Idle))
            .await;
    }

    /// Waits for a permission to be asked for.
    pub(crate) async fn asked(&mut self) -> PermissionAsked {
        let event = self
            .until(|event| matches!(event, ClaudeEvent::PermissionAsked(_)))
            .await;
        let ClaudeEvent::PermissionAsked(asked) = event else {
            panic!("{event:?}");
        };
        asked
    }

    /// Numbers are dense from 1, whatever was seen.
    pub(crate) fn assert_dense(&self) {
        let numbers: Vec<u64> = self
            .events
            .iter()
            .filter_map(|event| event.seq)
            .map(|seq| seq.0)
            .collect();
        let first = numbers.first().copied().unwrap_or(1);
        let expected: Vec<u64> = (first..first + numbers.len() as u64).collect();
        assert_eq!(numbers, expected);
    }
}

/// Submits a command and waits for its result.
pub(crate) async fn submit(host: &Host, command: impl Into<PylonToHost>) -> Result<Done, Refusal> {
    let result = host.submit(command.into()).await;
    tokio::time::timeout(PATIENCE, result).await.unwrap()
}

pub(crate) async fn status(host: &Host, id: &ConversationId) -> SessionStatus {
    host.status(Some(id.clone())).await.unwrap().remove(0)
}
