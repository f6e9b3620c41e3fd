//! The desk: what clients ask for, carried out over the store and the host, and what the host reports, told to clients.
//!
//! ```text
//!   relay ── FromRelay ─► Actor ── jobs (one task each, in lanes) ─► store, host link
//!   host ─── FromHost ──► Actor ─► store.apply ─► clients
//! ```
//!
//! The actor owns who is there and what is under way (`room`, `live`); handlers (`workspaces`, `conversations`,
//! `history`, `claude`, `notifications`) own nothing. Nothing the host reports is shown before it is in the store, and nothing a client asks
//! for is answered before the host or the store has it. With the relay away the desk goes on taking in; with the host
//! away clients can read, and are told what cannot be done.

mod actor;
mod apart;
mod attachments;
mod budgets;
mod changes;
mod claude;
mod context;
mod continuing;
mod conversations;
mod error;
mod files;
mod fit;
mod fitting;
mod folders;
mod history;
mod intake;
mod jobs;
mod lanes;
mod live;
mod local;
mod marks;
mod notifications;
mod paths;
mod persona;
mod planner;
mod portion;
mod presence;
mod removing;
mod reports;
mod requests;
mod room;
mod rules;
mod saved;
mod tasks;
mod terminals;
mod turn;
mod turns;
mod version;
mod visit;
mod wakes;
mod worker;
mod workspaces;
mod worktrees;
mod writing;

use std::path::PathBuf;
use std::sync::Arc;

use estelle_proto::workspaces::PylonInfo;
use estelle_proto::{DeviceId, Name};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::deploy::{self, DeployConfig};
use crate::files::Guard;
use crate::git::Git;
use crate::link::host::{FromHost, HostLink};
use crate::link::relay::FromRelay;
use crate::notify::teller::Teller;
pub use crate::notify::{NotifyConfig, Webhook};
use crate::release::Releases;
use crate::store::Store;
use crate::uploads::Uploads;
use crate::worktrees::Worktrees;
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
    /// How people are told who do not look.
    pub notify: NotifyConfig,
    /// The folder in which worktrees are made.
    pub worktrees: PathBuf,
    /// What people attach to messages.
    pub uploads: Uploads,
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
    let (lost, lost_hosts) = watch::channel(0);
    let deploys = deploy::Parts {
        config: parts.deploy,
        store: parts.store.clone(),
        changed: Changed(desk.clone()),
    };
    let deploys = deploy::spawn(deploys, tracker, stop.clone());
    let folder = config.worktrees.clone();
    let cx = Context {
        worktrees: Worktrees::new(config.git.clone(), parts.store.clone(), folder),
        config: Arc::new(config),
        store: parts.store,
        host: parts.host,
        deploys,
        desk,
        removing: removing::Removing::default(),
        looks: Looks::new(tracker.clone()),
        details: Arc::new(tokio::sync::Semaphore::new(history::DETAILS)),
        held: worker::Held::default(),
        wake: Arc::new(Notify::new()),
        reset: Arc::new(Notify::new()),
        client: context::new_client(),
    };
    tracker.spawn(continuing::run(cx.clone(), stop.clone()));
    let teller = Teller {
        store: cx.store.clone(),
        config: cx.config.notify.clone(),
        device: cx.config.device_id,
        wake: Arc::clone(&cx.wake),
        clock: context::now,
    };
    tracker.spawn(teller.run(stop.clone()));
    let sources = Sources {
        host: parts.from_host,
        relay: parts.from_relay,
        handlers,
        local,
        stop,
    };
    let jobs = tracker.clone();
    tracker.spawn(async move {
        // What was left is known before anybody can begin something new.
        match cx.worktrees.left().await {
            Ok(left) => {
                let (worktrees, stop) = (cx.worktrees.clone(), sources.stop.clone());
                jobs.spawn(async move {
                    stop.run_until_cancelled(worktrees.settle(left)).await;
                });
            }
            Err(error) => tracing::warn!(%error, "worktrees that were left are not known"),
        }
        Actor::new(cx, sources, lost).run().await;
    });
    LocalDesk {
        desk: door,
        lost_hosts,
    }
}
