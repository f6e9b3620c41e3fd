//! The Pylon put together: its store, its links to host and relay, and the desk between them.
//!
//! `estelle pylon` runs it alone, for a relay elsewhere; `estelle up` runs it beside a relay of its own. It starts no
//! host: whoever runs it sees to that.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_host::data::socket;
use estelle_proto::Token;
use estelle_proto::workspaces::PylonInfo;
use estelle_pylon::bugs;
use estelle_pylon::deploy::DeployConfig;
use estelle_pylon::desk::{self, DeskConfig, DeskParts, LocalDesk};
use estelle_pylon::files::Guard;
use estelle_pylon::git::Git;
use estelle_pylon::link::host::{HostConfig, HostLink};
use estelle_pylon::link::relay::{FromRelay, RelayConfig, RelayLink};
use estelle_pylon::store::Store;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::check_secrecy;
use crate::config::{Config, ConfigArgs, PylonSection};
use crate::data::DataArgs;
use crate::host::load_patterns;
use crate::machine::{Door, Inside, Restoration, is_for_the_machine, tell};
use crate::successor::{self, Successor, Way};
use crate::up::Terminal;
use crate::{gateway, logging, signals};

/// The name of the folder of the store.
pub(crate) const STORE: &str = "pylon";
/// The usual name of the file of the Pylon's secret.
const TOKEN: &str = "pylon.token";

/// Run the Pylon of this machine alone: it joins the relay `pylon.relay` of the configuration.
///
/// The secret that `estelle relay add-pylon` gave out belongs into the file `pylon.token_file`. The host is a program of
/// its own: start `estelle host` beside it.
#[derive(Debug, Args)]
pub(crate) struct PylonArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// The relay to join, instead of the configured one.
    #[arg(long, value_name = "URL")]
    relay: Option<String>,
}

/// Runs the subcommand.
pub(crate) fn run(args: PylonArgs) -> anyhow::Result<ExitCode> {
    let data = args.data.folder()?;
    let mut successor = Successor::begin(&data)?;
    let served = serve(args, &data, &mut successor);
    match successor.judge(served)? {
        Some(program) => Err(successor::become_new(&program)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Runs until somebody ends it, or a new program takes its place.
fn serve(
    args: PylonArgs,
    data: &Path,
    successor: &mut Successor,
) -> anyhow::Result<Option<PathBuf>> {
    let config = args.config.load()?;
    logging::to_stderr(&config.log);
    let url = args.relay.or_else(|| config.pylon.relay.clone());
    let url =
        url.context("set `pylon.relay` in the configuration, or name a relay with --relay")?;
    check_secrecy(&url, &config)?;
    let token = read_token(&token_file(&config.pylon, data))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut signals = signals::Signals::listen()?;
        // One is enough: while a copy is put back nobody can ask for another.
        let (restorations, mut wanted) = mpsc::channel(1);
        // There is one successor.
        let (becoming, mut successors) = mpsc::channel(1);
        let way = Way {
            becoming,
            config_file: args.config.config.clone(),
        };
        let begin = async || {
            let deploys = way.deploys(&config, data)?;
            let pylon = Pylon::start(&config, data, (url.clone(), token.clone()), deploys)?;
            Terminal::elsewhere(&url, &config.pylon.authorities, data).store(data)?;
            pylon.open_door(data, restorations.clone())?;
            pylon.open_gateway(&config, data).await?;
            anyhow::Ok(pylon)
        };
        let mut pylon = begin().await?;
        successor.is_ready();
        anstream::println!("estelle pylon {} is ready", env!("CARGO_PKG_VERSION"));
        let next = loop {
            tokio::select! {
                _ = signals.next() => break None,
                Some(program) = successors.recv() => break Some(program),
                Some(mut wish) = wanted.recv() => {
                    pylon.stop().await;
                    let restored = restore(data, wish.from).await;
                    pylon = begin().await?;
                    tell(&mut wish.visitor, &restored).await;
                }
            }
        };
        pylon.stop().await;
        Ok(next)
    })
}

/// Where the secret of the Pylon is.
pub(crate) fn token_file(pylon: &PylonSection, data: &Path) -> PathBuf {
    let named = pylon.token_file.clone();
    named.unwrap_or_else(|| data.join(TOKEN))
}

/// Reads a secret from a file.
pub(crate) fn read_token(path: &Path) -> anyhow::Result<Token> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("failed to read the secret in {}", path.display()))?;
    Token::parse(text.trim()).with_context(|| format!("{} holds no secret", path.display()))
}

