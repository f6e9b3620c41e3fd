//! What a relay is told: where it listens, whom it believes, how much it takes.
//!
//! Every limit has a default with its reason; tests and unusual deployments change them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use estelle_proto::Token;
use hyper::body::Incoming;
use hyper::{Request, Response};

use crate::machine::Recognized;

/// A page of the web app, or of whoever embeds the relay.
pub type Page = Response<Bytes>;

/// Answers `GET` and `HEAD` requests that are not the relay's own; nothing means 404.
///
/// It is called on the connection's task: answer from memory.
pub type Pages = Arc<dyn Fn(&Request<()>) -> Option<Page> + Send + Sync>;

/// Answers requests under `/api/` of devices that showed their secret as a bearer token, with what they may do. Nobody else
/// reaches it, and no body was read before.
pub type Api = Arc<
    dyn Fn(Recognized, Request<Incoming>) -> Pin<Box<dyn Future<Output = Page> + Send>>
        + Send
        + Sync,
>;

/// A certificate and its key, as PEM files.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The chain, own certificate first.
    pub certificates: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// How much of something may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Frames per second, in the long run.
    pub frames: u32,
    /// Bytes per second, in the long run.
    pub bytes: u32,
    /// How many seconds' worth may come at once.
    pub burst: u32,
}

/// How much the relay takes.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections in all.
    pub connections: usize,
    /// Connections that have not authenticated; beyond them the oldest goes.
    pub strangers: usize,
    /// The same from one address.
    pub strangers_per_address: usize,
    /// Open connections of one paired device: tabs, mostly.
    pub connections_per_device: usize,
    /// Bytes that may wait for one connection. Beyond them it is cut off at once.
    pub queue_bytes: usize,
    /// The same for a Pylon, to which all apps of a realm speak at once.
    pub pylon_queue_bytes: usize,
    /// What an app may send; beyond it the connection is closed.
    pub app_rate: Rate,
    /// What a Pylon may send; beyond it the relay reads more slowly.
    pub pylon_rate: Rate,
    /// How often a quiet connection is pinged; after two without a sign of life it is closed.
    pub heartbeat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            strangers: 4096,
            strangers_per_address: 512,
            connections_per_device: 64,
            // A frame of the largest size may wait together with ordinary ones; a stalled client costs less than 2 MB, with
            // what the frames take beside their bytes.
            queue_bytes: 1_500_000,
            // What several apps may send at once by their own limit: none of them gets the Pylon cut off for the others.
            pylon_queue_bytes: 64 * 1024 * 1024,
            app_rate: Rate {
                frames: 100,
                bytes: 1024 * 1024,
                burst: 10,
            },
            pylon_rate: Rate {
                frames: 50_000,
                bytes: 64 * 1024 * 1024,
                burst: 2,
            },
            heartbeat: Duration::from_secs(30),
        }
    }
}

/// Everything a relay is told.
#[derive(Clone)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Speak TLS.
    pub tls: Option<TlsFiles>,
    /// Names under which it is reached, with the port if it is not the usual one: `relay.example.org`. Its own address
    /// and, when it listens there, the loopback need not be listed.
    pub hosts: Vec<String>,
    /// Pages of other origins that may connect: `https://app.example.org`. Its own origin need not be listed.
    pub origins: Vec<String>,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub proxies: Vec<IpAddr>,
    /// Opens `/metrics` to whoever presents it as a bearer token; without it there is no such page.
    pub metrics_token: Option<Token>,
    /// The build, told to devices.
    pub build: String,
    /// How much it takes.
    pub limits: Limits,
    /// Further pages.
    pub pages: Option<Pages>,
    /// What is under `/api/`.
    pub api: Option<Api>,
}

impl Default for Config {
    /// On the loopback, at a port of the system's choice.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            proxies: Vec::new(),
            metrics_token: None,
            build: env!("CARGO_PKG_VERSION").to_owned(),
            limits: Limits::default(),
            pages: None,
            api: None,
        }
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("listen", &self.listen)
            .field("tls", &self.tls)
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("proxies", &self.proxies)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
