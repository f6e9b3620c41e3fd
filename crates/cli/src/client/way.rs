//! The way to a relay: its address, and the secret of the device that this terminal is.
//!
//! On a machine that runs `estelle up` both are in its data folder. Elsewhere they are named: the address in an argument
//! or a variable, the secret always in a file, because arguments and addresses are seen and logged by others.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_proto::{IsoTime, Token};
use rustls_pki_types::CertificateDer;
use serde::Deserialize;

use super::failure::Failure;
use super::link::{Link, is_machine};
use crate::config::{Config, ConfigArgs};
use crate::data::DataArgs;
use crate::machine;
use crate::pylon::authorities;

/// Which relay, which machine, and how the answer is printed.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClientArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// A relay elsewhere, such as `https://estelle.example.org`; needs --token-file.
    #[arg(long, value_name = "URL", env = "ESTELLE_ADDRESS")]
    address: Option<String>,
    /// The file with the secret of this device, or what `estelle devices add --json` printed.
    #[arg(long, value_name = "FILE", env = "ESTELLE_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// The machine, by name or number, if there are several.
    #[arg(long, value_name = "MACHINE", env = "ESTELLE_MACHINE")]
    pub(super) machine: Option<String>,
    /// Print JSON, one value a line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A relay that lets us in, and the machines that are there.
#[derive(Debug)]
pub(crate) struct Presence {
    pub(crate) url: String,
    pub(crate) relay_build: Option<String>,
    pub(crate) machines: Vec<String>,
    /// When it let us in, by its own clock.
    pub(crate) let_in_at: Option<IsoTime>,
}

/// How to get in.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) url: String,
    pub(super) token: Token,
    pub(super) authorities: Vec<CertificateDer<'static>>,
}

/// What a file with a secret may hold beside the secret alone.
#[derive(Debug, Deserialize)]
struct Kept {
    url: Option<String>,
    token: String,
}

impl ClientArgs {
    /// What runs on a data folder of this machine.
    pub(crate) fn of_folder(folder: PathBuf) -> Self {
        Self {
            data: DataArgs { data: Some(folder) },
            config: ConfigArgs::default(),
            address: None,
            token_file: None,
            machine: None,
            json: false,
        }
    }

    /// A relay at an address, for whoever has the secret in this file.
    #[cfg(test)]
    pub(super) fn of_relay(address: String, token_file: PathBuf, folder: PathBuf) -> Self {
        Self {
            address: Some(address),
            token_file: Some(token_file),
            ..Self::of_folder(folder)
        }
    }

    /// Who is there.
    pub(crate) async fn presence(&self) -> anyhow::Result<Presence> {
        let way = self.way().await?;
        let mut link = Link::open(&way).await?;
        let devices = link.devices().await?;
        let own = devices
            .iter()
            .find(|one| Some(one.device_id) == link.own_id);
        let let_in_at = own.map(|own| own.connected_at.clone());
        let machines = devices.into_iter().filter(is_machine);
        Ok(Presence {
            url: way.url,
            relay_build: link.relay_build,
            machines: machines.map(|machine| machine.name).collect(),
            let_in_at,
        })
    }

    /// Finds the way.
    pub(super) async fn way(&self) -> anyhow::Result<Way> {
        let config = self.config.load()?;
        let authorities = authorities(&config.pylon.authorities)?;
        if self.address.is_none() && self.token_file.is_none() {
            let mut way = self.of_this_machine().await?;
            way.authorities.extend(authorities);
            return Ok(way);
        }
        let Some(file) = &self.token_file else {
            bail!("name the file with the secret of this device with --token-file");
        };
        let kept = read_kept(file)?;
        let Some(url) = self.address.as_deref().or(kept.url.as_deref()) else {
            bail!("name the relay with --address");
        };
        let token = Token::parse(&kept.token);
        let token = token.with_context(|| format!("{} holds no secret", file.display()))?;
        let url = websocket(url)?;
        check_secrecy(&url, &config)?;
        Ok(Way {
            url,
            token,
            authorities,
        })
    }

