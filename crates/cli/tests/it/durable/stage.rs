//! A run to do things to: the simulator or a real CLI behind a real shim.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;

use estelle_claude::Session;
use estelle_claude::options::Options;
use estelle_host::run::{
    LaunchRecord, RunFolder, RunRecord, RunWatch, ShimCommand, attach, cgroup, start,
};
use estelle_proto::Generation;
use estelle_sim::api::{Config, FakeApi, RealCli};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program::simulator;

/// Who plays the CLI.
pub(crate) enum Agent {
    Simulator,
    Real(RealCli),
}

/// A run and what a host keeps of it.
pub(crate) struct Run {
    pub(crate) place: TempDir,
    pub(crate) folder: RunFolder,
    pub(crate) record: RunRecord,
    /// What its processes carry in their environment.
    pub(crate) marker: String,
    watch: RunWatch,
    shim: Child,
    /// Serves a real CLI for as long as the run is looked at.
    _api: Option<FakeApi>,
}

impl Run {
    pub(crate) async fn start(agent: &Agent) -> Self {
        let place = place();
        let api = match agent {
            Agent::Simulator => None,
            Agent::Real(_) => Some(api(place.path()).await),
        };
        let launch = match (agent, &api) {
            (Agent::Real(cli), Some(api)) => real(place.path(), cli, api.url()),
            _ => simulated(place.path()),
        };
        let marker = marker(place.path());
        let folder = prepared(place.path(), &launch);
        cgroup::prepare(&folder, &marker);
        let watch = RunWatch::default();
        let bell = watch.watch(folder.path());
        let shim = start(&folder, &shim_command()).unwrap();
        let record = loop {
            let rung = bell.notified();
            if let Some(record) = folder.load_run().unwrap() {
                break record;
            }
            rung.await;
        };
        Self {
            place,
            folder,
            record,
            marker,
            watch,
            shim,
            _api: api,
        }
    }

    /// Attaches as a host would that knows nothing yet: the journal from its beginning.
    pub(crate) fn session(&self, options: &Options) -> Session {
        let link = attach(&self.folder, self.record.clone(), 0, &self.watch).unwrap();
        Session::over(link, options)
    }

    pub(crate) fn open_gate(&self, name: &str) {
        std::fs::write(self.place.path().join("gates").join(name), "").unwrap();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.folder.is_alive().unwrap_or_default() {
            kill(self.record.pid);
        }
        // It may have been killed by the test.
        let _ = self.shim.wait();
        cgroup::end(&self.folder);
    }
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

pub(crate) fn signal(pid: u32, what: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, what).unwrap();
}

pub(crate) fn shim_command() -> ShimCommand {
    ShimCommand {
        program: env!("CARGO_BIN_EXE_estelle").into(),
        args: vec!["shim".to_owned()],
    }
}

pub(crate) fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for folder in ["home", "gates", "markers", "work"] {
        std::fs::create_dir(place.path().join(folder)).unwrap();
    }
    place
}

pub(crate) fn prepared(place: &Path, launch: &LaunchRecord) -> RunFolder {
    RunFolder::create(&place.join("runs"), Generation(1), launch).unwrap()
}

pub(crate) fn simulated(place: &Path) -> LaunchRecord {
    let text = |path: &str| place.join(path).to_string_lossy().into_owned();
    let env = BTreeMap::from([
        ("HOME".to_owned(), text("home")),
        ("ESTELLE_SIM_PLAIN".to_owned(), "1".to_owned()),
        ("ESTELLE_SIM_GATES".to_owned(), text("gates")),
        ("ESTELLE_SIM_MARKERS".to_owned(), text("markers")),
    ]);
    launch(place, simulator(), env, "2.1.325")
}

fn real(place: &Path, cli: &RealCli, url: &str) -> LaunchRecord {
    let env = cli.env(&place.join("home"), url);
    launch(place, cli.path(), env, cli.version())
}

/// No two runs at the same time have the same.
fn marker(place: &Path) -> String {
    let name = place.file_name().unwrap().to_string_lossy();
    format!("conv{}/1", name.replace('.', "-"))
}

fn launch(
    place: &Path,
    program: &Path,
    mut env: BTreeMap<String, String>,
    version: &str,
) -> LaunchRecord {
    env.insert("ESTELLE_RUN".to_owned(), marker(place));
    let args = "--output-format stream-json --verbose --input-format stream-json --include-partial-messages \
                --permission-prompt-tool=stdio";
    LaunchRecord {
        program: program.to_owned(),
        args: args.split_whitespace().map(str::to_owned).collect(),
        env,
        cwd: place.join("work"),
        cli_version: version.to_owned(),
    }
}

async fn api(place: &Path) -> FakeApi {
    let config = Config {
        gates: Some(place.join("gates")),
        ..Config::default()
    };
    FakeApi::start(config).await.unwrap()
}
