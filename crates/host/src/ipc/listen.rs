//! The socket itself: where it is, who may connect, and how many.
//!
//! It lies in the data folder, readable for nobody else whatever the umask is. Whoever has the data folder's lock may put
//! a new one in the place of an old one; the old one cannot have a host behind it. Peers are checked as well, because
//! the rights of a file can be changed behind our back.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use estelle_proto::ipc::to_line;
use estelle_proto::{ApiError, ErrorCode, ErrorReport, HostToPylon, Retry};
use rustix::fs::{Mode, fchmod};
use rustix::process::{Resource, getrlimit};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{UnixListener, UnixSocket, UnixStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::attend;
use super::desk::Desk;
use crate::data::DataFolder;

/// How many clients may be connected at once. A Pylon, a few terminals and tests need a handful.
pub const MAX_CLIENTS: usize = 64;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 128;
/// Descriptors that no client gets: a conversation needs some for its run, however many clients come.
const RESERVED: u64 = 24;
/// What a path of a socket may have, without the byte at its end.
const MAX_PATH: usize = 107;
/// How long to wait when the system is out of descriptors, and for a client to take a refusal.
const PAUSE: Duration = Duration::from_millis(100);

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The system does not take such a path for a socket.
    #[error(
        "the path of the host's socket has {} bytes and the system takes {MAX_PATH}: choose a data folder with a shorter path than {}",
        path.as_os_str().len(),
        path.display()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
    },
    /// It cannot be made.
    #[error("failed to make the host's socket {}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The socket of a host that holds its data folder.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    /// **Invariant:** the lock is held for as long as the socket may be removed.
    _data: Arc<DataFolder>,
}

impl Listener {
    /// Makes the socket, in the place of one that a dead host left behind.
    pub fn bind(data: Arc<DataFolder>) -> Result<Self, BindError> {
        let path = data.socket();
        if path.as_os_str().len() > MAX_PATH {
            return Err(BindError::TooLong { path });
        }
        // Made beside its place and moved there, so that clients find the old one or one they can use.
        let beside = path.with_file_name(".host.new");
        match bind_privately(&beside).and_then(|listener| {
            fs::rename(&beside, &path)?;
            Ok(listener)
        }) {
            Ok(socket) => Ok(Self {
                socket,
                path,
                _data: data,
            }),
            Err(source) => Err(BindError::Io { path, source }),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Without a host it would only lead clients astray; the next host replaces it anyway.
        let _ = fs::remove_file(&self.path);
    }
}

fn bind_privately(path: &std::path::Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let socket = UnixSocket::new_stream()?;
    // On Linux the file gets the mode of the socket less the umask, so it is never open to others; a umask that takes
    // our own rights away is made good afterwards.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    socket.bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    socket.listen(BACKLOG)
}

/// Whether what is kept back is still free: the system gives the lowest number that is.
fn leaves_enough(stream: &UnixStream) -> bool {
    let taken = u64::try_from(stream.as_raw_fd()).unwrap_or_default();
    let limit = getrlimit(Resource::Nofile).current;
    limit.is_none_or(|limit| taken.saturating_add(RESERVED.min(limit / 8)) < limit)
}

/// Serves clients until `stop` is cancelled and they have been told what was still to be told.
pub async fn serve<D: Desk>(listener: Listener, desk: Arc<D>, stop: CancellationToken) {
    let clients = TaskTracker::new();
    let places = Arc::new(Semaphore::new(MAX_CLIENTS));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = listener.socket.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, most likely. The connection waits in the backlog meanwhile.
                tracing::warn!(%error, "cannot accept a client");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if !leaves_enough(&stream) {
            tracing::warn!("a client is sent away: hardly any descriptors are left");
            drop(stream);
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        if let Err(error) = check_peer(&stream) {
            clients.spawn(refuse(stream, error));
            continue;
        }
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            clients.spawn(refuse(stream, too_many()));
            continue;
        };
        let (desk, stop) = (Arc::clone(&desk), stop.clone());
        clients.spawn(async move {
            let (from, to) = stream.into_split();
            attend(from, to, desk, stop).await;
            drop(place);
        });
    }
    // Nobody new; those who are here are told the rest.
    drop(listener);
    clients.close();
    clients.wait().await;
}

fn check_peer(stream: &UnixStream) -> Result<(), ApiError> {
    let own = rustix::process::geteuid().as_raw();
    match stream.peer_cred() {
        Ok(peer) if is_welcome(own, peer.uid()) => Ok(()),
        Ok(peer) => {
            tracing::warn!(uid = peer.uid(), pid = ?peer.pid(), "another user tried to connect");
            let text = "the host serves its own user alone".to_owned();
            Err(ApiError::new(ErrorCode::Forbidden, text, Retry::Never))
        }
        Err(error) => {
            tracing::warn!(%error, "cannot tell who connects");
            let text = "the host cannot tell who you are".to_owned();
            Err(ApiError::new(ErrorCode::Forbidden, text, Retry::Never))
        }
    }
}

/// The user of the host and root, who could do anything anyway.
fn is_welcome(own: u32, peer: u32) -> bool {
    peer == own || peer == 0
}

fn too_many() -> ApiError {
    let text =
        format!("{MAX_CLIENTS} clients are connected, which is all the host takes; try later");
    ApiError::new(ErrorCode::RateLimited, text, Retry::Later)
}

/// Tells why. The buffer of a new connection is empty, so this is a matter of moments.
async fn refuse(mut stream: UnixStream, error: ApiError) {
    let line = to_line(&HostToPylon::Error(ErrorReport::from(error))).unwrap_or_default();
    // A client that is gone already does not need to know.
    let _ = tokio::time::timeout(PAUSE, stream.write_all(line.as_bytes())).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_user_and_root_are_welcome() {
        assert!(is_welcome(1000, 1000) && is_welcome(1000, 0) && is_welcome(0, 0));
        assert!(!is_welcome(1000, 1001) && !is_welcome(0, 1000));
    }

    #[test]
    fn a_path_that_is_too_long_is_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(MAX_PATH));
        let data = Arc::new(DataFolder::take(&deep).unwrap());
        let error = Listener::bind(data).unwrap_err().to_string();
        assert!(
            error.contains("choose a data folder with a shorter path"),
            "{error}"
        );
    }
}
