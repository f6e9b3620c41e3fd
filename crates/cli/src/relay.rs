//! `estelle relay`: runs the relay alone, and gives Pylons and devices their secrets.
//!
//! Options come from the command line or the environment. Adding a Pylon or a device changes the registry, which a
//! running relay owns: stop it first, or pair the device.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use estelle_proto::{DeviceId, Name, Right, Timestamp, Token};
use estelle_relay::{Config, NewDevice, PylonProfile, RealmName, Registry, Relay, TlsFiles};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::web;

/// Run the relay that connects devices, or add a Pylon or a device to it.
#[derive(Debug, Args)]
pub(crate) struct RelayArgs {
    /// The file of realms, Pylons and devices.
    #[arg(
        long,
        env = "ESTELLE_RELAY_REGISTRY",
        value_name = "FILE",
        global = true
    )]
    registry: Option<PathBuf>,
    #[command(subcommand)]
    command: RelayCommand,
}

#[derive(Debug, Subcommand)]
enum RelayCommand {
    /// Run until it is told to stop.
    Serve(ServeArgs),
    /// Add a Pylon, or give it a new secret, and print the secret.
    AddPylon(AddPylonArgs),
    /// Add a device without pairing, and print its secret.
    AddDevice(AddDeviceArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// Where to listen.
    #[arg(long, env = "ESTELLE_RELAY_LISTEN", default_value = "127.0.0.1:7710")]
    listen: SocketAddr,
    /// A name under which it is reached, with its port if it is not the usual one.
    #[arg(
        long = "host",
        env = "ESTELLE_RELAY_HOSTS",
        value_delimiter = ',',
        value_name = "NAME"
    )]
    hosts: Vec<String>,
    /// Another origin whose pages may connect, such as `https://app.example.org`.
    #[arg(
        long = "origin",
        env = "ESTELLE_RELAY_ORIGINS",
        value_delimiter = ',',
        value_name = "URL"
    )]
    origins: Vec<String>,
    /// A proxy whose X-Forwarded-For is believed.
    #[arg(
        long = "proxy",
        env = "ESTELLE_RELAY_PROXIES",
        value_delimiter = ',',
        value_name = "ADDRESS"
    )]
    proxies: Vec<IpAddr>,
    /// Speak TLS with this certificate chain (PEM).
    #[arg(
        long,
        env = "ESTELLE_RELAY_CERTIFICATE",
        requires = "key",
        value_name = "FILE"
    )]
    certificate: Option<PathBuf>,
    /// The key of the certificate (PEM).
    #[arg(
        long,
        env = "ESTELLE_RELAY_KEY",
        requires = "certificate",
        value_name = "FILE"
    )]
    key: Option<PathBuf>,
    /// Open /metrics to whoever presents the bearer token in this file.
    #[arg(long, env = "ESTELLE_RELAY_METRICS_TOKEN_FILE", value_name = "FILE")]
    metrics_token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct AddPylonArgs {
    /// The realm it belongs to.
    #[arg(long, default_value = "home")]
    realm: String,
    /// Its id, 1 to 99.
    #[arg(long)]
    id: u32,
    /// Its name.
    #[arg(long)]
    name: String,
    /// Its icon, an emoji.
    #[arg(long, default_value = "🌙")]
    icon: String,
    /// What it is for.
    #[arg(long, default_value = "home")]
    role: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct AddDeviceArgs {
    /// The realm it belongs to.
    #[arg(long, default_value = "home")]
    realm: String,
    /// Its name.
    #[arg(long)]
    name: String,
    /// What it may do: view, prompt, approve, terminal, admin.
    #[arg(long, value_delimiter = ',', default_value = "view,prompt,approve")]
    rights: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: RelayArgs) -> anyhow::Result<ExitCode> {
    let path = match args.registry {
        Some(path) => path,
        None => default_registry()?,
    };
    match args.command {
        RelayCommand::Serve(args) => serve(&path, args),
        RelayCommand::AddPylon(args) => add_pylon(&path, args),
        RelayCommand::AddDevice(args) => add_device(&path, &args),
    }
}

fn default_registry() -> anyhow::Result<PathBuf> {
    let absolute = |name: &str| {
        let folder = PathBuf::from(std::env::var_os(name)?);
        folder.is_absolute().then_some(folder)
    };
    let data = absolute("XDG_DATA_HOME");
    let data = data.or_else(|| Some(absolute("HOME")?.join(".local/share")));
    let data = data.context("set HOME, or name a file with --registry")?;
    Ok(data.join("estelle/relay.json"))
}

fn serve(path: &Path, args: ServeArgs) -> anyhow::Result<ExitCode> {
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info")),
        )
        .with_writer(std::io::stderr)
        .init();
    let registry = Registry::open(path)?;
    let metrics_token = match &args.metrics_token_file {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file);
            let text = text.with_context(|| format!("read {}", file.display()))?;
            let token = Token::parse(text.trim());
            Some(token.with_context(|| format!("{} holds no token", file.display()))?)
        }
    };
    let tls = args.certificate.zip(args.key);
    let config = Config {
        listen: args.listen,
        tls: tls.map(|(certificates, key)| TlsFiles { certificates, key }),
        hosts: args.hosts,
        origins: args.origins,
        proxies: args.proxies,
        metrics_token,
        pages: Some(web::pages()),
        ..Config::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let relay = Relay::bind(config, registry).await?;
        anstream::println!("listening on {}", relay.local_addr());
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        relay.stop().await;
        Ok(ExitCode::SUCCESS)
    })
}

fn add_pylon(path: &Path, args: AddPylonArgs) -> anyhow::Result<ExitCode> {
    let realm = RealmName::parse(&args.realm)?;
    let pylon = PylonProfile {
        device_id: DeviceId(args.id),
        name: Name::parse(&args.name).context("--name")?,
        icon: args.icon,
        role: args.role,
    };
    let mut registry = Registry::open(path)?;
    let token = registry.put_pylon(&realm, pylon)?;
    registry.save()?;
    if args.json {
        let shown = json!({"realm": args.realm, "deviceId": args.id, "token": token.reveal()});
        anstream::println!("{shown}");
    } else {
        anstream::println!("{}", token.reveal());
    }
    Ok(ExitCode::SUCCESS)
}

fn add_device(path: &Path, args: &AddDeviceArgs) -> anyhow::Result<ExitCode> {
    let realm = RealmName::parse(&args.realm)?;
    let rights: Vec<Right> = args
        .rights
        .iter()
        .map(|word| Right::from(word.as_str()))
        .collect();
    if let Some(unknown) = rights
        .iter()
        .find(|right| matches!(right, Right::Unknown(_)))
    {
        bail!(
            "`{unknown}` is no right; there are {}",
            Right::WORDS.join(", ")
        );
    }
    let device = NewDevice {
        name: Name::parse(&args.name).context("--name")?,
        rights,
        expires_at: None,
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now = Timestamp(i64::try_from(since.as_millis())?);
    let mut registry = Registry::open(path)?;
    let (key, token) = registry.add_device(&realm, device, now)?;
    registry.save()?;
    if args.json {
        let shown =
            json!({"realm": args.realm, "deviceKey": key.as_str(), "token": token.reveal()});
        anstream::println!("{shown}");
    } else {
        anstream::println!("{}", token.reveal());
    }
    Ok(ExitCode::SUCCESS)
}
