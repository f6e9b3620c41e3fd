//! A household: one relay and some machines, each with a Pylon and a host of its own, all as processes of `estelle`.
//!
//! Everything a process writes is kept in a file, so that a test can say afterwards that nobody panicked.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use estelle_sim::api::{Config, FakeApi};
use serde_json::Value;
use tempfile::TempDir;

use super::probe::Probe;
use crate::host::stage::{Agent, end_runs};
use crate::program::simulator;

/// The realm of the household.
pub(crate) const HOME: &str = "home";

/// A relay, machines, and the secrets of devices.
pub(crate) struct House {
    place: TempDir,
    relay: Option<Child>,
    address: String,
    machines: Vec<Machine>,
    api: Option<FakeApi>,
}

/// A Pylon and a host on one data folder.
struct Machine {
    id: u32,
    data: PathBuf,
    environment: BTreeMap<String, String>,
    agent: PathBuf,
    program: PathBuf,
    processes: Vec<Child>,
    pylon: Option<Child>,
}

impl House {
    /// Whether the agent is a real CLI.
    pub(crate) fn is_real(&self) -> bool {
        self.api.is_some()
    }

    /// A place without processes, with machines of these ids and names.
    pub(crate) async fn new(agent: &Agent, machines: &[(u32, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for folder in ["home", "gates", "work"] {
            std::fs::create_dir(place.path().join(folder)).unwrap();
        }
        let (program, environment, api) = agent_of(agent, place.path()).await;
        let machines = machines.iter().map(|(id, name)| {
            let mut environment = environment.clone();
            let text = |text: &str| text.to_owned();
            environment.insert(text("ESTELLE_PYLON_ID"), id.to_string());
            environment.insert(text("ESTELLE_PYLON_NAME"), text(name));
            Machine {
                id: *id,
                data: place.path().join(format!("machine-{id}")),
                environment,
                agent: program.clone(),
                program: env!("CARGO_BIN_EXE_estelle").into(),
                processes: Vec::new(),
                pylon: None,
            }
        });
        let machines = machines.collect();
        let mut house = Self {
            place,
            relay: None,
            address: String::new(),
            machines,
            api,
        };
        for index in 0..house.machines.len() {
            house.admit_machine(index);
        }
        house
    }

    /// Gives a machine a variable. Before it is started.
    pub(crate) fn configure(&mut self, id: u32, name: &str, value: &str) {
        let environment = &mut self.machine(id).environment;
        environment.insert(name.to_owned(), value.to_owned());
    }

    /// Gives a machine a program of its own, which can be replaced. Before it is started.
    pub(crate) fn own_program(&mut self, id: u32) {
        let folder = self.path(&format!("bin-{id}"));
        std::fs::create_dir(&folder).unwrap();
        let (built, own) = (env!("CARGO_BIN_EXE_estelle"), folder.join("estelle"));
        // Another file system needs a copy.
        if std::fs::hard_link(built, &own).is_err() {
            std::fs::copy(built, &own).unwrap();
        }
        self.machine(id).program = own;
    }

    /// Kills the Pylon of a machine.
    pub(crate) fn kill_pylon(&mut self, id: u32) {
        let mut pylon = self.machine(id).pylon.take().unwrap();
        pylon.kill().unwrap();
        pylon.wait().unwrap();
    }

    /// The process of the Pylon of a machine.
    pub(crate) fn pylon_pid(&mut self, id: u32) -> u32 {
        self.machine(id).pylon.as_ref().unwrap().id()
    }

    /// Waits until the Pylon of a machine has ended by itself.
    pub(crate) fn wait_for_pylon(&mut self, id: u32) {
        let mut pylon = self.machine(id).pylon.take().unwrap();
        pylon.wait().unwrap();
    }

    /// Where the relay is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The data folder of a machine.
    pub(crate) fn data(&self, id: u32) -> PathBuf {
        self.path(&format!("machine-{id}"))
    }

    fn admit_machine(&mut self, index: usize) {
        let (id, data) = (self.machines[index].id, self.machines[index].data.clone());
        let name = self.machines[index].environment["ESTELLE_PYLON_NAME"].clone();
        let token = self.pylon_token(HOME, id, &name);
        std::fs::create_dir_all(&data).unwrap();
        let mut options = OpenOptions::new();
        let options = options.create_new(true).write(true).mode(0o600);
        let mut file = options.open(data.join("pylon.token")).unwrap();
        file.write_all(token.as_bytes()).unwrap();
    }

    /// The secret of a Pylon. Before the relay runs.
    pub(crate) fn pylon_token(&self, realm: &str, id: u32, name: &str) -> String {
        let id = id.to_string();
        self.token(&["add-pylon", "--realm", realm, "--id", &id, "--name", name])
    }

    /// The secret of an app. Before the relay runs.
    pub(crate) fn app_token(&self, realm: &str, name: &str, rights: &str) -> String {
        let what = ["--realm", realm, "--name", name, "--rights", rights];
        self.token(&[&["add-device"], &what[..]].concat())
    }

    fn token(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_estelle"));
        command.arg("relay").args(args).arg("--json");
        let command = command.arg("--registry").arg(self.registry()).env_clear();
        let added = command.output().unwrap();
        assert!(added.status.success(), "{added:?}");
        let added: Value = serde_json::from_slice(&added.stdout).unwrap();
        added["token"].as_str().unwrap().to_owned()
    }

    fn registry(&self) -> PathBuf {
        self.path("relay.json")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// A folder of its own to work in.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        let folder = self.path("work").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    pub(crate) fn open_gate(&self, name: &str) {
        std::fs::write(self.path("gates").join(name), "").unwrap();
    }

    /// Starts the relay, and host and Pylon of every machine.
    pub(crate) fn start(&mut self) {
        self.start_relay();
        for id in self.ids() {
            self.start_host(id);
            self.start_pylon(id);
        }
    }

    fn ids(&self) -> Vec<u32> {
        self.machines.iter().map(|machine| machine.id).collect()
    }

    pub(crate) fn start_relay(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_estelle"));
        command.args(["relay", "--registry"]).arg(self.registry());
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command.env_clear().stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(self.log("relay"));
        let mut relay = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(relay.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        self.relay = Some(relay);
        let address = line.trim().strip_prefix("listening on ");
        address
            .unwrap_or_else(|| panic!("{line:?}"))
            .clone_into(&mut self.address);
    }

    pub(crate) fn start_host(&mut self, id: u32) {
        let log = self.log(&format!("host-{id}"));
        let machine = self.machine(id);
        let mut command = machine.command(&["host", "--data"]);
        command
            .arg(&machine.data)
            .arg("--claude")
            .arg(&machine.agent);
        machine.run(command, log);
    }

    pub(crate) fn start_pylon(&mut self, id: u32) {
        let log = self.log(&format!("pylon-{id}"));
        let url = format!("ws://{}/ws", self.address);
        let machine = self.machine(id);
        let mut command = machine.command(&["pylon", "--relay", &url, "--data"]);
        command.arg(&machine.data);
        machine.run(command, log);
        machine.pylon = machine.processes.pop();
    }

    /// A command of a person at a machine.
    pub(crate) fn command(&self, id: u32, args: &[&str]) -> Command {
        let machine = self.machines.iter().find(|machine| machine.id == id);
        let machine = machine.unwrap();
        let mut command = machine.command(args);
        command
            .arg("--data")
            .arg(&machine.data)
            .stdin(Stdio::null());
        command
    }

    /// The page of the relay.
    pub(crate) fn page(&self) -> String {
        format!("http://{}", self.address)
    }

    fn machine(&mut self, id: u32) -> &mut Machine {
        let mut machines = self.machines.iter_mut();
        machines.find(|machine| machine.id == id).unwrap()
    }

    fn log(&self, name: &str) -> File {
        let path = self.path(&format!("{name}.log"));
        let mut options = OpenOptions::new();
        options.create(true).append(true).open(path).unwrap()
    }

    /// Connects with a secret of an app.
    pub(crate) async fn app(&self, token: &str) -> Probe {
        Probe::app(&self.address, token).await
    }

    /// Connects and says nothing about itself.
    pub(crate) async fn stranger(&self) -> Probe {
        Probe::stranger(&self.address).await
    }

    /// What all processes wrote.
    fn told(&self) -> String {
        let files = std::fs::read_dir(self.place.path()).unwrap();
        let logs = files
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "log"));
        logs.map(|log| std::fs::read_to_string(log).unwrap())
            .collect()
    }

    /// Nobody panicked, and nobody found a fault in itself.
    pub(crate) fn assert_calm(&self) {
        let told = self.told();
        for alarm in ["panicked", "bug:"] {
            let lines: Vec<_> = told.lines().filter(|line| line.contains(alarm)).collect();
            assert!(lines.is_empty(), "{lines:#?}");
        }
    }
}

impl Machine {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(&self.environment);
        command
    }

