//! Lines from standard input and signals from the terminal.
//!
//! A thread of its own reads, because reading a terminal cannot be cancelled; it dies with the process. The terminal
//! stays in its ordinary mode, so editing a line is the terminal's business.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::desk::{Input, Source};

/// One line ahead is enough: a person types slower, and a pipe is read as needed.
const LINES_AHEAD: usize = 1;

/// Where the lines come from.
pub(crate) fn source() -> Source {
    if io::stdin().is_terminal() {
        Source::Terminal
    } else {
        Source::Pipe
    }
}

/// The lines of standard input, without their ends.
pub(crate) fn lines() -> anyhow::Result<mpsc::Receiver<String>> {
    let (sender, receiver) = mpsc::channel(LINES_AHEAD);
    let read = move || {
        let mut stdin = io::stdin().lock();
        let mut line = Vec::new();
        // An input that cannot be read is an input that has ended.
        while let Ok(1..) = stdin.read_until(b'\n', &mut line) {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\n', '\r']).to_owned();
            if sender.blocking_send(text).is_err() {
                return;
            }
            line.clear();
        }
    };
    let thread = std::thread::Builder::new().name("stdin".to_owned());
    thread
        .spawn(read)
        .context("failed to start the thread that reads standard input")?;
    Ok(receiver)
}

/// The signals that concern a conversation.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// From now on these signals do not end the process by themselves.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("failed to listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// The next signal. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Input {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Input::Interrupt,
            Some(()) = self.terminate.recv() => Input::Terminate(143),
            Some(()) = self.hang_up.recv() => Input::Terminate(129),
            else => std::future::pending().await,
        }
    }
}
