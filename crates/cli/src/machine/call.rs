//! A call at the door of `estelle up`.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use estelle_proto::{DeviceToRelay, Envelope, RelayToDevice, RequestId};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::client::Failure;

/// How long an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to the door.
pub(super) struct Call {
    lines: Lines<BufReader<OwnedReadHalf>>,
    to: OwnedWriteHalf,
}

impl Call {
    /// Goes to the door of the first folder that has one.
    pub(super) async fn open(folders: &[std::path::PathBuf]) -> anyhow::Result<(Self, &Path)> {
        for folder in folders {
            let Ok(stream) = UnixStream::connect(super::socket(folder)).await else {
                continue;
            };
            let (from, to) = stream.into_split();
            let lines = BufReader::new(from).lines();
            return Ok((Self { lines, to }, folder));
        }
        let places: Vec<String> = folders.iter().map(|at| at.display().to_string()).collect();
        Err(Failure::away(format!(
            "`estelle up` does not run on {}: start it, or name its folder with --data",
            places.join(" or ")
        ))
        .into())
    }

    /// Says something as the machine.
    pub(super) async fn say(&mut self, message: impl Into<DeviceToRelay>) -> anyhow::Result<()> {
        let text = Envelope::<DeviceToRelay>::new(message).to_json()?;
        let sent = self.to.write_all(format!("{text}\n").as_bytes()).await;
        sent.context("`estelle up` has ended")
    }

    /// The next thing that the relay says.
    pub(super) async fn next(&mut self) -> anyhow::Result<RelayToDevice> {
        let line = self.lines.next_line().await?;
        let line = line.context("`estelle up` has ended, or the relay is away")?;
        Ok(Envelope::<RelayToDevice>::parse(&line)?.message)
    }

    /// Reads on until `pick` finds what it looks for.
    pub(super) async fn until<T>(
        &mut self,
        mut pick: impl FnMut(RelayToDevice) -> Option<T>,
    ) -> anyhow::Result<T> {
        let waiting = async {
            loop {
                if let Some(found) = pick(self.next().await?) {
                    return Ok(found);
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, waiting).await;
        found.context("the relay does not answer")?
    }
}

/// An id that no other request has.
pub(super) fn request_id() -> anyhow::Result<RequestId> {
    Ok(RequestId::parse(&uuid::Uuid::now_v7().to_string())?)
}
