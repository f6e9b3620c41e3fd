//! The two halves of a connection to the keeper: lines in, lines out.

use estelle_proto::ipc::parse_line;
use estelle_proto::keeper::ViewerToKeeper;
use estelle_proto::{ApiError, ErrorCode, Retry, limits};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use crate::ipc::{Line, Lines};

/// Who looks.
pub(super) type ViewerId = u64;

/// What comes from a viewer.
#[derive(Debug)]
pub(super) enum Said {
    Message(ViewerToKeeper),
    Refused(ApiError),
    Gone,
}

/// Reads messages until the viewer is gone.
pub(super) async fn listen(
    id: ViewerId,
    from: OwnedReadHalf,
    said: mpsc::Sender<(ViewerId, Said)>,
) {
    let mut lines = Lines::new(from, limits::MAX_KEEPER_LINE_BYTES);
    while let Ok(Some(line)) = lines.next().await {
        let message = match line {
            Line::Text(text) => parse_line(&text).map_err(|error| error.to_string()),
            Line::TooLong(_) => Err("the line is too long".to_owned()),
            Line::NotText(_) => Err("the line is no text".to_owned()),
        };
        let message = match message {
            Ok(message) => Said::Message(message),
            Err(why) => {
                let text = format!("this is no message for a terminal: {why}; nothing was done");
                let code = ErrorCode::InvalidMessage;
                Said::Refused(ApiError::new(code, text, Retry::Never))
            }
        };
        if said.send((id, message)).await.is_err() {
            return;
        }
    }
    // A keeper that is gone does not need to know.
    let _ = said.send((id, Said::Gone)).await;
}

/// Writes lines until there are no more.
pub(super) async fn speak(mut to: OwnedWriteHalf, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if to.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}
