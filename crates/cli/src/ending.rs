//! The end of `estelle up` and `estelle pylon` by a signal. Usually the host and its runs live on. Where
//! `host.shutdown_stops_runs` says that they do not, the host ends them first, while whoever looks is still served: they
//! are told that everything ends, and then of each process.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use estelle_host::data::socket;
use estelle_host::ipc::{Client, ConnectError};
use estelle_proto::ipc::Shutdown;
use estelle_pylon::link::host::HostState;

use crate::config::HostSection;
use crate::host::HostProcess;
use crate::pylon::Pylon;
use crate::signals::Signals;

/// What the host may take beyond the grace of its runs: to kill what is left, and to end what the runs left behind.
const MARGIN: Duration = Duration::from_secs(30);

/// What became of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostEnd {
    /// It goes on with what it does.
    Left,
    /// It has ended with its runs.
    Ended,
    /// It was asked to end with its runs, and nobody waited until it had, or it could not be asked.
    Unknown,
}

/// Ends the host and its runs if that is configured. A second signal does not wait for it.
pub(crate) async fn end_runs(
    section: &HostSection,
    data: &Path,
    pylon: &Pylon,
    signal: &'static str,
    signals: &mut Signals,
) -> HostEnd {
    if !section.shutdown_stops_runs {
        return HostEnd::Left;
    }
    let grace = Duration::from_secs(section.shutdown_grace_seconds);
    let ending = tokio::time::timeout(grace + MARGIN, end_host(data, pylon, signal));
    tokio::select! {
        ended = ending => match ended {
            Ok(Ok(())) => return HostEnd::Ended,
            Ok(Err(error)) => tracing::error!("the host was not ended: {error:#}"),
            Err(_) => tracing::error!("the host did not end in time"),
        },
        _ = signals.next() => tracing::warn!("a second signal: nobody waits for the runs"),
    }
    HostEnd::Unknown
}

async fn end_host(data: &Path, pylon: &Pylon, signal: &str) -> anyhow::Result<()> {
    let told = pylon.lost_host();
    let is_there = matches!(*pylon.host.state().borrow(), HostState::Up(_));
    let mut client = match Client::connect(&socket(data)).await {
        Ok(client) => client,
        Err(ConnectError::NoHost { .. }) => return Ok(()),
        Err(error) => return Err(error).context("failed to call the host"),
    };
    let shutdown = Shutdown {
        stop_runs: Some(true),
        reason: Some(signal.to_owned()),
        ..Shutdown::default()
    };
    let process = HostProcess::of(data);
    client.ask(shutdown).await?;
    while client.receive().await.is_ok() {}
    process.gone().await;
    // What the host said last is in the store and on its way to those who look.
    if is_there {
        told.await;
    }
    Ok(())
}
