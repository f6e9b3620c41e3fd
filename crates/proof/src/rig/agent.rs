//! Who plays the CLI: the simulator, or a real one that speaks to a fake API.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use estelle_sim::api::{Config, FakeApi, RealCli};

use super::programs::Programs;

/// Who plays the CLI.
#[derive(Debug, Clone)]
pub enum Agent {
    /// The simulator, in the likeness of this version.
    Simulator(&'static str),
    /// A real one.
    Real(RealCli),
}

/// A CLI that can be started.
#[derive(Debug)]
pub struct Prepared {
    /// The program.
    pub program: PathBuf,
    /// Its environment.
    pub env: BTreeMap<String, String>,
    /// Whether it writes down what it really does.
    pub tells_truth: bool,
    /// Serves a real one for as long as the rig is there.
    _api: Option<FakeApi>,
}

/// Where the simulator writes the truth, within the folder that it works in.
pub(super) const TRUTH: &str = ".sim/truth.jsonl";
/// Where its tools leave their marks.
pub(super) const MARKERS: &str = ".sim/markers";

impl Agent {
    /// The simulator as the newest version.
    pub fn simulator() -> Self {
        Self::Simulator("2.1.325")
    }

    /// What it is called in a table.
    pub fn name(&self) -> String {
        match self {
            Self::Simulator(version) => format!("simulator ({version})"),
            Self::Real(cli) => cli.version().to_owned(),
        }
    }

    pub(super) async fn prepare(
        &self,
        place: &Path,
        programs: &Programs,
    ) -> anyhow::Result<Prepared> {
        let gates = place.join("gates");
        match self {
            Self::Simulator(version) => Ok(Prepared {
                program: programs.simulator.clone(),
                env: simulated(place, version),
                tells_truth: true,
                _api: None,
            }),
            Self::Real(cli) => {
                let config = Config {
                    gates: Some(gates),
                    ..Config::default()
                };
                let api = FakeApi::start(config).await.context("start the fake API")?;
                Ok(Prepared {
                    program: cli.path().to_owned(),
                    env: cli.env(&place.join("home"), api.url()),
                    tells_truth: false,
                    _api: Some(api),
                })
            }
        }
    }
}

fn simulated(place: &Path, version: &str) -> BTreeMap<String, String> {
    let text = |path: &str| place.join(path).to_string_lossy().into_owned();
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
    [
        ("HOME", text("home")),
        ("PATH", path),
        ("ESTELLE_SIM_VERSION", version.to_owned()),
        ("ESTELLE_SIM_PLAIN", "1".to_owned()),
        ("ESTELLE_SIM_GATES", text("gates")),
        // Relative, so that every conversation has its own: two processes must not write one file.
        ("ESTELLE_SIM_TRUTH", TRUTH.to_owned()),
        ("ESTELLE_SIM_MARKERS", MARKERS.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
