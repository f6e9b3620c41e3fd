//! The listener: loopback alone, HTTP 1 alone, and room for so many.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use estelle_proto::Right;
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, warn};

use crate::config::{GatewayConfig, GatewayParts};
use crate::connection;
use crate::guard::Guard;
use crate::lobby::{Lobby, Seat};
use crate::respond::{respond, respond_to};

/// After a failed accept, mostly for want of file descriptors, somebody has to leave first.
const BREATH: Duration = Duration::from_millis(100);

/// Why the gateway does not listen.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address is not of this machine alone.
    #[error("{0} is not a loopback address; put a proxy with TLS in front of one that is")]
    NotLoopback(SocketAddr),
    /// Nobody could come in.
    #[error("the gateway has no token")]
    NoKey,
    /// The system does not give the address.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
}

/// What every connection needs.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) config: GatewayConfig,
    pub(crate) parts: GatewayParts,
    pub(crate) guard: Guard,
    lobby: Lobby,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// A gateway that listens. It ends with the `stop` it was given.
#[derive(Debug, Clone)]
pub struct Gateway {
    address: SocketAddr,
    shell: Arc<Shell>,
}

impl Gateway {
    /// Begins to listen.
    pub async fn open(
        config: GatewayConfig,
        parts: GatewayParts,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Result<Self, OpenError> {
        let address = config.listen;
        if !address.ip().to_canonical().is_loopback() {
            return Err(OpenError::NotLoopback(address));
        }
        if config.keys.is_empty() {
            return Err(OpenError::NoKey);
        }
        let refused = |source| OpenError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let shell = Shell {
            guard: Guard::new(address, &config.hosts, &config.origins),
            config,
            parts,
            lobby: Lobby::new(),
            tasks: tasks.clone(),
            stop,
        };
        let shell = Arc::new(shell);
        tasks.spawn(accept(shell.clone(), listener));
        Ok(Self { address, shell })
    }

    /// Answers a request that came by another door, which has seen to `Host`, `Origin` and who it is; this much they may do.
    pub async fn answer(
        &self,
        rights: Vec<Right>,
        request: hyper::Request<Incoming>,
    ) -> hyper::Response<Full<Bytes>> {
        respond_to(&self.shell, rights, request).await
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn accept(shell: Arc<Shell>, listener: TcpListener) {
    loop {
        let accepted = tokio::select! {
            () = shell.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                warn!(%error, "no connection can be taken");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let Some(seat) = shell.lobby.enter() else {
            debug!("too many connections");
            continue;
        };
        let tasks = shell.tasks.clone();
        tasks.spawn(serve(shell.clone(), stream, seat));
    }
}

async fn serve(shell: Arc<Shell>, stream: TcpStream, seat: Seat) {
    // Without it small frames would wait for each other.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let stop = shell.stop.clone();
    let seat = Arc::new(seat);
    let sitting = seat.clone();
    let answer = move |mut request: hyper::Request<_>| {
        // A connection that becomes a WebSocket keeps its seat.
        request.extensions_mut().insert(seat.clone());
        respond(shell.clone(), request)
    };
    let serving = stop.run_until_cancelled(connection::serve(stream, answer));
    tokio::select! {
        _ = serving => {}
        () = sitting.evicted() => debug!("a stranger makes room"),
    }
}
