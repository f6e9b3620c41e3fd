//! One connection to the host: the socket, the two hellos, and lines in both directions.
//!
//! A wire ends when the host goes, when its outgoing queue is closed, or when nobody reads what it brings. It does
//! not judge messages; a line it cannot read is told to the log and skipped, for the cursors notice what is missing.

use std::io;
use std::path::Path;
use std::sync::Arc;

use estelle_proto::ipc::{self, Hello};
use estelle_proto::{ApiError, ErrorCode, ErrorReport, HostToPylon, PylonToHost, Retry, limits};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use super::{HostConfig, LostHost};
use crate::link::lines::{Line, Lines};

/// What a wire tells the actor.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are messages, and each is moved on at once"
)]
pub(super) enum FromWire {
    Up(Hello),
    Message(HostToPylon),
    Gone(LostHost),
}

/// Calls the host and carries lines until one side has enough. The last thing it tells is why it ended.
pub(super) async fn carry(
    config: HostConfig,
    mut outgoing: mpsc::Receiver<String>,
    incoming: mpsc::Sender<FromWire>,
) {
    let opened = tokio::time::timeout(config.hello_within, open(&config)).await;
    let (hello, mut lines, mut writer) = match opened {
        Ok(Ok(opened)) => opened,
        Ok(Err(lost)) => return gone(&incoming, lost).await,
        Err(_) => return gone(&incoming, LostHost::NoHello).await,
    };
    if incoming.send(FromWire::Up(hello)).await.is_err() {
        return;
    }
    let lost = tokio::select! {
        lost = read(&mut lines, &incoming) => lost,
        lost = write(&mut writer, &mut outgoing) => lost,
    };
    gone(&incoming, lost).await;
}

async fn gone(incoming: &mpsc::Sender<FromWire>, lost: LostHost) {
    // An actor that is gone does not need to know.
    let _ = incoming.send(FromWire::Gone(lost)).await;
}

fn broken(error: io::Error) -> LostHost {
    LostHost::Broken(Arc::new(error))
}

type Reader = Lines<BufReader<OwnedReadHalf>>;

async fn open(config: &HostConfig) -> Result<(Hello, Reader, OwnedWriteHalf), LostHost> {
    let stream = connect(&config.socket).await?;
    let (reader, mut writer) = stream.into_split();
    let mut lines = Lines::new(BufReader::new(reader), limits::MAX_IPC_LINE_BYTES);
    let ours = Hello::of_this_build(config.build.clone(), Vec::new());
    if let Ok(line) = ipc::to_line(&PylonToHost::from(ours.clone())) {
        writer.write_all(line.as_bytes()).await.map_err(broken)?;
    }
    loop {
        match lines.next().await.map_err(broken)?.map(|line| parse(&line)) {
            Some(Some(HostToPylon::Hello(hello))) if ours.common(&hello).is_some() => {
                return Ok((hello, lines, writer));
            }
            Some(Some(HostToPylon::Hello(hello))) => return Err(mismatch(&hello)),
            Some(Some(HostToPylon::Error(report))) => {
                return Err(LostHost::Refused(from_report(&report)));
            }
            // A newer host may greet in a way of its own first; the time for the hello is bounded.
            Some(Some(HostToPylon::Unknown(_))) => {}
            Some(_) => return Err(LostHost::NoHello),
            None => return Err(LostHost::Closed),
        }
    }
}

async fn connect(socket: &Path) -> Result<UnixStream, LostHost> {
    let connected = UnixStream::connect(socket).await;
    connected.map_err(|error| LostHost::Unreachable(Arc::new(error)))
}

fn mismatch(hello: &Hello) -> LostHost {
    let text = format!("it speaks version {} of the protocol", hello.protocol);
    let error = ApiError::new(ErrorCode::ProtocolMismatch, text, Retry::Later);
    LostHost::Refused(error)
}

/// The error of a report, whose sender may be an older one and give a text alone.
pub(super) fn from_report(report: &ErrorReport) -> ApiError {
    let code = report.error_code.clone().unwrap_or(ErrorCode::Internal);
    let retry = report.retry.clone().unwrap_or(Retry::Never);
    ApiError::new(code, report.error.clone(), retry)
}

async fn read(lines: &mut Reader, incoming: &mpsc::Sender<FromWire>) -> LostHost {
    loop {
        let message = match lines.next().await {
            Ok(Some(line)) => parse(&line),
            Ok(None) => return LostHost::Closed,
            Err(error) => return broken(error),
        };
        let Some(message) = message else {
            continue;
        };
        if incoming.send(FromWire::Message(message)).await.is_err() {
            return LostHost::Closed;
        }
    }
}

fn parse(line: &Line) -> Option<HostToPylon> {
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong | Line::NoText => {
            tracing::error!("the host sent a line that is too long or no text; it is skipped");
            return None;
        }
    };
    match ipc::parse_line(text) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::error!(%error, "the host sent a line that cannot be read; it is skipped");
            None
        }
    }
}

async fn write(writer: &mut OwnedWriteHalf, outgoing: &mut mpsc::Receiver<String>) -> LostHost {
    while let Some(line) = outgoing.recv().await {
        if let Err(error) = writer.write_all(line.as_bytes()).await {
            return broken(error);
        }
    }
    LostHost::Closed
}
