//! Routes what the CLI prints: answers to their waiters, requests to the responder, the rest to the caller.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::Arc;

use super::connection::{DRAIN_GRACE, Shared};
use super::inbox::Item;
use super::writer::Input;
use crate::framing::Frame;
use crate::line::{Envelope, Line};
use crate::transport::{Progress, Source};

/// Reads until the stream ends.
pub(crate) async fn run(mut source: Box<dyn Source>, input: Input, shared: Arc<Shared>) {
    let mut frames = VecDeque::new();
    let mut kept = VecDeque::new();
    // One wait for all reads: starting it anew for each would cost more than the read's own work.
    let mut gone = pin!(shared.process_gone());
    loop {
        while !shared.may_read() {
            shared.inbox.changed().await;
        }
        let progress = tokio::select! {
            biased;
            progress = source.read(&mut frames) => progress,
            () = silence(&shared, gone.as_mut()) => Ok(Progress::Ended),
        };
        kept.extend(
            frames
                .drain(..)
                .filter_map(|frame| route(&shared, &input, frame)),
        );
        if !kept.is_empty() {
            shared.inbox.put(&mut kept);
        }
        match progress {
            Ok(Progress::More) => {}
            Ok(Progress::Ended) => break,
            Err(error) => {
                // A pipe that cannot be read any more is an end like any other; the exit tells the rest.
                tracing::warn!(%error, "failed to read the CLI's output");
                break;
            }
        }
    }
}

/// Completes when the process is gone and its output has been silent for a while.
async fn silence(shared: &Shared, gone: Pin<&mut impl Future<Output = ()>>) {
    // Once it has completed it must not be asked again.
    if !shared.is_process_gone() {
        gone.await;
    }
    tokio::time::sleep(DRAIN_GRACE).await;
}

/// Handles control traffic; gives back what is for the caller.
fn route(shared: &Shared, input: &Input, frame: Frame) -> Option<Item> {
    let Frame::Line(line) = frame else {
        return Some(frame.into());
    };
    // Nearly all lines say at their start that they are no control traffic, and need no closer look.
    if line.leading_kind().is_some_and(is_for_caller) {
        return Some(Item::Line(line));
    }
    // The model waits for the answer, and whoever gives it reads the whole line anyway.
    if let Some(request_id) = line.leading_request_id() {
        return serve(shared, input, &line, request_id);
    }
    let Ok(envelope) = Envelope::peek(&line) else {
        return Some(Item::Line(line));
    };
    match envelope.kind() {
        "control_response" => match envelope
            .request_id
            .as_deref()
            .and_then(|id| shared.take_pending(id))
        {
            Some(waiter) => {
                // A waiter that gave up in this moment does not need it.
                let _ = waiter.send(Ok(line.clone()));
                None
            }
            None => Some(Item::Line(line)),
        },
        "control_request" => match envelope.request_id.as_deref() {
            Some(request_id) => serve(shared, input, &line, request_id),
            // Without an id it cannot be answered; the caller may want to see it.
            None => Some(Item::Line(line)),
        },
        "control_cancel_request" => {
            if let Some(id) = envelope.request_id.as_deref() {
                shared.calls.cancel(id);
            }
            None
        }
        "keep_alive" => None,
        _ => Some(Item::Line(line)),
    }
}

fn is_for_caller(kind: &str) -> bool {
    !kind.starts_with("control_") && kind != "keep_alive"
}

/// Has a request answered; gives it back when it could not be read, for the caller to see.
fn serve(shared: &Shared, input: &Input, line: &Line, request_id: &str) -> Option<Item> {
    // A request found in what a dead process left behind has nobody to be answered to.
    if shared.is_process_gone() {
        return None;
    }
    let Shared {
        calls,
        tasks,
        responder,
        ..
    } = shared;
    let read = calls.serve(tasks, input, &**responder, (line, request_id));
    read.is_err().then(|| Item::Line(line.clone()))
}
