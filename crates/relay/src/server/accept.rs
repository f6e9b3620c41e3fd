//! Sockets: room for them, TLS if it is spoken, and HTTP with a limit on everything a stranger can draw out.
//!
//! HTTP is version 1 only. Headers have five seconds and 16 KiB, a handshake of TLS as long, and a connection that does
//! not become a WebSocket two minutes in all. The relay itself never reads a body; whoever embeds it may, for devices.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, warn};

use super::connection::put_out;
use super::guard::Guard;
use super::http;
use super::hub::HubHandle;
use super::lobby::{Lobby, Seat};
use crate::config::{Api, Limits, Pages};
use crate::metrics::Metrics;
use estelle_proto::Token;

/// A stranger must have sent its headers by then; the same for the handshake of TLS.
const HEADER_TIME: Duration = Duration::from_secs(5);
/// A connection that stays HTTP is for pages, which take no longer.
const HTTP_TIME: Duration = Duration::from_mins(2);
/// Headers and what may follow them at once.
const HEADER_BYTES: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
/// After a failed accept, mostly for want of file descriptors, somebody has to leave first.
const BREATH: Duration = Duration::from_millis(100);

/// What every connection needs of its relay.
pub(super) struct Shell {
    pub(super) guard: Guard,
    pub(super) lobby: Lobby,
    pub(super) limits: Limits,
    pub(super) pages: Option<Pages>,
    pub(super) api: Option<Api>,
    pub(super) metrics_token: Option<Token>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) hub: HubHandle,
    pub(super) tasks: TaskTracker,
    pub(super) stopping: CancellationToken,
    pub(super) started: Instant,
    pub(super) connections: AtomicU64,
}

/// Somebody at the door.
pub(super) struct Visitor {
    pub(super) shell: Arc<Shell>,
    pub(super) peer: IpAddr,
    pub(super) local: SocketAddr,
    /// Handed on when the connection becomes a WebSocket.
    pass: Mutex<Option<Pass>>,
}

/// The right to take up room.
#[derive(Debug)]
pub(super) struct Pass {
    /// None behind a proxy, until it is known who is there.
    pub(super) seat: Option<Seat>,
    pub(super) permit: OwnedSemaphorePermit,
}

impl Visitor {
    pub(super) fn take_pass(&self) -> Option<Pass> {
        let mut pass = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        pass.take()
    }
}

/// Takes connections until the relay stops.
pub(super) async fn accept(shell: Arc<Shell>, listener: TcpListener, tls: Option<TlsAcceptor>) {
    let room = Arc::new(Semaphore::new(shell.limits.connections));
    loop {
        let accepted = tokio::select! {
            biased;
            () = shell.stopping.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                warn!(%error, "no connection can be taken");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        let Some(pass) = admit(&shell, &room, peer.ip()) else {
            shell.metrics.refused_connections_total.one();
            continue;
        };
        let (shell, tls) = (shell.clone(), tls.clone());
        let tasks = shell.tasks.clone();
        tasks.spawn(greet(shell, stream, peer.ip(), pass, tls));
    }
}

fn admit(shell: &Shell, room: &Arc<Semaphore>, peer: IpAddr) -> Option<Pass> {
    let permit = room.clone().try_acquire_owned().ok()?;
    let seat = if shell.guard.is_proxy(peer) {
        None
    } else {
        Some(shell.lobby.enter(peer)?)
    };
    Some(Pass { seat, permit })
}

async fn greet(
    shell: Arc<Shell>,
    stream: TcpStream,
    peer: IpAddr,
    pass: Pass,
    tls: Option<TlsAcceptor>,
) {
    // Without it small frames would wait for each other.
    let Ok(local) = stream.set_nodelay(true).and_then(|()| stream.local_addr()) else {
        return;
    };
    let evicted = pass.seat.as_ref().map(|seat| seat.evicted.clone());
    let visitor = Arc::new(Visitor {
        shell: shell.clone(),
        peer,
        local,
        pass: Mutex::new(Some(pass)),
    });
    let serve = async {
        match tls {
            None => serve(visitor, stream).await,
            Some(tls) => match tokio::time::timeout(HEADER_TIME, tls.accept(stream)).await {
                Ok(Ok(stream)) => serve(visitor, stream).await,
                Ok(Err(error)) => debug!(%error, "no TLS"),
                Err(_) => debug!("TLS took too long"),
            },
        }
    };
    tokio::select! {
        () = serve => {}
        () = shell.stopping.cancelled() => {}
        () = put_out(evicted.as_ref()) => shell.metrics.refused_connections_total.one(),
    }
}

async fn serve<S>(visitor: Arc<Visitor>, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let visitor = visitor.clone();
        async move { Ok::<_, std::convert::Infallible>(http::respond::<S>(&visitor, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    match tokio::time::timeout(HTTP_TIME, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "HTTP ended"),
        Err(_) => debug!("HTTP took too long"),
    }
}
