//! The link to the relay: a WebSocket client that outlives every connection.
//!
//! ```text
//!   desk ── Outlet::send ─► queue ─► wire ─► relay ─► apps
//!   desk ◄──── FromRelay ─────────── wire ◄─ relay ◄─ apps
//! ```
//!
//! Each connection has an [`Outlet`] of its own. What waits in it when the connection breaks is gone, and so is the
//! outlet: the ids of apps belong to the relay's life, and after its restart the same number may be somebody else. Apps
//! notice by the numbers of events what they have missed, and ask for it. The queue is bounded in bytes; when it is full
//! the connection is given up, so that a slow relay never holds up the desk.

mod outlet;
mod tls;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use estelle_proto::auth::AuthResult;
use estelle_proto::{
    ApiError, AppToPylon, DeviceId, Envelope, Message, Name, PylonToPylon, RelayToDevice, Token,
};
use estelle_state::link::{Backoff, Pace};
use rustls::pki_types::CertificateDer;
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use outlet::{Outlet, SendError};
pub use tls::connector;

/// Messages that wait for the desk; what is more waits in the socket, and in the end with the relay.
const INBOX: usize = 256;

/// Where the relay is and who we are.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// Its address: `ws://` or `wss://`.
    pub url: String,
    /// Our id, from the relay's configuration.
    pub device_id: DeviceId,
    /// Our secret.
    pub token: Option<Token>,
    /// A name for people; none means the relay's.
    pub name: Option<Name>,
    /// Authorities to trust for `wss` beside the public ones, for a relay with a certificate of the household's own.
    pub authorities: Vec<CertificateDer<'static>>,
    /// When a lost connection is tried again.
    pub pace: Pace,
    /// How long connecting and `auth` may take together.
    pub open_within: Duration,
    /// How often the relay is asked whether it is still there.
    pub ping_every: Duration,
    /// How long it may say nothing at all.
    pub dead_after: Duration,
}

impl RelayConfig {
    /// With the usual times.
    pub fn new(url: String, device_id: DeviceId, token: Option<Token>) -> Self {
        Self {
            url,
            device_id,
            token,
            name: None,
            authorities: Vec::new(),
            pace: Pace::default(),
            open_within: Duration::from_secs(10),
            ping_every: Duration::from_secs(10),
            dead_after: Duration::from_secs(30),
        }
    }
}

/// What the link hands on, in the order in which it came.
#[derive(Debug, Clone)]
pub enum FromRelay {
    /// A connection stands. What comes next is answered through this outlet.
    Up {
        /// What the relay says about us.
        auth: Box<AuthResult>,
        /// The way to the apps.
        outlet: Outlet,
    },
    /// The relay itself says something.
    Relay(Box<RelayToDevice>),
    /// A client wants something.
    App(Box<Envelope<AppToPylon>>),
    /// Another pylon says something.
    Pylon(Box<Envelope<PylonToPylon>>),
    /// The connection is gone, and all clients with it; it is tried again.
    Down(LostRelay),
}

/// Why there is no connection.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LostRelay {
    /// Nothing was tried yet.
    #[error("the relay was not called yet")]
    Untried,
    /// It does not answer, or not as a relay does.
    #[error("the relay cannot be reached: {0}")]
    Unreachable(Arc<tungstenite::Error>),
    /// An authority of the configuration cannot be used.
    #[error("a certificate of the configuration cannot be used: {0}")]
    BadAuthority(rustls::Error),
    /// It took the call and did not let us in, in all the time.
    #[error("the relay did not answer `auth`")]
    NoAnswer,
    /// It does not want us.
    #[error("the relay refused this pylon: {0}")]
    Refused(ApiError),
    /// It went away.
    #[error("the relay closed the connection")]
    Closed,
    /// Reading or writing failed.
    #[error("the connection to the relay broke: {0}")]
    Broken(Arc<tungstenite::Error>),
    /// Nothing came for too long, not even an answer to a ping.
    #[error("the relay fell silent")]
    Silent,
    /// It takes too little of what we send.
    #[error("the relay is too slow")]
    Congested,
}

/// Whether the relay is there.
#[derive(Debug, Clone)]
pub enum RelayState {
    /// It let us in.
    Up(Outlet),
    /// It is not, and why.
    Away(LostRelay),
}

/// The link, for whoever has something to say to the apps.
#[derive(Debug, Clone)]
pub struct RelayLink {
    state: watch::Receiver<RelayState>,
}

impl RelayLink {
    /// Starts the link. It ends when `stop` is cancelled or the inbox is dropped.
    pub fn spawn(
        config: RelayConfig,
        tracker: &TaskTracker,
        stop: CancellationToken,
    ) -> (Self, mpsc::Receiver<FromRelay>) {
        let (inbox, received) = mpsc::channel(INBOX);
        let (state, watched) = watch::channel(RelayState::Away(LostRelay::Untried));
        let actor = Actor {
            backoff: Backoff::new(config.pace),
            config,
            inbox,
            state,
        };
        tracker.spawn(stop.run_until_cancelled_owned(actor.run()));
        (Self { state: watched }, received)
    }

    /// Whether the relay is there, and when that changes.
    pub fn state(&self) -> watch::Receiver<RelayState> {
        self.state.clone()
    }

    /// Sends a message over the connection that stands, if one does.
    pub fn send<M: Message>(&self, envelope: &Envelope<M>) -> Result<(), SendError> {
        match &*self.state.borrow() {
            RelayState::Up(outlet) => outlet.send(envelope),
            RelayState::Away(_) => Err(SendError::Gone),
        }
    }
}

#[derive(Debug)]
struct Actor {
    config: RelayConfig,
    inbox: mpsc::Sender<FromRelay>,
    state: watch::Sender<RelayState>,
    backoff: Backoff,
}

/// Nobody reads the inbox any more.
#[derive(Debug)]
struct Unread;

impl Actor {
    async fn run(mut self) {
        loop {
            let Ok((lost, lasted)) = self.connection().await else {
                return;
            };
            let wait = self.backoff.wait_after(lasted, fastrand::u64(..));
            tracing::debug!(%lost, ?wait, "no connection to the relay");
            self.state.send_replace(RelayState::Away(lost.clone()));
            if !lasted.is_zero() && self.hand_on(FromRelay::Down(lost)).await.is_err() {
                return;
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// One connection from beginning to end. Says how long it was good; zero if it never was.
    async fn connection(&mut self) -> Result<(LostRelay, Duration), Unread> {
        let opened = tokio::time::timeout(self.config.open_within, wire::open(&self.config)).await;
        let (auth, socket) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(lost)) => return Ok((lost, Duration::ZERO)),
            Err(_) => return Ok((LostRelay::NoAnswer, Duration::ZERO)),
        };
        let since = tokio::time::Instant::now();
        let (outlet, queue) = Outlet::open();
        tracing::info!("the relay is there");
        self.state.send_replace(RelayState::Up(outlet.clone()));
        let auth = Box::new(auth);
        let up = FromRelay::Up {
            auth,
            outlet: outlet.clone(),
        };
        self.hand_on(up).await?;
        let lost = wire::carry(&self.config, socket, &self.inbox, &outlet, queue).await?;
        // A connection that was good for no time at all was good nevertheless.
        Ok((lost, since.elapsed().max(Duration::from_nanos(1))))
    }

    async fn hand_on(&self, message: FromRelay) -> Result<(), Unread> {
        self.inbox.send(message).await.map_err(|_| Unread)
    }
}
