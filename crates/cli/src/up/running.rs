//! The Pylon of `estelle up` while it runs, with whoever keeps its host.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use estelle_proto::Right;
use estelle_pylon::link::relay::RelayState;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::host::HostKeeper;
use crate::config::Config;
use crate::ending::{self, HostEnd};
use crate::gateway::Reached;
use crate::machine::{self, Code, Restoration};
use crate::pylon::Pylon;
use crate::signals::Signals;

/// The Pylon and whoever keeps its host.
pub(super) struct Running {
    pylon: Pylon,
    pub(super) gateway: Option<SocketAddr>,
    reached: Reached,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// Starts the Pylon and waits until it is there.
pub(super) async fn begin(
    config: &Config,
    data: &Path,
    pylon: Pylon,
    keeper: &HostKeeper,
    restorations: &mpsc::Sender<Restoration>,
    reached: &Reached,
) -> anyhow::Result<Running> {
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    tasks.spawn(keeper.clone().keep(pylon.host.state(), stop.clone()));
    joined(&pylon).await?;
    pylon.open_door(data, restorations.clone())?;
    let gateway = pylon.open_gateway(config, data).await?;
    reached.set(gateway.clone());
    Ok(Running {
        pylon,
        gateway: gateway.map(|gateway| gateway.address()),
        reached: reached.clone(),
        tasks,
        stop,
    })
}

impl Running {
    pub(super) fn invite(&self, data: PathBuf, is_reachable: bool) {
        let stop = self.stop.clone();
        self.tasks
            .spawn(stop.run_until_cancelled_owned(invite(data, is_reachable)));
    }

    /// Ends the host and its runs, if a signal is to end them. Nobody starts another host meanwhile.
    pub(super) async fn end_runs(
        &self,
        config: &Config,
        data: &Path,
        signal: &'static str,
        signals: &mut Signals,
    ) -> HostEnd {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        ending::end_runs(&config.host, data, &self.pylon, signal, signals).await
    }

    pub(super) async fn stop(self) {
        self.reached.set(None);
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.pylon.stop().await;
    }
}

/// Offers to let the first device in; a phone can only come when it can reach us.
async fn invite(data: PathBuf, is_reachable: bool) {
    let show = if is_reachable { Code::Both } else { Code::Link };
    let rights = vec![Right::View, Right::Prompt, Right::Approve];
    if let Err(error) = machine::offer(&[data], rights, show).await {
        anstream::println!("{error:#}");
    }
}

/// Waits until the relay has let the Pylon in: only then is there anybody to talk to.
async fn joined(pylon: &Pylon) -> anyhow::Result<()> {
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);
    let mut state = pylon.relay.state();
    let is_up = |state: &RelayState| matches!(state, RelayState::Up(_));
    let waited = tokio::time::timeout(PATIENCE, state.wait_for(is_up)).await;
    if matches!(waited, Ok(Ok(_))) {
        return Ok(());
    }
    drop(waited);
    match &*pylon.relay.state().borrow() {
        RelayState::Up(_) => Ok(()),
        RelayState::Away(reason) => anyhow::bail!("the Pylon cannot join its own relay: {reason}"),
    }
}
