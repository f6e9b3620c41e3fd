//! A relay that runs: started with a registry, asked for secrets by the program around it, stopped with notice.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use estelle_proto::{DeviceId, DeviceKey, Token};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use super::accept::{Shell, accept};
use super::guard::{Guard, Transport};
use super::hub::{Hub, HubHandle, ToHub};
use super::lobby::Lobby;
use super::saver::saver;
use super::tls::{self, TlsError};
use crate::config::Config;
use crate::machine::{Command, Machine, Outcome, Settings};
use crate::metrics::Metrics;
use crate::registry::{
    self, IssueError, ListedPylon, NewDevice, PylonProfile, RealmName, Registry, SaveError,
};

/// How long connections have to take what was sent to them before the relay went down.
const FAREWELL: Duration = Duration::from_secs(3);

/// Why a relay did not start.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The address cannot be used.
    #[error("listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Certificate or key cannot be used.
    #[error("speak TLS")]
    Tls(#[source] TlsError),
    /// The registry cannot be written.
    #[error(transparent)]
    Registry(#[from] SaveError),
}

/// Why a command of the program around the relay had no effect.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The relay refused.
    #[error(transparent)]
    Refused(#[from] IssueError),
    /// The registry could not be written.
    #[error("the registry could not be written")]
    Unsaved,
    /// The relay is gone.
    #[error("the relay has stopped")]
    Stopped,
}

/// A device that was let in.
#[derive(Debug, Clone)]
pub struct Issued {
    /// Names it, the same after every reconnect.
    pub device_key: DeviceKey,
    /// Its secret. It is not kept anywhere else.
    pub token: Token,
}

/// A running relay. Dropping it ends it without notice.
#[derive(Debug)]
pub struct Relay {
    local: SocketAddr,
    hub: HubHandle,
    metrics: Arc<Metrics>,
    tasks: TaskTracker,
    stopping: CancellationToken,
    dropped: CancellationToken,
}

impl Relay {
    /// Starts a relay: the registry is written once, so that it is known to work, and the address taken.
    pub async fn bind(config: Config, registry: Registry) -> Result<Self, BindError> {
        let address = config.listen;
        let listen = |source| BindError::Listen { address, source };
        let settings = Settings {
            build: config.build.clone(),
            connections_per_device: config.limits.connections_per_device,
        };
        let machine = Machine::new(registry.directory, registry.entropy, settings);
        let acceptor = config.tls.as_ref().map(tls::acceptor);
        let acceptor = acceptor.transpose().map_err(BindError::Tls)?;
        registry
            .file
            .write(&registry::encode(machine.directory())?)?;
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let local = listener.local_addr().map_err(listen)?;

        let metrics = Arc::<Metrics>::default();
        let (tasks, stopping, dropped) = (
            TaskTracker::new(),
            CancellationToken::new(),
            CancellationToken::new(),
        );
        let (hub, inputs) = HubHandle::new();
        let started = Instant::now();
        let (saving, ends) = saver(registry.file, metrics.clone());
        tasks.spawn(saving);
        let actor = Hub::new(
            machine,
            inputs,
            ends,
            metrics.clone(),
            started,
            config.limits.pylon_queue_bytes,
        );
        let over = dropped.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = actor.run() => {}
                () = over.cancelled() => {}
            }
        });
        let transport = match acceptor {
            Some(_) => Transport::Tls,
            None => Transport::Plain,
        };
        let shell = Shell {
            guard: Guard::new(&config.hosts, &config.origins, &config.proxies, transport),
            lobby: Lobby::new(config.limits.strangers, config.limits.strangers_per_address),
            limits: config.limits,
            pages: config.pages,
            api: config.api,
            metrics_token: config.metrics_token,
            metrics: metrics.clone(),
            hub: hub.clone(),
            tasks: tasks.clone(),
            stopping: stopping.clone(),
            started,
            connections: AtomicU64::new(1),
        };
        tasks.spawn(accept(Arc::new(shell), listener, acceptor));
        info!(address = %local, "the relay listens");
        Ok(Self {
            local,
            hub,
            metrics,
            tasks,
            stopping,
            dropped,
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The counters, in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.metrics.render()
    }

    /// Adds a Pylon or gives it a new secret; whoever is connected with the old one is cut off.
    pub async fn put_pylon(
        &self,
        realm: RealmName,
        pylon: PylonProfile,
    ) -> Result<Token, CommandError> {
        self.issued(Command::PutPylon { realm, pylon })
            .await
            .map(|(_, token)| token)
    }

    /// Takes a Pylon out and closes its connection.
    pub async fn remove_pylon(&self, realm: RealmName, id: DeviceId) -> Result<(), CommandError> {
        let command = Command::RemovePylon { realm, id };
        self.command(command).await.map(|_| ())
    }

    /// All Pylons, by realm and id.
    pub async fn pylons(&self) -> Result<Vec<ListedPylon>, CommandError> {
        match self.command(Command::ListPylons).await? {
            Outcome::Pylons(pylons) => Ok(pylons),
            Outcome::Issued(..) | Outcome::Removed | Outcome::Recognized(_) => {
                Err(CommandError::Stopped)
            }
        }
    }

    /// Adds a device without pairing.
    pub async fn add_device(
        &self,
        realm: RealmName,
        device: NewDevice,
    ) -> Result<Issued, CommandError> {
        let (key, token) = self.issued(Command::AddDevice { realm, device }).await?;
        let device_key = key.ok_or(CommandError::Stopped)?;
        Ok(Issued { device_key, token })
    }

    async fn issued(&self, command: Command) -> Result<(Option<DeviceKey>, Token), CommandError> {
        match self.command(command).await? {
            Outcome::Issued(key, token) => Ok((key, token)),
            // The machine answers a command with its own outcome.
            Outcome::Removed | Outcome::Pylons(_) | Outcome::Recognized(_) => {
                Err(CommandError::Stopped)
            }
        }
    }

    async fn command(&self, command: Command) -> Result<Outcome, CommandError> {
        let (reply, result) = oneshot::channel();
        let told = self.hub.tell(ToHub::Command(command, reply)).await;
        told.map_err(|_| CommandError::Stopped)?;
        let result = result.await.map_err(|_| CommandError::Stopped)?;
        Ok(result.ok_or(CommandError::Unsaved)??)
    }

    /// Stops taking connections, tells everybody, writes the registry, and waits for all to have gone.
    pub async fn stop(self) {
        self.stopping.cancel();
        let (stopped, done) = oneshot::channel();
        if self.hub.tell(ToHub::Stop(stopped)).await.is_ok() {
            // An error means that the hub is gone, which is what was wanted.
            let _ = done.await;
        }
        self.tasks.close();
        if tokio::time::timeout(FAREWELL, self.tasks.wait())
            .await
            .is_err()
        {
            warn!("some connections did not take their leave");
        }
        info!("the relay has stopped");
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stopping.cancel();
        self.dropped.cancel();
    }
}
