//! `estelle up` as a process, on a data folder of its own, with the simulator or a real CLI.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

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
    /// What stands in for the model, with a real CLI.
    pub(crate) api: Option<FakeApi>,
}

impl Machine {
    pub(crate) async fn start(agent: &Agent) -> Self {
        Self::start_with(agent, &[]).await
    }

    /// The same with more in the environment of everything that runs on it.
    pub(crate) async fn start_with(agent: &Agent, settings: &[(&str, &str)]) -> Self {
        let place = lay_out();
        let (agent_args, environment, api) = match agent {
            Agent::Simulator => (vec!["--demo".to_owned()], plain(&place), None),
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
        Self::begin(place, agent_args, environment, api, settings)
    }

    /// The same, and nobody says which agent it is: the environment does, if these settings do.
    pub(crate) fn start_unsaid(settings: &[(&str, &str)]) -> Self {
        let place = lay_out();
        let environment = plain(&place);
        Self::begin(place, Vec::new(), environment, None, settings)
    }

    fn begin(
        place: TempDir,
        agent_args: Vec<String>,
        mut environment: BTreeMap<String, String>,
        api: Option<FakeApi>,
        settings: &[(&str, &str)],
    ) -> Self {
        let text = |name: &str| place.path().join(name).to_string_lossy().into_owned();
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
            api,
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

    /// Changes the environment of whatever is started from now on.
    pub(crate) fn unset(&mut self, name: &str) {
        self.environment.remove(name);
    }

    /// `estelle` on this machine.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.beside(Path::new(env!("CARGO_BIN_EXE_estelle")), args)
    }

    /// Another program on this machine, as a person starts it in the folder of the workspace.
    pub(crate) fn beside(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.path("work"));
        command
    }

    /// Starts `estelle up` and waits until it says that it is there.
    pub(crate) fn up(&mut self) {
        self.up_behind(&[]);
    }

    /// The same with more in its environment, this once.
    pub(crate) fn up_with(&mut self, variables: &[(&str, &str)]) {
        self.up_as(&[], variables);
    }

    /// The same, as the last arguments of these.
    pub(crate) fn up_behind(&mut self, before: &[&str]) {
        self.up_as(before, &[]);
    }

    fn up_as(&mut self, before: &[&str], variables: &[(&str, &str)]) {
        let mut words = before.to_vec();
        words.extend([env!("CARGO_BIN_EXE_estelle"), "up", "--json"]);
        words.extend(["--listen", "127.0.0.1:0"]);
        let mut command = Command::new(words[0]);
        let mut up = command
            .args(&words[1..])
            .args(&self.agent_args)
            .env_clear()
            .envs(&self.environment)
            .envs(variables.iter().copied())
            .current_dir(self.path("work"))
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

    /// Starts `estelle up` as this program, and gives what it says after its first word: a successor of it greets again.
    pub(crate) fn up_from(&mut self, program: &Path) -> BufReader<ChildStdout> {
        let mut command = self.beside(program, &["up", "--json", "--listen", "127.0.0.1:0"]);
        let command = command.args(&self.agent_args).stdin(Stdio::null());
        let mut up = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(up.stdout.take().unwrap());
        self.up = Some(up);
        self.greeted(&mut output);
        output
    }

    /// Waits for the next greeting of `estelle up`.
    pub(crate) fn greeted(&mut self, output: &mut impl BufRead) {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        self.greeting = serde_json::from_str(&line).unwrap();
    }

    /// The process of `estelle up`.
    pub(crate) fn up_pid(&self) -> u32 {
        self.up.as_ref().unwrap().id()
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

    /// Waits until `estelle up` has ended by itself.
    pub(crate) fn wait_for_up(&mut self) {
        self.up.take().unwrap().wait().unwrap();
    }

    /// Ends `estelle up` as a service manager does.
    pub(crate) fn end_up(&mut self) -> std::process::ExitStatus {
        self.end_up_by(Signal::TERM)
    }

    /// Ends `estelle up` by a signal.
    pub(crate) fn end_up_by(&mut self, by: Signal) -> std::process::ExitStatus {
        let mut up = self.up.take().unwrap();
        signal(up.id(), by);
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

    /// The secret of the commands on this machine, which may do everything.
    pub(crate) fn terminal(&self) -> String {
        let text = std::fs::read_to_string(self.path("data/terminal.json")).unwrap();
        let terminal: Value = serde_json::from_str(&text).unwrap();
        terminal["token"].as_str().unwrap().to_owned()
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
    signal(pid, Signal::KILL);
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// The folders of a machine.
fn lay_out() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for folder in ["home", "gates", "markers", "work"] {
        std::fs::create_dir(place.path().join(folder)).unwrap();
    }
    place
}

/// The environment of somebody who has a home and nothing else.
fn plain(place: &TempDir) -> BTreeMap<String, String> {
    let home = place.path().join("home").to_string_lossy().into_owned();
    let environment = [("HOME", home), ("PATH", "/usr/bin:/bin".to_owned())];
    let environment = environment.map(|(name, value)| (name.to_owned(), value));
    environment.into()
}
