//! The WebSocket of a terminal: what it shows comes down, what is typed goes up.
//!
//! Both directions go on by themselves: a client that takes nothing for a while can still interrupt the program. What a
//! client has taken is acknowledged to the keeper, which waits for nobody: who is behind gets a whole screen later.

use std::path::Path;
use std::time::Duration;

use estelle_proto::keeper::{Ack, Attach, Input, KeeperToViewer, Resize, ViewerToKeeper};
use estelle_proto::terminals::{TerminalSize, TerminalState};
use estelle_proto::{ApiError, ErrorCode, limits};
use estelle_pylon::link::keeper::{Speaker, Viewer, find};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::Message;

use super::{Ending, Socket, log};
use crate::operations::{Caller, ShownTerminal};

const PING: Duration = Duration::from_secs(20);
/// How long a client may say nothing at all.
const SILENCE: Duration = Duration::from_mins(1);
/// A client that takes nothing for so long is gone.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// What is told beside the terminal: acknowledgements up, errors down.
const ASIDE: usize = 512;
/// Said once to everybody who looks.
const NOTICE: &str =
    "What is typed here runs at once, with all rights of this machine's user. Nobody is asked.";

/// What a client says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Up {
    Input { data: String },
    Paste { data: String },
    Resize { cols: u16, rows: u16 },
    Auth {},
}

/// What a client is told.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Down {
    Attached {
        terminal: ShownTerminal,
        notice: &'static str,
    },
    /// The whole screen: what was shown before is void.
    Screen {
        data: String,
        cols: u16,
        rows: u16,
    },
    Data {
        data: String,
    },
    Exit {
        state: TerminalState,
        exit_code: Option<i32>,
        signal: Option<i32>,
    },
    Error {
        content: String,
        code: String,
    },
}

impl From<ApiError> for Down {
    fn from(error: ApiError) -> Self {
        Self::Error {
            content: error.message,
            code: error.code.to_string(),
        }
    }
}

type Sink<'a> = SplitSink<&'a mut Socket, Message>;

/// Serves a client until one side ends it.
pub(super) async fn run(
    caller: &Caller,
    socket: &mut Socket,
    size: Option<TerminalSize>,
) -> Ending {
    let Ok(id) = caller.terminal() else {
        return Ending::UnknownTerminal;
    };
    let (mut sink, stream) = socket.split();
    let opened = async {
        let kept = find(&caller.shell.parts.host, &id).await?;
        let path = Path::new(kept.socket.as_str());
        let mut viewer = Viewer::open(path, &caller.shell.tasks).await?;
        viewer.say(Attach { size }).await?;
        Ok((kept.terminal, viewer))
    };
    let (terminal, viewer) = match opened.await {
        Ok(opened) => opened,
        Err(error) => return refused(&mut sink, error).await,
    };
    let notice = NOTICE;
    let terminal = ShownTerminal::from(terminal);
    if let Err(ending) = tell(&mut sink, &Down::Attached { terminal, notice }).await {
        return ending;
    }
    let (seen, speaker) = viewer.split();
    let (acks, acked) = mpsc::channel(ASIDE);
    let (errors, complaints) = mpsc::channel(ASIDE);
    let (Ok(ending) | Err(ending)) = tokio::select! {
        ending = downward(&mut sink, seen, acks, complaints) => ending,
        ending = upward(stream, speaker, acked, errors) => ending,
    };
    ending
}

/// A terminal that cannot be looked at; one that is over is told with its end.
async fn refused(sink: &mut Sink<'_>, error: ApiError) -> Ending {
    let ending = if error.code == ErrorCode::UnknownTerminal {
        Ending::UnknownTerminal
    } else if error.code == ErrorCode::HostUnavailable {
        Ending::Again
    } else {
        Ending::Gone
    };
    match tell(sink, &error.into()).await {
        Ok(()) => ending,
        Err(gone) => gone,
    }
}

