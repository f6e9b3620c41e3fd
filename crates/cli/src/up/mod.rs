//! `estelle up`: everything that a machine needs, with one command.
//!
//! ```text
//!   this process: relay ◄─ws─► pylon        a process of its own: host ══ runs
//! ```
//!
//! The relay and the Pylon live in this process; the host is started detached, so that it and its runs outlive it, and is
//! started again when it dies. What belongs to a machine is under one data folder. A simulated agent has a folder of its
//! own, so that its conversations are never mixed with real ones.

mod greeting;
mod host;
mod running;
mod secrets;

pub(crate) use host::{DENY_FIRST, host_args, leave_runs};
pub(crate) use secrets::{TERMINAL_NAME, TERMINAL_RIGHTS, Terminal, put};

use std::io::IsTerminal as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_relay::{OpenError, Registry, Relay};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::chat::agent::{Agent, Wanted};
use crate::config::{Config, ConfigArgs, RelaySection};
use crate::data::DataArgs;
use crate::ending::HostEnd;
use crate::gateway::Reached;
use crate::machine::{self, PutBack, Restoration};
use crate::pylon::{self, Pylon};
use crate::relay::{Steward, authority, relay_config};
use crate::signals::Signals;
use crate::successor::{self, Successor, Way};
use crate::{archive, logging};
use greeting::Greeting;
use host::HostKeeper;
use running::{Running, begin};

/// The log of this process, in the data folder.
const LOG: &str = "up.log";

