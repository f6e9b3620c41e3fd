//! What a session needs of a running CLI, whatever carries the bytes.
//!
//! A transport is opened into a [`Link`]: a [`Source`] of frames, a [`Sink`] for lines, and the [`Process`]
//! itself. The parts are separate so that reading, writing and waiting never hold each other up. Child pipes
//! ([`pipes`]) are one implementation; a FIFO with a journal file is another, and nothing above this module
//! can tell them apart. A transport knows bytes and processes, never what a line means.

pub mod pipes;
mod stderr;
mod unix;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::framing::Frame;
use crate::line::Line;

pub use stderr::StderrTail;

/// A running CLI: where its lines come from, where lines for it go, and the process.
pub struct Link {
    /// The frames the CLI prints.
    pub source: Box<dyn Source>,
    /// The way to its standard input.
    pub sink: Box<dyn Sink>,
    /// Its life and death.
    pub process: Box<dyn Process>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

/// Whether a source has more to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There may be more.
    More,
    /// The stream has ended; the last frames were given out.
    Ended,
}

/// The frames that a CLI prints, in order.
pub trait Source: Send {
    /// Waits until something arrives and adds the frames that are whole now, possibly none.
    fn read<'a>(
        &'a mut self,
        frames: &'a mut VecDeque<Frame>,
    ) -> BoxFuture<'a, io::Result<Progress>>;
}

/// The way to the CLI's standard input.
///
/// **Invariant:** each line is written whole or not at all as far as the CLI can tell: half a line followed
/// by another one ends it.
pub trait Sink: Send {
    /// Writes one line and its line feed.
    fn write<'a>(&'a mut self, line: &'a Line) -> BoxFuture<'a, io::Result<()>>;

    /// Ends the CLI's input; it finishes what it has and exits.
    fn close(&mut self) -> BoxFuture<'_, ()>;
}

/// How to end a process, from gentle to certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Asks it to end; it cleans up its children and exits.
    Terminate,
    /// Ends it and its process group at once.
    Kill,
}

/// What becomes of a process when the last handle on its conversation is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenDropped {
    /// It is ended: nobody could ever reach it again.
    End,
    /// It goes on: somebody may attach to it later.
    LetRun,
}

/// The life of a CLI process.
pub trait Process: Send {
    /// What a dropped handle means for it.
    fn when_dropped(&self) -> WhenDropped {
        WhenDropped::End
    }

    /// Waits for the end; may be called again after it.
    fn wait(&mut self) -> BoxFuture<'_, Exit>;

    /// Sends the signal that belongs to `stop`; nothing happens when the process is gone.
    fn stop(&mut self, stop: Stop);

    /// The last that was printed on standard error.
    fn stderr(&self) -> String;
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// Nobody can tell, for example because its parent is gone.
    Unknown,
}

impl Exit {
    /// Whether it returned 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("unknown exit"),
        }
    }
}

/// How long each step of ending a process may take before the next, harder one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// After its input ended or it was told to end the session.
    pub ask: Duration,
    /// After [`Stop::Terminate`].
    pub terminate: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        // The CLI needs well under a second for either; a loaded machine gets the rest.
        Self {
            ask: Duration::from_secs(2),
            terminate: Duration::from_secs(3),
        }
    }
}
