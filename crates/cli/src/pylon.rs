//! The Pylon put together: its store, its links to host and relay, and the desk between them.
//!
//! `estelle pylon` runs it alone, for a relay elsewhere; `estelle up` runs it beside a relay of its own. It starts no
//! host: whoever runs it sees to that.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_gateway::Gateway;
use estelle_host::data::socket;
use estelle_proto::workspaces::PylonInfo;
use estelle_proto::{RelayToDevice, Token};
use estelle_pylon::bugs;
use estelle_pylon::deploy::DeployConfig;
use estelle_pylon::desk::{self, DeskConfig, DeskParts, LocalDesk, NotifyConfig, Webhook};
use estelle_pylon::files::Guard;
use estelle_pylon::git::Git;
use estelle_pylon::link::host::{HostConfig, HostLink};
use estelle_pylon::link::relay::{FromRelay, RelayConfig, RelayLink};
use estelle_pylon::store::Store;
use estelle_pylon::uploads::Uploads;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::check_secrecy;
use crate::config::{Config, ConfigArgs, NotificationsSection, PylonSection};
use crate::data::DataArgs;
use crate::host::load_patterns;
use crate::machine::{Door, Inside, PutBack, Restoration, is_for_the_machine, tell};
use crate::successor::{self, Successor, Way};
use crate::up::Terminal;
use crate::{ending, gateway, logging, signals};

/// The name of the folder of the store.
pub(crate) const STORE: &str = "pylon";
/// The usual name of the file of the Pylon's secret.
const TOKEN: &str = "pylon.token";

/// Why a Pylon alone does not put everything back.
const ALONE: &str = "only a Pylon runs here, and somebody else keeps its host: end both to put everything back (`estelle host \
                     stop`; its runs live on), or name --database-only";

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
    /// Print one line of JSON when it is ready.
    #[arg(long)]
    json: bool,
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
    logging::to_stderr(&config);
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
        let version = env!("CARGO_PKG_VERSION");
        if args.json {
            let ready = serde_json::json!({"ready": true, "version": version, "relay": url});
            anstream::println!("{ready}");
        } else {
            anstream::println!("estelle pylon {version} is ready");
        }
        let next = loop {
            tokio::select! {
                signal = signals.next() => {
                    let section = &config.host;
                    ending::end_runs(section, data, &pylon, signal, &mut signals).await;
                    break None;
                }
                Some(program) = successors.recv() => break Some(program),
                Some(mut wish) = wanted.recv() => {
                    let restored = match wish.copy {
                        PutBack::Database(from) => {
                            pylon.stop().await;
                            let restored = restore(data, from).await;
                            pylon = begin().await?;
                            restored.map(|()| vec!["database".to_owned()])
                        }
                        PutBack::Everything(_) => Err(anyhow::anyhow!(ALONE)),
                    };
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

/// How people are told who do not look. A webhook without a secret is refused: nobody could tell whose messages they are.
pub(crate) fn notify(config: &NotificationsSection) -> anyhow::Result<NotifyConfig> {
    let webhook = match (&config.webhook, &config.webhook_secret_file) {
        (Some(url), Some(file)) => Some(Webhook {
            url: url.clone(),
            secret: webhook_secret(file)?,
        }),
        (Some(_), None) => anyhow::bail!(
            "notifications.webhook needs notifications.webhook_secret_file: the file with a secret of your choice"
        ),
        (None, _) => None,
    };
    Ok(NotifyConfig {
        webhook,
        webhook_quiet: config.webhook_quiet,
        include_title: config.include_title,
        contact: config.contact.clone(),
        allow_loopback: config.allow_loopback,
        ..NotifyConfig::default()
    })
}

fn webhook_secret(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file);
    let text = text.with_context(|| format!("failed to read the secret in {}", file.display()))?;
    let secret = text.trim();
    anyhow::ensure!(
        secret.len() >= 16,
        "the secret in {} has fewer than 16 characters; make one with `openssl rand -hex 32`",
        file.display()
    );
    Ok(secret.to_owned())
}

/// Where attached files are: beside the data folder, which is closed to the agent.
pub(crate) fn uploads_folder(data: &Path) -> PathBuf {
    let mut name = data.file_name().unwrap_or_default().to_owned();
    name.push("-uploads");
    data.with_file_name(name)
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
            guard: Guard::new(load_patterns(data)?, data)
                .with_home(std::env::var_os("HOME").map(PathBuf::from)),
            git: Git::default(),
            notify: notify(&config.notifications)?,
            worktrees: worktrees(data),
            uploads: Uploads::new(uploads_folder(data)),
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

    /// Opens the HTTP interface, if one is wanted.
    pub(crate) async fn open_gateway(
        &self,
        config: &Config,
        data: &Path,
    ) -> anyhow::Result<Option<Gateway>> {
        let inner = gateway::Inner {
            desk: self.desk.clone(),
            host: self.host.clone(),
            store: self.store.clone(),
        };
        gateway::open(config, data, inner, &self.tasks, self.stop.clone()).await
    }

    /// Returns when the host is lost from now on, and everything it said was told to those who look.
    pub(crate) fn lost_host(&self) -> impl Future<Output = ()> + Send + 'static {
        self.desk.lost_host()
    }

    /// Ends the links and the desk, and closes the store.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.store.close().await;
    }
}

/// Where worktrees are made: beside the data folder, which is closed to the agent.
fn worktrees(data: &Path) -> PathBuf {
    let mut name = data.file_name().unwrap_or_default().to_owned();
    name.push("-worktrees");
    data.with_file_name(name)
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
            FromRelay::Relay(notice) if is_for_the_machine(&notice) => {
                // Who belongs to the realm is for the desk as well: it forgets what it keeps for others.
                let is_for_both = matches!(*notice, RelayToDevice::PairedListResult(_));
                let for_desk = is_for_both.then(|| FromRelay::Relay(notice.clone()));
                door.tell(*notice);
                if let Some(notice) = for_desk
                    && to_desk.send(notice).await.is_err()
                {
                    return;
                }
            }
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
