//! Lines from standard input and signals from the terminal.
//!
//! A thread of its own reads, because reading a terminal cannot be cancelled; it dies with the process. The terminal
//! stays in its ordinary mode, so editing a line is the terminal's business.

use std::future::Future;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::process::ExitCode;

use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::desk::{Input, Source};

/// One line ahead is enough: a person types slower, and a pipe is read as needed.
const LINES_AHEAD: usize = 1;
/// A terminal hands over the lines of a paste at once.
const FASTER_THAN_TYPING: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 10_000_000,
};

/// Where the lines come from.
pub(crate) fn source() -> Source {
    if io::stdin().is_terminal() {
        Source::Terminal
    } else {
        Source::Pipe
    }
}

/// The lines of standard input, without their ends; at a terminal what is pasted in one go is one line.
pub(crate) fn lines() -> anyhow::Result<mpsc::Receiver<String>> {
    let (sender, receiver) = mpsc::channel(LINES_AHEAD);
    let joins = source() == Source::Terminal;
    let read = move || {
        let mut stdin = io::stdin().lock();
        let mut text = Vec::new();
        // An input that cannot be read is an input that has ended.
        while let Ok(1..) = stdin.read_until(b'\n', &mut text) {
            if joins && more_follows() {
                continue;
            }
            let line = String::from_utf8_lossy(&text)
                .trim_end_matches(['\n', '\r'])
                .to_owned();
            if sender.blocking_send(line).is_err() {
                return;
            }
            text.clear();
        }
    };
    let thread = std::thread::Builder::new().name("stdin".to_owned());
    thread
        .spawn(read)
        .context("failed to start the thread that reads standard input")?;
    Ok(receiver)
}

/// Whether another line comes faster than anybody types: a paste of several lines.
fn more_follows() -> bool {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    let no_more = PollFlags::HUP | PollFlags::ERR;
    let ready = poll(&mut watched, Some(&FASTER_THAN_TYPING)).is_ok_and(|ready| ready > 0);
    ready && !watched[0].revents().intersects(no_more)
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

    /// Waits for the work unless a signal comes first, which gives its exit code.
    pub(crate) async fn unless<T>(&mut self, work: impl Future<Output = T>) -> Result<T, ExitCode> {
        tokio::select! {
            biased;
            signal = self.next() => Err(ExitCode::from(if let Input::Terminate(code) = signal { code } else { 130 })),
            done = work => Ok(done),
        }
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
