//! A look at a terminal: one connection to the socket of its keeper.
//!
//! What is typed and shown goes between the keeper and here, past the host, so that it goes on while the host is away. It
//! does not reconnect: whoever looks begins again with a whole screen.

use std::path::Path;
use std::time::Duration;

use estelle_proto::ipc::{KeptTerminal, ListTerminals, parse_line, to_line};
use estelle_proto::keeper::{KeeperToViewer, ViewerToKeeper};
use estelle_proto::{ApiError, ErrorCode, Reply as _, Retry, TerminalId, limits};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::host::HostLink;
use super::lines::{Line, Lines};

/// What a keeper may have sent and nobody has read: more than it sends unacknowledged.
const UNREAD: usize = 512;
/// How long a keeper may take to answer, and to take what is said to it.
const ANSWER: Duration = Duration::from_secs(30);

/// A look at a terminal. Dropping it ends the look, not the terminal.
#[derive(Debug)]
pub struct Viewer {
    seen: mpsc::Receiver<KeeperToViewer>,
    speaker: Speaker,
}

/// The half of a look that speaks.
#[derive(Debug)]
pub struct Speaker {
    to: OwnedWriteHalf,
}

impl Viewer {
    /// Connects to a keeper of a version that is spoken here.
    pub async fn open(socket: &Path, tasks: &TaskTracker) -> Result<Self, ApiError> {
        let stream = UnixStream::connect(socket).await.map_err(|_| over())?;
        let (from, to) = stream.into_split();
        let (told, seen) = mpsc::channel(UNREAD);
        tasks.spawn(read(from, told));
        let speaker = Speaker { to };
        let mut viewer = Self { seen, speaker };
        match tokio::time::timeout(ANSWER, viewer.next()).await {
            Ok(Some(KeeperToViewer::Hello(hello))) if hello.protocol == limits::KEEPER_PROTOCOL => {
                Ok(viewer)
            }
            Ok(Some(KeeperToViewer::Hello(_))) => {
                let text = "this terminal was started by another version of Estelle: close it";
                let code = ErrorCode::ProtocolMismatch;
                Err(ApiError::new(code, text.to_owned(), Retry::Never))
            }
            Ok(_) | Err(_) => Err(over()),
        }
    }

    /// What the keeper says next; nothing when it is gone.
    pub async fn next(&mut self) -> Option<KeeperToViewer> {
        self.seen.recv().await
    }

    /// Says something to the keeper.
    pub async fn say(&mut self, message: impl Into<ViewerToKeeper>) -> Result<(), ApiError> {
        self.speaker.say(message).await
    }

    /// The two halves, for those who speak while they listen.
    pub fn split(self) -> (mpsc::Receiver<KeeperToViewer>, Speaker) {
        (self.seen, self.speaker)
    }
}

impl Speaker {
    /// Says something to the keeper.
    pub async fn say(&mut self, message: impl Into<ViewerToKeeper>) -> Result<(), ApiError> {
        let line = to_line(&message.into())
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string(), Retry::Never))?;
        let written = tokio::time::timeout(ANSWER, self.to.write_all(line.as_bytes()));
        match written.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(over()),
        }
    }
}

async fn read(from: OwnedReadHalf, told: mpsc::Sender<KeeperToViewer>) {
    let mut lines = Lines::new(BufReader::new(from), limits::MAX_KEEPER_LINE_BYTES);
    loop {
        let line = tokio::select! {
            biased;
            // Nobody looks any more.
            () = told.closed() => return,
            line = lines.next() => line,
        };
        let Ok(Some(line)) = line else {
            return;
        };
        // What cannot be read is of a newer keeper, and left out.
        if let Line::Text(text) = line
            && let Ok(message) = parse_line(&text)
            && told.send(message).await.is_err()
        {
            return;
        }
    }
}

/// The terminal of this id, as the host knows it.
pub async fn find(host: &HostLink, id: &TerminalId) -> Result<KeptTerminal, ApiError> {
    let found = list(host).await?.into_iter();
    let mut found = found.filter(|kept| kept.terminal.terminal_id == *id);
    found.next().ok_or_else(|| unknown(id))
}

/// All terminals of the machine.
pub async fn list(host: &HostLink) -> Result<Vec<KeptTerminal>, ApiError> {
    let answer = host.request(ListTerminals::default()).await;
    let answer = answer.map_err(|error| ApiError::from(&error))?;
    answer.outcome()?;
    Ok(answer.terminals.unwrap_or_default())
}

/// There is no such terminal.
pub fn unknown(id: &TerminalId) -> ApiError {
    let text = format!("there is no terminal {id} on this machine");
    ApiError::new(ErrorCode::UnknownTerminal, text, Retry::Never)
}

fn over() -> ApiError {
    let text = "the terminal is over".to_owned();
    ApiError::new(ErrorCode::Conflict, text, Retry::Never)
}