    async fn of_this_machine(&self) -> anyhow::Result<Way> {
        let folders = self.data.folders()?;
        for folder in &folders {
            if !machine::is_open(folder).await {
                continue;
            }
            let terminal = machine::terminal(folder).await?;
            let authorities = authorities(terminal.authority.as_slice())?;
            return Ok(Way {
                token: Token::parse(&terminal.token)?,
                url: terminal.url,
                authorities,
            });
        }
        let places: Vec<String> = folders.iter().map(|at| at.display().to_string()).collect();
        Err(Failure::away(format!(
            "`estelle up` does not run on {}: start it, name its folder with --data, or a relay with --address",
            places.join(" or ")
        ))
        .into())
    }
}

fn read_kept(file: &Path) -> anyhow::Result<Kept> {
    let text = std::fs::read_to_string(file);
    let text = text.with_context(|| format!("failed to read the secret in {}", file.display()))?;
    if text.trim_start().starts_with('{') {
        // The error of the parser could repeat the secret.
        let kept = serde_json::from_str(&text).ok();
        return kept.with_context(|| format!("{} holds no secret", file.display()));
    }
    Ok(Kept {
        url: None,
        token: text.trim().to_owned(),
    })
}

/// The address of the relay's socket, from that of its page or its own.
fn websocket(address: &str) -> anyhow::Result<String> {
    let Some((scheme, rest)) = address.split_once("://") else {
        bail!("`{address}` is no address: it begins with https://, wss://, http:// or ws://");
    };
    let scheme = match scheme {
        "https" | "wss" => "wss",
        "http" | "ws" => "ws",
        other => {
            bail!("`{other}` is none of https, wss, http and ws, with which an address begins")
        }
    };
    if rest.contains(['@', '?', '#']) {
        bail!("the address of a relay has neither a user nor a query");
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = if path.is_empty() { "ws" } else { path };
    Ok(format!("{scheme}://{host}/{path}"))
}

/// Refuses to send a secret over a network in the open, unless the configuration says that it is wanted.
pub(crate) fn check_secrecy(url: &str, config: &Config) -> anyhow::Result<()> {
    if config.allow_plaintext || !url.starts_with("ws://") || is_near(url) {
        return Ok(());
    }
    bail!(
        "{url} is on another machine and not encrypted, so that everybody on the way could read the secret and all \
         that is said: use wss://, or set `allow_plaintext` in the configuration if the way is safe"
    );
}

/// Whether an address never leaves this machine.
fn is_near(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_socket_are_the_same_address() {
        let is = |from: &str, to: &str| assert_eq!(websocket(from).unwrap(), to);
        is("https://e.example.org", "wss://e.example.org/ws");
        is("https://e.example.org/", "wss://e.example.org/ws");
        is("ws://127.0.0.1:7710/ws", "ws://127.0.0.1:7710/ws");
        for bad in [
            "e.example.org",
            "ftp://e.example.org",
            "https://a@b",
            "wss://a/ws?token=x",
        ] {
            assert!(websocket(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_secret_is_not_sent_over_a_network_in_the_open() {
        let mut config = Config::default();
        let check = |url: &str, config: &Config| check_secrecy(url, config).is_ok();
        for near in [
            "ws://127.0.0.1:7710/ws",
            "ws://[::1]:1/ws",
            "ws://localhost/ws",
            "ws://LOCALHOST:1/ws",
        ] {
            assert!(check(near, &config), "{near}");
        }
        for far in [
            "ws://192.168.0.2:7710/ws",
            "ws://example.org/ws",
            "ws://localhost.example.org/ws",
            "ws://127.0.0.1.example.org/ws",
            "ws://[2001:db8::1]/ws",
        ] {
            assert!(!check(far, &config), "{far}");
        }
        assert!(check("wss://example.org/ws", &config));
        config.allow_plaintext = true;
        assert!(check("ws://192.168.0.2:7710/ws", &config));
    }
}
