//! `estelle up` as a process, on a data folder of its own, with the simulator or a real CLI.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use estelle_sim::api::{Config, FakeApi};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::client::Client;
use crate::host::stage::{Agent, end_runs};
use crate::program::simulator;

/// The token of the gateway that may only look.
pub(crate) const VIEWER_TOKEN: &str = "a token that may only look at what others do";

/// A machine with `estelle up` on it.
pub(crate) struct Machine {
    place: TempDir,
    environment: BTreeMap<String, String>,
    agent_args: Vec<String>,
    up: Option<Child>,
    /// A host that was started beside it.
    host: Option<Child>,
    pub(crate) greeting: Value,
    /// The secret of a device with the usual rights.
    pub(crate) phone: String,
    /// The secret of one that may only look.
    pub(crate) viewer: String,
    _api: Option<FakeApi>,
}

impl Machine {
    pub(crate) async fn start(agent: &Agent) -> Self {
        Self::start_with(agent, &[]).await
    }

    /// The same with more in the environment of everything that runs on it.
    pub(crate) async fn start_with(agent: &Agent, settings: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["home", "gates", "markers", "work"] {
            std::fs::create_dir(place.path().join(folder)).unwrap();
        }
        let text = |name: &str| place.path().join(name).to_string_lossy().into_owned();
        let (agent_args, mut environment, api) = match agent {
            Agent::Simulator => {
                let environment = [("HOME", text("home")), ("PATH", "/usr/bin:/bin".to_owned())];
                let environment = environment.map(|(name, value)| (name.to_owned(), value));
                (vec!["--demo".to_owned()], environment.into(), None)
            }
            Agent::Real(cli) => {
                let config = Config {
                    gates: Some(place.path().join("gates")),
                    ..Config::default()
                };
                let api = FakeApi::start(config).await.unwrap();
                let program = cli.path().to_string_lossy().into_owned();
                let environment = cli.env(&place.path().join("home"), api.url());
                (vec!["--claude".to_owned(), program], environment, Some(api))
            }
        };
        let more = [
            (
                "ESTELLE_SIM_CLAUDE",
                simulator().to_string_lossy().into_owned(),
            ),
            ("ESTELLE_SIM_GATES", text("gates")),
            ("ESTELLE_SIM_MARKERS", text("markers")),
            ("ESTELLE_DATA", text("data")),
            ("ESTELLE_GATEWAY_LISTEN", "127.0.0.1:0".to_owned()),
            ("ESTELLE_GATEWAY_VIEWER_TOKEN_FILE", text("viewer.token")),
            ("PROCESS_IDLE_TIMEOUT_MINUTES", "45".to_owned()),
            ("PROCESS_SHUTDOWN_GRACE_SECONDS", "7".to_owned()),
        ];
        environment.extend(more.map(|(name, value)| (name.to_owned(), value)));
        let settings = settings.iter();
        environment.extend(settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        std::fs::write(place.path().join("viewer.token"), VIEWER_TOKEN).unwrap();
        let mut machine = Self {
            place,
            environment,
            agent_args,
            up: None,
            host: None,
            greeting: Value::Null,
            phone: String::new(),
            viewer: String::new(),
            _api: api,
        };
        machine.phone = machine.device("view,prompt,approve");
        machine.viewer = machine.device("view");
        machine.up();
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn open_gate(&self, name: &str) {
        std::fs::write(self.path("gates").join(name), "").unwrap();
    }

    /// `estelle` on this machine.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_estelle"));
        command
            .args(args)
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.path("work"));
        command
    }

    /// Starts `estelle up` and waits until it says that it is there.
    pub(crate) fn up(&mut self) {
        let mut command = self.command(&["up", "--json", "--listen", "127.0.0.1:0"]);
        let mut up = command
            .args(&self.agent_args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(up.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        self.up = Some(up);
        self.greeting = serde_json::from_str(&line).unwrap_or_else(|_| {
            let log = |name| std::fs::read_to_string(self.path(name)).unwrap_or_default();
            panic!("{line:?}\n{}\n{}", log("data/up.log"), log("data/host.log"))
        });
    }

    /// Starts a host beside `estelle up`, and waits until it answers.
    pub(crate) fn start_host(&mut self, host: &mut Command) {
        host.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = host.spawn().unwrap();
        let answers = || {
            let mut status = self.command(&["host", "status"]);
            status.output().is_ok_and(|output| output.status.success())
        };
        while !answers() {
            // The one before may not have let go of the folder yet.
            if child.try_wait().unwrap().is_some() {
                child = host.spawn().unwrap();
            }
        }
        self.host = Some(child);
    }

    /// `kill -9` of `estelle up`.
    pub(crate) fn kill_up(&mut self) {
        let mut up = self.up.take().unwrap();
        up.kill().unwrap();
        up.wait().unwrap();
    }

    /// Ends `estelle up` as a service manager does.
    pub(crate) fn end_up(&mut self) -> std::process::ExitStatus {
        let mut up = self.up.take().unwrap();
        let pid = Pid::from_raw(i32::try_from(up.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        up.wait().unwrap()
    }

    pub(crate) fn host_pid(&self) -> u32 {
        let text = std::fs::read_to_string(self.path("data/host.lock")).unwrap();
        text.trim().parse().unwrap()
    }

    /// `kill -9` of the host.
    pub(crate) fn kill_host(&self) {
        kill(self.host_pid());
    }

    /// The processes of a terminal: its keeper and its program.
    pub(crate) fn terminal_pids(&self, id: &str) -> (u32, u32) {
        let record = self.path("data/terminals").join(id).join("program.json");
        let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        let pid = |name: &str| u32::try_from(record[name].as_u64().unwrap()).unwrap();
        (pid("keeperPid"), pid("pid"))
    }

    /// Kills the keepers whose host cannot end them any more.
    fn end_terminals(&self) {
        let folders = std::fs::read_dir(self.path("data/terminals"));
        for folder in folders.into_iter().flatten().flatten() {
            if folder.path().join("program.json").exists() {
                let (keeper, _) = self.terminal_pids(folder.file_name().to_str().unwrap());
                let pid = Pid::from_raw(i32::try_from(keeper).unwrap()).unwrap();
                // One that is gone is what is wanted.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// Connects with a secret.
    pub(crate) async fn connect(&self, token: &str) -> Client {
        Client::open(self.address(), token).await
    }

    /// Host and port of the relay.
    pub(crate) fn address(&self) -> &str {
        let address = self.greeting["address"].as_str().unwrap();
        address.strip_prefix("http://").unwrap()
    }

    /// Lets a device in, and gives its secret. Not while `estelle up` runs.
    pub(crate) fn device(&self, rights: &str) -> String {
        let registry = self.path("data/relay.json");
        let mut command = self.command(&["relay", "add-device", "--name", "Phone", "--json"]);
        let added = command
            .args(["--rights", rights, "--registry"])
            .arg(registry)
            .output();
        let added = added.unwrap();
        assert!(added.status.success(), "{added:?}");
        let added: Value = serde_json::from_slice(&added.stdout).unwrap();
        added["token"].as_str().unwrap().to_owned()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if let Some(mut up) = self.up.take() {
            // It may have ended already.
            let _ = up.kill();
            let _ = up.wait();
        }
        let stop = self.command(&["host", "stop", "--all"]).output();
        if !stop.is_ok_and(|output| output.status.success()) {
            end_runs(&self.path("data"));
            self.end_terminals();
        }
        if let Some(mut host) = self.host.take() {
            let _ = host.kill();
            let _ = host.wait();
        }
    }
}

pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