/// A Pylon that runs.
#[derive(Debug)]
pub(crate) struct Pylon {
    /// The link to the host, to see whether it is there.
    pub(crate) host: HostLink,
    /// The link to the relay, to see whether it is there.
    pub(crate) relay: RelayLink,
    door: Door,
    desk: LocalDesk,
    store: Store,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Pylon {
    /// Opens the store and begins to call host and relay.
    pub(crate) fn start(
        config: &Config,
        data: &Path,
        (relay, token): (String, Token),
        deploy: DeployConfig,
    ) -> anyhow::Result<Self> {
        let build = deploy.running.version.clone();
        let build = build.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned());
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let store = Store::open(&data.join(STORE))?;
        let host = HostConfig::new(socket(data), build.clone());
        let (host, from_host) = HostLink::spawn(host, &tasks, stop.clone());
        let pylon = &config.pylon;
        let mut relay = RelayConfig::new(relay, pylon.id, Some(token));
        relay.authorities = authorities(&pylon.authorities)?;
        let (relay, all_from_relay) = RelayLink::spawn(relay, &tasks, stop.clone());
        // Room for one: what waits is to wait where it is bounded, in the link.
        let (to_desk, from_relay) = mpsc::channel(1);
        let door = Door::new();
        tasks.spawn(sort(all_from_relay, to_desk, door.clone()));
        let parts = DeskParts {
            store: store.clone(),
            host: host.clone(),
            from_host,
            from_relay,
            deploy,
        };
        let desk = DeskConfig {
            device_id: pylon.id,
            info: PylonInfo::new(pylon.name().to_string(), pylon.icon.clone()),
            build,
            roots: pylon.roots.clone(),
            first_conversation: pylon.first_conversation.clone(),
            bugs: data.join(bugs::FILE),
            releases: config.deploy.releases(data),
            guard: Guard::new(load_patterns(data)?, data),
            git: Git::default(),
        };
        let desk = desk::spawn(desk, parts, &tasks, stop.clone());
        Ok(Self {
            host,
            relay,
            door,
            desk,
            store,
            tasks,
            stop,
        })
    }

    /// Lets those in who are at the machine.
    pub(crate) fn open_door(
        &self,
        data: &Path,
        restorations: mpsc::Sender<Restoration>,
    ) -> anyhow::Result<()> {
        let inside = Inside {
            relay: self.relay.clone(),
            store: self.store.clone(),
            restorations,
        };
        self.door.open(data, inside, &self.tasks, self.stop.clone())
    }

    /// Opens the HTTP interface, if one is wanted, and says where it is.
    pub(crate) async fn open_gateway(
        &self,
        config: &Config,
        data: &Path,
    ) -> anyhow::Result<Option<SocketAddr>> {
        let inner = gateway::Inner {
            desk: self.desk.clone(),
            host: self.host.clone(),
            store: self.store.clone(),
        };
        gateway::open(config, data, inner, &self.tasks, self.stop.clone()).await
    }

    /// Ends the links and the desk, and closes the store.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.store.close().await;
    }
}

/// Replaces the database of a data folder by a copy, while no Pylon runs.
pub(crate) async fn restore(data: &Path, from: PathBuf) -> anyhow::Result<()> {
    let store = Store::open(&data.join(STORE))?;
    let restored = store.restore(from).await;
    store.close().await;
    Ok(restored?)
}

/// Takes out of what the relay says what is for whoever is at the machine.
async fn sort(mut all: mpsc::Receiver<FromRelay>, to_desk: mpsc::Sender<FromRelay>, door: Door) {
    while let Some(message) = all.recv().await {
        match message {
            FromRelay::Relay(notice) if is_for_the_machine(&notice) => door.tell(*notice),
            FromRelay::Up { .. }
            | FromRelay::Relay(_)
            | FromRelay::App(_)
            | FromRelay::Pylon(_)
            | FromRelay::Down(_) => {
                if to_desk.send(message).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// The certificates of files.
pub(crate) fn authorities(files: &[PathBuf]) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let mut all = Vec::new();
    for file in files {
        let read =
            CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let read = read.map_err(|error| anyhow::anyhow!("{error}"));
        let read =
            read.with_context(|| format!("failed to read the certificates in {}", file.display()))?;
        all.extend(read);
    }
    Ok(all)
}
