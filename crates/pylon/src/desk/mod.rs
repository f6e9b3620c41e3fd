//! The desk: what clients ask for, carried out over the store and the host, and what the host reports, told to clients.
//!
//! ```text
//!   relay ── FromRelay ─► Actor ── jobs (one task each, in lanes) ─► store, host link
//!   host ─── FromHost ──► Actor ─► store.apply ─► clients
//! ```
//!
//! The actor owns who is there and what is under way (`room`, `live`); handlers (`workspaces`, `conversations`,
//! `history`, `claude`) own nothing. Nothing the host reports is shown before it is in the store, and nothing a client asks
//! for is answered before the host or the store has it. With the relay away the desk goes on taking in; with the host
//! away clients can read, and are told what cannot be done.

mod actor;
mod changes;
mod claude;
mod context;
mod conversations;
mod error;
mod files;
mod folders;
mod history;
mod intake;
mod lanes;
mod live;
mod local;
mod paths;
mod persona;
mod reports;
mod requests;
mod room;
mod rules;
mod tasks;
mod terminals;
mod version;
mod visit;
mod wakes;
mod worker;
mod workspaces;
mod writing;

use std::path::PathBuf;
use std::sync::Arc;

use estelle_proto::workspaces::PylonInfo;
use estelle_proto::{DeviceId, Name};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::deploy::{self, DeployConfig};
use crate::files::Guard;
use crate::git::Git;
use crate::link::host::{FromHost, HostLink};
use crate::link::relay::FromRelay;
use crate::release::Releases;
use crate::store::Store;
use actor::{Actor, Sources};
use context::Context;
use terminals::Looks;

pub(crate) use context::{Asker, Changed, now};
pub use local::{Beginning, Item, LocalDesk, Watch};

/// What handlers have to tell the desk; each waits for its turn.
const HANDLERS: usize = 64;

/// Who we are and what is allowed.
#[derive(Debug, Clone)]
pub struct DeskConfig {
    /// Our id in the realm.
    pub device_id: DeviceId,
    /// Our name and icon, for people.
    pub info: PylonInfo,
    /// The build, for people and logs.
    pub build: String,
    /// Folders under which workspaces may be; none means anywhere.
    pub roots: Vec<PathBuf>,
    /// The name of the first conversation of a new workspace.
    pub first_conversation: Name,
    /// The file of the bug reports.
    pub bugs: PathBuf,
    /// Where the published release is.
    pub releases: Releases,
    /// Which files are not shown to clients.
    pub guard: Guard,
    /// How git is asked.
    pub git: Git,
}

/// What the desk works with.
#[derive(Debug)]
pub struct DeskParts {
    /// The pylon's memory.
    pub store: Store,
    /// The link to the host.
    pub host: HostLink,
    /// What the host link hands on.
    pub from_host: mpsc::Receiver<FromHost>,
    /// What the relay link hands on.
    pub from_relay: mpsc::Receiver<FromRelay>,
    /// How deploys are made.
    pub deploy: DeployConfig,
}

/// Starts the desk, and gives the door for those in the same process. It ends when `stop` is cancelled or a link ends.
pub fn spawn(
    config: DeskConfig,
    parts: DeskParts,
    tracker: &TaskTracker,
    stop: CancellationToken,
) -> LocalDesk {
    let (desk, handlers) = mpsc::channel(HANDLERS);
    let (door, local) = mpsc::channel(local::REQUESTS);
    let deploys = deploy::Parts {
        config: parts.deploy,
        store: parts.store.clone(),
        changed: Changed(desk.clone()),
    };
    let deploys = deploy::spawn(deploys, tracker, stop.clone());
    let cx = Context {
        config: Arc::new(config),
        store: parts.store,
        host: parts.host,
        deploys,
        desk,
        looks: Looks::new(tracker.clone()),
        held: worker::Held::default(),
    };
    let sources = Sources {
        host: parts.from_host,
        relay: parts.from_relay,
        handlers,
        local,
        stop,
    };
    tracker.spawn(Actor::new(cx, sources).run());
    LocalDesk { desk: door }
}