/// Run relay, Pylon and host on this machine, and say where the app is.
///
/// Without a `claude` on this machine a simulated agent answers, and that is said. Ctrl-C ends relay and Pylon; the host
/// goes on with what it does, and the next `estelle up` takes it up. `estelle host stop --all` ends everything, and so does
/// Ctrl-C with `host.shutdown_stops_runs`.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Let a simulated agent answer: no account, no network, no real model.
    #[arg(long, conflicts_with = "claude")]
    demo: bool,
    /// The `claude` program to run, instead of the one found on this machine.
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
    /// Where to listen, instead of `relay.listen` of the configuration.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Let the machines of this network in, a phone for example. What is sent is encrypted only with a certificate.
    #[arg(long, conflicts_with = "listen")]
    lan: bool,
    /// Speak TLS with this certificate chain (PEM), instead of `relay.certificate` of the configuration.
    #[arg(long, requires = "key", value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// The key of the certificate (PEM).
    #[arg(long, requires = "certificate", value_name = "FILE")]
    key: Option<PathBuf>,
    /// Print one line of JSON instead of the greeting.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &UpArgs) -> anyhow::Result<ExitCode> {
    let mut config = args.config.load()?;
    // What the Pylon would refuse is refused before anything runs.
    pylon::notify(&config.notifications)?;
    if let Some(listen) = args.listen {
        config.relay.listen = listen;
    }
    if let Some((certificate, key)) = args.certificate.clone().zip(args.key.clone()) {
        config.relay.certificate = Some(std::path::absolute(certificate)?);
        config.relay.key = Some(std::path::absolute(key)?);
    }
    // The Pylon of this process knows whose certificate it is.
    let own = config.relay.certificate.clone();
    config.pylon.authorities.extend(own);
    if args.lan {
        let port = config.relay.listen.port();
        config.relay.listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    }
    let wanted = if args.demo {
        Wanted::Simulator
    } else {
        Wanted::Claude(args.claude.clone().or_else(|| config.host.claude.clone()))
    };
    let agent = Agent::of(wanted)?;
    let data = if agent.is_simulated() {
        args.data.demo_folder()?
    } else {
        args.data.folder()?
    };
    private_folder(&data)?;
    logging::to_file(&config, &data.join(LOG))?;
    let mut successor = Successor::begin(&data)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let served = serve_on(config, &data, &agent, args, &mut successor);
    let outcome = runtime.block_on(served);
    // A thread that reads standard input cannot be ended; it must not hold the program up.
    runtime.shutdown_background();
    match successor.judge(outcome)? {
        Some(program) => Err(successor::become_new(&program)),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// The realms, Pylons and devices of the relay.
const REGISTRY: &str = "relay.json";

/// What follows when everything was ended.
enum Next {
    Leave,
    /// A new program takes the place of this one.
    Become(PathBuf),
    /// A backup is put back, and everything starts anew.
    Restore {
        from: PathBuf,
        visitor: UnixStream,
        keeper: HostKeeper,
        /// Where the relay listened.
        address: SocketAddr,
    },
}

/// A backup was put back, or was not; whoever wanted it waits to hear so.
struct Restored {
    outcome: anyhow::Result<Vec<String>>,
    visitor: UnixStream,
}

/// Serves until somebody ends it; while a backup is put back it rests.
async fn serve_on(
    mut config: Config,
    data: &Path,
    agent: &Agent,
    args: &UpArgs,
    successor: &mut Successor,
) -> anyhow::Result<Option<PathBuf>> {
    // A signal that comes while it rests counts as soon as it serves again.
    let mut signals = Signals::listen()?;
    let mut restored = None;
    loop {
        let serving = serve(
            &config,
            data,
            agent,
            args,
            successor,
            (&mut signals, restored.take()),
        );
        match serving.await? {
            Next::Leave => return Ok(None),
            Next::Become(program) => return Ok(Some(program)),
            Next::Restore {
                from,
                visitor,
                keeper,
                address,
            } => {
                tracing::info!(from = %from.display(), "a backup is put back");
                // Whoever is connected finds it where it was.
                config.relay.listen = address;
                let outcome = put_back(&from, data, &keeper).await;
                restored = Some(Restored { outcome, visitor });
            }
        }
    }
}

async fn put_back(from: &Path, data: &Path, keeper: &HostKeeper) -> anyhow::Result<Vec<String>> {
    keeper.send_away().await?;
    archive::at_rest(from, data).await
}

async fn serve(
    config: &Config,
    data: &Path,
    agent: &Agent,
    args: &UpArgs,
    successor: &mut Successor,
    (signals, restored): (&mut Signals, Option<Restored>),
) -> anyhow::Result<Next> {
    // The registry is what keeps a second one away, so it comes first.
    let mut registry = open_registry(data)?;
    let pylon_token = secrets::of_pylon(&mut registry, config, data)?;
    let terminal = secrets::of_terminal(&mut registry, config, data)?;
    let reached = Reached::default();
    let mut relay = relay_config(config.relay.clone())?;
    relay.api = Some(reached.api(config.relay.realm.clone()));
    let relay = Relay::bind(relay, registry).await?;
    let address = relay.local_addr();
    let page = shown_url(&config.relay, address);
    let terminal = Terminal {
        url: own_url(&config.relay, address),
        page: page.clone(),
        authority: config.relay.certificate.clone(),
        ..terminal
    };
    terminal.store(data)?;
    let keeper = HostKeeper::new(data, agent, config);
    keeper.ensure().await?;
    let url = own_url(&config.relay, address);
    // One is enough: while a copy is put back nobody can ask for another.
    let (restorations, mut wanted) = mpsc::channel(1);
    // There is one successor.
    let (becoming, mut successors) = mpsc::channel(1);
    let way = Way {
        becoming,
        config_file: args.config.config.clone(),
    };
    let begin = async || {
        let deploys = way.deploys(config, data)?;
        let pylon = Pylon::start(config, data, (url.clone(), pylon_token.clone()), deploys)?;
        begin(config, data, pylon, &keeper, &restorations, &reached).await
    };
    let mut running = begin().await?;
    let gateway = running.gateway.map(|at| format!("http://{at}"));
    let greeting = Greeting {
        address: page,
        is_reachable: config.relay.public_url.is_some() || !address.ip().is_loopback(),
        data: data.to_owned(),
        agent: agent.clone(),
        pylon: config.pylon.id,
        gateway,
    };
    successor.is_ready();
    match restored {
        Some(mut restored) => machine::tell(&mut restored.visitor, &restored.outcome).await,
        None => greet(&greeting, &running, args),
    }
    let steward = Steward::open(&data.join(REGISTRY));
    let mut stewarding = Box::pin(steward.serve(&relay));
    let mut end = HostEnd::Left;
    let next = loop {
        tokio::select! {
            signal = signals.next() => {
                end = running.end_runs(config, data, signal, signals).await;
                break Next::Leave;
            }
            Some(program) = successors.recv() => break Next::Become(program),
            () = &mut stewarding => {}
            Some(Restoration { copy, mut visitor }) = wanted.recv() => match copy {
                PutBack::Database(from) => {
                    running.stop().await;
                    let restored = crate::pylon::restore(data, from).await;
                    running = begin().await?;
                    let restored = restored.map(|()| vec!["database".to_owned()]);
                    machine::tell(&mut visitor, &restored).await;
                }
                PutBack::Everything(from) => {
                    let keeper = keeper.clone();
                    break Next::Restore { from, visitor, keeper, address };
                }
            },
        }
    };
    drop(stewarding);
    running.stop().await;
    relay.stop().await;
    if !args.json && matches!(next, Next::Leave) {
        anstream::println!("{}", greeting.farewell(end));
    }
    Ok(next)
}

/// Says where everything is, and offers to let the first device in if somebody is there to see it.
fn greet(greeting: &Greeting, running: &Running, args: &UpArgs) {
    if args.json {
        return anstream::println!("{}", greeting.json());
    }
    anstream::print!("{greeting}");
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        running.invite(greeting.data.clone(), greeting.is_reachable);
    }
}

