//! The signals that ask a part to end.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Interrupt, terminate and hang-up.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// From now on they are ours.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("failed to listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// The next signal, by the name that clients are told.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            Some(()) = self.interrupt.recv() => "SIGINT",
            Some(()) = self.terminate.recv() => "SIGTERM",
            // A terminal that is closed asks for the same.
            Some(()) = self.hang_up.recv() => "SIGTERM",
            else => std::future::pending().await,
        }
    }
}
