//! The one owner of the CLI's input.
//!
//! Lines go down in the order they were handed over, each whole. A failed write is reported to whoever sent
//! the line; the writer goes on, so that later senders learn it too instead of waiting.

use std::io;

use tokio::sync::{mpsc, oneshot};

use crate::line::Line;
use crate::transport::Sink;

/// How many lines may wait for a CLI that does not read; senders wait beyond that.
pub(crate) const OUTGOING_CAPACITY: usize = 64;

/// What the writer is asked to do.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// Write a line, then say how it went.
    Line(Line, Option<oneshot::Sender<io::Result<()>>>),
    /// End the input.
    Close,
}

/// Writes until every sender is gone, then ends the input.
pub(crate) async fn run(mut sink: Box<dyn Sink>, mut outgoing: mpsc::Receiver<Outgoing>) {
    while let Some(next) = outgoing.recv().await {
        match next {
            Outgoing::Line(line, done) => {
                let written = sink.write(&line).await;
                if let Some(done) = done {
                    // A sender that gave up does not want to know.
                    let _ = done.send(written);
                }
            }
            Outgoing::Close => sink.close().await,
        }
    }
    sink.close().await;
}
