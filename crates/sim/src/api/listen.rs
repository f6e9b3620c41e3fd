//! The listening socket with its bounds: so many connections at a time, none idle for ever, all cut at shutdown.
//!
//! It knows bytes only. A connection that has neither read nor written for [`IDLE`] ends with an error, which is also
//! how a connection learns that the server has stopped.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Longest silence on a connection: longer than any test holds a gate.
const IDLE: Duration = Duration::from_mins(10);
/// Pause after a failed accept, which mostly means that descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A listener with bounds.
pub(super) struct Bounded {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    stop: CancellationToken,
}

/// A connection with bounds.
pub(super) struct Connection {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener, connections: usize, stop: CancellationToken) -> Self {
        Self {
            listener,
            slots: Arc::new(Semaphore::new(connections)),
            stop,
        }
    }
}

impl axum::serve::Listener for Bounded {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // The semaphore is never closed, so a slot is always given in the end.
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    // Deltas are small; without this each would wait for the acknowledgement of the one before.
                    let _ = stream.set_nodelay(true);
                    let connection = Connection {
                        stream,
                        idle: Box::pin(tokio::time::sleep(IDLE)),
                        stop: Box::pin(self.stop.clone().cancelled_owned()),
                        _slot: slot,
                    };
                    return (connection, address);
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connection {
    /// Fails when the server has stopped or nothing has moved for too long; otherwise registers for both.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.stop.as_mut().poll(context).is_ready() {
            return Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "the server has stopped",
            ));
        }
        if self.idle.as_mut().poll(context).is_ready() {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the connection was idle",
            ));
        }
        Ok(())
    }

    fn moved<T>(&mut self, poll: Poll<T>) -> Poll<T> {
        if poll.is_ready() {
            self.idle.as_mut().reset(Instant::now() + IDLE);
        }
        poll
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        let poll = Pin::new(&mut self.stream).poll_read(context, buf);
        self.moved(poll)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.moved(poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
