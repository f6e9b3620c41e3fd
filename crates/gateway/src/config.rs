//! What a gateway is told when it starts: where it listens, who may come in, and what it works with.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use estelle_proto::devices::PairedDevice;
use estelle_proto::{ApiError, Right, Token};
use estelle_pylon::desk::LocalDesk;
use estelle_pylon::link::host::HostLink;
use estelle_pylon::store::Store;
use serde::Serialize;

/// Separates these hashes from all others that anybody makes of the same text.
const CONTEXT: &str = "estelle gateway 2026 token";

/// A secret that opens the gateway, and what it opens. Only its hash is kept.
#[derive(Debug, Clone)]
pub struct Key {
    hash: blake3::Hash,
    rights: Vec<Right>,
}

impl Key {
    /// The key of a token.
    pub fn new(token: &Token, rights: Vec<Right>) -> Self {
        let hash = hash(token.reveal());
        Self { hash, rights }
    }
}

fn hash(text: &str) -> blake3::Hash {
    blake3::Hash::from_bytes(blake3::derive_key(CONTEXT, text.as_bytes()))
}

/// Where the gateway listens and who may come in.
#[derive(Debug, Clone)]
pub struct GatewayConfig {
    /// The address; it must be of the loopback.
    pub listen: SocketAddr,
    /// Other names under which it is reached, through a proxy on this machine: `host` or `host:port`.
    pub hosts: Vec<String>,
    /// Other origins whose pages may call.
    pub origins: Vec<String>,
    /// Who may come in.
    pub keys: Vec<Key>,
    /// What `settings` shows beside what can be changed.
    pub settings: Settings,
    /// The build, for people.
    pub build: String,
    /// How long it bears clients that do not stir.
    pub patience: Patience,
}

/// How long a WebSocket is kept for a client that does not stir.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How often a client is asked whether it is there.
    pub ping: Duration,
    /// How long it may leave that unanswered, without another word either.
    pub silence: Duration,
    /// How long it may take nothing of what is sent.
    pub write: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            ping: Duration::from_secs(20),
            silence: Duration::from_mins(1),
            write: Duration::from_secs(30),
        }
    }
}

impl Patience {
    /// One that ends after this time of silence.
    pub fn of(silence: Duration) -> Self {
        Self {
            ping: silence / 3,
            silence,
            write: silence / 2,
        }
    }
}

impl GatewayConfig {
    /// What a token opens; nothing if it is none of ours. Hashes are compared in constant time.
    pub(crate) fn rights(&self, token: &str) -> Option<Vec<Right>> {
        let given = hash(token);
        let key = self.keys.iter().find(|key| key.hash == given)?;
        Some(key.rights.clone())
    }
}

/// What holds for the processes of this machine, from its configuration.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    /// Minutes after which an idle process is stopped; 0 means never.
    pub idle_timeout_minutes: u64,
    /// Seconds a process has to end after it was asked to.
    pub shutdown_grace_seconds: u64,
    /// Whether the end of the host ends its processes.
    pub shutdown_stops_runs: bool,
    /// Whether what is dangerous is asked about in every mode.
    pub deny_first: bool,
}

/// The devices of the household, from whoever knows them.
pub type Devices = Arc<
    dyn Fn() -> Pin<Box<dyn Future<Output = Result<Vec<PairedDevice>, ApiError>> + Send>>
        + Send
        + Sync,
>;

/// What the gateway works with.
#[derive(Clone)]
pub struct GatewayParts {
    /// The Pylon's desk.
    pub desk: LocalDesk,
    /// The link to the host.
    pub host: HostLink,
    /// The Pylon's memory.
    pub store: Store,
    /// Who belongs to the household.
    pub devices: Devices,
}

impl std::fmt::Debug for GatewayParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatewayParts").finish_non_exhaustive()
    }
}
