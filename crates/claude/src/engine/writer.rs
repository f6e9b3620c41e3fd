//! The way to the CLI's input.
//!
//! Whole lines go down one after the other, each in one piece. A caller's line goes through the writer task,
//! because a caller may stop waiting at any time and half a line would end the CLI; an answer of ours is
//! written by the task that made it, which spares the model a detour. A failed write is reported to whoever
//! sent the line; later senders learn it too instead of waiting.

use std::io;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

use crate::line::Line;
use crate::transport::Sink;

/// The CLI's input, for one line at a time. Whoever writes must not be cancelled while the CLI lives.
pub(crate) type Input = Arc<Mutex<Box<dyn Sink>>>;

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
pub(crate) async fn run(input: Input, mut outgoing: mpsc::Receiver<Outgoing>) {
    while let Some(next) = outgoing.recv().await {
        let mut sink = input.lock().await;
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
    input.lock().await.close().await;
}