    fn run(&mut self, mut command: Command, log: File) {
        let command = command.stdin(Stdio::null()).process_group(0);
        let command = command.stdout(log.try_clone().unwrap()).stderr(log);
        self.processes.push(command.spawn().unwrap());
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for machine in &mut self.machines {
            for process in machine.processes.iter_mut().chain(&mut machine.pylon) {
                // It may have ended already.
                let _ = process.kill();
                let _ = process.wait();
            }
            end_runs(&machine.data);
        }
        if let Some(mut relay) = self.relay.take() {
            let _ = relay.kill();
            let _ = relay.wait();
        }
        if std::thread::panicking() {
            let told = self.told();
            let tail = told.lines().rev().take(40).collect::<Vec<_>>();
            eprintln!("what the processes wrote last: {tail:#?}");
        }
    }
}

/// The program that plays the agent, its environment, and the API behind a real one.
async fn agent_of(
    agent: &Agent,
    place: &Path,
) -> (PathBuf, BTreeMap<String, String>, Option<FakeApi>) {
    let text = |name: &str| place.join(name).to_string_lossy().into_owned();
    match agent {
        Agent::Simulator => {
            let environment = [
                ("HOME", text("home")),
                ("PATH", "/usr/bin:/bin".to_owned()),
                ("ESTELLE_SIM_GATES", text("gates")),
                // Relative, so that every conversation has its own.
                ("ESTELLE_SIM_MARKERS", ".markers".to_owned()),
            ];
            let environment = environment.map(|(name, value)| (name.to_owned(), value));
            (simulator().to_owned(), environment.into(), None)
        }
        Agent::Real(cli) => {
            let config = Config {
                gates: Some(place.join("gates")),
                ..Config::default()
            };
            let api = FakeApi::start(config).await.unwrap();
            let environment = cli.env(&place.join("home"), api.url());
            (cli.path().to_owned(), environment, Some(api))
        }
    }
}
