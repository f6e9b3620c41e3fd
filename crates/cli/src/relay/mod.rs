//! `estelle relay`: runs the relay alone, and gives Pylons and devices their secrets.
//!
//! Options come from the command line or the configuration. Secrets are given out and taken back by [`steward`], whether
//! the relay runs or not.

mod steward;

pub(crate) use steward::Steward;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use estelle_relay::{Config, Registry, Relay, TlsFiles};
use serde_json::Value;

use self::steward::Wish;
use crate::config::{ConfigArgs, RelaySection};
use crate::machine::parse_rights;
use crate::pylon::read_token;
use crate::signals::Signals;
use crate::table::Table;
use crate::{logging, web};

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
    /// Take a Pylon out; its connection is closed at once.
    RemovePylon(RemovePylonArgs),
    /// List the Pylons.
    Pylons {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Add a device without pairing, and print its secret.
    AddDevice(AddDeviceArgs),
}

#[derive(Debug, Args)]
struct RemovePylonArgs {
    /// The realm it belongs to.
    #[arg(long, default_value = "home")]
    realm: String,
    /// Its id.
    #[arg(long)]
    id: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is not said here comes from the configuration.
#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// A name under which it is reached, with its port if it is not the usual one.
    #[arg(long = "host", value_delimiter = ',', value_name = "NAME")]
    hosts: Vec<String>,
    /// Another origin whose pages may connect, such as `https://app.example.org`.
    #[arg(long = "origin", value_delimiter = ',', value_name = "URL")]
    origins: Vec<String>,
    /// A proxy whose X-Forwarded-For is believed.
    #[arg(long = "proxy", value_delimiter = ',', value_name = "ADDRESS")]
    proxies: Vec<IpAddr>,
    /// Speak TLS with this certificate chain (PEM).
    #[arg(long, requires = "key", value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// The key of the certificate (PEM).
    #[arg(long, requires = "certificate", value_name = "FILE")]
    key: Option<PathBuf>,
    /// Open /metrics to whoever presents the bearer token in this file.
    #[arg(long, value_name = "FILE")]
    metrics_token_file: Option<PathBuf>,
    /// Print one line of JSON when it listens.
    #[arg(long)]
    json: bool,
}

impl ServeArgs {
    /// What holds: what was said, and the configuration for the rest.
    fn over(self, configured: RelaySection) -> RelaySection {
        let or = |said: Vec<String>, other: Vec<String>| if said.is_empty() { other } else { said };
        RelaySection {
            listen: self.listen.unwrap_or(configured.listen),
            hosts: or(self.hosts, configured.hosts),
            origins: or(self.origins, configured.origins),
            proxies: Some(self.proxies)
                .filter(|said| !said.is_empty())
                .unwrap_or(configured.proxies),
            certificate: self.certificate.or(configured.certificate),
            key: self.key.or(configured.key),
            metrics_token_file: self.metrics_token_file.or(configured.metrics_token_file),
            ..configured
        }
    }
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
        RelayCommand::RemovePylon(args) => remove_pylon(&path, args),
        RelayCommand::Pylons { json } => pylons(&path, json),
        RelayCommand::AddDevice(args) => add_device(&path, args),
    }
}

fn default_registry() -> anyhow::Result<PathBuf> {
    let data = crate::data::DataArgs { data: None };
    Ok(data.folder()?.join("relay.json"))
}

fn serve(path: &Path, args: ServeArgs) -> anyhow::Result<ExitCode> {
    let config = args.config.load()?;
    logging::to_stderr(&config);
    let is_json = args.json;
    let section = args.over(config.relay);
    let registry = Registry::open(path)?;
    let config = relay_config(section)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut signals = Signals::listen()?;
        let relay = Relay::bind(config, registry).await?;
        let steward = Steward::open(path);
        let address = relay.local_addr();
        if is_json {
            anstream::println!("{}", serde_json::json!({ "listening": address }));
        } else {
            anstream::println!("listening on {address}");
        }
        tokio::select! {
            _ = signals.next() => {}
            () = steward.serve(&relay) => {}
        }
        relay.stop().await;
        Ok(ExitCode::SUCCESS)
    })
}

/// A relay as the configuration wants it, with the web app.
pub(crate) fn relay_config(section: RelaySection) -> anyhow::Result<Config> {
    let metrics_token = section.metrics_token_file.as_deref().map(read_token);
    let metrics_token = metrics_token.transpose();
    let metrics_token = metrics_token.context("`relay.metrics_token_file`")?;
    let files = section.certificate.zip(section.key);
    let mut hosts = section.hosts;
    let public = section.public_url.as_deref().and_then(authority);
    hosts.extend(public.map(str::to_owned));
    Ok(Config {
        listen: section.listen,
        tls: files.map(|(certificates, key)| TlsFiles { certificates, key }),
        hosts,
        origins: section.origins,
        proxies: section.proxies,
        metrics_token,
        pages: Some(web::pages()),
        ..Config::default()
    })
}

/// Host and port of an address.
pub(crate) fn authority(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split('/').next()
}

fn add_pylon(path: &Path, args: AddPylonArgs) -> anyhow::Result<ExitCode> {
    let wish = Wish::AddPylon {
        realm: args.realm,
        id: args.id,
        name: args.name,
        icon: args.icon,
        role: args.role,
    };
    show_secret(&steward::ask(path, wish)?, args.json)
}

fn add_device(path: &Path, args: AddDeviceArgs) -> anyhow::Result<ExitCode> {
    let wish = Wish::AddDevice {
        rights: parse_rights(&args.rights)?,
        realm: args.realm,
        name: args.name,
    };
    show_secret(&steward::ask(path, wish)?, args.json)
}

fn show_secret(issued: &Value, is_json: bool) -> anyhow::Result<ExitCode> {
    if is_json {
        anstream::println!("{issued}");
    } else {
        let token = issued["token"].as_str();
        anstream::println!("{}", token.context("the relay gave no secret")?);
    }
    Ok(ExitCode::SUCCESS)
}

fn remove_pylon(path: &Path, args: RemovePylonArgs) -> anyhow::Result<ExitCode> {
    let (realm, id) = (args.realm, args.id);
    let removed = steward::ask(path, Wish::RemovePylon { realm, id })?;
    if args.json {
        anstream::println!("{removed}");
    } else {
        anstream::println!("It is out.");
    }
    Ok(ExitCode::SUCCESS)
}

fn pylons(path: &Path, is_json: bool) -> anyhow::Result<ExitCode> {
    let all = steward::ask(path, Wish::Pylons)?;
    if is_json {
        anstream::println!("{all}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::default();
    table.row(["ID", "NAME", "REALM", "ROLE", "CONNECTED"].map(str::to_owned));
    for pylon in all.as_array().into_iter().flatten() {
        let text = |field: &str| pylon[field].as_str().unwrap_or_default().to_owned();
        let there = if pylon["connected"] == true {
            "yes"
        } else {
            "no"
        };
        table.row([
            pylon["deviceId"].to_string(),
            text("name"),
            text("realm"),
            text("role"),
            there.to_owned(),
        ]);
    }
    anstream::print!("{table}");
    Ok(ExitCode::SUCCESS)
}
