//! The door of `estelle up`: a Unix socket that its user alone can open.
//!
//! Lines are envelopes, as the relay speaks them. Answers go to everybody who is connected; each finds its own by the id
//! of its request.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use estelle_proto::{DeviceToRelay, Envelope, RelayToDevice, limits};
use estelle_pylon::link::relay::{RelayLink, RelayState};
use estelle_pylon::store::Store;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::store::{StoreRequest, tell};

/// Answers that may wait for one visitor; whoever misses one is let go.
const WAITING: usize = 64;
/// How long a visitor waits for a relay that is away; less than a visitor waits for an answer.
const ARRIVAL: Duration = Duration::from_secs(10);

/// How long the door waits when nobody can be let in, because no descriptor is free.
const BREATH: Duration = Duration::from_millis(100);

/// What the relay tells the machine, for everybody at the door.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    notices: broadcast::Sender<RelayToDevice>,
}

/// What is put back.
#[derive(Debug)]
pub(crate) enum PutBack {
    /// The database, from this file.
    Database(PathBuf),
    /// Everything, from this folder.
    Everything(PathBuf),
}

/// Somebody wants a copy put back. The store is closed for that, and with it the door: whoever does it answers.
#[derive(Debug)]
pub(crate) struct Restoration {
    /// The copy.
    pub(crate) copy: PutBack,
    /// Who wants it.
    pub(crate) visitor: UnixStream,
}

/// Whom the door leads to.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    pub(crate) relay: RelayLink,
    pub(crate) store: Store,
    pub(crate) restorations: mpsc::Sender<Restoration>,
}

/// Whether the relay says this to whoever is at the machine.
pub(crate) fn is_for_the_machine(message: &RelayToDevice) -> bool {
    matches!(
        message,
        RelayToDevice::PairOfferResult(_)
            | RelayToDevice::PairRequested(_)
            | RelayToDevice::PairConfirmResult(_)
            | RelayToDevice::PairClosed(_)
            | RelayToDevice::PairedListResult(_)
            | RelayToDevice::DeviceAddResult(_)
            | RelayToDevice::DeviceRevokeResult(_)
            | RelayToDevice::DeviceRightsResult(_)
    )
}

/// Whether somebody at the machine may say this as the Pylon.
fn may_say(message: &DeviceToRelay) -> bool {
    matches!(
        message,
        DeviceToRelay::PairOffer(_)
            | DeviceToRelay::PairConfirm(_)
            | DeviceToRelay::PairedList(_)
            | DeviceToRelay::DeviceAdd(_)
            | DeviceToRelay::DeviceRevoke(_)
            | DeviceToRelay::DeviceRights(_)
    )
}

impl Door {
    pub(crate) fn new() -> Self {
        let (notices, _) = broadcast::channel(WAITING);
        Self { notices }
    }

    /// The relay said something.
    pub(crate) fn tell(&self, message: RelayToDevice) {
        // Nobody may be there.
        let _ = self.notices.send(message);
    }

