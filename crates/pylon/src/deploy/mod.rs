//! Bringing a new build to this machine and to others, while everything runs.
//!
//! ```text
//!   desk ── requests, other Pylons, presence ─► Actor ─► machine (pure) ─► effects
//!                                                 ▲                          │
//!                                        steps (a task, on a leash) ◄────────┴─► apps, Pylons, the owner of the process
//! ```
//!
//! `machine`, `course` and `peers` decide, `plan` knows the steps, `steps`, `git` and `command` take them, `succession` is
//! the switch from one program to the next and the way back, `kept` and `log` are what stays on the disk.
//! docs/design/deploy.md has the crash windows.

mod actor;
mod command;
mod course;
mod git;
mod kept;
mod log;
mod machine;
#[cfg(test)]
mod machine_tests;
mod peers;
mod plan;
mod steps;
mod succession;
mod telling;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use estelle_proto::{AppToPylon, DeviceId, Envelope, PylonToPylon};
use tokio::sync::{mpsc, watch};

use crate::desk::Asker;
use crate::link::relay::Outlet;
use crate::release::{Release, Releases};

pub(crate) use actor::{Parts, spawn};
pub use plan::Language;
pub use succession::Succession;

/// The commands of the steps; one that is not there is left out.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// Builds the phone app.
    pub apk: Option<String>,
    /// Builds the desktop app.
    pub exe: Option<String>,
    /// Installs packages.
    pub npm: Option<String>,
    /// Builds the program; it has to leave it as `estelle` in the folder `$ESTELLE_DEPLOY_OUT`.
    pub build: String,
    /// Publishes the release.
    pub upload: Option<String>,
    /// Deploys a relay that is a program of its own.
    pub relay: Option<String>,
}

/// How deploys are made here.
#[derive(Debug, Clone)]
pub struct DeployConfig {
    /// Our id in the realm.
    pub device_id: DeviceId,
    /// The folder of everything that belongs to deploying.
    pub folder: PathBuf,
    /// What is built: a folder or an address; none means that nothing is deployed here.
    pub repository: Option<String>,
    /// The branch of it.
    pub branch: String,
    /// The remote of the repository that the lead brings up to date first.
    pub remote: Option<String>,
    /// Whether another Pylon may lead this machine to a build that is older than the one that runs.
    pub allow_older: bool,
    /// The commands of the steps.
    pub commands: Commands,
    /// How long a command may take.
    pub step_limit: Duration,
    /// Where releases are published.
    pub releases: Releases,
    /// The language of summaries.
    pub language: Language,
    /// What is started, and is made to lead to the new program.
    pub program: PathBuf,
    /// What runs now.
    pub running: Release,
    /// Stands before each command, and ends it with us.
    pub leash: Vec<OsString>,
    /// The arguments with which a new program shows that it starts, before the folder of a copy of the store.
    pub trial: Vec<OsString>,
    /// Who ends this process and becomes the program that is sent.
    pub becoming: mpsc::Sender<PathBuf>,
}

impl DeployConfig {
    /// Where builds are.
    fn builds(&self) -> PathBuf {
        self.folder.join("builds")
    }
}

/// What the desk tells.
#[derive(Debug)]
pub(crate) enum Msg {
    /// Somebody asks for something.
    App(Asker, Box<AppToPylon>),
    /// Another Pylon says something.
    Pylon(Box<Envelope<PylonToPylon>>),
    /// These Pylons are there beside us.
    Pylons(BTreeSet<DeviceId>),
    /// The way to the others, if there is one.
    Way(Option<Outlet>),
}

/// The deploys of this machine, for the desk.
#[derive(Debug, Clone)]
pub(crate) struct Deploys {
    inbox: mpsc::Sender<Msg>,
    is_ready: watch::Receiver<bool>,
}

impl Deploys {
    /// Hands something on. The actor waits for nobody, so that this does not take long.
    pub(crate) async fn tell(&self, message: Msg) {
        // An actor that is gone ends with us.
        let _ = self.inbox.send(message).await;
    }

    /// Whether a prepared deploy waits for confirm or go.
    pub(crate) fn is_ready(&self) -> bool {
        *self.is_ready.borrow()
    }
}
