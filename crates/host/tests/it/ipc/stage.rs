//! A data folder with a served socket, and clients of every sort.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use estelle_host::data::DataFolder;
use estelle_host::ipc::{Client, Listener, serve};
use estelle_proto::ipc::{Hello, parse_line, to_line};
use estelle_proto::{HostToPylon, PylonToHost};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::desk::FakeDesk;

/// What nothing here should ever take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Stage {
    pub(crate) desk: Arc<FakeDesk>,
    pub(crate) stop: CancellationToken,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) tasks: TaskTracker,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = Arc::new(DataFolder::take(folder.path()).unwrap());
        let listener = Listener::bind(data).unwrap();
        let (desk, stop, tasks) = (Arc::default(), CancellationToken::new(), TaskTracker::new());
        tasks.spawn(serve(listener, Arc::clone(&desk), stop.clone()));
        Self {
            desk,
            stop,
            folder,
            tasks,
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("host.sock")
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(&self.socket()).await.unwrap()
    }

    /// A client that writes what it likes.
    pub(crate) async fn stranger(&self) -> Stranger {
        let stream = UnixStream::connect(self.socket()).await.unwrap();
        let (from, to) = stream.into_split();
        Stranger {
            from: BufReader::new(from),
            to,
        }
    }

    /// One that has said hello and was greeted.
    pub(crate) async fn guest(&self) -> Stranger {
        let mut guest = self.stranger().await;
        let hello = Hello::of_this_build("test".to_owned(), Vec::new());
        guest.say(&PylonToHost::from(hello)).await;
        assert!(matches!(guest.hear().await, Some(HostToPylon::Hello(_))));
        guest
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub(crate) struct Stranger {
    pub(crate) from: BufReader<OwnedReadHalf>,
    pub(crate) to: OwnedWriteHalf,
}

impl Stranger {
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let written = tokio::time::timeout(PATIENCE, self.to.write_all(bytes)).await;
        written.expect("the host reads").expect("the host is there");
    }

    pub(crate) async fn write_line(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn say(&mut self, command: &PylonToHost) {
        self.write(to_line(command).unwrap().as_bytes()).await;
    }

    /// The next message, or nothing when the host has closed.
    pub(crate) async fn hear(&mut self) -> Option<HostToPylon> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.from.read_line(&mut line)).await;
        match read.expect("the host answers") {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(parse_line(&line).unwrap()),
        }
    }

    /// The next message in one line: its type, its code and its request.
    pub(crate) async fn hear_briefly(&mut self) -> String {
        match self.hear().await {
            None => "closed".to_owned(),
            Some(HostToPylon::Error(report)) => {
                let code = report.error_code.unwrap();
                let id = report.request_id.map(|id| format!(" {id}"));
                format!("error {code}{}", id.unwrap_or_default())
            }
            Some(HostToPylon::RequestResult(result)) => {
                let code = result
                    .error_code
                    .map_or("done".to_owned(), |code| code.to_string());
                let id = result.request_id.map(|id| format!(" {id}"));
                format!("{code}{}", id.unwrap_or_default())
            }
            Some(other) => other.kind().to_owned(),
        }
    }
}