    /// Opens the door until `stop`.
    pub(crate) fn open(
        &self,
        data: &Path,
        inside: Inside,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> anyhow::Result<()> {
        let path = super::socket(data);
        let listener = bind(&path).with_context(|| format!("failed to open {}", path.display()))?;
        tasks.spawn(self.clone().receive(listener, inside, tasks.clone(), stop));
        Ok(())
    }

    async fn receive(
        self,
        listener: UnixListener,
        inside: Inside,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) {
        let listener = Arc::new(listener);
        let accept = move || {
            let listener = listener.clone();
            async move { listener.accept().await.map(|(visitor, _)| visitor) }
        };
        let until = stop.clone();
        let let_in = move |visitor| {
            let visit = serve(visitor, inside.clone(), self.notices.subscribe());
            tasks.spawn(until.clone().run_until_cancelled_owned(visit));
        };
        stop.run_until_cancelled_owned(let_in_all(accept, let_in))
            .await;
    }
}

/// Lets in whoever comes. Whoever cannot be let in waits before the door until there is room.
async fn let_in_all<V, F>(mut accept: impl FnMut() -> F, mut let_in: impl FnMut(V))
where
    F: Future<Output = io::Result<V>>,
{
    loop {
        match accept().await {
            Ok(visitor) => let_in(visitor),
            Err(error) => {
                tracing::warn!(%error, "nobody can be let in at the machine's door");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

impl Inside {
    /// Waits a moment for a relay that is away: after a start it is only being called.
    async fn is_at_the_relay(&self) -> bool {
        let mut state = self.relay.state();
        let is_up = state.wait_for(|state| matches!(state, RelayState::Up(_)));
        matches!(tokio::time::timeout(ARRIVAL, is_up).await, Ok(Ok(_)))
    }

    /// Does what somebody at the machine asks of the store, and tells them how it went.
    async fn at_store(self, request: StoreRequest, mut visitor: UnixStream) {
        match request {
            StoreRequest::Backup { to } => {
                let written = self.store.backup(to).await;
                let written = written.map(|()| Vec::new());
                tell(&mut visitor, &written.map_err(Into::into)).await;
            }
            StoreRequest::Restore { from } => self.put_back(PutBack::Database(from), visitor),
            StoreRequest::RestoreAll { from } => self.put_back(PutBack::Everything(from), visitor),
        }
    }
}

impl Inside {
    fn put_back(&self, copy: PutBack, visitor: UnixStream) {
        // If there is no room the same is under way already.
        let _ = self.restorations.try_send(Restoration { copy, visitor });
    }
}

fn bind(path: &PathBuf) -> io::Result<UnixListener> {
    // The registry's lock says that we are alone, so what lies there was left behind.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// One visitor, until either side has had enough.
async fn serve(
    visitor: UnixStream,
    inside: Inside,
    mut notices: broadcast::Receiver<RelayToDevice>,
) -> io::Result<()> {
    let (from, mut to) = visitor.into_split();
    let limit = u64::try_from(limits::MAX_FRAME_BYTES).unwrap_or(u64::MAX);
    let mut lines = BufReader::new(from.take(limit)).lines();
    loop {
        tokio::select! {
            line = lines.next_line() => {
                let Some(line) = line? else { return Ok(()) };
                if let Ok(request) = serde_json::from_str::<StoreRequest>(&line) {
                    let from = lines.into_inner().into_inner().into_inner();
                    if let Ok(visitor) = from.reunite(to) {
                        inside.at_store(request, visitor).await;
                    }
                    return Ok(());
                }
                let Ok(envelope) = Envelope::<DeviceToRelay>::parse(&line) else { return Ok(()) };
                if !may_say(&envelope.message) || !inside.is_at_the_relay().await {
                    return Ok(());
                }
                if inside.relay.send(&envelope).is_err() {
                    return Ok(());
                }
            }
            notice = notices.recv() => {
                let Ok(notice) = notice else { return Ok(()) };
                let Ok(text) = Envelope::<RelayToDevice>::new(notice).to_json() else { continue };
                to.write_all(format!("{text}\n").as_bytes()).await?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_door_stays_open_after_somebody_could_not_be_let_in() {
        let no_room = || io::Error::from_raw_os_error(24);
        let mut coming = vec![Ok(2), Err(no_room()), Err(no_room()), Ok(1)];
        let (came, mut seen) = mpsc::channel(4);
        let accept = || {
            let accepted = coming.pop();
            async move {
                match accepted {
                    Some(accepted) => accepted,
                    None => std::future::pending().await,
                }
            }
        };
        let let_in = |visitor: i32| came.try_send(visitor).unwrap();
        tokio::select! {
            () = let_in_all(accept, let_in) => {}
            both = async { [seen.recv().await, seen.recv().await] } => {
                assert_eq!(both, [Some(1), Some(2)]);
            }
        }
    }
}