/// What the terminal shows.
async fn downward(
    sink: &mut Sink<'_>,
    mut seen: mpsc::Receiver<KeeperToViewer>,
    acks: mpsc::Sender<u64>,
    mut complaints: mpsc::Receiver<ApiError>,
) -> Result<Ending, Ending> {
    let mut ping = tokio::time::interval_at(Instant::now() + PING, PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut has_ended = false;
    loop {
        let seen = tokio::select! {
            seen = seen.recv() => seen,
            Some(error) = complaints.recv() => {
                tell(sink, &error.into()).await?;
                continue;
            }
            _ = ping.tick() => {
                send(sink, Message::Ping(bytes::Bytes::new())).await?;
                continue;
            }
        };
        match seen {
            Some(KeeperToViewer::Output(output)) => {
                let data = output.data;
                let down = match output.screen {
                    Some(TerminalSize { cols, rows }) => Down::Screen { data, cols, rows },
                    None => Down::Data { data },
                };
                tell(sink, &down).await?;
                // A keeper that is gone needs no acknowledgement.
                let _ = acks.send(output.frame).await;
            }
            Some(KeeperToViewer::Ended(ended)) => {
                has_ended = true;
                let down = Down::Exit {
                    state: ended.state,
                    exit_code: ended.exit_code,
                    signal: ended.signal,
                };
                tell(sink, &down).await?;
            }
            Some(KeeperToViewer::Error(report)) => {
                let down = Down::Error {
                    content: report.error,
                    code: report
                        .error_code
                        .map(|code| code.to_string())
                        .unwrap_or_default(),
                };
                tell(sink, &down).await?;
            }
            Some(KeeperToViewer::Hello(_) | KeeperToViewer::Unknown(_)) => {}
            None if has_ended => return Ok(Ending::Gone),
            None => {
                let down = Down::Exit {
                    state: TerminalState::Lost,
                    exit_code: None,
                    signal: None,
                };
                tell(sink, &down).await?;
                return Ok(Ending::Gone);
            }
        }
    }
}

/// What the client types.
async fn upward(
    mut stream: SplitStream<&mut Socket>,
    mut speaker: Speaker,
    mut acked: mpsc::Receiver<u64>,
    errors: mpsc::Sender<ApiError>,
) -> Result<Ending, Ending> {
    let mut silent_since = Instant::now();
    loop {
        let message = tokio::select! {
            message = stream.next() => message,
            Some(frame) = acked.recv() => {
                // A keeper that is gone is told of by the other direction, with how the terminal ended.
                let _ = speaker.say(Ack::new(frame)).await;
                continue;
            }
            () = tokio::time::sleep_until(silent_since + SILENCE) => return Ok(Ending::Gone),
        };
        silent_since = Instant::now();
        let text = match message {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            Some(Ok(Message::Binary(_))) => {
                complain(&errors, "messages are text").await;
                continue;
            }
            Some(Ok(Message::Close(_) | Message::Frame(_))) | None => return Ok(Ending::Gone),
            Some(Err(error)) => {
                log(&error);
                return Ok(Ending::Gone);
            }
        };
        match understood(&text) {
            Ok(Some(message)) => {
                let said = speaker.say(message).await;
                // The other direction tells how the terminal ended.
                if said.is_err() {
                    complain(&errors, "the terminal is over").await;
                }
            }
            Ok(None) => {}
            Err(why) => complain(&errors, why).await,
        }
    }
}

/// A message of a client as the keeper takes it.
fn understood(text: &str) -> Result<Option<ViewerToKeeper>, &'static str> {
    let message = serde_json::from_str::<Up>(text);
    let message = message.map_err(|_| "the message is not one of this interface")?;
    let input = |data: String, paste| {
        if data.len() > limits::MAX_TERMINAL_INPUT_BYTES {
            return Err("more than 65536 bytes at once");
        }
        let paste = Some(paste);
        Ok(Some(Input { data, paste }.into()))
    };
    match message {
        Up::Input { data } => input(data, false),
        Up::Paste { data } => input(data, true),
        Up::Resize { cols, rows } => {
            let size = TerminalSize::new(cols, rows);
            if !size.is_usable() {
                return Err("a terminal has 2 to 500 columns and 2 to 300 rows");
            }
            Ok(Some(Resize::new(size).into()))
        }
        Up::Auth {} => Ok(None),
    }
}

async fn complain(errors: &mpsc::Sender<ApiError>, why: &str) {
    let retry = estelle_proto::Retry::Never;
    let error = ApiError::new(ErrorCode::InvalidMessage, why.to_owned(), retry);
    // A client that is gone does not need to know.
    let _ = errors.send(error).await;
}

async fn tell(sink: &mut Sink<'_>, down: &Down) -> Result<(), Ending> {
    match serde_json::to_string(down) {
        Ok(text) => send(sink, Message::text(text)).await,
        Err(error) => {
            tracing::error!(%error, "bug: a message cannot be written");
            Ok(())
        }
    }
}

async fn send(sink: &mut Sink<'_>, message: Message) -> Result<(), Ending> {
    match tokio::time::timeout(WRITE_TIME, sink.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            log(&error);
            Err(Ending::Gone)
        }
        Err(_) => Err(Ending::Again),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t6_messages_that_make_no_sense_are_refused() {
        assert!(matches!(
            understood(r#"{"type":"input","data":"ls\r"}"#),
            Ok(Some(ViewerToKeeper::Input(_)))
        ));
        assert!(matches!(
            understood(r#"{"type":"resize","cols":80,"rows":24}"#),
            Ok(Some(ViewerToKeeper::Resize(_)))
        ));
        let long = "x".repeat(65537);
        for bad in [
            "{}",
            "y",
            r#"{"type":"input"}"#,
            r#"{"type":"input","data":7}"#,
            r#"{"type":"resize","cols":0,"rows":0}"#,
            r#"{"type":"resize","cols":65535,"rows":65535}"#,
            r#"{"type":"resize","cols":70000,"rows":24}"#,
            r#"{"type":"resize","cols":-1,"rows":24}"#,
            r#"{"type":"restart"}"#,
            &format!(r#"{{"type":"paste","data":"{long}"}}"#),
        ] {
            assert!(understood(bad).is_err(), "{bad:.60}");
        }
    }
}
