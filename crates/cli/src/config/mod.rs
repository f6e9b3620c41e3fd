//! The configuration: one TOML file, environment variables over it, arguments over both.
//!
//! Every key is one row of the table in [`keys`]: its name, its variables, what it means, how it is read and how it is
//! shown. A value that is not usable is refused with the name of its key and where it came from; nothing is guessed. The
//! one exception is the idle timeout, where a value that holds takes its place and everybody who reads it is told.

mod command;
mod deploying;
mod file;
mod given;
mod keys;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use estelle_proto::{DeviceId, Name, OnBusy};
use estelle_relay::RealmName;

use crate::logging::LogFormat;

pub(crate) use command::{ConfigCommandArgs, run};
pub(crate) use deploying::DeploySection;
pub(crate) use file::Loaded;

/// Which configuration file.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration file; ~/.config/estelle/config.toml if nothing else is said.
    #[arg(long, value_name = "FILE", env = "ESTELLE_CONFIG", global = true)]
    pub(crate) config: Option<PathBuf>,
}

impl ConfigArgs {
    /// The whole configuration, checked.
    pub(crate) fn load(&self) -> anyhow::Result<Config> {
        let loaded = Loaded::read(self.config.as_deref(), |name| std::env::var_os(name))?;
        for remark in loaded.remarks.values() {
            anstream::eprintln!("warning: {remark}");
        }
        Ok(loaded.config)
    }
}

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// What is logged, in the syntax of `tracing`.
    pub(crate) log: String,
    /// How it is written.
    pub(crate) log_format: LogFormat,
    /// Whether secrets may be sent to other machines without encryption.
    pub(crate) allow_plaintext: bool,
    pub(crate) relay: RelaySection,
    pub(crate) pylon: PylonSection,
    pub(crate) host: HostSection,
    pub(crate) gateway: GatewaySection,
    pub(crate) deploy: DeploySection,
    pub(crate) notifications: NotificationsSection,
}

/// The relay of this machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RelaySection {
    pub(crate) listen: SocketAddr,
    pub(crate) public_url: Option<String>,
    pub(crate) realm: RealmName,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) proxies: Vec<IpAddr>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) metrics_token_file: Option<PathBuf>,
}

/// The Pylon of this machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PylonSection {
    pub(crate) id: DeviceId,
    pub(crate) name: Option<Name>,
    pub(crate) icon: String,
    pub(crate) role: String,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) first_conversation: Name,
    pub(crate) relay: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) authorities: Vec<PathBuf>,
}

/// The host of this machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HostSection {
    pub(crate) claude: Option<PathBuf>,
    pub(crate) idle_timeout_minutes: u64,
    pub(crate) shutdown_grace_seconds: u64,
    pub(crate) deny_first: bool,
    pub(crate) on_busy: OnBusy,
    pub(crate) turn_limit_minutes: u64,
    pub(crate) shutdown_stops_runs: bool,
}

/// The HTTP interface of this machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GatewaySection {
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) viewer_token_file: Option<PathBuf>,
}

/// How people are told who do not look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NotificationsSection {
    pub(crate) webhook: Option<String>,
    pub(crate) webhook_secret_file: Option<PathBuf>,
    pub(crate) webhook_quiet: bool,
    pub(crate) include_title: bool,
    pub(crate) contact: String,
    pub(crate) allow_loopback: bool,
}

impl PylonSection {
    /// The name for people: the configured one, or the machine's own.
    pub(crate) fn name(&self) -> Name {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let named = self.name.clone();
        let named = named.or_else(|| Name::parse(machine.trim()).ok());
        named.unwrap_or_else(|| self.first_conversation.clone())
    }
}

#[cfg(test)]
mod config_tests;