fn open_registry(data: &Path) -> anyhow::Result<Registry> {
    match Registry::open(data.join(REGISTRY)) {
        Ok(registry) => Ok(registry),
        Err(OpenError::Taken { .. }) => anyhow::bail!(
            "`estelle up` runs already on {}: stop it first, or choose another folder with --data",
            data.display()
        ),
        Err(error) => Err(error.into()),
    }
}

fn private_folder(data: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = std::fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(data);
    made.with_context(|| format!("failed to make the data folder {}", data.display()))
}

/// Where this machine itself reaches its relay. A certificate is made out to a name, so with one the public name counts.
fn own_url(section: &RelaySection, address: SocketAddr) -> String {
    let public = section.public_url.as_deref().and_then(authority);
    match (&section.certificate, public) {
        (Some(_), Some(host)) => format!("wss://{host}/ws"),
        (Some(_), None) => format!("wss://{}/ws", near(address)),
        (None, _) => format!("ws://{}/ws", near(address)),
    }
}

/// The address that is told to people.
fn shown_url(section: &RelaySection, address: SocketAddr) -> String {
    if let Some(public) = &section.public_url {
        return public.clone();
    }
    let scheme = if section.certificate.is_some() {
        "https"
    } else {
        "http"
    };
    let shown = if address.ip().is_unspecified() {
        SocketAddr::new(in_network().unwrap_or(near(address).ip()), address.port())
    } else {
        address
    };
    format!("{scheme}://{shown}")
}

/// The same listener by an address that this machine can call.
fn near(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The address of this machine in its network. Nothing is sent: the system is only asked which way it would go.
fn in_network() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // An address that is set aside for documentation.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    Some(ip).filter(|ip| !ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> RelaySection {
        Config::default().relay
    }

    #[test]
    fn this_machine_calls_an_address_that_it_can_reach() {
        let everywhere: SocketAddr = "0.0.0.0:7710".parse().unwrap();
        assert_eq!(own_url(&section(), everywhere), "ws://127.0.0.1:7710/ws");
        let six: SocketAddr = "[::]:7710".parse().unwrap();
        assert_eq!(own_url(&section(), six), "ws://[::1]:7710/ws");
    }

    #[test]
    fn with_a_certificate_the_name_on_it_is_called() {
        let section = RelaySection {
            public_url: Some("https://estelle.example.org".to_owned()),
            certificate: Some("/c".into()),
            key: Some("/k".into()),
            ..section()
        };
        let address: SocketAddr = "0.0.0.0:443".parse().unwrap();
        assert_eq!(own_url(&section, address), "wss://estelle.example.org/ws");
        assert_eq!(shown_url(&section, address), "https://estelle.example.org");
        assert_eq!(
            relay_config(section).unwrap().hosts,
            ["estelle.example.org"]
        );
    }
}
