//! The listener: loopback alone, HTTP 1 alone, with a limit on everything a stranger can draw out.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, warn};

use crate::config::{GatewayConfig, GatewayParts};
use crate::guard::Guard;
use crate::respond::respond;

/// Connections at once. A browser takes six, a client of ours one.
const CONNECTIONS: usize = 256;
/// Sockets at once that have not said who they are.
const STRANGERS: usize = 16;
/// The headers must be there by then.
const HEADER_TIME: Duration = Duration::from_secs(5);
/// Longer than any request may take; an upgrade ends the count.
const HTTP_TIME: Duration = Duration::from_mins(2);
const HEADER_BYTES: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
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
    pub(crate) strangers: Arc<Semaphore>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// A gateway that listens. It ends with the `stop` it was given.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
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
            strangers: Arc::new(Semaphore::new(STRANGERS)),
            tasks: tasks.clone(),
            stop,
        };
        tasks.spawn(accept(Arc::new(shell), listener));
        Ok(Self { address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn accept(shell: Arc<Shell>, listener: TcpListener) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
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
        let Ok(seat) = room.clone().try_acquire_owned() else {
            debug!("too many connections");
            continue;
        };
        let tasks = shell.tasks.clone();
        tasks.spawn(serve(shell.clone(), stream, seat));
    }
}

async fn serve(shell: Arc<Shell>, stream: TcpStream, seat: OwnedSemaphorePermit) {
    // Without it small frames would wait for each other.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let stop = shell.stop.clone();
    let seat = Arc::new(seat);
    let service = service_fn(move |mut request: hyper::Request<_>| {
        let shell = shell.clone();
        // A connection that becomes a WebSocket keeps its seat.
        request.extensions_mut().insert(seat.clone());
        async move { Ok::<_, Infallible>(respond(shell, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        () = stop.cancelled() => {}
        served = tokio::time::timeout(HTTP_TIME, connection) => match served {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%error, "HTTP ended"),
            Err(_) => debug!("HTTP took too long"),
        }
    }
}
